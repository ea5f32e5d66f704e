#include "schema/verify_cover.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/checked.h"

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

// The view as positive strides in ascending order, without the axes that name no further element;
// what is one run of memory is one axis.
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
  // Rows of a picture inside a longer row have strides that divide nothing; as one run they have
  // none.
  size_t kept = 0;
  for (size_t i = 1; i < n.axes.size(); ++i) {
    Axis& last = n.axes[kept];
    int64_t run = 0;
    if (CheckedMul(last.stride, last.extent, &run) && run == n.axes[i].stride) {
      last.extent *= n.axes[i].extent;  // within the buffer's extent, so it does not overflow
    } else {
      n.axes[++kept] = n.axes[i];
    }
  }
  if (!n.axes.empty()) n.axes.resize(kept + 1);
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

// Calls `visit` with every element of the view until it says false; whether it never did.
template <class F>
bool EachElement(const Normal& v, F&& visit) {
  std::vector<int64_t> index(v.axes.size(), 0);
  int64_t at = v.offset;
  while (true) {
    if (!visit(at)) return false;
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

// Marks the view's elements; false when one was marked before.
bool MarkElements(const Normal& v, std::vector<bool>& seen) {
  return EachElement(v, [&seen](int64_t at) {
    if (seen[at]) return false;
    seen[at] = true;
    return true;
  });
}

// The views that name elements, as boxes of one radix; nothing when they have none in common.
std::optional<std::vector<Box>> ToBoxes(const std::vector<Normal>& normals, size_t& digits) {
  const auto radix = Radix(normals);
  if (!radix) return std::nullopt;
  digits = radix->size();
  std::vector<Box> boxes;
  for (const Normal& n : normals) {
    const std::optional<Box> box = ToBox(n, *radix);
    if (!box) return std::nullopt;
    boxes.push_back(*box);
  }
  return boxes;
}

// `first`, and after it those of `others` that name elements.
std::vector<Normal> NormalizeAll(const abi::View& first, CoverProver::Views others) {
  std::vector<Normal> normals = {Normalize(first)};
  for (const abi::View* v : others) {
    if (abi::ElementsOf(*v) != 0) normals.push_back(Normalize(*v));
  }
  return normals;
}

int64_t VolumeOf(const Box& box, size_t digits) {
  int64_t volume = 1;
  for (size_t d = 0; d < digits; ++d) volume *= box.end[d] - box.begin[d];
  return volume;
}

// What of `box` lies in `frame`, which it meets.
Box Clip(Box box, const Box& frame, size_t digits) {
  for (size_t d = 0; d < digits; ++d) {
    box.begin[d] = std::max(box.begin[d], frame.begin[d]);
    box.end[d] = std::min(box.end[d], frame.end[d]);
  }
  return box;
}

uint64_t ElementsIn(CoverProver::Views views) {
  uint64_t count = 0;
  for (const abi::View* v : views) count += static_cast<uint64_t>(abi::ElementsOf(*v));
  return count;
}

}  // namespace

bool CoverProver::Spend(uint64_t work) {
  if (work > budget_) return false;
  budget_ -= work;
  return true;
}

bool CoverProver::DisjointByElements(int64_t elements, Views views) {
  // An eighth of the elements: clearing the marks.
  if (!Spend(static_cast<uint64_t>(elements) / 8 + ElementsIn(views))) return false;
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
  size_t digits = 0;
  std::optional<std::vector<Box>> boxes = ToBoxes(normals, digits);
  if (!boxes) return DisjointByElements(elements, views);
  for (size_t d = 0; d < digits; ++d) {
    if (ApartAlong(*boxes, d)) return true;
  }
  if (Spend(boxes->size() * boxes->size())) return AllApart(*boxes, digits);
  return DisjointByElements(elements, views);
}

bool CoverProver::ApartByElements(int64_t elements, const abi::View& view, Views others) {
  const uint64_t work = static_cast<uint64_t>(abi::ElementsOf(view)) + ElementsIn(others);
  if (!Spend(static_cast<uint64_t>(elements) / 8 + work)) return false;
  std::vector<bool> named(static_cast<size_t>(elements));
  EachElement(Normalize(view), [&named](int64_t at) { return named[at] = true; });
  const auto is_free = [&named](int64_t at) { return !named[at]; };
  return std::ranges::all_of(others, [&](const abi::View* v) {
    return abi::ElementsOf(*v) == 0 || EachElement(Normalize(*v), is_free);
  });
}

bool CoverProver::Apart(int64_t elements, const abi::View& view, Views others) {
  if (abi::ElementsOf(view) == 0) return true;
  if (!Spend(others.size())) return false;
  size_t digits = 0;
  const auto boxes = ToBoxes(NormalizeAll(view, others), digits);
  if (!boxes) return ApartByElements(elements, view, others);
  return std::all_of(boxes->begin() + 1, boxes->end(), [&](const Box& other) {
    return schema::Apart(boxes->front(), other, digits);
  });
}

bool CoverProver::CoversByElements(int64_t elements, const abi::View& part, Views writes) {
  const uint64_t work = static_cast<uint64_t>(abi::ElementsOf(part)) + ElementsIn(writes);
  if (!Spend(static_cast<uint64_t>(elements) / 4 + work)) return false;
  std::vector<bool> once(static_cast<size_t>(elements)), twice(static_cast<size_t>(elements));
  for (const abi::View* v : writes) {
    if (abi::ElementsOf(*v) == 0) continue;
    EachElement(Normalize(*v), [&](int64_t at) {
      if (once[at]) twice[at] = true;
      return once[at] = true;
    });
  }
  return EachElement(Normalize(part), [&](int64_t at) { return once[at] && !twice[at]; });
}

bool CoverProver::Covers(int64_t elements, const abi::View& part, Views writes) {
  if (abi::ElementsOf(part) == 0) return true;
  if (!Spend(writes.size())) return false;
  size_t digits = 0;
  const auto boxes = ToBoxes(NormalizeAll(part, writes), digits);
  if (!boxes) return CoversByElements(elements, part, writes);
  const Box& frame = boxes->front();
  std::vector<Box> met;  // what the writes name of the part
  int64_t named = 0;
  for (size_t i = 1; i < boxes->size(); ++i) {
    if (schema::Apart(frame, (*boxes)[i], digits)) continue;
    met.push_back(Clip((*boxes)[i], frame, digits));
    named += VolumeOf(met.back(), digits);
  }
  // Boxes that are apart and together as large as the one that holds them leave nothing of it out.
  if (named != VolumeOf(frame, digits)) return false;
  return Spend(met.size() * met.size()) && AllApart(met, digits);
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
