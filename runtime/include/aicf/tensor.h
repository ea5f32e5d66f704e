/// Dense row-major tensors in the caller's host memory, as a Session takes and fills them: inputs,
/// outputs, metas and states.
///
/// They own nothing and copy nothing: the memory is the caller's and has to live for the call. Each
/// says its element type and shape, which a session compares with what the program has, and how
/// many bytes of memory there are, which have to be those that type and shape take.
///
///   session->SetInput("x", aicf::TensorOf(pixels, {1, 3, 48, 320}));   // a std::vector<float>
///   session->SetInput("x", {info.dtype, info.shape, bytes.data(), bytes.size()});
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include "base/dims.h"
#include "base/dtype.h"

namespace aicf {

/// Memory that is read.
struct ConstTensor {
  DType dtype = DType::kF32;
  Dims shape = {};
  const void* data = nullptr;  ///< may be null where there are no elements
  uint64_t bytes = 0;
};

/// Memory that is written.
struct MutableTensor {
  DType dtype = DType::kF32;
  Dims shape = {};
  void* data = nullptr;  ///< may be null where there are no elements
  uint64_t bytes = 0;
};

/// The element type that a C++ type stands for. Types without one of their own in C++ (f16, bf16,
/// and those below 8 bits) are spelled out in a ConstTensor; uint16_t is u16 here.
template <class T>
inline constexpr DType kDTypeOf = [] {
  if constexpr (std::is_same_v<T, float>)
    return DType::kF32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::kF64;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::kBool;
  else if constexpr (std::is_same_v<T, char> || !std::is_integral_v<T>) {
    static_assert(!sizeof(T), "no element type is stored as this C++ type");
  } else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? DType::kI8 : DType::kU8;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? DType::kI16 : DType::kU16;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? DType::kI32 : DType::kU32;
  else
    return std::is_signed_v<T> ? DType::kI64 : DType::kU64;
}();

/// The elements of a vector, an array or a span, to be read, in this shape.
template <std::ranges::contiguous_range R>
ConstTensor TensorOf(const R& values, const Dims& shape) {
  const std::span all(std::ranges::data(values), std::ranges::size(values));
  return {kDTypeOf<std::ranges::range_value_t<R>>, shape, all.data(), all.size_bytes()};
}
/// The same in one dimension.
template <std::ranges::contiguous_range R>
ConstTensor TensorOf(const R& values) {
  return TensorOf(values, {static_cast<int64_t>(std::ranges::size(values))});
}
/// One number: a tensor of rank 0.
template <class T>
requires std::is_arithmetic_v<T> ConstTensor ScalarOf(const T& value) {
  return {kDTypeOf<T>, {}, &value, sizeof value};
}

/// The elements of a vector, an array or a span, to be written, in this shape.
template <std::ranges::contiguous_range R>
MutableTensor TensorInto(R&& values, const Dims& shape) {
  const std::span all(std::ranges::data(values), std::ranges::size(values));
  return {kDTypeOf<std::ranges::range_value_t<R>>, shape, all.data(), all.size_bytes()};
}
/// The same in one dimension.
template <std::ranges::contiguous_range R>
MutableTensor TensorInto(R&& values) {
  return TensorInto(values, {static_cast<int64_t>(std::ranges::size(values))});
}
template <class T>
requires std::is_arithmetic_v<T> MutableTensor ScalarInto(T& value) {
  return {kDTypeOf<T>, {}, &value, sizeof value};
}

}  // namespace aicf
