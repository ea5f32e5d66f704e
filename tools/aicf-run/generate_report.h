/// What aicf-run reports about a generated text, beside the text itself.
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

  /// Prompt tokens over the time until the first generated token.
  double PromptTokensPerSecond() const;
  /// Milliseconds of each token after the first; 0 where there is none.
  double TokenMs() const;
  /// All generated tokens over the whole time.
  double TokensPerSecond() const;
};

/// Lines for stderr. With `show_tokens` the token ids come first.
std::string GenerateText(const GenerateReport& report, bool show_tokens);
/// One object: text, tokens, finish, and the same numbers.
std::string GenerateJson(const RunOptions& options, const GenerateReport& report);

}  // namespace aicf::tools
