/// Whether a model made for small shapes computes a part of what it computes for large ones.
///
/// A value of the small graph is a *prefix* of its counterpart when its shape is nowhere larger and
/// each of its elements equals the element at the same position of the counterpart, whatever the
/// elements of the large graph's inputs are whose positions lie outside the small ones. So where
/// every output is a prefix, the large graph serves the small shapes: its inputs are padded with
/// anything, its outputs cut.
#pragma once

#include <string>

#include "compiler/ir/graph.h"

namespace aicf::ir {

/// Assumes that the inputs of the small graph are prefixes of those of the large one (one by one,
/// in order), and proves it of every output by walking both graphs at once. There is one rule per
/// op (rules.h); an op without a rule proves nothing.
///
/// Empty when it is proven; else one sentence with the op and the node of the large graph where an
/// output stopped being a prefix, or where the graphs differ in more than shapes.
/// REQUIRES: both come from one model by InferAndFold, which knows every shape.
/// Cost: linear in nodes and in the bytes of constants that the graphs do not share.
std::string CheckPrefix(const Graph& large, const Graph& small);

}  // namespace aicf::ir
