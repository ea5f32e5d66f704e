/// Device text for views and index walks: the parts of an instance that follow from shapes and
/// strides.
#pragma once

#include <string>
#include <string_view>

#include "kernels/abi/parameters.h"
#include "kernels/abi/problem.h"
#include "kernels/cuda/common/space.h"

namespace aicf {

/// "AICF_DEVICE constexpr TYPE NAME(int d) { return d == 0 ? .. : ..; }\n"; 0 beyond the list.
std::string ListFunction(std::string_view type, std::string_view name, const Dims& values);

/// struct NAME { S, kRank, kOffset, extent(d), stride(d), run(d) }: a view as the model sees it;
/// run(d) is cuda::RunOf along axis d alone.
std::string ViewStruct(std::string_view name, const abi::View& view);

/// struct NAME { S, kRun, kSame, at(i0, i1, i2) }: element offset of an operand by linear indices.
std::string AccessStruct(std::string_view name, const abi::View& view, const cuda::Space& space);

/// Point NAMEPoint(i0, i1, i2): coordinates of linear indices. NAMEWeight(axis): what a step along
/// the axis adds to its group's linear index.
std::string PointFunction(std::string_view name, const cuda::Space& space);

/// The accesses of a copy. FromP and ToP give the offsets of piece p in its source and in the
/// output, and ForEachPiece(f) calls f for every piece. WindowK describes input k as a window of
/// the output, and ForEachWindow(f) calls f for every window. REQUIRES: the text stands behind the
/// operands' ViewStructs and the attributes.
std::string PieceAccesses(const abi::Problem& problem, const abi::Parameters& parameters);

}  // namespace aicf
