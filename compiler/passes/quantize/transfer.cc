#include "compiler/passes/quantize/transfer.h"

#include <algorithm>

namespace aicf::quantize {
namespace {

const ir::LoweredStep& StepOf(const ir::Lowered& lowered, int step) {
  return lowered.steps[static_cast<size_t>(step)];
}

bool HaveSameWeights(const ir::Tensor& a, const ir::Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::ranges::equal(a.bytes(), b.bytes());
}

// Of the channels, only their number has to agree: where they lie in a buffer follows from its
// shape.
bool HaveSameRules(const Products& a, ir::BufferId x, const Products& b, ir::BufferId y) {
  const CodeRules p = a.RulesOf(x, DType::kI8), q = b.RulesOf(y, DType::kI8);
  return p.never_negative == q.never_negative && p.takes_zero == q.takes_zero &&
         p.channels.extent == q.channels.extent && a.IsDepthwise(x) == b.IsDepthwise(y);
}

ptrdiff_t PlaceOf(const Products& products, ir::BufferId value) {
  return std::ranges::find(products.values, value) - products.values.begin();
}

}  // namespace

bool HaveSameProducts(const ir::Lowered& one, const ir::Lowered& other) {
  const Products a(one), b(other);
  if (a.steps.size() != b.steps.size() || a.values.size() != b.values.size()) return false;
  for (size_t v = 0; v < a.values.size(); ++v) {
    if (!HaveSameRules(a, a.values[v], b, b.values[v])) return false;
  }
  for (size_t k = 0; k < a.steps.size(); ++k) {
    const ir::LoweredStep &p = StepOf(one, a.steps[k]), &q = StepOf(other, b.steps[k]);
    if (p.problem.family != q.problem.family || p.sources != q.sources ||
        PlaceOf(a, p.inputs[0]) != PlaceOf(b, q.inputs[0]) ||
        !HaveSameWeights(one.buffers[p.inputs[1]].constant, other.buffers[q.inputs[1]].constant)) {
      return false;
    }
  }
  return true;
}

CalibratedEntry RecordFor(const ir::Lowered& to, const ir::Lowered& from, CalibratedEntry record) {
  const Products a(from), b(to);
  for (CalibratedValue& v : record.values) {
    v.buffer = b.values[static_cast<size_t>(PlaceOf(a, v.buffer))];
    v.name = to.buffers[v.buffer].name;
  }
  for (CalibratedProduct& p : record.products) {
    p.step = b.steps[static_cast<size_t>(std::ranges::find(a.steps, p.step) - a.steps.begin())];
    p.name = to.buffers[StepOf(to, p.step).outputs[0]].name;
  }
  return record;
}

}  // namespace aicf::quantize
