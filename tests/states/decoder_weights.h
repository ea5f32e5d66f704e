/// A small decoder-only transformer: its extents and weights, which the model's builder and the
/// reference share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace aicf::states {

/// Two layers with two query heads per key head, rotary positions, RMS norms and a gated MLP.
struct Decoder {
  static constexpr int64_t kLayers = 2, kHeads = 4, kGroups = 2, kHead = 8, kHidden = 32;
  static constexpr int64_t kInner = 48, kTokens = 40;
  static constexpr int64_t kCache = 48;  ///< positions that the cache has room for
  static constexpr double kEpsilon = 1e-5;

  struct Weight {
    std::vector<int64_t> shape;
    std::vector<float> values;
  };
  /// "embed", "norm", "head", and of each layer "0.q", "0.k", "0.v", "0.o", "0.norm1", "0.norm2",
  /// "0.gate", "0.up", "0.down"; products take them as [inner, outer].
  std::map<std::string, Weight> weights;

  Decoder();
};

/// 1 / 10000^(2 i / kHead) for i < kHead / 2: the rotation angles per unit of position.
std::vector<double> RotaryFrequencies();

}  // namespace aicf::states
