// Ops that move indices and no data.
#include "compiler/ir/views.h"

#include "compiler/ir/infer/infer.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {

Status LowerIdentity(LowerContext& ctx, const ir::Node& node) {
  ctx.Alias(node.outputs[0], ctx.Get(node.inputs[0]));
  return OkStatus();
}

namespace {

// Copies x into a buffer that is read under the shape of the output. The buffer has the axis order
// that a convolution wants if the input can be written in that order under its own shape; otherwise
// it is row-major.
void CopyReshaped(LowerContext& ctx, const ir::Node& node, const ValueView& x) {
  const ir::Value& out = ctx.value(node.outputs[0]);
  const std::string why =
      StrCat("strides ", ToListString(x.view.strides), " of ", ToString(x.view.shape),
             " cannot be read as ", ToString(out.shape));
  ValueView to = ctx.Define(node.outputs[0]);
  std::optional<abi::View> written = ir::Reshape(to.view, x.view.shape);
  if (!written) {
    to = ctx.DefineDense(node.outputs[0]);
    written = ir::Reshape(to.view, x.view.shape);
  }
  ctx.EmitCopy(node, x, {to.buffer, *written}, why, Reason::kOnlyLegal);
}

}  // namespace

Status LowerReshape(LowerContext& ctx, const ir::Node& node) {
  const ir::ValueId out = node.outputs[0];
  const ValueView x = ctx.Get(node.inputs[0]);
  const std::optional<abi::View> view = ir::Reshape(x.view, ctx.value(out).shape);
  if (view) {
    ctx.Alias(out, {x.buffer, *view});
  } else {
    CopyReshaped(ctx, node, x);
  }
  return OkStatus();
}

Status LowerTranspose(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  AICF_ASSIGN_OR_RETURN(const Dims perm, ir::ResolvePerm(ctx.graph(), node));
  ctx.Alias(node.outputs[0], {x.buffer, ir::Permute(x.view, perm)});
  return OkStatus();
}

Status LowerExpand(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  ctx.Alias(node.outputs[0], {x.buffer, ir::BroadcastTo(x.view, ctx.value(node.outputs[0]).shape)});
  return OkStatus();
}

Status LowerSlice(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  AICF_ASSIGN_OR_RETURN(const ir::SliceSpec s, ir::ResolveSlice(ctx.graph(), node));
  ctx.Alias(node.outputs[0], {x.buffer, ir::WindowOf(x.view, s.starts, s.extents, s.steps)});
  return OkStatus();
}

Status LowerSplit(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  AICF_ASSIGN_OR_RETURN(const ir::SplitSpec spec, ir::ResolveSplit(ctx.graph(), node));
  Dims starts = Dims::Filled(x.view.shape.rank(), 0);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Dims extents = x.view.shape;
    extents[spec.axis] = spec.extents[i];
    if (node.outputs[i] != ir::kNoValue) {
      ctx.Alias(node.outputs[i], {x.buffer, ir::WindowOf(x.view, starts, extents)});
    }
    starts[spec.axis] += spec.extents[i];
  }
  return OkStatus();
}

namespace {

// Makes the rearranged view `blocks`, under the shape of the output, the result: as a view, or by a
// copy where strides do not express it.
void CopyBlocks(LowerContext& ctx, const ir::Node& node, const ValueView& x,
                const abi::View& blocks) {
  const ir::ValueId out = node.outputs[0];
  if (const auto view = ir::Reshape(blocks, ctx.value(out).shape)) {
    ctx.Alias(out, {x.buffer, *view});
    return;
  }
  const ValueView to = ctx.DefineLike(out, x);
  // Splitting axes of the output is always a view.
  ctx.EmitCopy(node, {x.buffer, blocks}, {to.buffer, *ir::Reshape(to.view, blocks.shape)},
               "the blocks interleave, which no strides express", Reason::kOnlyLegal);
}

}  // namespace

Status LowerDepthToSpace(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  const Dims& s = x.view.shape;
  const int64_t b = node.Int("blocksize", 1);
  const int64_t c = s[1] / (b * b);
  const bool crd = node.Str("mode", "DCR") == "CRD";
  const Dims split = crd ? Dims{s[0], c, b, b, s[2], s[3]} : Dims{s[0], b, b, c, s[2], s[3]};
  const Dims perm = crd ? Dims{0, 1, 4, 2, 5, 3} : Dims{0, 3, 4, 1, 5, 2};
  CopyBlocks(ctx, node, x, ir::Permute(*ir::Reshape(x.view, split), perm));
  return OkStatus();
}

Status LowerSpaceToDepth(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  const Dims& s = x.view.shape;
  const int64_t b = node.Int("blocksize", 1);
  const Dims split{s[0], s[1], s[2] / b, b, s[3] / b, b};
  CopyBlocks(ctx, node, x, ir::Permute(*ir::Reshape(x.view, split), {0, 3, 5, 1, 2, 4}));
  return OkStatus();
}

}  // namespace aicf
