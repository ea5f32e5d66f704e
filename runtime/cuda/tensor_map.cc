#include "runtime/cuda/tensor_map.h"

namespace aicf::cuda {
namespace {

/// CUtensorMapDataType of the driver's public interface.
int DataTypeOf(DType dtype, bool tf32) {
  constexpr int kRoundedToTf32 = 11;
  if (tf32) return kRoundedToTf32;
  switch (dtype) {
    case DType::kF16:
      return 6;
    case DType::kF32:
      return 7;
    case DType::kF64:
      return 8;
    case DType::kBF16:
      return 9;
    default: {
      // Integers and the rest are moved as unsigned numbers of their width: 8, 16, 32, 64 bits.
      const int64_t bytes = DTypeBytes(dtype);
      return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 4;
    }
  }
}

constexpr int kNoInterleave = 0;
constexpr int kPromote256Bytes = 3;  ///< the L2 cache fetches 256 bytes together

}  // namespace

DType OperandType(const schema::Step& step, const abi::TensorMap& map) {
  const size_t inputs = step.problem.inputs.size();
  return map.operand < inputs ? step.problem.inputs[map.operand].dtype
                              : step.problem.outputs[map.operand - inputs].dtype;
}

uint32_t OperandBuffer(const schema::Step& step, const abi::TensorMap& map) {
  const size_t inputs = step.inputs.size();
  return map.operand < inputs ? step.inputs[map.operand] : step.outputs[map.operand - inputs];
}

Result<CUtensorMap> EncodeTensorMap(const Driver& driver, const abi::TensorMap& map, DType dtype,
                                    CUdeviceptr address) {
  const auto bytes = static_cast<uint64_t>(DTypeBytes(dtype));
  uint64_t extents[abi::kMaxTensorMapRank] = {}, strides[abi::kMaxTensorMapRank] = {};
  uint32_t box[abi::kMaxTensorMapRank] = {}, steps[abi::kMaxTensorMapRank] = {};
  const int rank = map.extents.rank();
  for (int d = 0; d < rank; ++d) {
    extents[d] = static_cast<uint64_t>(map.extents[d]);
    box[d] = static_cast<uint32_t>(map.box[d]);
    steps[d] = static_cast<uint32_t>(map.steps[d]);
    // The innermost stride is one element, and is not passed to the driver.
    if (d > 0) strides[d - 1] = static_cast<uint64_t>(map.strides[d]) * bytes;
  }
  const CUdeviceptr first = address + static_cast<uint64_t>(map.offset) * bytes;
  CUtensorMap encoded;
  AICF_CUDA_CHECK(driver, "encoding a tensor map",
                  driver.TensorMapEncodeTiled(
                      &encoded, DataTypeOf(dtype, map.tf32), static_cast<unsigned>(rank),
                      reinterpret_cast<void*>(first), extents, strides, box, steps, kNoInterleave,
                      static_cast<int>(map.swizzle), kPromote256Bytes, static_cast<int>(map.fill)));
  return encoded;
}

}  // namespace aicf::cuda
