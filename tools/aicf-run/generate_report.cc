#include "tools/aicf-run/generate_report.h"

#include <nlohmann/json.hpp>

#include "tools/common/text.h"

namespace aicf::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string Ids(const std::vector<uint32_t>& ids) {
  std::string out;
  for (const uint32_t id : ids) out += StrCat(out.empty() ? "" : ",", id);
  return out;
}

double PerSecond(size_t count, double ms) {
  return ms > 0 ? static_cast<double>(count) * 1000 / ms : 0;
}

std::string Line(std::string_view key, std::string_view value) { return KeyLine(13, key, value); }

}  // namespace

double GenerateReport::PromptTokensPerSecond() const {
  return PerSecond(prompt.size(), result.first_token_ms);
}

double GenerateReport::TokenMs() const {
  const size_t tokens = result.tokens.size();
  if (tokens < 2) return 0;
  return (result.total_ms - result.first_token_ms) / static_cast<double>(tokens - 1);
}

double GenerateReport::TokensPerSecond() const {
  return PerSecond(result.tokens.size(), result.total_ms);
}

std::string GenerateText(const GenerateReport& report, bool show_tokens) {
  std::string out = "\n";
  if (show_tokens) {
    out += Line("prompt ids", Ids(report.prompt));
    out += Line("ids", Ids(report.result.tokens));
  }
  out += Line("load", FormatNumber(report.load_ms) + " ms, " + Escape(report.device));
  out += Line("prompt", StrCat(report.prompt.size(), " tokens, ",
                               FormatNumber(report.PromptTokensPerSecond()), " tokens/s"));
  out += Line("first token", FormatNumber(report.result.first_token_ms) + " ms");
  const size_t tokens = report.result.tokens.size();
  const std::string each =
      tokens < 2 ? "" : StrCat(", ", FormatNumber(report.TokenMs()), " ms each after the first");
  out += Line("text", StrCat(tokens, " tokens", each));
  out += Line("all", StrCat(FormatNumber(report.TokensPerSecond()), " tokens/s, ended by ",
                            FinishReasonName(report.result.finish)));
  return out;
}

std::string GenerateJson(const RunOptions& options, const GenerateReport& report) {
  const GenerateResult& result = report.result;
  Json out;
  out["artifact"] = options.artifact;
  out["device"] = report.device;
  out["text"] = result.text;
  out["tokens"] = result.tokens;
  out["prompt_tokens"] = report.prompt;
  out["finish"] = FinishReasonName(result.finish);
  out["load_ms"] = report.load_ms;
  out["first_token_ms"] = result.first_token_ms;
  out["total_ms"] = result.total_ms;
  out["prompt_tokens_per_second"] = report.PromptTokensPerSecond();
  out["token_ms"] = report.TokenMs();
  out["tokens_per_second"] = report.TokensPerSecond();
  out["peak_memory_bytes"] = report.memory.total_device_bytes;
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace aicf::tools
