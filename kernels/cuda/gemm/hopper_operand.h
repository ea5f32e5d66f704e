/// An operand of cuda.gemm.hopper as the copy engine sees it: a matrix whose contiguous axis is k
/// or the other one, and a batch that one stride walks.
#pragma once

#include <string>

#include "kernels/abi/parameters.h"
#include "kernels/abi/tensor_map.h"

namespace aicf::cuda {

class HopperOperand {
 public:
  /// Empty, or why the engine cannot read operand 0 (A) or 1 (B): the rest of a sentence that
  /// begins with "operand 0 " or "operand 1 ".
  static std::string Refusal(const abi::Problem& problem, int operand);

  /// REQUIRES: Refusal is empty.
  HopperOperand(const abi::Problem& problem, int operand);

  /// Whether the operand's lines, which run along its contiguous axis, run along k.
  bool along_k() const { return along_k_; }
  /// Empty, or why the tile of these parameters cannot be fetched.
  std::string RefuseTile(const abi::Parameters& parameters) const;
  /// REQUIRES: RefuseTile is empty.
  abi::TensorMap Map(const abi::Parameters& parameters) const;

 private:
  /// Empty, or why the tile cannot be made of runs of both halves.
  std::string RefuseHalves(const abi::Parameters& parameters) const;
  /// Elements of the tile along m (A) or n (B), and the blocks of a cluster that fetch it together.
  int64_t Tile(const abi::Parameters& c) const { return c[operand_ == 0 ? "tile_m" : "tile_n"]; }
  int64_t Peers(const abi::Parameters& c) const {
    if (c["split"] > 1) return 1;  // the blocks share k
    return operand_ == 0 ? c["cluster"] / c["cluster_m"] : c["cluster_m"];
  }

  const abi::View& view_;
  int operand_;
  bool along_k_;  ///< k is the contiguous axis
  int64_t inner_ = 0, outer_ = 0, outer_stride_ = 0;
  int64_t batch_ = 1, batch_stride_ = 0;
  int64_t piece_;   ///< elements of 16 bytes
  int64_t halves_;  ///< of B (abi::GemmAttrs); 1 for A
};

}  // namespace aicf::cuda
