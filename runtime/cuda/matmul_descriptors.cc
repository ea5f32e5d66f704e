#include "runtime/cuda/matmul_descriptors.h"

#include <utility>

namespace aicf::cuda {
namespace {

// Values of the library's public enumerations.
constexpr int kDescTransA = 3;
constexpr int kDescTransB = 4;
constexpr int kDescEpilogue = 7;
constexpr int kDescBiasPointer = 8;
constexpr int kDescBiasType = 26;
constexpr int kLayoutBatchCount = 5;
constexpr int kLayoutBatchStride = 6;
constexpr int kCompute32F = 68;
constexpr int kComputeFast16F = 74;
constexpr int kComputeFast16BF = 75;
constexpr int kComputeFastTf32 = 77;
constexpr uint32_t kEpilogueDefault = 1;
constexpr uint32_t kEpilogueRelu = 2;
constexpr uint32_t kEpilogueBias = 4;

int LibraryType(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 2;
    case DType::kBF16:
      return 14;
    default:
      return 0;
  }
}

/// How the products are formed; only f32 operands leave a choice. Sums accumulate in f32.
int ComputeType(const MatmulLayout& layout) {
  if (layout.a.dtype != DType::kF32) return kCompute32F;
  switch (layout.math) {
    case abi::MathMode::kTf32:
      return kComputeFastTf32;
    case abi::MathMode::kFp16:
      return kComputeFast16F;
    case abi::MathMode::kBf16:
      return kComputeFast16BF;
    default:
      return kCompute32F;
  }
}

}  // namespace

MatmulDescriptors& MatmulDescriptors::operator=(MatmulDescriptors&& other) noexcept {
  std::swap(lt_, other.lt_);
  std::swap(desc_, other.desc_);
  std::swap(layouts_, other.layouts_);
  return *this;
}

MatmulDescriptors::~MatmulDescriptors() {
  for (LtMatrixLayout layout : layouts_) {
    if (layout != nullptr) (void)lt_->api().MatrixLayoutDestroy(layout);
  }
  if (desc_ != nullptr) (void)lt_->api().MatmulDescDestroy(desc_);
}

Status MatmulDescriptors::Set(int attribute, const void* value, size_t bytes) {
  return lt_->Check(lt_->api().MatmulDescSetAttribute(desc_, attribute, value, bytes),
                    "describing a matrix product");
}

Status MatmulDescriptors::MakeOperation(const MatmulLayout& layout, void* bias) {
  AICF_CUBLASLT_CHECK(
      *lt_, "describing a matrix product",
      lt_->api().MatmulDescCreate(&desc_, ComputeType(layout), LibraryType(DType::kF32)));
  const int32_t trans_a = layout.a.transposed ? 1 : 0;
  const int32_t trans_b = layout.b.transposed ? 1 : 0;
  AICF_RETURN_IF_ERROR(Set(kDescTransA, &trans_a, sizeof(trans_a)));
  AICF_RETURN_IF_ERROR(Set(kDescTransB, &trans_b, sizeof(trans_b)));
  uint32_t epilogue = layout.activation == MatmulActivation::kRelu ? kEpilogueRelu : 0;
  if (bias != nullptr) {
    const int32_t type = LibraryType(layout.d.dtype);
    epilogue |= kEpilogueBias;
    AICF_RETURN_IF_ERROR(Set(kDescBiasPointer, &bias, sizeof(bias)));
    AICF_RETURN_IF_ERROR(Set(kDescBiasType, &type, sizeof(type)));
  }
  if (epilogue == 0) epilogue = kEpilogueDefault;
  return Set(kDescEpilogue, &epilogue, sizeof(epilogue));
}

Status MatmulDescriptors::MakeLayout(const MatrixLayout& layout, int64_t batch_count,
                                     LtMatrixLayout* out) {
  const CublasLtApi& api = lt_->api();
  AICF_CUBLASLT_CHECK(
      *lt_, "describing a matrix",
      api.MatrixLayoutCreate(out, LibraryType(layout.dtype), static_cast<uint64_t>(layout.rows),
                             static_cast<uint64_t>(layout.cols), layout.ld));
  if (batch_count == 1) return OkStatus();
  const auto count = static_cast<int32_t>(batch_count);
  const int64_t stride = layout.batch_stride;
  AICF_CUBLASLT_CHECK(*lt_, "describing a batch",
                      api.MatrixLayoutSetAttribute(*out, kLayoutBatchCount, &count, sizeof(count)));
  AICF_CUBLASLT_CHECK(
      *lt_, "describing a batch",
      api.MatrixLayoutSetAttribute(*out, kLayoutBatchStride, &stride, sizeof(stride)));
  return OkStatus();
}

Result<MatmulDescriptors> MatmulDescriptors::Make(const CublasLt& lt, const MatmulLayout& layout,
                                                  void* bias) {
  MatmulDescriptors made;
  made.lt_ = &lt;
  AICF_RETURN_IF_ERROR(made.MakeOperation(layout, bias));
  const MatrixLayout* const operands[] = {&layout.a, &layout.b, &layout.c, &layout.d};
  for (int i = 0; i < 4; ++i) {
    AICF_RETURN_IF_ERROR(made.MakeLayout(*operands[i], layout.batch_count, &made.layouts_[i]));
  }
  return made;
}

}  // namespace aicf::cuda
