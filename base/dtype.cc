#include "base/dtype.h"

namespace aicf {
namespace {

struct DTypeInfo {
  std::string_view name;
  int64_t bytes;
  DTypeKind kind;
};

constexpr DTypeInfo kInfo[] = {
#define AICF_DTYPE(id, text, bytes, kind, storage) {text, bytes, DTypeKind::kind},
#include "base/dtype.def"
#undef AICF_DTYPE
};

}  // namespace

int64_t DTypeBytes(DType dtype) { return kInfo[static_cast<int>(dtype)].bytes; }
std::string_view DTypeName(DType dtype) { return kInfo[static_cast<int>(dtype)].name; }
DTypeKind KindOf(DType dtype) { return kInfo[static_cast<int>(dtype)].kind; }

std::optional<DType> ParseDType(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kInfo[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace aicf
