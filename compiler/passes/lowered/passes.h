/// Passes on ir::Lowered. compiler/passes/pass_list.def says in which order they run, some of them
/// twice. Each is one file here and one golden test in tests/passes/.
#pragma once

#include "base/status.h"
#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// Products get the math mode that options, policy or a wish ask for.
Status ChooseMath(ir::Lowered& lowered, PassContext& context);
/// Products multiply 8-bit codes where a calibration is given and nothing speaks against it.
Status QuantizeProducts(ir::Lowered& lowered, PassContext& context);
/// Attention that no kernel but the reference takes becomes a product, a softmax and a product.
Status SplitAttention(ir::Lowered& lowered, PassContext& context);
/// Convolutions of few channels that tensor cores multiply (of 16 bits or tf32) read the taps of
/// their last axis as channels, and where they have many windows those of neighbouring rows, too.
Status FoldTaps(ir::Lowered& lowered, PassContext& context);
/// Convolutions of one position become matrix products.
Status ConvToGemm(ir::Lowered& lowered, PassContext& context);
/// Constant weights of convolutions are stored as the target's kernels read them best.
Status StoreWeights(ir::Lowered& lowered, PassContext& context);
/// Steps that only one side of a selection needs are skipped where the other side is taken.
Status GuardBranches(ir::Lowered& lowered, PassContext& context);
/// Readers of a copy (or of an elementwise identity) read its source instead, through a translated
/// view.
Status ForwardCopies(ir::Lowered& lowered, PassContext& context);
/// Copies of copies that move whole rows become one gather by a constant index.
Status GatherRows(ir::Lowered& lowered, PassContext& context);
/// Steps with equal problems and inputs become one.
Status CseSteps(ir::Lowered& lowered, PassContext& context);
/// Elementwise producers move into elementwise consumers.
Status FuseElementwise(ir::Lowered& lowered, PassContext& context);
/// Elementwise consumers become the epilogue of the step that makes their operand.
Status FuseEpilogue(ir::Lowered& lowered, PassContext& context);
/// A product and the step that combines the two halves of its columns become one product.
Status PairHalves(ir::Lowered& lowered, PassContext& context);
/// Elementwise producers become the prologue of a reduction or normalisation.
Status FusePrologue(ir::Lowered& lowered, PassContext& context);
/// A quotient by the scale of a result's codes moves into the constants that a product's sums are
/// multiplied with.
Status FoldScales(ir::Lowered& lowered, PassContext& context);
/// A quotient by a constant, in the epilogue of a product, becomes a product with its reciprocal.
Status FormReciprocals(ir::Lowered& lowered, PassContext& context);
/// A product that is only added to something becomes fma, with one rounding.
Status FormFma(ir::Lowered& lowered, PassContext& context);
/// A producer read only by a copy writes into the copy's buffer: concatenations and outputs.
Status EliminateCopies(ir::Lowered& lowered, PassContext& context);
/// Steps whose results nothing reads disappear.
Status DeadSteps(ir::Lowered& lowered, PassContext& context);
/// Convolutions of one tap whose output has its positions innermost become products of matrices.
Status ConvToProduct(ir::Lowered& lowered, PassContext& context);
/// Row-major values that are read beside whole pixels are copied once, channels innermost.
Status StorePixels(ir::Lowered& lowered, PassContext& context);
/// A mean over positions, two products and the scaling by their result become one step.
Status JoinExcitation(ir::Lowered& lowered, PassContext& context);
/// A step that appends rows to a cache becomes part of the attention that reads the cache.
Status AppendIntoAttention(ir::Lowered& lowered, PassContext& context);
/// Small elementwise steps of one shape become one step with the results of all.
Status FuseHorizontal(ir::Lowered& lowered, PassContext& context);
/// Pairs of an input and an output that are one state get one place, changed by a copy at the end.
Status UpdateStates(ir::Lowered& lowered, PassContext& context);
/// Values of f32 are stored in 16 bits where that is asked for and nothing speaks against it.
Status ChooseStorage(ir::Lowered& lowered, PassContext& context);
/// A copy and the step that converts what it has copied become one step.
Status ConvertInCopy(ir::Lowered& lowered, PassContext& context);
/// Products with weights in blocks of one 16-bit element become matrix products.
Status BlocksToGemm(ir::Lowered& lowered, PassContext& context);
/// Products of many rows with quantised blocks become two steps where that takes less time: the
/// values of all blocks, and their matrix product.
Status DecodeBlocks(ir::Lowered& lowered, PassContext& context);
/// Large products whose blocks have scales read a copy of those of their rows, turned so that the
/// scales of neighbouring rows are neighbours, where that takes less time.
Status TurnScales(ir::Lowered& lowered, PassContext& context);
/// A norm by the root mean square that few rows pass through becomes part of the product after it.
Status NormIntoProduct(ir::Lowered& lowered, PassContext& context);
/// A norm of layers disappears as a step where the products that read it can finish it in their
/// epilogues (norm_moments.h).
Status MomentsInProduct(ir::Lowered& lowered, PassContext& context);
/// Codes of a value that others read as it is become another result of the step that makes it.
Status QuantizeInProducer(ir::Lowered& lowered, PassContext& context);
/// Changes nothing: records, for every producer and consumer left apart, the condition that failed.
Status ExplainSeparate(ir::Lowered& lowered, PassContext& context);

}  // namespace aicf
