// Ops that place data in a grid of another shape.
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

Result<Dims> TargetShape(const Composer& c, const ir::Node& node, const Dims& from) {
  AICF_ASSIGN_OR_RETURN(const auto sizes, ir::ConstantInts(c.graph(), node, 1, "shape"));
  std::vector<int64_t> axes = AxesFrom(0, from.rank());
  if (node.Has("axes")) axes = node.Ints("axes");
  if (!sizes || sizes->size() != axes.size()) {
    return Error(Code::kBadModel, "shape has ", sizes ? sizes->size() : 0, " entries for ",
                 axes.size(), " axes");
  }
  Dims to = from;
  for (size_t i = 0; i < axes.size(); ++i) {
    AICF_ASSIGN_OR_RETURN(const int axis, ir::NormalizeAxis(axes[i], from.rank()));
    if ((*sizes)[i] < 0) return Error(Code::kBadModel, "shape holds ", (*sizes)[i]);
    to[axis] = (*sizes)[i];
  }
  return to;
}

}  // namespace

// An odd element goes to the end, of what is cut off and of what is added.
Status ExpandCenterCropPad(Composer& c) {
  const Dims from = c.Shape(c.In(0));
  AICF_ASSIGN_OR_RETURN(const Dims to, TargetShape(c, c.node(), from));
  std::vector<int64_t> pads(static_cast<size_t>(2 * from.rank()), 0);
  ir::ValueId v = c.In(0);
  for (int i = 0; i < from.rank(); ++i) {
    const int64_t less = from[i] - to[i];
    if (less > 0) v = c.Window(v, i, less / 2, to[i]);
    if (less >= 0) continue;
    pads[static_cast<size_t>(i)] = -less / 2;
    pads[static_cast<size_t>(i + from.rank())] = -less - -less / 2;
  }
  c.Output(0, c.Op("Pad", {v, c.Ints(pads)}));
  return c.status();
}

}  // namespace aicf
