/// Candidates of the product kernels: the rows of tiles.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/common/tiles.h"

namespace aicf::cuda {

/// A tile worth considering, with the name under which corrections of its predicted times are kept.
struct TileChoice {
  std::string_view text;  ///< "64x64"
  abi::Parameters parameters;
};

/// All rows of one kind, on tensor cores or on ordinary units, that are legal for the problem.
/// Clusters and vectors are chosen by heuristics. Empty where no row is legal.
std::vector<TileChoice> TilesFor(std::string_view key, bool tensor, const abi::Problem& problem,
                                 const abi::DeviceSpec& device);

/// Predicted microseconds.
double TileUs(const Tile& tile, const abi::Problem& problem, const abi::DeviceSpec& device);
/// The same where operand 1 is in a packed form that takes `saved_bytes` less and reaches shared
/// memory by asynchronous copies.
double PackedTileUs(const Tile& tile, const abi::Problem& problem, const abi::DeviceSpec& device,
                    double saved_bytes);
/// The same where operand 1 is converted on its way from memory: it waits in registers.
double ConvertedTileUs(const Tile& tile, const abi::Problem& problem,
                       const abi::DeviceSpec& device);

template <class Host, bool kTensor>
std::vector<abi::Candidate> TileCandidates(const abi::Problem& p, const abi::DeviceSpec& d) {
  std::vector<abi::Candidate> all;
  for (TileChoice& choice : TilesFor(Host::kKey, kTensor, p, d)) {
    const double us = TileUs(Tile(kTensor, choice.parameters), p, d);
    all.push_back(CandidateOf<Host>(p, std::move(choice.parameters), us));
    all.back().row = StrCat(Host::kKey, "_", choice.text);
  }
  return all;
}

}  // namespace aicf::cuda
