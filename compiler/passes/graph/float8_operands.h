/// What the passes that multiply float8 codes ask about a Conv, MatMul or Gemm and its operands.
#pragma once

#include <string>

#include "compiler/ir/graph.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {

/// Whether the zero point of a DequantizeLinear is absent, or a constant of zeros.
bool IsZeroPoint(const ir::Graph& graph, ir::ValueId zero);

/// The axis of a DequantizeLinear's blocks or scales, from 0.
int64_t BlockAxis(const ir::Node& node, const Dims& shape);

/// Whether a Gemm takes its right operand transposed.
bool TransposesB(const ir::Node& node);

/// The product of all extents but the last.
int64_t RowsOf(const Dims& shape);

/// Empty, or what of a Gemm keeps it from being a plain product of codes and a bias. Other
/// products have nothing of the kind.
std::string RefuseGemmOfCodes(const ir::Node& node);

/// Appends a Transpose of the matrix to the graph's nodes, in the name of `node`, and gives its
/// value.
ir::ValueId TransposedMatrix(ir::Graph& graph, ValueMaker& make, const ir::Node& node,
                             ir::ValueId matrix);

}  // namespace aicf
