/// cpu.sample.taps: the offsets and weights of a run of points, then every channel through them.
#include <algorithm>

#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/sample/coordinates.h"
#include "kernels/cpu/sample/sample.h"

namespace aicf::cpu {
namespace {

constexpr int kRun = 32;       ///< points whose taps are kept at once
constexpr int kMostTaps = 16;  ///< cubic over two axes, linear over three needs 8

struct Run {
  int points = 0;
  int taps = 0;
  int64_t out[kRun];                ///< offset of the point in the output's first channel
  int64_t offset[kMostTaps][kRun];  ///< in x's first channel; -1 reads as zero
  float weight[kMostTaps][kRun];
};

class Sampling {
 public:
  explicit Sampling(const abi::ArgBlock& args)
      : attrs_(args.problem->as<abi::SampleAttrs>()),
        x_(Input(args, 0)),
        grid_(Input(args, 1)),
        out_(Output(args, 0)),
        spatial_(x_.rank - 2) {
    places_.push_back(out_.shape[0]);
    for (int d = 0; d < spatial_; ++d) places_.push_back(out_.shape[d + 2]);
  }

  int64_t points() const { return ElementCount(places_).value_or(0); }

  void RunPoints(int64_t begin, int64_t end) const {
    Run run;
    for (int64_t first = begin; first < end; first += kRun) {
      run.points = static_cast<int>(std::min<int64_t>(kRun, end - first));
      for (int i = 0; i < run.points; ++i) AddPoint(run, i, first + i);
      const bool channels_inner = x_.strides[1] == 1 && x_.shape[1] > 1;
      channels_inner ? BlendChannels(run) : BlendPoints(run);
    }
  }

 private:
  void AddPoint(Run& run, int i, int64_t point) const {
    int64_t at[kMaxRank] = {};  // n, then the spatial coordinates
    CoordinatesOf(places_, point, at);
    run.out[i] = out_.offset + at[0] * out_.strides[0];
    for (int d = 0; d < spatial_; ++d) run.out[i] += at[d + 1] * out_.strides[d + 2];
    const int64_t grid = OffsetAt(grid_, at);
    const int count = SampleTapCount(attrs_.mode);
    run.taps = 1;
    run.offset[0][i] = x_.offset + at[0] * x_.strides[0];
    run.weight[0][i] = 1;
    for (int d = 0; d < spatial_; ++d) {
      const float n = static_cast<const float*>(
          grid_.data)[grid + (spatial_ - 1 - d) * grid_.strides[spatial_ + 1]];
      Multiply(run, i, SampleTapsOf(attrs_, x_.shape[d + 2], n), count, x_.strides[d + 2]);
    }
  }

  /// Every tap so far becomes `count` taps.
  static void Multiply(Run& run, int i, const SampleTap<float>& tap, int count, int64_t stride) {
    for (int old = run.taps - 1; old >= 0; --old) {
      const int64_t offset = run.offset[old][i];
      const float weight = run.weight[old][i];
      for (int k = 0; k < count; ++k) {
        const bool inside = offset >= 0 && tap.index[k] >= 0;
        run.offset[old * count + k][i] = inside ? offset + tap.index[k] * stride : -1;
        run.weight[old * count + k][i] = weight * tap.weight[k];
      }
    }
    run.taps *= count;
  }

  void BlendPoints(const Run& run) const {
    for (int64_t c = 0; c < x_.shape[1]; ++c) {
      const float* x = static_cast<const float*>(x_.data) + c * x_.strides[1];
      float* out = static_cast<float*>(out_.data) + c * out_.strides[1];
      float sum[kRun] = {};
      for (int t = 0; t < run.taps; ++t) {
        for (int i = 0; i < run.points; ++i) {
          const int64_t at = run.offset[t][i];
          if (at >= 0) sum[i] += run.weight[t][i] * x[at];
        }
      }
      for (int i = 0; i < run.points; ++i) out[run.out[i]] = sum[i];
    }
  }

  void BlendChannels(const Run& run) const {
    constexpr int64_t kChannels = 64;
    for (int i = 0; i < run.points; ++i) {
      for (int64_t first = 0; first < x_.shape[1]; first += kChannels) {
        const int64_t count = std::min(kChannels, x_.shape[1] - first);
        float sum[kChannels] = {};
        for (int t = 0; t < run.taps; ++t) {
          if (run.offset[t][i] < 0) continue;
          const float* x = static_cast<const float*>(x_.data) + run.offset[t][i] + first;
          for (int64_t c = 0; c < count; ++c) sum[c] += run.weight[t][i] * x[c];
        }
        float* out = static_cast<float*>(out_.data) + run.out[i];
        for (int64_t c = 0; c < count; ++c) out[(first + c) * out_.strides[1]] = sum[c];
      }
    }
  }

  const abi::SampleAttrs& attrs_;
  const abi::TensorArg &x_, &grid_, &out_;
  const int spatial_;
  Dims places_;
};

}  // namespace

void SampleTaps(const abi::ArgBlock& args) {
  const Sampling sampling(args);
  const int64_t channels = std::max<int64_t>(1, Output(args, 0).shape[1]);
  const int64_t grain = (8192 / channels / kRun + 1) * kRun;
  ParallelRanges(args, sampling.points(), grain,
                 [&](int64_t begin, int64_t end) { sampling.RunPoints(begin, end); });
}

}  // namespace aicf::cpu
