/// aicf-run with a language model: generates text that continues a prompt.
#pragma once

#include <memory>

#include "aicf/generator.h"
#include "base/status.h"
#include "tools/aicf-run/options.h"

namespace aicf::tools {

/// A generator and the time that it took to make it.
struct OpenGenerator {
  std::shared_ptr<const Program> program;
  std::unique_ptr<Generator> generator;
  double load_ms = 0;  ///< time to read, verify, allocate, upload and capture
};

/// Errors: those of Program::Load and Generator::Create, naming the file.
Result<OpenGenerator> OpenModel(const RunOptions& options);

/// Streams the text to stdout and reports the times on stderr; with --json it prints one object to
/// stdout and nothing else. For an embedding model it prints the vector instead (embed.h).
Status RunGenerate(const RunOptions& options);

/// Runs --bench-llm.
Status RunBench(const RunOptions& options);

}  // namespace aicf::tools
