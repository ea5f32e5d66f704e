/// What is legal for cuda.attention.hopper: 16-bit attention on Hopper's own tensor-core
/// instructions, fed by the bulk tensor copy engine. The head of attention/hopper.cuh lists the
/// same conditions from the device's side.
#pragma once

#include <string>
#include <vector>

#include "kernels/abi/attention.h"
#include "kernels/cuda/common/host.h"

namespace aicf::cuda {

struct AttentionHopperHost : CudaHostBase {
  static constexpr std::string_view kKey = "cuda.attention.hopper";
  static constexpr std::string_view kSource = "attention/hopper.cuh";
  static constexpr int64_t kWarpgroupRows = 64;
  static constexpr int64_t kMaxHead = 256;
  static constexpr abi::ParameterRange kParameters[] = {
      {"consumers", 1, 4},        {"tile_keys", 16, 192}, {"stages", 1, 32}, {"query_stages", 1, 2},
      {"producer", 0, 1},         {"turns", 0, 1},        {"fold", 0, 1},    {"pack", 0, 1},
      {"section", 1, kMaxBlocks}, {"per_sm", 1, 8},       kBlocksRange};

  /// Number of query heads whose rows share a tile.
  static int64_t Packed(const abi::AttentionShape& s, const abi::Parameters& c) {
    return c["pack"] != 0 ? s.group() : 1;
  }
  static int64_t Tiles(const abi::AttentionShape& s, const abi::Parameters& c) {
    const int64_t packed = Packed(s, c), rows = kWarpgroupRows * c["consumers"];
    return s.batch * (s.query_heads / packed) * CeilDiv(s.rows * packed, rows);
  }
  static int64_t SharedBytes(const abi::AttentionShape& s, const abi::Parameters& c);

  /// The output never takes an operand's place: other rows still read what a row would overwrite.
  static bool InPlace(const abi::Problem&, int) { return false; }
  static std::string Refusal(const abi::Problem& p, const abi::DeviceSpec& d);
  static std::string Refuse(const abi::Problem& p, const abi::Parameters& c,
                            const abi::DeviceSpec& d);
  static abi::LaunchConfig Launch(const abi::Problem& p, const abi::Parameters& c);
  static std::vector<abi::TensorMap> TensorMaps(const abi::Problem& p, const abi::Parameters& c);
};

}  // namespace aicf::cuda
