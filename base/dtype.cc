#include "base/dtype.h"

namespace aicf {
namespace {

constexpr std::string_view kNames[] = {
#define AICF_DTYPE(id, text, bytes, kind, storage) text,
#include "base/dtype.def"
#undef AICF_DTYPE
};

}  // namespace

std::string_view DTypeName(DType dtype) { return kNames[static_cast<int>(dtype)]; }

std::optional<DType> ParseDType(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace aicf
