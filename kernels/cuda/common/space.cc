#include "kernels/cuda/common/space.h"

#include <algorithm>
#include <cstdlib>

namespace aicf::cuda {
namespace {

using abi::Family;
using abi::Problem;
using abi::View;

constexpr int kMaxRun = 16;

// Axes with more than one element, ordered by falling stride of `leader`; equal strides keep their
// order.
Dims InMemoryOrder(const Dims& axes, const View& leader) {
  const auto stride = [&](int64_t a) { return std::abs(leader.strides[static_cast<int>(a)]); };
  Dims order;
  for (int64_t a : axes) {
    if (leader.shape[static_cast<int>(a)] == 1) continue;
    int at = order.rank();
    order.push_back(a);
    for (; at > 0 && stride(order[at - 1]) < stride(a); --at) order[at] = order[at - 1];
    order[at] = a;
  }
  return order;
}

Dims AxisRange(int begin, int end) {
  Dims axes;
  for (int a = begin; a < end; ++a) axes.push_back(a);
  return axes;
}

Dims Others(const Dims& axes, int rank) {
  Dims others;
  for (int a = 0; a < rank; ++a) {
    if (std::find(axes.begin(), axes.end(), a) == axes.end()) others.push_back(a);
  }
  return others;
}

// Axes of the output that are the rows of a product. RowsInner looks at the same ones.
Dims RowAxes(const Problem& p) {
  const int rank = p.outputs[0].shape.rank();
  if (p.family == Family::kGemm) return {rank - 2};
  if (p.family == Family::kBlockGemm) return AxisRange(0, rank - 1);
  Dims rows = {0};
  for (int a = 2; a < rank; ++a) rows.push_back(a);
  return rows;
}

Dims ColumnAxes(const Problem& p) {
  return p.family == Family::kConv ? Dims{1} : Dims{p.outputs[0].shape.rank() - 1};
}

Space MatrixSpace(const Problem& p) {
  const View& out = p.outputs[0];
  const Dims inner = InMemoryOrder(RowsInner(p) ? RowAxes(p) : ColumnAxes(p), out);
  Space s{out.shape, {inner, OuterAxesOf(p)}};
  if (p.family == Family::kGemm) s.groups.push_back(BatchAxesOf(p));
  return s;
}

Dims ReducedAxes(const Problem& p) {
  if (p.family == Family::kReduce) return p.as<abi::ReduceAttrs>().axes;
  if (p.family == Family::kNormalize) return p.as<abi::NormalizeAttrs>().axes;
  if (p.family == Family::kScan) return {p.as<abi::ScanAttrs>().axis};
  return {p.as<abi::TopKAttrs>().axis};
}

// The axes of a line (see SpacesOf), then those of the lines.
std::vector<Dims> LineGroups(const Problem& p) {
  const Dims axes = ReducedAxes(p);
  const Dims all = InMemoryOrder(AxisRange(0, p.inputs[0].shape.rank()), p.inputs[0]);
  const auto normalised = [&](int64_t a) {
    return std::find(axes.begin(), axes.end(), a) != axes.end();
  };
  int first = all.rank();
  while (first > 0 && normalised(all[first - 1])) --first;
  while (first > 0 && !normalised(all[first - 1])) --first;
  std::vector<Dims> groups(2);
  for (int k = first; k < all.rank(); ++k) groups[0].push_back(all[k]);
  for (bool wanted : {false, true}) {
    for (int k = 0; k < first; ++k) {
      if (normalised(all[k]) == wanted) groups[1].push_back(all[k]);
    }
  }
  return groups;
}

Spaces ReducingSpaces(std::string_view key, const Problem& p) {
  const View& in = p.inputs[0];
  const View& out = p.outputs[0];
  const Dims axes = ReducedAxes(p);
  const Dims reduced = InMemoryOrder(axes, in);
  const Dims kept = InMemoryOrder(Others(axes, in.shape.rank()), out);
  Spaces s{{in.shape, {reduced, kept}}, {out.shape, {reduced, kept}}};
  if (p.family == Family::kReduce) s.output.groups = {kept};
  if (p.family == Family::kTopK) s.output.groups[0] = InMemoryOrder(axes, out);
  if (key == "cuda.normalize.lines") s.domain.groups = s.output.groups = LineGroups(p);
  if (key == "cuda.reduce.columns") std::swap(s.domain.groups[0], s.domain.groups[1]);
  return s;
}

int64_t PowerOfTwoDivisor(int64_t value, int64_t limit) {
  if (value == 0) return limit;
  const int64_t low = value & -value;
  return std::min(low, limit);
}

// Largest r such that r consecutive indices from a multiple of r stay in the walk's innermost
// extent.
int64_t RunWithin(const Walk& walk) {
  // A walk of one merged axis has no border but its end, which kernels treat element by element.
  if (walk.extents.rank() <= 1) return kMaxRun;
  return PowerOfTwoDivisor(walk.extents.back(), kMaxRun);
}

// Largest r up to `run` such that every start of a run is a multiple of min(r, elements of 16
// bytes).
int64_t Aligned(const View& view, const Space& space, int64_t run) {
  const int64_t piece = std::max<int64_t>(1, 16 / DTypeBytes(view.dtype));
  int64_t aligned = std::min(PowerOfTwoDivisor(view.offset, kMaxRun), piece);
  for (size_t g = 0; g < space.groups.size(); ++g) {
    const Walk walk = WalkOf(view, space.groups[g]);
    const int outer = walk.strides.rank() - (g == 0 ? 1 : 0);
    for (int d = 0; d < outer; ++d) {
      aligned = std::min(aligned, PowerOfTwoDivisor(walk.strides[d], piece));
    }
  }
  return aligned == piece ? run : std::min(run, aligned);
}

bool Reaches(const View& v, int64_t limit) {
  int64_t reach = std::abs(v.offset);
  for (int d = 0; d < v.shape.rank(); ++d) {
    if (v.shape[d] == 0) return false;
    reach += (v.shape[d] - 1) * std::abs(v.strides[d]);
  }
  return reach >= limit || abi::ElementsOf(v) >= limit;
}

template <class A>
bool WindowReaches(const Problem& p, const A& a, int64_t limit) {
  for (int d = 0; d < a.strides.rank(); ++d) {
    const int64_t x = p.inputs[0].shape[d + 2], y = p.outputs[0].shape[d + 2];
    const int64_t kernel = p.family == Family::kConv ? p.inputs[1].shape[d + 2]
                                                     : p.template as<abi::PoolAttrs>().kernel[d];
    const double far = static_cast<double>(std::max(x, y)) * static_cast<double>(a.strides[d]) +
                       static_cast<double>(kernel) * static_cast<double>(a.dilations[d]) +
                       static_cast<double>(a.pads_begin[d]) + static_cast<double>(a.pads_end[d]);
    if (far >= static_cast<double>(limit)) return true;
  }
  return false;
}

}  // namespace

int64_t Space::Count(size_t group) const {
  int64_t count = 1;
  if (group >= groups.size()) return count;
  for (int64_t a : groups[group]) count *= shape[static_cast<int>(a)];
  return count;
}

bool RowsInner(const Problem& p) {
  const View& out = p.outputs[0];
  const int rank = out.shape.rank();
  const int column = p.family == Family::kConv ? 1 : rank - 1;
  int64_t of_rows = INT64_MAX, of_columns = INT64_MAX;  // the smallest stride that is walked
  for (int a = p.family == Family::kGemm ? rank - 2 : 0; a < rank; ++a) {
    int64_t& least = a == column ? of_columns : of_rows;
    if (out.shape[a] != 1) least = std::min(least, std::abs(out.strides[a]));
  }
  return of_rows < of_columns;
}

Dims OuterAxesOf(const Problem& p) {
  return InMemoryOrder(RowsInner(p) ? ColumnAxes(p) : RowAxes(p), p.outputs[0]);
}

Dims BatchAxesOf(const Problem& p) {
  const View& out = p.outputs[0];
  return InMemoryOrder(AxisRange(0, out.shape.rank() - 2), out);
}

Spaces SpacesOf(std::string_view key, const Problem& p) {
  const View& out = p.outputs[0];
  switch (p.family) {
    case Family::kReduce:
    case Family::kNormalize:
    case Family::kTopK:
    case Family::kScan:
      return ReducingSpaces(key, p);
    case Family::kGemm:
    case Family::kBlockGemm:
    case Family::kConv:
      return {{}, MatrixSpace(p)};
    case Family::kExcite:
      return {{},
              {out.shape,
               {InMemoryOrder({1}, out), InMemoryOrder(AxisRange(2, out.shape.rank()), out),
                InMemoryOrder({0}, out)}}};
    default:
      return {{}, {out.shape, {InMemoryOrder(AxisRange(0, out.shape.rank()), out)}}};
  }
}

Walk WalkOf(const View& view, const Dims& group) {
  Walk walk;
  for (int64_t a : group) {
    const int64_t extent = view.shape[static_cast<int>(a)];
    const int64_t stride = view.strides[static_cast<int>(a)];
    const int last = walk.extents.rank() - 1;
    if (last >= 0 && walk.strides[last] == stride * extent) {
      walk.extents[last] *= extent;
      walk.strides[last] = stride;
    } else {
      walk.extents.push_back(extent);
      walk.strides.push_back(stride);
    }
  }
  return walk;
}

int RunOf(const View& view, const Space& space) {
  if (space.groups.empty()) return 1;
  const Walk walk = WalkOf(view, space.groups[0]);
  if (walk.extents.empty() || walk.strides.back() != 1) return 1;
  return static_cast<int>(Aligned(view, space, RunWithin(walk)));
}

int SameOf(const View& view, const Space& space) {
  if (space.groups.empty()) return 1;
  const Walk walk = WalkOf(view, space.groups[0]);
  if (walk.extents.empty()) return kMaxRun;
  return walk.strides.back() == 0 ? static_cast<int>(RunWithin(walk)) : 1;
}

int VectorOf(const std::vector<const View*>& views, const Space& space) {
  int64_t widest = 1;
  for (const View* v : views) widest = std::max(widest, DTypeBytes(v->dtype));
  int vector = static_cast<int>(16 / widest);
  // At least half of the operands should move in whole vectors.
  while (vector > 1) {
    int whole = 0;
    for (const View* v : views) {
      whole += RunOf(*v, space) >= vector || SameOf(*v, space) >= vector ? 1 : 0;
    }
    if (2 * whole >= static_cast<int>(views.size())) return vector;
    vector /= 2;
  }
  return 1;
}

int ContiguousAxis(const abi::View& v) {
  for (int d = 0; d < v.shape.rank(); ++d) {
    if (v.strides[d] == 1 && v.shape[d] > 1) return d;
  }
  return -1;
}

bool NeedsWideIndex(const Problem& p) {
  // Room above the last index for one grid stride and one block's overhang.
  constexpr int64_t kLimit = (int64_t{1} << 31) - (int64_t{1} << 28);
  for (const View& v : p.inputs) {
    if (Reaches(v, kLimit)) return true;
  }
  for (const View& v : p.outputs) {
    if (Reaches(v, kLimit)) return true;
  }
  if (p.family == Family::kConv) return WindowReaches(p, p.as<abi::ConvAttrs>(), kLimit / 2);
  if (p.family == Family::kPool) return WindowReaches(p, p.as<abi::PoolAttrs>(), kLimit / 2);
  return false;
}

}  // namespace aicf::cuda
