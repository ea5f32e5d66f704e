/// Conditions that the rules of CheckPrefix share. Each is empty, or the sentence that refuses.
#pragma once

#include <string>

#include "compiler/ir/prefix/rules.h"

namespace aicf::ir {

/// Requires that operand i has the same extent along the axis in both graphs. `what` completes the
/// sentence "it ... axis 2".
std::string RequireSame(const NodePair& p, size_t i, int axis, std::string_view what);
/// Requires that operand i has the same shape in both graphs.
std::string RequireSameShape(const NodePair& p, size_t i);
std::string RequireSameShapes(const NodePair& p, size_t first);

/// For a tensor that is broadcast, with trailing axes aligned. Where it repeats in one graph, it
/// must repeat in the other: otherwise its element would serve positions that have elements of
/// their own there.
std::string RequireSameBroadcast(const Dims& large, const Dims& small, const Dims& out_large,
                                 const Dims& out_small);

/// Requires that a reshape, which keeps the row-major order, maps the box of first elements in the
/// input onto the box of first elements in the output.
std::string RequireReshape(const Dims& in_large, const Dims& in_small, const Dims& out_large,
                           const Dims& out_small);

/// An axis attribute, counted from 0. A shape rule has checked it, so there is no error.
int AxisOf(const NodePair& p, std::string_view attribute, int64_t fallback, size_t operand = 0);

}  // namespace aicf::ir
