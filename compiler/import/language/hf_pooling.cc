#include "compiler/import/language/hf_pooling.h"

#include "base/scanner.h"

namespace aicf::language {
namespace {

constexpr const char* kOtherModes[] = {
    "pooling_mode_cls_token", "pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"};

Status OtherPooling(std::string_view mode) {
  return Error(Code::kUnsupported, "1_Pooling/config.json: ", Quote(mode),
               " is not supported; supported: the mean of all tokens");
}

Status CheckPooling(const HfTexts& texts) {
  if (!texts.pooling) {
    return Status(Code::kBadModel,
                  "modules.json has a pooling module, and there is no "
                  "1_Pooling/config.json");
  }
  AICF_ASSIGN_OR_RETURN(const HfConfig config,
                        HfConfig::Parse(*texts.pooling, "1_Pooling/config.json"));
  AICF_ASSIGN_OR_RETURN(const std::string mode, config.Text("pooling_mode", "mean"));
  if (mode != "mean") return OtherPooling(mode);
  for (const char* other : kOtherModes) {
    AICF_ASSIGN_OR_RETURN(const bool used, config.Flag(other, false));
    if (used) return OtherPooling(other);
  }
  AICF_ASSIGN_OR_RETURN(const bool mean, config.Flag("pooling_mode_mean_tokens", true));
  return mean ? OkStatus() : OtherPooling("no pooling");
}

// The kind of a module, e.g. "Pooling": the last word of "sentence_transformers.models.Pooling".
Result<std::string> KindOf(const HfConfig& module) {
  AICF_ASSIGN_OR_RETURN(const std::string type, module.Text("type"));
  return type.substr(type.rfind('.') + 1);
}

}  // namespace

Status ReadPooling(const HfTexts& texts, Model& model) {
  if (!texts.modules) return OkStatus();
  // The file is a list, and HfConfig reads objects.
  AICF_ASSIGN_OR_RETURN(
      const HfConfig file,
      HfConfig::Parse(StrCat("{\"modules\":", *texts.modules, "}"), "modules.json"));
  AICF_ASSIGN_OR_RETURN(const std::vector<HfConfig> modules, file.Objects("modules"));
  constexpr std::string_view kKnown[] = {"Transformer", "Pooling", "Normalize"};
  for (size_t i = 0; i < modules.size(); ++i) {
    AICF_ASSIGN_OR_RETURN(const std::string kind, KindOf(modules[i]));
    if (i >= std::size(kKnown) || kind != kKnown[i]) {
      return Error(Code::kUnsupported, "modules.json: module ", i, " is ", Quote(kind),
                   "; supported: Transformer, Pooling, Normalize, in this order");
    }
  }
  if (modules.size() < 2) return Status(Code::kUnsupported, "modules.json has no pooling module");
  model.unit_length = modules.size() == std::size(kKnown);
  return CheckPooling(texts);
}

}  // namespace aicf::language
