#include "tools/aicf-run/embed.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "aicf/embedder.h"
#include "tools/aicf-run/measure.h"
#include "tools/common/process.h"

namespace aicf::tools {
namespace {

/// The values with as many digits as it takes to read the same f32 back.
std::string Numbers(const std::vector<float>& values) {
  std::string out;
  for (const float v : values) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", static_cast<double>(v));
    out += out.empty() ? "" : " ";
    out += digits;
  }
  return out + "\n";
}

}  // namespace

Status RunEmbed(std::shared_ptr<const Program> program, const RunOptions& options) {
  const GenerateOptions& o = options.generate;
  if (o.chat) {
    return Error(Code::kUnsupported, options.artifact, " gives embeddings; leave --chat out");
  }
  SessionOptions session = options.session;
  session.transfers = true;  // the vector is read in any case
  auto made = Embedder::Create(std::move(program), session);
  if (!made.ok()) return made.status().WithContext(options.artifact);
  Embedder& embedder = **made;
  std::vector<uint32_t> tokens = o.tokens;
  if (tokens.empty()) {
    AICF_ASSIGN_OR_RETURN(tokens, embedder.Encode(o.prompt, o.special));
  }
  const double start = NowMs();
  AICF_ASSIGN_OR_RETURN(const std::vector<float> vector, embedder.Embed(tokens));
  const double ms = NowMs() - start;
  if (!options.json) {
    Print(Numbers(vector));
    return OkStatus();
  }
  nlohmann::ordered_json out;
  out["artifact"] = options.artifact;
  out["device"] = embedder.device_name();
  out["prompt_tokens"] = tokens;
  out["embedding"] = vector;
  out["embed_ms"] = ms;
  out["peak_memory_bytes"] = embedder.memory().total_device_bytes;
  Print(out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  return OkStatus();
}

}  // namespace aicf::tools
