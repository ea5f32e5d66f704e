#include "compiler/ir/views.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace aicf::ir {
namespace {

using abi::View;

// Axes with more than one element, the only ones that move.
std::vector<int> MovingAxes(const Dims& shape) {
  std::vector<int> axes;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] != 1) axes.push_back(i);
  }
  return axes;
}

}  // namespace

View Permute(const View& v, const Dims& perm) {
  View out{v.dtype, {}, {}, v.offset};
  for (int64_t axis : perm) {
    out.shape.push_back(v.shape[static_cast<int>(axis)]);
    out.strides.push_back(v.strides[static_cast<int>(axis)]);
  }
  return out;
}

View WindowOf(const View& v, const Dims& starts, const Dims& extents, const Dims& steps) {
  View out{v.dtype, extents, v.strides, v.offset};
  bool empty = false;
  for (int64_t e : extents) empty |= e == 0;
  for (int i = 0; i < extents.rank(); ++i) {
    // The start of an empty window may lie past the end. Its offset is that of the whole view,
    // which is always legal.
    if (!empty) out.offset += starts[i] * v.strides[i];
    out.strides[i] = v.strides[i] * steps[i];
  }
  return out;
}

View WindowOf(const View& v, const Dims& starts, const Dims& extents) {
  return WindowOf(v, starts, extents, Dims::Filled(extents.rank(), 1));
}

View BroadcastTo(const View& v, const Dims& shape) {
  View out{v.dtype, shape, Dims::Filled(shape.rank(), 0), v.offset};
  const int lead = shape.rank() - v.shape.rank();
  for (int i = 0; i < v.shape.rank(); ++i) {
    const bool repeats = v.shape[i] == 1 && shape[lead + i] != 1;
    out.strides[lead + i] = repeats ? 0 : v.strides[i];
  }
  return out;
}

Dims StridesInOrder(const Dims& shape, const Dims& order) {
  Dims strides = Dims::Filled(shape.rank(), 0);
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    const int axis = static_cast<int>(order[i]);
    strides[axis] = stride;
    stride *= std::max<int64_t>(shape[axis], 1);
  }
  return strides;
}

Dims AxisOrder(const View& v) {
  std::vector<int64_t> axes(v.shape.rank());
  std::iota(axes.begin(), axes.end(), 0);
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t a, int64_t b) {
    return std::abs(v.strides[static_cast<int>(a)]) > std::abs(v.strides[static_cast<int>(b)]);
  });
  return Dims(axes);
}

Dims ChannelsLastOrder(int rank) {
  Dims order{0};
  for (int i = 2; i < rank; ++i) order.push_back(i);
  order.push_back(1);
  return order;
}

bool SameElements(const View& a, const View& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  if (abi::ElementsOf(a) == 0) return true;
  if (a.offset != b.offset) return false;
  for (int i : MovingAxes(a.shape)) {
    if (a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

bool IsInjective(const View& v) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // |stride|, extent
  for (int i : MovingAxes(v.shape)) {
    if (v.shape[i] == 0) return true;
    axes.emplace_back(std::abs(v.strides[i]), v.shape[i]);
  }
  std::sort(axes.begin(), axes.end());
  int64_t reach = 0;
  for (auto [stride, extent] : axes) {
    if (stride <= reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

bool CoversWhole(const View& v, int64_t count) {
  if (abi::ElementsOf(v) != count) return false;
  if (count == 0) return true;
  int64_t low = v.offset;
  for (int i : MovingAxes(v.shape)) low += std::min<int64_t>(0, (v.shape[i] - 1) * v.strides[i]);
  // An injective view of `count` elements that starts at zero and ends before `count` misses none.
  int64_t high = v.offset;
  for (int i : MovingAxes(v.shape)) high += std::max<int64_t>(0, (v.shape[i] - 1) * v.strides[i]);
  return low == 0 && high == count - 1 && IsInjective(v);
}

int64_t DistinctElements(const View& v) {
  int64_t count = 1;
  for (int i = 0; i < v.shape.rank(); ++i) {
    if (v.strides[i] != 0 || v.shape[i] == 0) count *= v.shape[i];
  }
  return count;
}

namespace {

// Sets the strides of the new axes `shape[first, last)`, which split one run of elements that are
// `stride` apart.
void SplitRun(const Dims& shape, int first, int last, int64_t stride, Dims& strides) {
  for (int i = last - 1; i >= first; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
}

// Whether axes[first, last) of v walk memory like one axis.
bool FormsRun(const View& v, const std::vector<int>& axes, size_t first, size_t last) {
  for (size_t i = first; i + 1 < last; ++i) {
    if (v.strides[axes[i]] != v.strides[axes[i + 1]] * v.shape[axes[i + 1]]) return false;
  }
  return true;
}

}  // namespace

std::optional<View> Reshape(const View& v, const Dims& shape) {
  View out{v.dtype, shape, RowMajorStrides(shape), v.offset};
  if (abi::ElementsOf(v) == 0 || v.shape == shape) {
    if (v.shape == shape) out.strides = v.strides;
    return out;
  }
  const std::vector<int> axes = MovingAxes(v.shape);
  size_t old_at = 0;
  int new_at = 0;
  while (old_at < axes.size()) {
    // The smallest groups of old and new axes that hold equally many elements.
    size_t old_end = old_at + 1;
    int new_end = new_at + 1;
    int64_t old_count = v.shape[axes[old_at]];
    int64_t new_count = shape[new_at];
    while (old_count != new_count) {
      if (old_count < new_count) {
        old_count *= v.shape[axes[old_end++]];
      } else {
        new_count *= shape[new_end++];
      }
    }
    if (!FormsRun(v, axes, old_at, old_end)) return std::nullopt;
    SplitRun(shape, new_at, new_end, v.strides[axes[old_end - 1]], out.strides);
    old_at = old_end;
    new_at = new_end;
  }
  // What is left are axes of one element.
  SplitRun(shape, new_at, shape.rank(), 1, out.strides);
  return out;
}

namespace {

// Pairs the axes of `from` with those of `to`, sorted by falling strides of `from`, and takes
// distances in `from` apart into steps along these axes.
class Pairing {
 public:
  // False when `from` names an element twice.
  bool Build(const View& from, const View& to) {
    from_offset_ = from.offset;
    to_offset_ = to.offset;
    for (int i : MovingAxes(from.shape)) Add({from.shape[i], from.strides[i], to.strides[i]});
    std::stable_sort(axes_.begin(), axes_.end(),
                     [](const Axis& a, const Axis& b) { return a.from > b.from; });
    Merge();
    return IsInjective(from);
  }

  int64_t from_offset() const { return from_offset_; }
  int64_t to_offset() const { return to_offset_; }
  size_t size() const { return axes_.size(); }
  int64_t extent(size_t i) const { return axes_[i].extent; }

  // A distance in the buffer of `from` as steps along each axis; nullopt when steps cannot make it
  // up.
  std::optional<std::vector<int64_t>> Unravel(int64_t distance) const {
    const int64_t sign = distance < 0 ? -1 : 1;
    distance *= sign;
    std::vector<int64_t> digits;
    for (const Axis& a : axes_) {
      digits.push_back(sign * (distance / a.from));
      distance %= a.from;
    }
    if (distance != 0) return std::nullopt;
    return digits;
  }

  int64_t ToDistance(const std::vector<int64_t>& digits) const {
    int64_t sum = 0;
    for (size_t i = 0; i < axes_.size(); ++i) sum += digits[i] * axes_[i].to;
    return sum;
  }

 private:
  struct Axis {
    int64_t extent, from, to;
  };

  // Adds an axis, turned around if need be so that `from` rises along it.
  void Add(Axis a) {
    if (a.from < 0) {
      from_offset_ += a.from * (a.extent - 1);
      to_offset_ += a.to * (a.extent - 1);
      a.from = -a.from;
      a.to = -a.to;
    }
    axes_.push_back(a);
  }

  void Merge() {
    std::vector<Axis> merged;
    for (const Axis& a : axes_) {
      if (!merged.empty() && merged.back().from == a.from * a.extent &&
          merged.back().to == a.to * a.extent) {
        merged.back() = {merged.back().extent * a.extent, a.from, a.to};
      } else {
        merged.push_back(a);
      }
    }
    axes_ = std::move(merged);
  }

  std::vector<Axis> axes_;
  int64_t from_offset_ = 0;
  int64_t to_offset_ = 0;
};

}  // namespace

std::optional<View> Remap(const View& v, const View& from, const View& to) {
  // A reader that takes the bits of `from` as another dtype (BitCast) goes on doing so.
  const DType dtype = v.dtype == from.dtype ? to.dtype : v.dtype;
  if (SameElements(v, from) && IsInjective(from))
    return View{dtype, to.shape, to.strides, to.offset};
  View out{dtype, v.shape, Dims::Filled(v.shape.rank(), 0), to.offset};
  if (abi::ElementsOf(v) == 0) return out;
  Pairing pairs;
  if (abi::ElementsOf(from) == 0 || !pairs.Build(from, to)) return std::nullopt;
  const int64_t start = v.offset - pairs.from_offset();
  if (start < 0) return std::nullopt;
  const auto first = pairs.Unravel(start);
  if (!first) return std::nullopt;
  std::vector<int64_t> low = *first, high = *first;
  out.offset = pairs.to_offset() + pairs.ToDistance(*first);
  for (int i = 0; i < v.shape.rank(); ++i) {
    const auto step = pairs.Unravel(v.strides[i]);
    if (!step && v.shape[i] == 1) continue;
    if (!step) return std::nullopt;
    out.strides[i] = pairs.ToDistance(*step);
    for (size_t a = 0; a < pairs.size(); ++a) {
      const int64_t reach = (*step)[a] * (v.shape[i] - 1);
      (reach < 0 ? low : high)[a] += reach;
    }
  }
  // Coordinates that stay inside every axis never carry, so the walk is linear in both buffers.
  for (size_t a = 0; a < pairs.size(); ++a) {
    if (low[a] < 0 || high[a] >= pairs.extent(a)) return std::nullopt;
  }
  return out;
}

}  // namespace aicf::ir
