#include "kernels/cuda/blockgemm/hosts.h"
#include "kernels/cuda/common/tile_choice.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::Problem;

// The tile's parameters for a packed B, which is read in runs of 32 elements along k.
abi::Parameters Packed(const abi::Parameters& tile) {
  std::vector<abi::Parameter> list(tile.begin(), tile.end());
  for (abi::Parameter& p : list) {
    if (p.name == "tile_k") p.value = std::max<int64_t>(p.value, 32);
  }
  list.push_back({"packed_b", 1});
  return abi::Parameters(std::move(list));
}

// Offers every tile twice: with B packed, and with B read byte by byte as it is stored. Only a
// constant B can be packed, and the problem does not say whether B is constant.
template <class Host, bool kTensor>
std::vector<abi::Candidate> BlockTileCandidates(const Problem& p, const DeviceSpec& d) {
  // Blocks that are not packed are decoded before they wait in registers, and reading their bytes,
  // which may lie anywhere, takes several times the instructions. This factor is a guess that is
  // still to be measured.
  constexpr double kRawShare = 2.5;
  std::vector<abi::Candidate> all;
  for (const TileChoice& choice : TilesFor(Host::kKey, kTensor, p, d)) {
    const abi::Parameters packed = Packed(choice.parameters);
    if (Host::Refuse(p, packed, d).empty()) {
      const double us = kManyRowsShare * ConvertedTileUs(Tile(kTensor, packed), p, d);
      all.push_back(CandidateOf<Host>(p, packed, us));
    }
    const double us =
        kManyRowsShare * kRawShare * ConvertedTileUs(Tile(kTensor, choice.parameters), p, d);
    all.push_back(CandidateOf<Host>(p, choice.parameters, us));
    for (abi::Candidate& c : all) {
      if (c.row.empty()) c.row = StrCat(Host::kKey, "_", choice.text);
    }
  }
  return all;
}

}  // namespace

template <>
std::vector<abi::Candidate> CandidatesFor<BlockGemmTiledHost>(const Problem& p,
                                                              const DeviceSpec& d) {
  return BlockTileCandidates<BlockGemmTiledHost, false>(p, d);
}

template <>
std::vector<abi::Candidate> CandidatesFor<BlockGemmTensorHost>(const Problem& p,
                                                               const DeviceSpec& d) {
  return BlockTileCandidates<BlockGemmTensorHost, true>(p, d);
}

}  // namespace aicf::cuda
