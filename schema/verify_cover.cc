#include "schema/verify_cover.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
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

using Axis = NamedElements::Axis;
using Parts = CoverProver::Parts;

// Ascending weights of the digits, each dividing the next.
class Radix {
 public:
  // False when the view has more strides than there are digits.
  bool Add(const NamedElements& v) {
    for (const Axis& a : v.axes()) {
      if (!Insert(a.stride)) return false;
    }
    return true;
  }
  // Whether each weight divides the next, which depends on the strides.
  bool Divides() const {
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
bool ToBox(const NamedElements& v, const Radix& radix, Interval* box) {
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
      // A run over all values of this digit goes on as a run of the next digit.
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
  Boxes() = default;
  Boxes(const Boxes&) = delete;
  Boxes& operator=(const Boxes&) = delete;

  // `first`, where there is one, then the others. False when they have no radix in common.
  bool Make(const NamedElements* first, Parts others) {
    Radix radix;
    if (first != nullptr && !radix.Add(*first)) return false;
    for (const NamedElements* v : others) {
      if (!radix.Add(*v)) return false;
    }
    if (!radix.Divides()) return false;
    digits_ = radix.size();
    size_ = others.size() + (first != nullptr ? 1 : 0);
    if (size_ * digits_ > std::size(few_)) intervals_ = Many(size_ * digits_);
    Interval* next = intervals_;
    if (first != nullptr && !ToBox(*first, radix, std::exchange(next, next + digits_)))
      return false;
    for (const NamedElements* v : others) {
      if (!ToBox(*v, radix, std::exchange(next, next + digits_))) return false;
    }
    return true;
  }

  size_t size() const { return size_; }
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
    size_ = kept;
  }

 private:
  Interval* Many(size_t count) {
    many_ = std::make_unique_for_overwrite<Interval[]>(count);
    return many_.get();
  }

  size_t digits_ = 1;
  size_t size_ = 0;
  Interval few_[64];  // enough for most questions
  std::unique_ptr<Interval[]> many_;
  Interval* intervals_ = few_;
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

// Whether the boxes from number `first` on are all apart from each other.
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
bool EachElement(const NamedElements& v, F&& visit) {
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
bool MarkElements(const NamedElements& v, std::vector<bool>& seen) {
  return EachElement(v, [&seen](int64_t at) {
    if (seen[at]) return false;
    seen[at] = true;
    return true;
  });
}

// The elements of each of the views, without the views that name none.
class NamedByEach {
 public:
  explicit NamedByEach(CoverProver::Views views) {
    named_.reserve(views.size());
    for (const abi::View* v : views) {
      if (NamedElements& last = named_.emplace_back(*v); last.empty()) named_.pop_back();
    }
    for (const NamedElements& n : named_) parts_.push_back(&n);
  }
  Parts parts() const { return parts_; }

 private:
  std::vector<NamedElements> named_;
  std::vector<const NamedElements*> parts_;
};

int64_t VolumeOf(Box box) {
  int64_t volume = 1;
  for (const Interval& i : box) volume *= i.end - i.begin;
  return volume;
}

uint64_t ElementsIn(Parts parts) {
  uint64_t count = 0;
  for (const NamedElements* p : parts) count += static_cast<uint64_t>(p->count());
  return count;
}

}  // namespace

NamedElements::NamedElements(const abi::View& v) : offset_(v.offset) {
  for (int64_t extent : v.shape) empty_ |= extent == 0;
  if (empty_) return;  // strides may be any
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

int64_t NamedElements::last() const {
  int64_t last = offset_;
  for (const Axis& a : axes()) last += (a.extent - 1) * a.stride;
  return last;
}

int64_t NamedElements::count() const {
  int64_t count = empty_ ? 0 : 1;
  for (const Axis& a : axes()) count *= a.extent;
  return count;
}

void NamedElements::Insert(const Axis& axis) {
  size_t at = count_++;
  for (; at > 0 && axes_[at - 1].stride > axis.stride; --at) axes_[at] = axes_[at - 1];
  axes_[at] = axis;
}

// Joins axes that are one run of memory. This also removes strides that would spoil the radix: rows
// of a picture inside a longer row have strides that divide nothing, and are gone once the rows are
// one run.
void NamedElements::JoinRuns() {
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

// Whether `next` is the same view further along the axis, by this one's extent there, and the view
// of both extents names no element twice: each of its axes steps past the reach of all smaller
// ones. That each view by itself does so is not enough, because the joined axis reaches further.
bool NamedElements::FollowsAlong(const NamedElements& next, size_t axis) const {
  if (next.offset_ - offset_ != axes_[axis].stride * axes_[axis].extent) return false;
  int64_t reach = 0;  // fits: at most that of both, and a stride, each inside the buffer
  for (size_t d = 0; d < count_; ++d) {
    const Axis &mine = axes_[d], &others = next.axes_[d];
    if (mine.stride != others.stride || mine.stride <= reach) return false;
    if (d != axis && mine.extent != others.extent) return false;
    const int64_t extent = d == axis ? mine.extent + others.extent : mine.extent;
    reach += (extent - 1) * mine.stride;
  }
  return true;
}

bool NamedElements::Join(const NamedElements& next) {
  if (empty_ || next.empty_ || count_ != next.count_) return false;
  for (size_t d = 0; d < count_; ++d) {
    if (!FollowsAlong(next, d)) continue;
    axes_[d].extent += next.axes_[d].extent;
    JoinRuns();
    return true;
  }
  return false;
}

bool CoverProver::Spend(uint64_t work) {
  if (work > budget_) return false;
  budget_ -= work;
  return true;
}

bool CoverProver::DisjointByElements(int64_t elements, Parts parts) {
  // An eighth of the elements is the cost of clearing the marks.
  if (!Spend(static_cast<uint64_t>(elements) / 8 + ElementsIn(parts))) return false;
  std::vector<bool> seen(static_cast<size_t>(elements));
  return std::ranges::all_of(parts, [&](const NamedElements* p) { return MarkElements(*p, seen); });
}

bool CoverProver::Disjoint(int64_t elements, Parts parts) {
  constexpr size_t kFew = 8;  // to compare each two of them costs less than to sort them
  if (parts.size() < 2) return true;
  Boxes boxes;
  if (!boxes.Make(nullptr, parts)) return DisjointByElements(elements, parts);
  if (boxes.size() <= kFew) return AllApart(boxes, 0);
  for (size_t d = 0; d < boxes.digits(); ++d) {
    if (ApartAlong(boxes, d)) return true;
  }
  if (Spend(boxes.size() * boxes.size())) return AllApart(boxes, 0);
  return DisjointByElements(elements, parts);
}

bool CoverProver::Disjoint(int64_t elements, Views views) {
  return Disjoint(elements, NamedByEach(views).parts());
}

bool CoverProver::Disjoint(int64_t elements, const abi::View& one, const abi::View& other) {
  const NamedElements a(one), b(other);
  if (a.empty() || b.empty() || a.last() < b.offset() || b.last() < a.offset()) return true;
  const NamedElements* parts[] = {&a, &b};
  return Disjoint(elements, Parts(parts));
}

bool CoverProver::ApartByElements(int64_t elements, const NamedElements& view, Parts others) {
  const uint64_t work = static_cast<uint64_t>(view.count()) + ElementsIn(others);
  if (!Spend(static_cast<uint64_t>(elements) / 8 + work)) return false;
  std::vector<bool> named(static_cast<size_t>(elements));
  EachElement(view, [&named](int64_t at) { return named[at] = true; });
  const auto is_free = [&named](int64_t at) { return !named[at]; };
  return std::ranges::all_of(
      others, [&](const NamedElements* other) { return EachElement(*other, is_free); });
}

bool CoverProver::Apart(int64_t elements, const abi::View& view, Parts others) {
  const NamedElements named(view);
  if (named.empty()) return true;
  if (!Spend(others.size())) return false;
  Boxes boxes;
  if (!boxes.Make(&named, others)) return ApartByElements(elements, named, others);
  for (size_t i = 1; i < boxes.size(); ++i) {
    if (!schema::Apart(boxes[0], boxes[i])) return false;
  }
  return true;
}

bool CoverProver::Apart(int64_t elements, const abi::View& view, Views others) {
  return Apart(elements, view, NamedByEach(others).parts());
}

bool CoverProver::CoversByElements(int64_t elements, const NamedElements& part, Parts writes) {
  const uint64_t work = static_cast<uint64_t>(part.count()) + ElementsIn(writes);
  if (!Spend(static_cast<uint64_t>(elements) / 4 + work)) return false;
  std::vector<bool> once(static_cast<size_t>(elements)), twice(static_cast<size_t>(elements));
  for (const NamedElements* w : writes) {
    EachElement(*w, [&](int64_t at) {
      if (once[at]) twice[at] = true;
      return once[at] = true;
    });
  }
  return EachElement(part, [&](int64_t at) { return once[at] && !twice[at]; });
}

bool CoverProver::Covers(int64_t elements, const abi::View& part, Parts writes) {
  const NamedElements named(part);
  if (named.empty()) return true;
  if (writes.size() == 1 && *writes[0] == named) return true;
  if (!Spend(writes.size())) return false;
  Boxes boxes;
  if (!boxes.Make(&named, writes)) return CoversByElements(elements, named, writes);
  boxes.ClipToFirst();
  int64_t written = 0;  // of the part
  for (size_t i = 1; i < boxes.size(); ++i) written += VolumeOf(boxes[i]);
  // Boxes that are apart and together as large as the one that holds them leave nothing of it out.
  if (written != VolumeOf(boxes[0])) return false;
  return Spend(boxes.size() * boxes.size()) && AllApart(boxes, 1);
}

bool CoverProver::Covers(int64_t elements, const abi::View& part, Views writes) {
  return Covers(elements, part, NamedByEach(writes).parts());
}

std::string CoverProver::CheckPartition(int64_t elements, Parts parts) {
  int64_t written = 0;
  for (const NamedElements* p : parts) {
    const int64_t count = p->count();
    if (count > elements - written) return "its writers name an element twice";
    written += count;
  }
  if (written != elements) {
    return StrCat(written, " of its ", elements, " elements are written");
  }
  return Disjoint(elements, parts) ? std::string()
                                   : "its writers overlap, or cannot be shown apart";
}

}  // namespace aicf::schema
