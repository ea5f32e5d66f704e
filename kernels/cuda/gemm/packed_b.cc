#include "kernels/cuda/gemm/packed_b.h"

#include <algorithm>

#include "base/checked.h"
#include "base/float16.h"

namespace aicf::cuda {
namespace {

using abi::MathMode;
using abi::Problem;

constexpr int64_t kPiece = 8;  // values in 16 bytes

/// B as a sequence of matrices, each with a row of columns() elements for every k.
class PackedMatrices {
 public:
  explicit PackedMatrices(const Problem& p) : view_(p.inputs[1]), rank_(view_.shape.rank()) {
    for (int axis = rank_ - 3; axis >= 0; --axis) {
      if (view_.strides[axis] != 0) count_ *= view_.shape[axis];
    }
  }

  int64_t pitch() const { return CeilDiv(columns(), kPiece) * kPiece; }
  int64_t unpadded() const { return count_ * depth() * columns(); }
  int64_t elements() const { return count_ * depth() * pitch(); }

  /// Calls f(place in the packed form, place in the unpacked buffer) for every element, places in
  /// elements.
  template <class F>
  void ForEach(const F& f) const {
    const int64_t k_stride = view_.strides[rank_ - 2], n_stride = view_.strides[rank_ - 1];
    for (int64_t m = 0, row = 0; m < count_; ++m) {
      const int64_t matrix = OffsetOf(m);
      for (int64_t k = 0; k < depth(); ++k, row += pitch()) {
        const int64_t from = matrix + k * k_stride;
        for (int64_t n = 0; n < columns(); ++n) f(row + n, from + n * n_stride);
      }
    }
  }

 private:
  int64_t depth() const { return view_.shape[rank_ - 2]; }
  int64_t columns() const { return view_.shape[rank_ - 1]; }

  /// The first element of matrix number `index`, the last batch axis counting fastest.
  int64_t OffsetOf(int64_t index) const {
    int64_t at = view_.offset;
    for (int axis = rank_ - 3; axis >= 0; --axis) {
      if (view_.strides[axis] == 0) continue;
      at += index % view_.shape[axis] * view_.strides[axis];
      index /= view_.shape[axis];
    }
    return at;
  }

  const abi::View& view_;
  const int rank_;
  int64_t count_ = 1;
};

bool IsHalf(const Problem& p) { return p.math == MathMode::kFp16; }

}  // namespace

std::string RefusePackedB(const Problem& p) {
  if (p.math != MathMode::kFp16 && p.math != MathMode::kBf16) {
    return StrCat("packs B for the math modes fp16 and bf16, here is ", abi::MathModeName(p.math));
  }
  if (p.inputs[1].dtype != DType::kF32) {
    return StrCat("packs f32 alone, B is ", DTypeName(p.inputs[1].dtype));
  }
  // Padding makes a narrow B up to eight times as large. The kernel's index type is chosen for the
  // unpacked B and may have 32 bits only, so the packed form needs a limit of its own.
  constexpr int64_t kMaxElements = int64_t{1} << 30;
  const int64_t elements = PackedMatrices(p).elements();
  if (elements <= kMaxElements) return {};
  return StrCat("packs at most ", kMaxElements, " values, B would be ", elements);
}

std::optional<abi::PackedLayout> PackedBLayout(const Problem& p) {
  const int64_t elements = PackedMatrices(p).elements();
  if (elements == 0) return std::nullopt;
  return abi::PackedLayout{IsHalf(p) ? "cuda.gemm.f16_rows8" : "cuda.gemm.bf16_rows8",
                           static_cast<uint64_t>(elements) * sizeof(uint16_t),
                           abi::Recovery::kRounded};
}

double PackedBSaves(const Problem& p) {
  const PackedMatrices matrices(p);
  return 4.0 * static_cast<double>(matrices.unpadded()) -
         2.0 * static_cast<double>(matrices.elements());
}

void PackB(const Problem& p, const void* buffer, void* packed) {
  const PackedMatrices matrices(p);
  const auto* from = static_cast<const float*>(buffer);
  auto* to = static_cast<uint16_t*>(packed);
  std::fill_n(to, matrices.elements(), uint16_t{0});
  const bool half = IsHalf(p);
  matrices.ForEach([&](int64_t place, int64_t element) {
    to[place] = half ? F32ToF16(from[element]) : F32ToBF16(from[element]);
  });
}

void UnpackB(const Problem& p, const void* packed, void* buffer) {
  const PackedMatrices matrices(p);
  const auto* from = static_cast<const uint16_t*>(packed);
  auto* to = static_cast<float*>(buffer);
  const bool half = IsHalf(p);
  matrices.ForEach([&](int64_t place, int64_t element) {
    to[element] = half ? F16ToF32(from[place]) : BF16ToF32(from[place]);
  });
}

}  // namespace aicf::cuda
