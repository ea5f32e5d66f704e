#include "schema/verify_cover.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace aicf::schema {
namespace {

// Digits of a mixed radix: at most one per distinct stride, and the unit.
constexpr int kMaxDigits = 24;

struct Box {
  std::array<int64_t, kMaxDigits> begin{};
  std::array<int64_t, kMaxDigits> end{};
};

struct Axis {
  int64_t stride, extent;
};

// The view as positive strides in ascending order, without the axes that name no further element.
struct Normal {
  int64_t offset = 0;
  std::vector<Axis> axes;
};

Normal Normalize(const abi::View& v) {
  Normal n{v.offset, {}};
  for (int i = 0; i < v.shape.rank(); ++i) {
    if (v.shape[i] == 1 || v.strides[i] == 0) continue;
    int64_t stride = v.strides[i];
    if (stride < 0) {
      n.offset += (v.shape[i] - 1) * stride;
      stride = -stride;
    }
    n.axes.push_back({stride, v.shape[i]});
  }
  std::sort(n.axes.begin(), n.axes.end(),
            [](const Axis& a, const Axis& b) { return a.stride < b.stride; });
  return n;
}

// Ascending weights of the digits, each dividing the next; nothing when the strides do not allow
// it.
std::optional<std::vector<int64_t>> Radix(const std::vector<Normal>& views) {
  std::vector<int64_t> radix = {1};
  for (const Normal& v : views) {
    for (const Axis& a : v.axes) {
      const auto at = std::lower_bound(radix.begin(), radix.end(), a.stride);
      if (at != radix.end() && *at == a.stride) continue;
      if (radix.size() == kMaxDigits) return std::nullopt;
      radix.insert(at, a.stride);
    }
  }
  for (size_t i = 1; i < radix.size(); ++i) {
    if (radix[i] % radix[i - 1] != 0) return std::nullopt;
  }
  return radix;
}

// The view as a box of digits; nothing when an axis carries from one digit into the next unevenly.
std::optional<Box> ToBox(const Normal& v, const std::vector<int64_t>& radix) {
  Box box;
  int64_t rest = v.offset;
  for (int d = static_cast<int>(radix.size()) - 1; d >= 0; --d) {
    box.begin[d] = rest / radix[d];
    box.end[d] = box.begin[d] + 1;
    rest %= radix[d];
  }
  for (const Axis& a : v.axes) {
    size_t d = std::lower_bound(radix.begin(), radix.end(), a.stride) - radix.begin();
    int64_t extent = a.extent;
    while (extent > 1) {
      if (box.end[d] != box.begin[d] + 1) return std::nullopt;  // another axis runs here
      const bool top = d + 1 == radix.size();
      const int64_t digits = top ? 0 : radix[d + 1] / radix[d];
      if (top || extent <= digits - box.begin[d]) {
        box.end[d] = box.begin[d] + extent;
        break;
      }
      // A run over whole digits is a run of the next one.
      if (box.begin[d] != 0 || extent % digits != 0) return std::nullopt;
      box.end[d] = digits;
      extent /= digits;
      ++d;
    }
  }
  return box;
}

// True when the boxes are apart along digit `d` alone.
bool ApartAlong(std::vector<Box>& boxes, size_t d) {
  std::sort(boxes.begin(), boxes.end(),
            [d](const Box& a, const Box& b) { return a.begin[d] < b.begin[d]; });
  for (size_t i = 1; i < boxes.size(); ++i) {
    if (boxes[i].begin[d] < boxes[i - 1].end[d]) return false;
  }
  return true;
}

bool Apart(const Box& a, const Box& b, size_t digits) {
  for (size_t d = 0; d < digits; ++d) {
    if (a.end[d] <= b.begin[d] || b.end[d] <= a.begin[d]) return true;
  }
  return false;
}

bool AllApart(const std::vector<Box>& boxes, size_t digits) {
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!Apart(boxes[i], boxes[j], digits)) return false;
    }
  }
  return true;
}

// Marks the view's elements; false when one was marked before.
bool MarkElements(const Normal& v, std::vector<bool>& seen) {
  std::vector<int64_t> index(v.axes.size(), 0);
  int64_t at = v.offset;
  while (true) {
    if (seen[at]) return false;
    seen[at] = true;
    size_t d = 0;
    for (; d < index.size(); ++d) {
      at += v.axes[d].stride;
      if (++index[d] < v.axes[d].extent) break;
      at -= v.axes[d].stride * v.axes[d].extent;
      index[d] = 0;
    }
    if (d == index.size()) return true;
  }
}

}  // namespace

bool CoverProver::Spend(uint64_t work) {
  if (work > budget_) return false;
  budget_ -= work;
  return true;
}

bool CoverProver::DisjointByElements(int64_t elements, Views views) {
  uint64_t work = static_cast<uint64_t>(elements) / 8;  // clearing the marks
  for (const abi::View* v : views) work += static_cast<uint64_t>(abi::ElementsOf(*v));
  if (!Spend(work)) return false;
  std::vector<bool> seen(static_cast<size_t>(elements));
  for (const abi::View* v : views) {
    if (abi::ElementsOf(*v) != 0 && !MarkElements(Normalize(*v), seen)) return false;
  }
  return true;
}

bool CoverProver::Disjoint(int64_t elements, Views views) {
  if (views.size() < 2) return true;
  std::vector<Normal> normals;
  for (const abi::View* v : views) {
    if (abi::ElementsOf(*v) != 0) normals.push_back(Normalize(*v));
  }
  if (normals.size() < 2) return true;
  const auto radix = Radix(normals);
  if (!radix) return DisjointByElements(elements, views);
  std::vector<Box> boxes;
  for (const Normal& n : normals) {
    const std::optional<Box> box = ToBox(n, *radix);
    if (!box) return DisjointByElements(elements, views);
    boxes.push_back(*box);
  }
  for (size_t d = 0; d < radix->size(); ++d) {
    if (ApartAlong(boxes, d)) return true;
  }
  if (Spend(boxes.size() * boxes.size())) return AllApart(boxes, radix->size());
  return DisjointByElements(elements, views);
}

std::string CoverProver::CheckPartition(int64_t elements, Views views) {
  int64_t written = 0;
  for (const abi::View* v : views) {
    const int64_t count = abi::ElementsOf(*v);
    if (count > elements - written) return "its writers name an element twice";
    written += count;
  }
  if (written != elements) {
    return StrCat(written, " of its ", elements, " elements are written");
  }
  return Disjoint(elements, views) ? std::string()
                                   : "its writers overlap, or cannot be shown apart";
}

}  // namespace aicf::schema
