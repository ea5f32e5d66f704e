/// Constant tensor data held by the compiler: a dense row-major block, shared and immutable.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"

namespace aicf::ir {

/// A view of bytes plus whatever keeps them alive (the mapped model file, or an owned vector).
/// Copying is cheap; the bytes are never modified after construction.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Dims shape, std::span<const std::byte> bytes,
         std::shared_ptr<const void> owner)
      : dtype_(dtype), shape_(shape), bytes_(bytes), owner_(std::move(owner)) {}
  /// Takes ownership. REQUIRES: bytes.size() == ElementCount(shape) * DTypeBytes(dtype).
  static Tensor Own(DType dtype, Dims shape, std::vector<std::byte> bytes);
  /// Zero-initialised, for filling through MutableBytes before it is shared.
  template <class T>
  static Tensor FromValues(DType dtype, Dims shape, std::span<const T> values);

  DType dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  bool has_data() const { return owner_ != nullptr || !bytes_.empty(); }
  int64_t count() const { return ElementCount(shape_).value_or(0); }
  /// Element i as the storage type. Unaligned-safe. REQUIRES: sizeof(T) == DTypeBytes(dtype()).
  template <class T>
  T at(int64_t i) const {
    T v;
    __builtin_memcpy(&v, bytes_.data() + i * sizeof(T), sizeof(T));
    return v;
  }
  /// Element i converted: integers and bool exactly, f16/bf16 widened.
  int64_t IntAt(int64_t i) const;
  double FloatAt(int64_t i) const;
  /// The same bytes under another shape of equal count.
  Tensor Reshaped(Dims shape) const;

 private:
  DType dtype_ = DType::kF32;
  Dims shape_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

template <class T>
Tensor Tensor::FromValues(DType dtype, Dims shape, std::span<const T> values) {
  const auto raw = std::as_bytes(values);
  return Own(dtype, shape, std::vector<std::byte>(raw.begin(), raw.end()));
}

}  // namespace aicf::ir
