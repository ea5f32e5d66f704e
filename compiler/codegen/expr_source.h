/// Expressions as CUDA C++: one `const T tN = Op..(...)` per node, over
/// kernels/cuda/common/ops.cuh.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "kernels/abi/expr.h"

namespace aicf {

/// Spelling of a compute dtype in device code: "float", "double", "bool", "i8", ...
std::string_view ComputeTypeName(DType dtype);
/// Spelling of a storage dtype: "f32", "f16", "b8", ... (kernels/cuda/common/types.cuh).
std::string_view StorageTypeName(DType dtype);

/// The name that ExprStatements gives to a node's value: "t3".
std::string LocalName(uint16_t node);

/// A literal of the compute type of `dtype` with exactly the bits of a constant node.
std::string ConstantText(const abi::ExprNode& node);

/// Statements that define t0 .. tN for the nodes of `expr`, each indented by `indent`.
/// `input(k)` is the text of input k's value, `coordinate(axis)` that of a domain coordinate.
std::string ExprStatements(const abi::Expr& expr, std::string_view indent,
                           const std::function<std::string(int)>& input,
                           const std::function<std::string(int)>& coordinate);

/// Whether a node reads coordinates.
bool UsesIndex(const abi::Expr& expr);

}  // namespace aicf
