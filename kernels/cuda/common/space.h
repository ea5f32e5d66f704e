/// Index spaces of a CUDA instance: how its threads' linear indices name elements of the operands.
///
/// A group is an ordered list of axes walked by one linear index, the first axis outermost. The
/// axes of a group are ordered by the strides of the first output (or, where the group is reduced,
/// of the first input), so neighbouring indices are neighbours in memory whatever the layout. The
/// host functions (kernels/cuda) and the source writer (compiler/codegen) share these functions;
/// both must see the same space.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/abi/problem.h"

namespace aicf::cuda {

struct Space {
  Dims shape;                ///< extents of the domain's axes
  std::vector<Dims> groups;  ///< axis numbers; groups[0] is the one that vectors run along

  int64_t Count(size_t group) const;  ///< 1 for a group without axes or beyond the last
};

/// The index spaces of a problem: `domain` is that of the core operands (reduce, normalize, topk,
/// scan; otherwise empty), `output` that of the outputs and of the operands of the epilogue.
///   elementwise, copy, pool, gather, resize, families without an epilogue: output {all axes} of
///               the first output
///   reduce:     domain {reduced, kept} (columns: {kept, reduced}); output {kept}
///   normalize:  domain and output {axes, others}; lines: {line, lines}. A line has
///               those of the normalised axes that are innermost in memory and the others that
///               lie directly around them; `lines` has the remaining others, then the remaining
///               normalised axes
///   topk, scan: domain and output {axis, others}
///   gemm:       output {n, m, batch} or, where m is the contiguous axis, {m, n, batch}
///   blockgemm:  output {n, all other axes} or, where those are contiguous, the reverse
///   conv:       output {channel, positions} or, where positions are contiguous, the reverse
///   excite:     output {channel, positions, image}
struct Spaces {
  Space domain;
  Space output;
};
/// `key` matters where variants of a family walk differently (reduce, normalize).
Spaces SpacesOf(std::string_view key, const abi::Problem& problem);

/// gemm, blockgemm, conv: whether groups[0] of the output runs over rows (m, positions) instead of
/// columns.
bool RowsInner(const abi::Problem& problem);
/// OuterAxesOf is groups[1] of the output (gemm, blockgemm, conv), BatchAxesOf is groups[2] (gemm).
Dims OuterAxesOf(const abi::Problem& problem);
Dims BatchAxesOf(const abi::Problem& problem);

/// How an operand is walked along one group: extents and strides, outermost first. Neighbouring
/// axes are merged where one stride walks both.
struct Walk {
  Dims extents;
  Dims strides;
};
Walk WalkOf(const abi::View& view, const Dims& group);

/// Largest power of two r <= 16 such that the r elements from any index of groups[0] that is a
/// multiple of r are consecutive in memory, the first aligned to min(16, r * element bytes); 1 when
/// there is none.
int RunOf(const abi::View& view, const Space& space);
/// Largest power of two r <= 16 such that the r elements from any index of groups[0] that is a
/// multiple of r are one and the same; 1 when there is none.
int SameOf(const abi::View& view, const Space& space);

/// The vector width of a kernel that walks `space` with these operands: elements per access such
/// that no operand's access is wider than 16 bytes and at least half of them are in one piece.
int VectorOf(const std::vector<const abi::View*>& views, const Space& space);

/// Innermost axis of more than one element with stride 1, or -1.
int ContiguousAxis(const abi::View& view);

/// Whether the instance needs 64-bit indices.
bool NeedsWideIndex(const abi::Problem& problem);

}  // namespace aicf::cuda
