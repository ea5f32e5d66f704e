/// aicf-run with a language model: text that goes on with a prompt.
#pragma once

#include <memory>

#include "aicf/generator.h"
#include "base/status.h"
#include "tools/aicf-run/options.h"

namespace aicf::tools {

/// A generator and what making it took.
struct OpenGenerator {
  std::shared_ptr<const Program> program;
  std::unique_ptr<Generator> generator;
  double load_ms = 0;  ///< read, verify, allocate, upload, capture
};

/// Errors: those of Program::Load and Generator::Create, naming the file.
Result<OpenGenerator> OpenModel(const RunOptions& options);

/// Streams the text to stdout and says on stderr how long it took; with --json one object on
/// stdout and nothing else. The vector (embed.h) where the model is one that embeds.
Status RunGenerate(const RunOptions& options);

/// --bench-llm.
Status RunBench(const RunOptions& options);

}  // namespace aicf::tools
