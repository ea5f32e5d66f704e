/// Element types. The table is base/dtype.def; enum values are part of the artifact format.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/api.h"

namespace aicf {

enum class DType : uint8_t {
#define AICF_DTYPE(id, text, bytes, kind, storage) id,
#include "base/dtype.def"
#undef AICF_DTYPE
};

inline constexpr int kDTypeCount = 0
#define AICF_DTYPE(id, text, bytes, kind, storage) +1
#include "base/dtype.def"
#undef AICF_DTYPE
    ;

/// True for the dtypes that are stored and converted but never computed with.
inline bool IsStorageOnly(DType d) { return d > DType::kBool; }

enum class DTypeKind : uint8_t { kFloat, kSigned, kUnsigned, kBoolean };

namespace internal {
inline constexpr uint8_t kDTypeBytes[] = {
#define AICF_DTYPE(id, text, bytes, kind, storage) bytes,
#include "base/dtype.def"
#undef AICF_DTYPE
};
inline constexpr DTypeKind kDTypeKinds[] = {
#define AICF_DTYPE(id, text, bytes, kind, storage) DTypeKind::kind,
#include "base/dtype.def"
#undef AICF_DTYPE
};
}  // namespace internal

/// Size of one element in bytes. REQUIRES: IsValid(dtype).
inline int64_t DTypeBytes(DType dtype) { return internal::kDTypeBytes[static_cast<int>(dtype)]; }

/// "f32", "i64", ...; the spelling of the text IR. REQUIRES: IsValid(dtype).
AICF_API std::string_view DTypeName(DType dtype);

inline DTypeKind KindOf(DType dtype) { return internal::kDTypeKinds[static_cast<int>(dtype)]; }
inline bool IsFloat(DType d) { return KindOf(d) == DTypeKind::kFloat; }
/// The codes of quantised data: u8 and i8.
inline bool IsByteInteger(DType d) { return d == DType::kU8 || d == DType::kI8; }
inline bool IsInteger(DType d) {
  return KindOf(d) == DTypeKind::kSigned || KindOf(d) == DTypeKind::kUnsigned;
}

/// False for bytes of a file that name no dtype.
inline bool IsValid(DType d) { return static_cast<int>(d) < kDTypeCount; }

/// Inverse of DTypeName; nullopt for an unknown name.
AICF_API std::optional<DType> ParseDType(std::string_view name);

/// Calls f with a value-initialised object of the storage type of `dtype`
/// (f16 and bf16 are uint16_t: convert with base/float16.h).
template <class F>
decltype(auto) VisitStorage(DType dtype, F&& f) {
  switch (dtype) {
#define AICF_DTYPE(id, text, bytes, kind, storage) \
  case DType::id:                                  \
    return f(storage{});
#include "base/dtype.def"
#undef AICF_DTYPE
  }
  __builtin_unreachable();
}

}  // namespace aicf
