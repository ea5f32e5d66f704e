// Rules of the families that read blocks of quantised elements: dequantize and blockgemm.
#include "base/checked.h"
#include "kernels/abi/validate_rules.h"

namespace aicf::abi {
namespace {

// Rows of blocks are read as bytes, so the bytes of a row have to be contiguous.
Status CheckBlocks(const Problem& p, const View& v, BlockFormat format, int64_t elements) {
  if (static_cast<int>(format) >= kBlockFormatCount) return Bad(p, "unknown block format");
  if (v.dtype != DType::kU8) {
    return Bad(p, "the blocks are ", DTypeName(v.dtype), ", expected u8");
  }
  const auto bytes = BlockBytes(format, 1, static_cast<uint64_t>(elements));
  // Where the row is not a whole number of blocks, there is no such number of bytes: the value that
  // stands for it differs from every extent.
  if (bytes.value_or(~uint64_t{0}) != static_cast<uint64_t>(v.shape.back())) {
    return Bad(p, "a row of ", elements, " elements in ", InfoOf(format).name, " does not take ",
               v.shape.back(), " bytes");
  }
  if (v.shape.back() > 1 && v.strides.back() != 1) {
    return Bad(p, "the bytes of a row of blocks are ", v.strides.back(), " apart");
  }
  return OkStatus();
}

}  // namespace

template <>
Status CheckRules<Family::kDequantize>(const Problem& p) {
  const View &x = p.inputs[0], &out = p.outputs[0];
  if (out.shape.rank() < 1 || x.shape.rank() != out.shape.rank()) {
    return Bad(p, "ranks of blocks and output differ, or are 0");
  }
  for (int d = 0; d + 1 < out.shape.rank(); ++d) {
    if (x.shape[d] != out.shape[d]) return Bad(p, "axis ", d, " differs");
  }
  return CheckBlocks(p, x, p.as<DequantizeAttrs>().format, out.shape.back());
}

template <>
Status CheckRules<Family::kBlockGemm>(const Problem& p) {
  const Dims &a = p.inputs[0].shape, &b = p.inputs[1].shape, &c = p.outputs[0].shape;
  const int rank = c.rank();
  if (rank < 2 || a.rank() != rank) return Bad(p, "ranks of A and output differ, or are below 2");
  if (b.rank() != 2) return Bad(p, "the blocks have rank ", b.rank(), ", expected 2");
  for (int d = 0; d + 1 < rank; ++d) {
    if (a[d] != c[d]) return Bad(p, "axis ", d, " of A and output differs");
  }
  const int64_t halves = p.as<BlockGemmAttrs>().halves;
  AICF_RETURN_IF_ERROR(CheckHalves(p, halves));
  // The rows of blocks are halved instead of doubling the columns, since twice the columns may
  // overflow.
  if (b[0] / halves != c.back() || b[0] % halves != 0) {
    return Bad(p, b[0], " rows of blocks for ", c.back(), " columns",
               halves == 2 ? " of two halves" : "");
  }
  if (!IsData(p.inputs[0].dtype)) {
    return Bad(p, "A is ", DTypeName(p.inputs[0].dtype), ", expected f32, f16 or bf16");
  }
  if (p.math == MathMode::kTf32 || p.math == MathMode::kFp8) {
    return Bad(p, "math mode ", MathModeName(p.math), ", expected fp32, fp16, bf16 or int8");
  }
  AICF_RETURN_IF_ERROR(CheckRowNorm(p));
  return CheckBlocks(p, p.inputs[1], p.as<BlockGemmAttrs>().format, a.back());
}

}  // namespace aicf::abi
