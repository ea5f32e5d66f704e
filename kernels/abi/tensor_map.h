/// Tensor maps: what the bulk tensor copy engine of a Hopper GPU needs to know about an operand to
/// move boxes of it into shared memory. A step records them as plain data; the verifier proves them
/// against the operand's view; a session encodes each once for the operand's address, and the
/// kernel gets the encoded maps as grid constants after its addresses.
///
/// Source: CUDA driver API, cuTensorMapEncodeTiled; PTX ISA, "Tensors" and "Swizzling modes".
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/dims.h"
#include "kernels/abi/problem.h"

namespace aicf::abi {

/// How 16-byte pieces are permuted inside shared memory. Positions are stored in artifacts.
enum class Swizzle : uint8_t { kNone, k32, k64, k128, kCount };

/// What a box holds where it leaves the tensor.
enum class BoxFill : uint8_t { kZero, kNan, kCount };

inline constexpr size_t kMaxTensorMaps = 8;  ///< of one step
inline constexpr int kMaxTensorMapRank = 5;

/// Axes are listed innermost first, as the engine counts them. The innermost has stride 1.
struct TensorMap {
  uint32_t operand = 0;  ///< number of the operand: inputs, then outputs
  Dims extents;          ///< elements, 1 to 2^32 per axis
  Dims strides;          ///< elements; [0] == 1, the rest multiples of 16 bytes
  Dims box;              ///< elements that one copy spans along each axis, 1 to 256
  Dims steps;            ///< with n along an axis, every n-th element is moved, 1 to 8
  int64_t offset = 0;    ///< elements from the buffer's first byte, a multiple of 16 bytes
  Swizzle swizzle = Swizzle::kNone;
  BoxFill fill = BoxFill::kZero;
  bool tf32 = false;  ///< f32 is rounded to tf32 on the way

  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

/// Bytes that one copy of a box writes to shared memory, which is what a barrier has to expect.
int64_t BoxBytes(const TensorMap& map, DType dtype);

/// Empty, or one sentence saying why the map is illegal: it exceeds the engine's limits on ranks,
/// extents, strides, boxes and swizzles; its operand does not exist or has a dtype that the engine
/// does not move; or it reaches elements before the first or after the last of the operand's view.
std::string CheckTensorMap(const TensorMap& map, const Problem& problem);

}  // namespace aicf::abi
