/// Index algebra on abi::View. Every function returns a view of the same buffer (Remap: of another
/// one), moves no data, and keeps the element order that its comment states.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/abi/problem.h"

namespace aicf::ir {

/// result[i_0, .., i_r] = v[.. i_k at axis perm[k] ..], as in ONNX Transpose.
abi::View Permute(const abi::View& v, const Dims& perm);

/// result[i] = v[starts + i * steps], of the given extents. REQUIRES: every such index is inside v.
abi::View WindowOf(const abi::View& v, const Dims& starts, const Dims& extents, const Dims& steps);
/// The same with steps of one.
abi::View WindowOf(const abi::View& v, const Dims& starts, const Dims& extents);

/// NumPy broadcasting to `shape` (aligned at the right). REQUIRES: v.shape broadcasts to shape.
abi::View BroadcastTo(const abi::View& v, const Dims& shape);

/// The same elements in row-major order of the view under another shape of equal count; nullopt
/// when no strides express it, and a copy is needed.
std::optional<abi::View> Reshape(const abi::View& v, const Dims& shape);

/// Strides of a dense block whose axes are stored in `order`, outermost first.
Dims StridesInOrder(const Dims& shape, const Dims& order);
/// Axes from the largest to the smallest stride; ties keep the order of the axes.
Dims AxisOrder(const abi::View& v);
/// {0, 2, .., rank-1, 1}: batch, spatial axes, channels.
Dims ChannelsLastOrder(int rank);

/// True when both views name the same elements in the same order (strides of axes with one element
/// do not matter).
bool SameElements(const abi::View& a, const abi::View& b);

/// True when the view touches every element of a buffer of `count` elements exactly once.
bool CoversWhole(const abi::View& v, int64_t count);

/// True when no two indices of the view share an element (sufficient test: nested strides).
bool IsInjective(const abi::View& v);

/// Translates a view of one buffer into a view of another: `from` and `to` have one shape, so they
/// pair each element of the first buffer with one of the second; the result W has v's shape and
/// W[i] = to[j] wherever v[i] = from[j]. nullopt when v reads outside `from` or no strides express
/// it.
std::optional<abi::View> Remap(const abi::View& v, const abi::View& from, const abi::View& to);

/// Distinct elements named by the view: broadcast axes count once.
int64_t DistinctElements(const abi::View& v);

}  // namespace aicf::ir
