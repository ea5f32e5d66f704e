/// The constant weights of com.microsoft.MatMulNBits as rows of blocks that products read as they
/// are (base/block_format.h), each weight exactly what the op says.
#pragma once

#include <string>

#include "base/block_format.h"
#include "compiler/ir/tensor.h"

namespace aicf {

/// Weights [n, k]: codes of `bits` bits (2, 4 or 8), in blocks of `size` along k, of which a row
/// has `count`. A weight is (code - zero point) * scale.
struct NBitsWeights {
  int64_t n = 0, k = 0, bits = 4, size = 0, count = 0;
  ir::Tensor codes;   ///< u8 [n, count, bytes of a block], the first code in the low bits
  ir::Tensor scales;  ///< of a float dtype, n * count
  /// u8, packed like codes, where each row begins with a new byte; or of a float dtype with n *
  /// count elements. Without data every zero point is 2^(bits - 1).
  ir::Tensor zeros;
};

struct NBitsBlocks {
  std::string refusal;  ///< "rule: sentence" where no format says the weights exactly; else empty
  BlockFormat format = BlockFormat::kQ4_0;
  ir::Tensor rows;  ///< u8 [n, bytes of a row]
};

/// Packs the weights in the smallest of Q4_0, Q5_0 and Q8_0 that has all differences of codes and
/// zero points. Cost: two passes over the codes.
NBitsBlocks PackNBits(const NBitsWeights& weights);

}  // namespace aicf
