/// cpu.topk.heap: one pass over each line; most elements lose against the worst of the k kept so
/// far.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/topk/topk.h"

namespace aicf::cpu {
namespace {

/// Whether `a` comes before `b` in the output: by value, NaN as the largest, then by index.
struct Before {
  bool largest;

  static bool Less(float a, float b) { return std::isnan(b) ? !std::isnan(a) : a < b; }
  bool operator()(const TopKFloat& a, const TopKFloat& b) const {
    if (Less(a.value, b.value)) return !largest;
    if (Less(b.value, a.value)) return largest;
    return a.index < b.index;
  }
};

/// Leaves the first k items of the line, in order, in items[0 .. k). REQUIRES: 0 < k <= n.
void SelectLine(const float* line, int64_t stride, int64_t n, int64_t k, const Before& before,
                TopKFloat* items) {
  for (int64_t i = 0; i < k; ++i) items[i] = {line[i * stride], i};
  std::make_heap(items, items + k, before);  // items[0] is the last in order
  for (int64_t i = k; i < n; ++i) {
    const TopKFloat item = {line[i * stride], i};
    if (!before(item, items[0])) continue;
    std::pop_heap(items, items + k, before);
    items[k - 1] = item;
    std::push_heap(items, items + k, before);
  }
  std::sort_heap(items, items + k, before);
}

}  // namespace

void TopKHeap(const abi::ArgBlock& args) {
  const auto& attrs = args.problem->as<abi::TopKAttrs>();
  const int axis = static_cast<int>(attrs.axis);
  const abi::TensorArg& x = Input(args, 0);
  Dims lines = ShapeOf(x);
  lines[axis] = 1;
  const int64_t count = attrs.k == 0 ? 0 : ElementCount(lines).value_or(0);
  ParallelRanges(args, count, 16384 / std::max<int64_t>(x.shape[axis], 1) + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     int64_t at[kMaxRank] = {};
                     for (int64_t rest = i, d = lines.rank() - 1; d >= 0; --d) {
                       at[d] = rest % lines[static_cast<int>(d)];
                       rest /= lines[static_cast<int>(d)];
                     }
                     TopKFloat* items = static_cast<TopKFloat*>(args.workspace) + i * attrs.k;
                     SelectLine(static_cast<const float*>(ElementAt(x, at)), x.strides[axis],
                                x.shape[axis], attrs.k, Before{attrs.largest}, items);
                     for (at[axis] = 0; at[axis] < attrs.k; ++at[axis]) {
                       StoreAt(Output(args, 0), at, FloatScalar(items[at[axis]].value));
                       StoreAt(Output(args, 1), at, IntScalar(items[at[axis]].index));
                     }
                   }
                 });
}

}  // namespace aicf::cpu
