#include "compiler/passes/lowered/split_domain.h"

#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"

namespace aicf {
namespace {

bool Reshaped(std::vector<abi::View>& views, const Dims& from, const Dims& to) {
  for (abi::View& v : views) {
    const auto changed = v.shape == from ? ir::Reshape(v, to) : std::nullopt;
    if (!changed) return false;
    v = *changed;
  }
  return true;
}

// Keeps the normalised axes at their place from the end. False unless they are the last axes of
// `from` and have the same extents in `to`.
bool MoveAxes(abi::NormalizeAttrs& attrs, const Dims& from, const Dims& to) {
  const int count = attrs.axes.rank();
  if (count > to.rank()) return false;
  for (int i = 0; i < count; ++i) {
    const int last = i - count;  // from the end
    if (attrs.axes[i] != from.rank() + last) return false;
    if (from[from.rank() + last] != to[to.rank() + last]) return false;
  }
  for (int i = 0; i < count; ++i) attrs.axes[i] = to.rank() - count + i;
  return true;
}

}  // namespace

std::optional<ir::LoweredStep> OverShape(const ir::LoweredStep& step, const Dims& shape) {
  const abi::Problem& p = step.problem;
  const Dims domain = p.outputs[0].shape;
  if (p.family != abi::Family::kElementwise && p.family != abi::Family::kNormalize) return {};
  if (ReadsCoordinates(p.prologue) || ReadsCoordinates(p.epilogue)) return {};
  if (ElementCount(domain) != ElementCount(shape) || ElementCount(shape) == 0) return {};
  ir::LoweredStep out = step;
  abi::Problem& q = out.problem;
  if (!Reshaped(q.inputs, domain, shape) || !Reshaped(q.outputs, domain, shape)) return {};
  if (p.family == abi::Family::kNormalize &&
      !MoveAxes(std::get<abi::NormalizeAttrs>(q.attrs), domain, shape)) {
    return {};
  }
  return out;
}

}  // namespace aicf
