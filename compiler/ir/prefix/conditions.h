/// Conditions that the rules of CheckPrefix share. Each is empty, or the sentence that refuses.
#pragma once

#include <string>

#include "compiler/ir/prefix/rules.h"

namespace aicf::ir {

/// Operand i has one extent along the axis in both graphs. `what` completes "it ... axis 2".
std::string RequireSame(const NodePair& p, size_t i, int axis, std::string_view what);
/// Operand i has one shape in both.
std::string RequireSameShape(const NodePair& p, size_t i);
std::string RequireSameShapes(const NodePair& p, size_t first);

/// A tensor that is broadcast, trailing axes aligned: where it repeats in one graph, it must repeat
/// in the other, or its element would serve positions that have elements of their own.
std::string RequireSameBroadcast(const Dims& large, const Dims& small, const Dims& out_large,
                                 const Dims& out_small);

/// A reinterpretation in row-major order maps the one box of first elements onto the other.
std::string RequireReshape(const Dims& in_large, const Dims& in_small, const Dims& out_large,
                           const Dims& out_small);

/// NormalizeAxis of an attribute that a shape rule has checked.
int AxisOf(const NodePair& p, std::string_view attribute, int64_t fallback, size_t operand = 0);

}  // namespace aicf::ir
