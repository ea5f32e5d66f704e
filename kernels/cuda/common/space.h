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

/// Domain of the core operands (reduce, normalize, topk, scan; otherwise empty); of outputs and
/// extras.
///   elementwise, copy, pool, gather, resize, families without an epilogue: output {all axes} of
///               the first output
///   reduce:     domain {reduced, kept} (columns: {kept, reduced}); output {kept}
///   normalize:  domain and output {axes, others}; lines: {line, lines}, a line being the innermost
///               of the axes and, around them, of the others, and lines the remaining others and
///               then the remaining axes
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
/// gemm, blockgemm, conv: groups[1] of the output; gemm: groups[2].
Dims OuterAxesOf(const abi::Problem& problem);
Dims BatchAxesOf(const abi::Problem& problem);

/// An operand along one group, neighbouring axes merged where one stride walks both, outermost
/// first.
struct Walk {
  Dims extents;
  Dims strides;
};
Walk WalkOf(const abi::View& view, const Dims& group);

/// Largest power of two r <= 16 such that the r elements from any index of groups[0] that is a
/// multiple of r are consecutive in memory, the first aligned to min(16, r * element bytes); 1 when
/// there is none.
int RunOf(const abi::View& view, const Space& space);
/// Largest power of two r <= 16 such that those r elements are one and the same; 1 when there is
/// none.
int SameOf(const abi::View& view, const Space& space);

/// Elements per access that keep every operand's access within 16 bytes and, for most of them, in
/// one piece: the vector width of a kernel that walks `space` with these operands.
int VectorOf(const std::vector<const abi::View*>& views, const Space& space);

/// Innermost axis of more than one element with stride 1, or -1.
int ContiguousAxis(const abi::View& view);

/// Whether the instance needs 64-bit indices.
bool NeedsWideIndex(const abi::Problem& problem);

}  // namespace aicf::cuda
