/// A metadata value of a GGUF file: a view of its bytes, checked when the file was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/import/gguf/cursor.h"

namespace aicf::gguf {

enum class ValueType : uint8_t {
#define AICF_GGUF_VALUE(id, text, bytes) id,
#include "compiler/import/gguf/value_types.def"
#undef AICF_GGUF_VALUE
};

/// How deep arrays may lie in arrays. The format states no bound; no known file has any.
inline constexpr int kMaxArrayDepth = 4;

class Value {
 public:
  /// Reads a value of the type that the file names by `type`, all of an array included. Errors:
  /// kBadModel for an unknown type, for what does not fit into the file, for a bool that is
  /// neither 0 nor 1, and for arrays nested more than kMaxArrayDepth deep.
  static Result<Value> Read(uint32_t type, Cursor& in);

  ValueType type() const { return type_; }
  bool is_array() const { return type_ == ValueType::kArray; }
  /// The type of the elements of an array. REQUIRES: is_array().
  ValueType element_type() const { return element_; }
  uint64_t count() const { return count_; }

  /// The value as a T: bool, std::string_view, float (from both sizes of float), int32_t, uint32_t,
  /// int64_t, uint64_t (from every integer whose value fits), a vector of one of these (from an
  /// array), or std::vector<Value> (from an array of arrays). Errors: kBadModel, saying what it is
  /// and what was expected.
  template <class T>
  Result<T> As() const;

 private:
  static Result<Value> Read(uint32_t type, Cursor& in, int depth);
  Status ReadElements(Cursor& in, int depth);
  template <class T>
  Result<std::vector<T>> Convert() const;

  ValueType type_ = ValueType::kU8;
  ValueType element_ = ValueType::kU8;
  uint64_t count_ = 0;
  std::span<const std::byte> bytes_;  // without length or count
};

}  // namespace aicf::gguf
