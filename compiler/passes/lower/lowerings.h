/// Every lowering named in compiler/ir/ops.def. Each emits the steps of one node, or makes its
/// outputs views. REQUIRES: shapes and dtypes are inferred. Errors: kUnsupported with the reason;
/// the caller adds the node's name.
#pragma once

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace aicf {

class LowerContext;

Status LowerElementwise(LowerContext& ctx, const ir::Node& node);
Status LowerLoopBegin(LowerContext& ctx, const ir::Node& node);
Status LowerLoopEnd(LowerContext& ctx, const ir::Node& node);
Status LowerTrilu(LowerContext& ctx, const ir::Node& node);

Status LowerBitCast(LowerContext& ctx, const ir::Node& node);
Status LowerConcat(LowerContext& ctx, const ir::Node& node);
Status LowerDepthToSpace(LowerContext& ctx, const ir::Node& node);
Status LowerSpaceToDepth(LowerContext& ctx, const ir::Node& node);
Status LowerExpand(LowerContext& ctx, const ir::Node& node);
Status LowerIdentity(LowerContext& ctx, const ir::Node& node);
Status LowerPad(LowerContext& ctx, const ir::Node& node);
/// Reshape, Flatten, Squeeze and Unsqueeze: the output's shape says it all.
Status LowerReshape(LowerContext& ctx, const ir::Node& node);
Status LowerSlice(LowerContext& ctx, const ir::Node& node);
Status LowerSplit(LowerContext& ctx, const ir::Node& node);
Status LowerTile(LowerContext& ctx, const ir::Node& node);
Status LowerTranspose(LowerContext& ctx, const ir::Node& node);

Status LowerConstantOfShape(LowerContext& ctx, const ir::Node& node);
Status LowerRange(LowerContext& ctx, const ir::Node& node);
Status LowerExpanded(LowerContext& ctx, const ir::Node& node);
Status LowerShapeOf(LowerContext& ctx, const ir::Node& node);
Status LowerSizeOf(LowerContext& ctx, const ir::Node& node);

Status LowerConv(LowerContext& ctx, const ir::Node& node);
Status LowerGemm(LowerContext& ctx, const ir::Node& node);
Status LowerMatMul(LowerContext& ctx, const ir::Node& node);

Status LowerConvInteger(LowerContext& ctx, const ir::Node& node);
Status LowerDequantizeLinear(LowerContext& ctx, const ir::Node& node);
Status LowerMatMulInteger(LowerContext& ctx, const ir::Node& node);
Status LowerQLinearConv(LowerContext& ctx, const ir::Node& node);
Status LowerQLinearMatMul(LowerContext& ctx, const ir::Node& node);
Status LowerQuantizeLinear(LowerContext& ctx, const ir::Node& node);

Status LowerPool(LowerContext& ctx, const ir::Node& node);
Status LowerGlobalPool(LowerContext& ctx, const ir::Node& node);

Status LowerArg(LowerContext& ctx, const ir::Node& node);
Status LowerReduce(LowerContext& ctx, const ir::Node& node);
Status LowerReduceLogSumExp(LowerContext& ctx, const ir::Node& node);

Status LowerBatchNormalization(LowerContext& ctx, const ir::Node& node);
Status LowerGroupNormalization(LowerContext& ctx, const ir::Node& node);
Status LowerInstanceNormalization(LowerContext& ctx, const ir::Node& node);
Status LowerLayerNormalization(LowerContext& ctx, const ir::Node& node);
Status LowerSoftmax(LowerContext& ctx, const ir::Node& node);

Status LowerAttention(LowerContext& ctx, const ir::Node& node);

Status LowerScaledMatMul(LowerContext& ctx, const ir::Node& node);
Status LowerBlockMatMul(LowerContext& ctx, const ir::Node& node);
Status LowerDequantizeBlocks(LowerContext& ctx, const ir::Node& node);
Status LowerRotaryAppend(LowerContext& ctx, const ir::Node& node);
Status LowerCategorical(LowerContext& ctx, const ir::Node& node);

Status LowerGather(LowerContext& ctx, const ir::Node& node);
Status LowerGatherElements(LowerContext& ctx, const ir::Node& node);
Status LowerGatherND(LowerContext& ctx, const ir::Node& node);
Status LowerScatterElements(LowerContext& ctx, const ir::Node& node);
Status LowerScatterND(LowerContext& ctx, const ir::Node& node);
Status LowerCumulative(LowerContext& ctx, const ir::Node& node);
Status LowerGridSample(LowerContext& ctx, const ir::Node& node);
Status LowerRoiAlign(LowerContext& ctx, const ir::Node& node);
Status LowerCounted(LowerContext& ctx, const ir::Node& node);
Status LowerPositions(LowerContext& ctx, const ir::Node& node);
Status LowerSelectBoxes(LowerContext& ctx, const ir::Node& node);
Status LowerMaxRoiPool(LowerContext& ctx, const ir::Node& node);
Status LowerResize(LowerContext& ctx, const ir::Node& node);
Status LowerTopK(LowerContext& ctx, const ir::Node& node);

Status LowerRecurrent(LowerContext& ctx, const ir::Node& node);

}  // namespace aicf
