/// cuBLASLt's description of a matrix product: what an algorithm is recorded for and replayed with.
#pragma once

#include <utility>

#include "base/status.h"
#include "kernels/cuda/gemm/matmul_layout.h"
#include "runtime/cuda/cublaslt.h"

namespace aicf::cuda {

/// Owns one operation descriptor and the four matrix layouts. Movable, not copyable.
class MatmulDescriptors {
 public:
  /// `bias`: device address of the bias, nullptr when the layout has none. `lt` outlives the
  /// result. Errors: kDevice.
  static Result<MatmulDescriptors> Make(const CublasLt& lt, const MatmulLayout& layout, void* bias);
  MatmulDescriptors(MatmulDescriptors&& other) noexcept { *this = std::move(other); }
  MatmulDescriptors& operator=(MatmulDescriptors&& other) noexcept;
  ~MatmulDescriptors();

  LtMatmulDesc desc() const { return desc_; }
  LtMatrixLayout a() const { return layouts_[0]; }
  LtMatrixLayout b() const { return layouts_[1]; }
  LtMatrixLayout c() const { return layouts_[2]; }
  LtMatrixLayout d() const { return layouts_[3]; }

 private:
  MatmulDescriptors() = default;
  Status MakeOperation(const MatmulLayout& layout, void* bias);
  Status MakeLayout(const MatrixLayout& layout, int64_t batch_count, LtMatrixLayout* out);
  Status Set(int attribute, const void* value, size_t bytes);

  const CublasLt* lt_ = nullptr;
  LtMatmulDesc desc_ = nullptr;
  LtMatrixLayout layouts_[4] = {};
};

}  // namespace aicf::cuda
