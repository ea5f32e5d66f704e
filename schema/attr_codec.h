/// Attributes as two flat lists, in the order of their Visit: integers (also enums, bools, list
/// lengths and Dims as rank + extents) and doubles. A field added to a family's struct is stored
/// and checked without a change here; only its order is part of the format. Fields that a family
/// gained later (abi::AddedInt, abi::AddedReal) come last. They are left out where they say nothing
/// new, unless a field after them in the same list does and has to be stored.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/dims.h"
#include "kernels/abi/attrs.h"

namespace aicf::schema {

/// Visitor that appends each field.
struct AttrWriter {
  std::vector<int64_t> ints;
  std::vector<double> reals;

  void operator()(std::string_view, int64_t v) { ints.push_back(v); }
  template <int64_t kBefore>
  void operator()(std::string_view, abi::AddedInt<kBefore> v) {
    Added(v.value, v.stored(), left_out_ints_, ints);
  }
  void operator()(std::string_view, abi::AddedReal v) {
    Added(v.value, v.stored(), left_out_reals_, reals);
  }
  void operator()(std::string_view, bool v) { ints.push_back(v ? 1 : 0); }
  void operator()(std::string_view, double v) { reals.push_back(v); }
  void operator()(std::string_view, const Dims& v) { Put(v); }
  void operator()(std::string_view, const std::vector<Dims>& v) {
    ints.push_back(static_cast<int64_t>(v.size()));
    for (const Dims& d : v) Put(d);
  }
  void operator()(std::string_view, const std::vector<double>& v) {
    ints.push_back(static_cast<int64_t>(v.size()));
    reals.insert(reals.end(), v.begin(), v.end());
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(std::string_view, E v) { ints.push_back(static_cast<int64_t>(v)); }

 private:
  void Put(const Dims& d) {
    ints.push_back(d.rank());
    ints.insert(ints.end(), d.begin(), d.end());
  }

  // A field that says something new is stored, together with the added fields before it that were
  // left out.
  template <class T>
  static void Added(T value, bool says_something, std::vector<T>& left_out, std::vector<T>& list) {
    left_out.push_back(value);
    if (!says_something) return;
    list.insert(list.end(), left_out.begin(), left_out.end());
    left_out.clear();
  }

  std::vector<int64_t> left_out_ints_;  ///< added integers since the last one that is stored
  std::vector<double> left_out_reals_;  ///< added numbers, likewise
};

/// Visitor that reads the fields back. Never reads past the lists: once a field is missing or out
/// of range, ok() is false and every later field keeps its default.
class AttrReader {
 public:
  AttrReader(std::span<const int64_t> ints, std::span<const double> reals)
      : ints_(ints), reals_(reals) {}

  /// Every field was legal and both lists are used up.
  bool Finished() const { return ok_ && ints_.empty() && reals_.empty(); }
  /// The first field that was missing or illegal; empty when only the lists were too long.
  std::string_view failed_field() const { return failed_; }

  void operator()(std::string_view name, int64_t& v) { v = Int(name); }
  /// Absent where nothing is left. A list may not end with a field whose value is the one that
  /// absence means, so that every step has exactly one form.
  template <int64_t kBefore>
  void operator()(std::string_view name, abi::AddedInt<kBefore>& v) {
    if (ints_.empty()) return;
    v = Int(name);
    if (!v.stored() && ints_.empty()) Fail(name);
  }
  void operator()(std::string_view name, abi::AddedReal& v) {
    if (reals_.empty()) return;
    v = Real(name);
    const bool absent = v.value == abi::AddedReal::kAbsent && !reals_.empty();
    if (!v.stored() && !absent) Fail(name);
  }
  void operator()(std::string_view name, bool& v) { v = Bounded(name, 2) != 0; }
  void operator()(std::string_view name, double& v) { v = Real(name); }
  void operator()(std::string_view name, Dims& v) { v = Extents(name); }
  void operator()(std::string_view name, std::vector<Dims>& v) {
    // Each entry takes at least its rank, so the count is bounded by what is left.
    const int64_t count = Bounded(name, static_cast<int64_t>(ints_.size()));
    for (int64_t i = 0; i < count && ok_; ++i) v.push_back(Extents(name));
  }
  void operator()(std::string_view name, std::vector<double>& v) {
    const int64_t count = Bounded(name, static_cast<int64_t>(reals_.size()) + 1);
    for (int64_t i = 0; i < count; ++i) v.push_back(Real(name));
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(std::string_view name, E& v) {
    v = static_cast<E>(Bounded(name, static_cast<int64_t>(E::kCount)));
  }

 private:
  void Fail(std::string_view name) {
    if (ok_) failed_ = name;
    ok_ = false;
  }
  int64_t Int(std::string_view name) {
    if (ints_.empty()) Fail(name);
    if (!ok_) return 0;
    const int64_t v = ints_[0];
    ints_ = ints_.subspan(1);
    return v;
  }
  double Real(std::string_view name) {
    if (reals_.empty()) Fail(name);
    if (!ok_) return 0;
    const double v = reals_[0];
    reals_ = reals_.subspan(1);
    return v;
  }
  // A value in [0, limit); 0 after a failure.
  int64_t Bounded(std::string_view name, int64_t limit) {
    const int64_t v = Int(name);
    if (v >= 0 && v < limit) return v;
    Fail(name);
    return 0;
  }
  Dims Extents(std::string_view name) {
    Dims d;
    const int64_t rank = Bounded(name, kMaxRank + 1);
    for (int64_t i = 0; i < rank; ++i) d.push_back(Int(name));
    return d;
  }

  std::span<const int64_t> ints_;
  std::span<const double> reals_;
  std::string_view failed_;
  bool ok_ = true;
};

}  // namespace aicf::schema
