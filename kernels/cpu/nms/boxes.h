/// Operands of NonMaxSuppression and the test that one box covers another, shared by every variant.
/// Evaluated in f32, operation by operation as in kernels/cuda/nms/greedy.cuh.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/nms/nms.h"

namespace aicf::cpu {

struct NmsBox {
  float x_low, y_low, x_high, y_high;
};

class NmsOperands {
 public:
  const NmsExtents extents;
  int64_t limit = 0;  ///< selected boxes per pair, at most

  explicit NmsOperands(const abi::ArgBlock& args)
      : extents(*args.problem),
        args_(args),
        center_(args.problem->as<abi::NmsAttrs>().center_point_box) {
    const int64_t zero[kMaxRank] = {};
    limit = std::clamp<int64_t>(LoadAt(Input(args, 2), zero).i, 0, extents.most);
    overlap_ = static_cast<float>(LoadAt(Input(args, 3), zero).f);
    least_ = static_cast<float>(LoadAt(Input(args, 4), zero).f);
  }

  float Score(int64_t pair, int64_t box) const {
    const int64_t at[kMaxRank] = {pair / extents.classes, pair % extents.classes, box};
    return static_cast<float>(LoadAt(Input(args_, 1), at).f);
  }
  bool IsCandidate(float score) const { return score > least_; }

  NmsBox Box(int64_t pair, int64_t box) const {
    float v[4];
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t at[kMaxRank] = {pair / extents.classes, box, k};
      v[k] = static_cast<float>(LoadAt(Input(args_, 0), at).f);
    }
    if (center_) {
      const float half_width = v[2] / 2, half_height = v[3] / 2;
      return {v[0] - half_width, v[1] - half_height, v[0] + half_width, v[1] + half_height};
    }
    return {std::min(v[1], v[3]), std::min(v[0], v[2]), std::max(v[1], v[3]), std::max(v[0], v[2])};
  }

  /// Intersection over union above the threshold; boxes without area cover nothing.
  bool Covers(const NmsBox& a, const NmsBox& b) const {
    const float width = std::min(a.x_high, b.x_high) - std::max(a.x_low, b.x_low);
    const float height = std::min(a.y_high, b.y_high) - std::max(a.y_low, b.y_low);
    if (!(width > 0) || !(height > 0)) return false;
    const float common = width * height;
    const float area_a = (a.x_high - a.x_low) * (a.y_high - a.y_low);
    const float area_b = (b.x_high - b.x_low) * (b.y_high - b.y_low);
    const float all = area_a + area_b - common;
    if (!(common > 0) || !(area_a > 0) || !(area_b > 0) || !(all > 0)) return false;
    return common / all > overlap_;
  }

  /// Row `row` of the output: the selected box, or -1 everywhere.
  void StoreRow(int64_t row, int64_t pair, int64_t box) const {
    const bool none = box < 0;
    const int64_t values[3] = {none ? -1 : pair / extents.classes,
                               none ? -1 : pair % extents.classes, box};
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t at[kMaxRank] = {row, k};
      StoreAt(Output(args_, 0), at, IntScalar(values[k]));
    }
  }
  /// Fills the rows from `count` on and stores the count.
  void Finish(int64_t count) const {
    for (int64_t row = count; row < Output(args_, 0).shape[0]; ++row) StoreRow(row, 0, -1);
    const int64_t zero[kMaxRank] = {};
    StoreAt(Output(args_, 1), zero, IntScalar(count));
  }

 private:
  const abi::ArgBlock& args_;
  const bool center_;
  float overlap_, least_;
};

}  // namespace aicf::cpu
