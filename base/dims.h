/// Dims: up to eight int64 in place; a shape (extents), strides, pads, or a permutation.
/// All counting is checked: a shape whose element count does not fit int64 is an error, not a wrap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/api.h"

namespace aicf {

inline constexpr int kMaxRank = 8;

class AICF_API Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> v) : Dims(std::span(v.begin(), v.size())) {}
  /// More than kMaxRank numbers give dims that are no shape, because a constructor returns no
  /// error: one extent, which is negative, so that whatever looks at it stays inside the array,
  /// ElementCount refuses it and it is equal to no shape. refused_rank() tells it apart.
  explicit Dims(std::span<const int64_t> v) {
    if (v.size() > kMaxRank) [[unlikely]] {
      rank_ = 1;
      d_[0] = kRefused;
      d_[1] = static_cast<int64_t>(v.size());
      return;
    }
    rank_ = static_cast<uint8_t>(v.size());
    for (size_t i = 0; i < v.size(); ++i) d_[i] = v[i];
  }
  /// REQUIRES: 0 <= rank <= kMaxRank.
  static Dims Filled(int rank, int64_t value) {
    Dims d;
    d.rank_ = static_cast<uint8_t>(rank);
    for (int i = 0; i < rank; ++i) d.d_[i] = value;
    return d;
  }

  int rank() const { return rank_; }
  int size() const { return rank_; }
  /// How many numbers the constructor was given, where these were more than kMaxRank; otherwise 0.
  int64_t refused_rank() const { return rank_ == 1 && d_[0] == kRefused ? d_[1] : 0; }
  bool empty() const { return rank_ == 0; }
  int64_t& operator[](int i) { return d_[i]; }
  int64_t operator[](int i) const { return d_[i]; }
  int64_t* begin() { return d_.data(); }
  int64_t* end() { return d_.data() + rank_; }
  const int64_t* begin() const { return d_.data(); }
  const int64_t* end() const { return d_.data() + rank_; }
  int64_t back() const { return d_[rank_ - 1]; }
  std::span<const int64_t> span() const { return {d_.data(), rank_}; }

  /// REQUIRES: rank() < kMaxRank.
  void push_back(int64_t v) { d_[rank_++] = v; }
  void insert(int at, int64_t v);
  void erase(int at);

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.rank_ != b.rank_) return false;
    int64_t differ = 0;  // compared Dims are mostly equal, so stopping early would gain nothing
    for (int i = 0; i < a.rank_; ++i) differ |= a.d_[i] ^ b.d_[i];
    return differ == 0;
  }

 private:
  /// The only extent of dims that were refused, which keep their number behind it.
  static constexpr int64_t kRefused = std::numeric_limits<int64_t>::min();

  std::array<int64_t, kMaxRank> d_{};
  uint8_t rank_ = 0;
};

/// "1x3x48x320"; "scalar" for rank 0.
AICF_API std::string ToString(const Dims& d);
/// "[1, -2]", for strides, pads and starts.
AICF_API std::string ToListString(const Dims& d);

/// Parses "1x3x48x320", "scalar" or "" (rank 0); nullopt on anything else, on more than kMaxRank
/// extents, or on an extent that does not fit a non-negative int64.
AICF_API std::optional<Dims> ParseShape(std::string_view text);

/// Product of extents; nullopt when an extent is negative or the product overflows int64.
/// Rank 0 counts one element.
AICF_API std::optional<int64_t> ElementCount(const Dims& shape);

/// Strides, in elements, of a dense row-major tensor of this shape.
/// REQUIRES: ElementCount(shape) has a value.
AICF_API Dims RowMajorStrides(const Dims& shape);

/// NumPy broadcasting of two shapes; nullopt when they do not agree.
AICF_API std::optional<Dims> BroadcastShapes(const Dims& a, const Dims& b);

}  // namespace aicf
