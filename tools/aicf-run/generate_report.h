/// What aicf-run says about text that it generated, beside the text.
#pragma once

#include <string>
#include <vector>

#include "aicf/generator.h"
#include "tools/aicf-run/options.h"

namespace aicf::tools {

struct GenerateReport {
  std::vector<uint32_t> prompt;
  GenerateResult result;
  double load_ms = 0;
  std::string device;
  MemoryReport memory;

  /// Prompt tokens per second until the first token was there.
  double PromptTokensPerSecond() const;
  /// Milliseconds of each token after the first; 0 where there is none.
  double TokenMs() const;
  /// All tokens over all of the time.
  double TokensPerSecond() const;
};

/// Lines for stderr; with the ids first where `show_tokens`.
std::string GenerateText(const GenerateReport& report, bool show_tokens);
/// One object: text, tokens, finish, and the same numbers.
std::string GenerateJson(const RunOptions& options, const GenerateReport& report);

}  // namespace aicf::tools
