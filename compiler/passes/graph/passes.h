/// Passes on ir::Graph, and the two steps before them that make every shape known.
/// Each pass is one source file here, one row in pass_list.def and one golden test. A pass records
/// each rewrite in context.decisions with the source nodes' names.
#pragma once

#include <map>
#include <string>

#include "base/status.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// Gives the graph's inputs their shapes. An extent's symbol ("batch") bound through one input is
/// bound in every other. Errors: kInvalidArgument for an unknown name, a rank or extent that
/// contradicts the model, or a symbol bound to two extents; kUnsupported naming the input and the
/// flag when an extent stays unknown.
Status BindShapes(ir::Graph& graph, const std::map<std::string, Dims, std::less<>>& shapes);

/// Turns graph inputs into constants. Errors: kInvalidArgument for an unknown name, or a dtype or
/// shape that contradicts the model.
Status BindValues(ir::Graph& graph, const std::map<std::string, ir::Tensor, std::less<>>& values);

/// Makes every shape known in one walk in order. It rewrites what older opsets left to shapes
/// (implicit broadcasting, flattening Softmax), folds nodes whose inputs are all constant, except
/// DequantizeLinear of weights of 8 bits, and infers the others. Afterwards every value has a dtype
/// and a shape. REQUIRES: every graph input has a shape. Errors: kBadModel, kUnsupported and
/// kResource naming the node.
Status InferAndFold(ir::Graph& graph, PassContext& context);

/// Replaces nodes whose inputs are all constant by their results, within the limits of evaluate.h.
Status FoldConstants(ir::Graph& graph, PassContext& context);
/// Identity, and no-op Reshape, Cast, Transpose, Pad, Slice, Expand, Tile, Concat and the like.
Status EliminateIdentity(ir::Graph& graph, PassContext& context);
/// Merges nodes of equal op, attributes and inputs; equal constants are one value.
Status EliminateCommonSubexpressions(ir::Graph& graph, PassContext& context);
/// Drops nodes that no graph output needs, and constants that nothing uses.
Status EliminateDeadCode(ir::Graph& graph, PassContext& context);
/// Transpose of Transpose becomes one, or none.
Status MergeTransposes(ir::Graph& graph, PassContext& context);
/// Chains of Reshape, Squeeze, Unsqueeze and Flatten become one Reshape.
Status MergeReshapes(ir::Graph& graph, PassContext& context);
/// BatchNormalization, and Mul, Add, Sub and Div by per-channel constants, go into the weights and
/// bias of the Conv, ConvTranspose or Gemm before them.
Status FoldBatchNorm(ir::Graph& graph, PassContext& context);
/// x*1, x+0, x/1, Pow by 2 and 0.5, Div by a power of two: exact rewrites only.
Status SimplifyArithmetic(ir::Graph& graph, PassContext& context);
/// Codes of i8 that QuantizeLinear makes with the zero point -128, and that only DequantizeLinear
/// reads, become codes of u8 with the zero point 0.
Status UnsignedCodes(ir::Graph& graph, PassContext& context);
/// Nodes that only move or compare values between DequantizeLinear and QuantizeLinear of one scale
/// work on the codes: transposes, slices, concatenations, maximum pools, bounds and the like.
Status KeepCodesAsTheyAre(ir::Graph& graph, PassContext& context);
/// MatMul and Gemm of two DequantizeLinear with float8 codes and scales of blocks become
/// aicf.ScaledMatMul.
Status MakeScaledProducts(ir::Graph& graph, PassContext& context);
/// Conv, MatMul and Gemm of two DequantizeLinear with float8 codes and scales that do not change
/// along the sum become aicf.CodeConv, or aicf.ScaledMatMul without scales, times both scales.
Status MakeFloat8Products(ir::Graph& graph, PassContext& context);
/// Conv, MatMul and Gemm of two DequantizeLinear become ConvInteger or MatMulInteger times both
/// scales. Folds the DequantizeLinear of weights that InferAndFold left for this pass.
Status MakeIntegerProducts(ir::Graph& graph, PassContext& context);
/// ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add become LayerNormalization.
Status RecognizeLayerNorm(ir::Graph& graph, PassContext& context);
/// Pow, ReduceMean, Add, Sqrt, Reciprocal, Mul, Mul become RMSNormalization, and so do forms with
/// Div, with a product as the square, with a power of -0.5, and without a scale.
Status RecognizeRmsNorm(ir::Graph& graph, PassContext& context);
/// Reshape, InstanceNormalization, Reshape become aicf.GroupNormalization, which keeps the axes of
/// its operand.
Status RecognizeGroupNorm(ir::Graph& graph, PassContext& context);
/// MatMul, scale, mask, Softmax, MatMul become aicf.Attention (compiler/ir/attention_node.h).
Status RecognizeAttention(ir::Graph& graph, PassContext& context);
/// Scalar constant factors of a MatMul's operands become one factor of its result.
Status MoveScales(ir::Graph& graph, PassContext& context);
/// MatMuls of one value with constant matrices, whose results are only viewed or multiplied, become
/// one MatMul and a Split; so do their constant biases. Products of float8 codes likewise, with the
/// factors of their scales and a Cast behind these.
Status MergeProducts(ir::Graph& graph, PassContext& context);
/// Constants of commutative ops go second, so that later matchers see one order.
Status CanonicalizeOperands(ir::Graph& graph, PassContext& context);

}  // namespace aicf
