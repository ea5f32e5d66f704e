/// The inner loops of the vector pooling.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "kernels/cpu/expr/block_eval.h"

namespace aicf::cpu {

/// A box of input elements, or of channel vectors: count[i] positions, step[i] elements apart.
struct PoolBox {
  const void* data = nullptr;
  int64_t count[3] = {1, 1, 1};
  int64_t step[3] = {0, 0, 0};
};

/// Outputs side by side whose boxes have the same size.
struct PoolPixels {
  int64_t count = 1;
  int64_t x_step = 0;    ///< elements from one box to the next
  int64_t out_step = 0;  ///< elements of the output
};

struct PoolLoops {
  EvalBlockFn eval;
  /// Channels contiguous: out[c] = maximum of, or (sum over the box) / divisor, for c < channels,
  /// of every pixel.
  void (*channels)(DType dtype, bool maximum, const PoolBox& box, int64_t channels, float divisor,
                   const PoolPixels& pixels, float* out);
  /// As `channels`, but for maxima of bytes, which stay bytes.
  void (*bytes)(bool is_signed, const PoolBox& box, int64_t channels, const PoolPixels& pixels,
                uint8_t* out);
  /// Columns contiguous, box[2] is the row: element w of every row of box[0] and box[1] is added to
  /// acc[w], or acc[w] is raised to it.
  void (*rows)(DType dtype, bool maximum, const PoolBox& box, float* acc);
  /// out[o] = maximum or sum of row[o * stride + t * dilation], t < kernel.
  void (*slide)(bool maximum, const float* row, int64_t kernel, int64_t stride, int64_t dilation,
                int64_t outputs, float* out);
};

namespace baseline {
extern const PoolLoops kPoolLoops;
}
namespace avx2 {
extern const PoolLoops kPoolLoops;
}
namespace avx512 {
extern const PoolLoops kPoolLoops;
}

}  // namespace aicf::cpu
