#include "compiler/ir/coverage.h"

#include <algorithm>
#include <span>

#include "compiler/ir/views.h"

namespace aicf::ir {
namespace {

constexpr int64_t kExactLimit = int64_t{1} << 24;

struct Axis {
  int64_t stride, extent;
  friend bool operator==(const Axis&, const Axis&) = default;
};

// A set of elements: `offset` is the first one, strides are not negative, axes go from the
// outermost to the innermost, and axes that form one run are merged.
struct Block {
  int64_t offset = 0;
  std::vector<Axis> axes;

  int64_t last() const {
    int64_t at = offset;
    for (const Axis& a : axes) at += a.stride * (a.extent - 1);
    return at;
  }
};

Block ToBlock(const abi::View& v) {
  Block b{v.offset, {}};
  std::vector<Axis> axes;
  for (int i = 0; i < v.shape.rank(); ++i) {
    if (v.shape[i] == 1) continue;
    if (v.strides[i] < 0) b.offset += v.strides[i] * (v.shape[i] - 1);
    axes.push_back({std::abs(v.strides[i]), v.shape[i]});
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& x, const Axis& y) { return x.stride > y.stride; });
  for (const Axis& a : axes) {
    if (!b.axes.empty() && b.axes.back().stride == a.stride * a.extent) {
      b.axes.back() = {a.stride, b.axes.back().extent * a.extent};
    } else {
      b.axes.push_back(a);
    }
  }
  return b;
}

bool ShareOuterAxis(std::span<const Block> blocks, int64_t length) {
  for (const Block& b : blocks) {
    if (b.axes.empty() || b.axes[0] != blocks[0].axes[0]) return false;
  }
  return blocks[0].axes[0].stride * blocks[0].axes[0].extent == length;
}

// Whether the blocks tile [begin, begin + length). They do if all repeat along one outer axis and
// tile its period, or if they split into groups that follow each other and tile a part each.
bool Tile(std::span<Block> blocks, int64_t begin, int64_t length) {
  if (blocks.empty()) return length == 0;
  if (blocks.size() == 1 && blocks[0].axes.empty()) return length == 1 && blocks[0].offset == begin;
  if (ShareOuterAxis(blocks, length)) {
    const int64_t period = blocks[0].axes[0].stride;
    for (Block& b : blocks) b.axes.erase(b.axes.begin());
    return Tile(blocks, begin, period);
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const Block& a, const Block& b) { return a.offset < b.offset; });
  const int64_t end = begin + length;
  size_t first = 0;
  int64_t group_end = -1;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i > first && blocks[i].offset > group_end) {
      const int64_t split = blocks[i].offset;
      if (!Tile(blocks.subspan(first, i - first), begin, split - begin)) return false;
      begin = split;
      first = i;
    }
    group_end = std::max(group_end, blocks[i].last());
  }
  if (first == 0) return false;  // one group that repeats along no common axis
  return Tile(blocks.subspan(first), begin, end - begin);
}

void Mark(const abi::View& v, int axis, int64_t offset, std::vector<uint8_t>& marks) {
  if (axis == v.shape.rank()) {
    if (marks[offset] < 2) ++marks[offset];
    return;
  }
  for (int64_t i = 0; i < v.shape[axis]; ++i) {
    Mark(v, axis + 1, offset + i * v.strides[axis], marks);
  }
}

}  // namespace

bool CoverOnce(const std::vector<abi::View>& views, int64_t count) {
  int64_t named = 0;
  std::vector<Block> blocks;
  for (const abi::View& v : views) {
    if (abi::ElementsOf(v) == 0) continue;
    named += abi::ElementsOf(v);
    blocks.push_back(ToBlock(v));
  }
  if (named != count) return false;
  if (Tile(blocks, 0, count)) return true;
  if (count > kExactLimit) return false;
  std::vector<uint8_t> marks(static_cast<size_t>(count), 0);
  for (const abi::View& v : views) Mark(v, 0, v.offset, marks);
  return std::all_of(marks.begin(), marks.end(), [](uint8_t m) { return m == 1; });
}

}  // namespace aicf::ir
