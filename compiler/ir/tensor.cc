#include "compiler/ir/tensor.h"

#include "base/float16.h"
#include "base/float8.h"

namespace aicf::ir {

Tensor Tensor::Own(DType dtype, Dims shape, std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::span<const std::byte> view(*owner);
  return Tensor(dtype, shape, view, std::move(owner));
}

int64_t Tensor::IntAt(int64_t i) const {
  if (IsFloat(dtype_)) return static_cast<int64_t>(FloatAt(i));
  return VisitStorage(dtype_, [&](auto tag) { return static_cast<int64_t>(at<decltype(tag)>(i)); });
}

double Tensor::FloatAt(int64_t i) const {
  if (dtype_ == DType::kF16) return F16ToF32(at<uint16_t>(i));
  if (dtype_ == DType::kBF16) return BF16ToF32(at<uint16_t>(i));
  if (IsFloat(dtype_) && IsStorageOnly(dtype_)) return Float8ToF32(at<uint8_t>(i), dtype_);
  return VisitStorage(dtype_, [&](auto tag) { return static_cast<double>(at<decltype(tag)>(i)); });
}

Tensor Tensor::Reshaped(Dims shape) const { return Tensor(dtype_, shape, bytes_, owner_); }

}  // namespace aicf::ir
