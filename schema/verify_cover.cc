#include "schema/verify_cover.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/checked.h"

namespace aicf::schema {
namespace {

// Digits of a mixed radix: at most one per distinct stride, and the unit.
constexpr size_t kMaxDigits = 24;

// What a view names along one digit.
struct Interval {
  int64_t begin, end;
};

struct Axis {
  int64_t stride, extent;
};

// The view as positive strides in ascending order, without the axes that name no further element;
// what is one run of memory is one axis. In place, like what follows: models have thousands.
class Normal {
 public:
  explicit Normal(const abi::View& v) : offset_(v.offset) {
    for (int i = 0; i < v.shape.rank(); ++i) {
      if (v.shape[i] == 1 || v.strides[i] == 0) continue;
      int64_t stride = v.strides[i];
      if (stride < 0) {
        offset_ += (v.shape[i] - 1) * stride;
        stride = -stride;
      }
      Insert({stride, v.shape[i]});
    }
    JoinRuns();
  }

  int64_t offset() const { return offset_; }
  std::span<const Axis> axes() const { return {axes_, count_}; }

 private:
  void Insert(const Axis& axis) {
    size_t at = count_++;
    for (; at > 0 && axes_[at - 1].stride > axis.stride; --at) axes_[at] = axes_[at - 1];
    axes_[at] = axis;
  }

  // Rows of a picture inside a longer row have strides that divide nothing; as one run they have
  // none.
  void JoinRuns() {
    size_t kept = 0;
    for (size_t i = 1; i < count_; ++i) {
      Axis& last = axes_[kept];
      int64_t run = 0;
      if (CheckedMul(last.stride, last.extent, &run) && run == axes_[i].stride) {
        last.extent *= axes_[i].extent;  // within the buffer's extent, so it does not overflow
      } else {
        axes_[++kept] = axes_[i];
      }
    }
    if (count_ > 0) count_ = kept + 1;
  }

  int64_t offset_;
  Axis axes_[kMaxRank];
  size_t count_ = 0;
};

// Ascending weights of the digits, each dividing the next.
class Radix {
 public:
  // False when the strides do not allow it.
  bool Make(std::span<const Normal> views) {
    for (const Normal& v : views) {
      for (const Axis& a : v.axes()) {
        if (!Insert(a.stride)) return false;
      }
    }
    for (size_t i = 1; i < count_; ++i) {
      if (weights_[i] % weights_[i - 1] != 0) return false;
    }
    return true;
  }

  size_t size() const { return count_; }
  int64_t operator[](size_t digit) const { return weights_[digit]; }
  // REQUIRES: the radix was made of views that have this stride.
  size_t DigitOf(int64_t stride) const { return LowerBound(stride); }

 private:
  size_t LowerBound(int64_t stride) const {
    return static_cast<size_t>(std::lower_bound(weights_, weights_ + count_, stride) - weights_);
  }

  bool Insert(int64_t stride) {
    const size_t at = LowerBound(stride);
    if (at < count_ && weights_[at] == stride) return true;
    if (count_ == kMaxDigits) return false;
    for (size_t i = count_++; i > at; --i) weights_[i] = weights_[i - 1];
    weights_[at] = stride;
    return true;
  }

  int64_t weights_[kMaxDigits] = {1};
  size_t count_ = 1;
};

using Box = std::span<const Interval>;  // by digit

// Writes the view as a box of digits; false when an axis carries from one digit into the next
// unevenly.
bool ToBox(const Normal& v, const Radix& radix, Interval* box) {
  int64_t rest = v.offset();
  for (size_t d = radix.size(); d-- > 0;) {
    const int64_t begin = rest / radix[d];
    box[d] = {begin, begin + 1};
    rest %= radix[d];
  }
  for (const Axis& a : v.axes()) {
    size_t d = radix.DigitOf(a.stride);
    int64_t extent = a.extent;
    while (extent > 1) {
      if (box[d].end != box[d].begin + 1) return false;  // another axis runs here
      const bool top = d + 1 == radix.size();
      const int64_t digits = top ? 0 : radix[d + 1] / radix[d];
      if (top || extent <= digits - box[d].begin) {
        box[d].end = box[d].begin + extent;
        break;
      }
      // A run over whole digits is a run of the next one.
      if (box[d].begin != 0 || extent % digits != 0) return false;
      box[d].end = digits;
      extent /= digits;
      ++d;
    }
  }
  return true;
}

bool Apart(Box a, Box b) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d].end <= b[d].begin || b[d].end <= a[d].begin) return true;
  }
  return false;
}

// Views that name elements, as boxes of one radix.
class Boxes {
 public:
  // False when they have no radix in common.
  bool Make(std::span<const Normal> views) {
    Radix radix;
    if (!radix.Make(views)) return false;
    digits_ = radix.size();
    intervals_.resize(views.size() * digits_);
    for (size_t i = 0; i < views.size(); ++i) {
      if (!ToBox(views[i], radix, &intervals_[i * digits_])) return false;
    }
    return true;
  }

  size_t size() const { return intervals_.size() / digits_; }
  size_t digits() const { return digits_; }
  Box operator[](size_t i) const { return {&intervals_[i * digits_], digits_}; }

  // Keeps of each box what lies in the first one, and drops those of which nothing does.
  void ClipToFirst() {
    size_t kept = 1;
    for (size_t i = 1; i < size(); ++i) {
      if (Apart((*this)[0], (*this)[i])) continue;
      for (size_t d = 0; d < digits_; ++d) {
        const Interval &frame = intervals_[d], &box = intervals_[i * digits_ + d];
        intervals_[kept * digits_ + d] = {std::max(box.begin, frame.begin),
                                          std::min(box.end, frame.end)};
      }
      ++kept;
    }
    intervals_.resize(kept * digits_);
  }

 private:
  size_t digits_ = 1;
  std::vector<Interval> intervals_;
};

// True when the boxes are apart along digit `d` alone.
bool ApartAlong(const Boxes& boxes, size_t d) {
  std::vector<Interval> sorted;
  sorted.reserve(boxes.size());
  for (size_t i = 0; i < boxes.size(); ++i) sorted.push_back(boxes[i][d]);
  std::ranges::sort(sorted, {}, &Interval::begin);
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].begin < sorted[i - 1].end) return false;
  }
  return true;
}

// The boxes from the given one on.
bool AllApart(const Boxes& boxes, size_t first) {
  for (size_t i = first; i < boxes.size(); ++i) {
    for (size_t j = first; j < i; ++j) {
      if (!Apart(boxes[i], boxes[j])) return false;
    }
  }
  return true;
}

// Calls `visit` with every element of the view until it says false; whether it never did.
template <class F>
bool EachElement(const Normal& v, F&& visit) {
  const std::span<const Axis> axes = v.axes();
  int64_t index[kMaxRank] = {};
  int64_t at = v.offset();
  while (true) {
    if (!visit(at)) return false;
    size_t d = 0;
    for (; d < axes.size(); ++d) {
      at += axes[d].stride;
      if (++index[d] < axes[d].extent) break;
      at -= axes[d].stride * axes[d].extent;
      index[d] = 0;
    }
    if (d == axes.size()) return true;
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

// Adds those of the views that name elements.
void AddNormals(CoverProver::Views views, std::vector<Normal>& normals) {
  normals.reserve(normals.size() + views.size());
  for (const abi::View* v : views) {
    if (ElementsOfValid(*v) != 0) normals.emplace_back(*v);
  }
}

// `first`, and after it those of `others` that name elements.
std::vector<Normal> NormalizeAll(const abi::View& first, CoverProver::Views others) {
  std::vector<Normal> normals;
  normals.reserve(1 + others.size());
  normals.emplace_back(first);
  AddNormals(others, normals);
  return normals;
}

int64_t VolumeOf(Box box) {
  int64_t volume = 1;
  for (const Interval& i : box) volume *= i.end - i.begin;
  return volume;
}

uint64_t ElementsIn(CoverProver::Views views) {
  uint64_t count = 0;
  for (const abi::View* v : views) count += static_cast<uint64_t>(ElementsOfValid(*v));
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
    if (ElementsOfValid(*v) != 0 && !MarkElements(Normal(*v), seen)) return false;
  }
  return true;
}

bool CoverProver::Disjoint(int64_t elements, Views views) {
  constexpr size_t kFew = 8;  // to compare each two of them costs less than to sort them
  if (views.size() < 2) return true;
  std::vector<Normal> normals;
  AddNormals(views, normals);
  if (normals.size() < 2) return true;
  Boxes boxes;
  if (!boxes.Make(normals)) return DisjointByElements(elements, views);
  if (boxes.size() <= kFew) return AllApart(boxes, 0);
  for (size_t d = 0; d < boxes.digits(); ++d) {
    if (ApartAlong(boxes, d)) return true;
  }
  if (Spend(boxes.size() * boxes.size())) return AllApart(boxes, 0);
  return DisjointByElements(elements, views);
}

bool CoverProver::ApartByElements(int64_t elements, const abi::View& view, Views others) {
  const uint64_t work = static_cast<uint64_t>(ElementsOfValid(view)) + ElementsIn(others);
  if (!Spend(static_cast<uint64_t>(elements) / 8 + work)) return false;
  std::vector<bool> named(static_cast<size_t>(elements));
  EachElement(Normal(view), [&named](int64_t at) { return named[at] = true; });
  const auto is_free = [&named](int64_t at) { return !named[at]; };
  return std::ranges::all_of(others, [&](const abi::View* v) {
    return ElementsOfValid(*v) == 0 || EachElement(Normal(*v), is_free);
  });
}

bool CoverProver::Apart(int64_t elements, const abi::View& view, Views others) {
  if (ElementsOfValid(view) == 0) return true;
  if (!Spend(others.size())) return false;
  Boxes boxes;
  if (!boxes.Make(NormalizeAll(view, others))) return ApartByElements(elements, view, others);
  for (size_t i = 1; i < boxes.size(); ++i) {
    if (!schema::Apart(boxes[0], boxes[i])) return false;
  }
  return true;
}

bool CoverProver::CoversByElements(int64_t elements, const abi::View& part, Views writes) {
  const uint64_t work = static_cast<uint64_t>(ElementsOfValid(part)) + ElementsIn(writes);
  if (!Spend(static_cast<uint64_t>(elements) / 4 + work)) return false;
  std::vector<bool> once(static_cast<size_t>(elements)), twice(static_cast<size_t>(elements));
  for (const abi::View* v : writes) {
    if (ElementsOfValid(*v) == 0) continue;
    EachElement(Normal(*v), [&](int64_t at) {
      if (once[at]) twice[at] = true;
      return once[at] = true;
    });
  }
  return EachElement(Normal(part), [&](int64_t at) { return once[at] && !twice[at]; });
}

bool CoverProver::Covers(int64_t elements, const abi::View& part, Views writes) {
  if (ElementsOfValid(part) == 0) return true;
  if (!Spend(writes.size())) return false;
  Boxes boxes;
  if (!boxes.Make(NormalizeAll(part, writes))) return CoversByElements(elements, part, writes);
  boxes.ClipToFirst();
  int64_t named = 0;  // what the writes name of the part
  for (size_t i = 1; i < boxes.size(); ++i) named += VolumeOf(boxes[i]);
  // Boxes that are apart and together as large as the one that holds them leave nothing of it out.
  if (named != VolumeOf(boxes[0])) return false;
  return Spend(boxes.size() * boxes.size()) && AllApart(boxes, 1);
}

std::string CoverProver::CheckPartition(int64_t elements, Views views) {
  int64_t written = 0;
  for (const abi::View* v : views) {
    const int64_t count = ElementsOfValid(*v);
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
