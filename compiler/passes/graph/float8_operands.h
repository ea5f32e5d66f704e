/// What the passes that multiply float8 codes ask about a Conv, MatMul or Gemm and its operands.
#pragma once

#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {

/// What a pass says of products that it looks at.
struct CodeProductTexts {
  std::string_view pass;
  std::string_view choice;    ///< what a product becomes: "product of codes"
  std::string_view because;   ///< why
  std::string_view needs;     ///< what a product that stays one of floats lacks
  std::string_view operand;   ///< "is not dequantised from float8", of an operand
  bool convolutions = false;  ///< whether Conv is one of the products, beside MatMul and Gemm
};

/// What a pass does with the products that have an operand of its kind.
struct CodeProductRules {
  /// The node that makes the value, where it is of that kind; null otherwise.
  FunctionRef<const ir::Node*(const std::vector<ir::Node>& nodes, ir::ValueId value)> operand;
  /// Empty, or why the product stays one of floats.
  FunctionRef<std::string(const ir::Node& node, const ir::Node& a, const ir::Node& b)> refusal;
  /// Appends what stands in the product's place to the graph's nodes.
  FunctionRef<void(const ir::Node& node, const ir::Node& a, const ir::Node& b)> replace;
};

/// Walks over the graph, which gets its nodes anew: replaces the products whose operands are both
/// of that kind and that are not refused, and records a decision about every product with at least
/// one such operand.
void ReplaceCodeProducts(ir::Graph& graph, PassContext& context, const CodeProductTexts& texts,
                         const CodeProductRules& rules);

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
