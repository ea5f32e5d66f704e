#include "compiler/import/language/hf_model_types.h"

#include "base/scanner.h"

namespace aicf::language {
namespace {

struct TypeRow {
  std::string_view type, architecture, defaults;
};

struct SwitchRow {
  std::string_view architecture, key;
  bool value;
};

constexpr TypeRow kTypes[] = {
#define AICF_HF_MODEL_TYPE(type, architecture, defaults) {type, architecture, defaults},
#define AICF_HF_MODEL_SWITCH(architecture, key, value)
#include "compiler/import/language/hf_model_types.def"
#undef AICF_HF_MODEL_TYPE
#undef AICF_HF_MODEL_SWITCH
};

constexpr SwitchRow kSwitches[] = {
#define AICF_HF_MODEL_TYPE(type, architecture, defaults)
#define AICF_HF_MODEL_SWITCH(architecture, key, value) {architecture, key, value},
#include "compiler/import/language/hf_model_types.def"
#undef AICF_HF_MODEL_TYPE
#undef AICF_HF_MODEL_SWITCH
};

Result<TypeRow> FindType(const std::string& type) {
  std::string known;
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row;
    known += StrCat(known.empty() ? "" : ", ", row.type);
  }
  return Error(Code::kUnsupported, "config.json: model_type ", Quote(type),
               " is not supported; supported: ", known);
}

Status CheckSwitches(const HfConfig& config, std::string_view architecture) {
  for (const SwitchRow& row : kSwitches) {
    if (row.architecture != architecture) continue;
    AICF_ASSIGN_OR_RETURN(const bool value, config.Flag(row.key, row.value));
    if (value == row.value) continue;
    return Error(Code::kUnsupported, "config.json: ", Quote(row.key), " is ",
                 value ? "true" : "false", ", which is not supported of ", architecture);
  }
  return OkStatus();
}

}  // namespace

Result<HfModelType> ReadModelType(const HfConfig& config) {
  AICF_ASSIGN_OR_RETURN(const std::string type, config.Text("model_type"));
  AICF_ASSIGN_OR_RETURN(const TypeRow row, FindType(type));
  AICF_ASSIGN_OR_RETURN(const Architecture architecture, FindArchitecture(row.architecture));
  AICF_ASSIGN_OR_RETURN(const HfConfig defaults, HfConfig::Parse(row.defaults, "defaults"));
  const HfConfig whole = config.Over(defaults);
  AICF_RETURN_IF_ERROR(CheckSwitches(whole, row.architecture));
  return HfModelType{architecture, whole};
}

}  // namespace aicf::language
