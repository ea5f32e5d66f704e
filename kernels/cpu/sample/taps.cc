/// The vector variants: the offsets and weights of a run of points, then every channel through
/// them.
#include <algorithm>

#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/sample/coordinates.h"
#include "kernels/cpu/sample/loops.h"
#include "kernels/cpu/sample/sample.h"

namespace aicf::cpu {
namespace {

class Sampling {
 public:
  Sampling(const abi::ArgBlock& args, SampleLoop blend)
      : blend_(blend),
        attrs_(args.problem->as<abi::SampleAttrs>()),
        x_(Input(args, 0)),
        grid_(Input(args, 1)),
        out_(Output(args, 0)),
        spatial_(x_.rank - 2) {
    places_.push_back(out_.shape[0]);
    for (int d = 0; d < spatial_; ++d) places_.push_back(out_.shape[d + 2]);
  }

  int64_t points() const { return ElementCount(places_).value_or(0); }

  void RunPoints(int64_t begin, int64_t end) const {
    SampleRun run;
    for (int64_t first = begin; first < end; first += kSampleRun) {
      run.points = static_cast<int>(std::min<int64_t>(kSampleRun, end - first));
      // A short run repeats its last point: the loops blend whole runs.
      for (int i = 0; i < kSampleRun; ++i) AddPoint(run, i, std::min(first + i, end - 1));
      const bool channels_inner = x_.strides[1] == 1 && x_.shape[1] > 1;
      channels_inner ? BlendChannels(run) : BlendPoints(run);
    }
  }

 private:
  void AddPoint(SampleRun& run, int i, int64_t point) const {
    int64_t at[kMaxRank] = {};  // n, then the spatial coordinates
    CoordinatesOf(places_, point, at);
    run.out[i] = out_.offset + at[0] * out_.strides[0];
    for (int d = 0; d < spatial_; ++d) run.out[i] += at[d + 1] * out_.strides[d + 2];
    const int64_t grid = OffsetAt(grid_, at);
    run.taps = 1;
    run.offset[0][i] = x_.offset + at[0] * x_.strides[0];
    run.weight[0][i] = 1;
    run.inside[0][i] = true;
    for (int d = 0; d < spatial_; ++d) {
      const int64_t from = grid + (spatial_ - 1 - d) * grid_.strides[spatial_ + 1];
      const float n = static_cast<const float*>(grid_.data)[from];
      Multiply(run, i, SampleTapsOf(attrs_, x_.shape[d + 2], n), x_.strides[d + 2]);
    }
  }

  /// Replaces every tap so far by its products with the taps along one more axis.
  void Multiply(SampleRun& run, int i, const SampleTap<float>& tap, int64_t stride) const {
    const int count = SampleTapCount(attrs_.mode);
    for (int old = run.taps - 1; old >= 0; --old) {
      const int64_t offset = run.offset[old][i];
      const float weight = run.weight[old][i];
      const bool inside = run.inside[old][i];
      for (int k = 0; k < count; ++k) {
        const bool own = tap.index[k] >= 0;
        run.offset[old * count + k][i] = offset + (own ? tap.index[k] * stride : 0);
        run.weight[old * count + k][i] = weight * tap.weight[k];
        run.inside[old * count + k][i] = inside && own;
      }
    }
    run.taps *= count;
  }

  void BlendPoints(const SampleRun& run) const {
    for (int64_t c = 0; c < x_.shape[1]; ++c) {
      float* out = static_cast<float*>(out_.data) + c * out_.strides[1];
      float sum[kSampleRun];
      blend_(run, static_cast<const float*>(x_.data) + c * x_.strides[1], sum);
      for (int i = 0; i < run.points; ++i) out[run.out[i]] = sum[i];
    }
  }

  void BlendChannels(const SampleRun& run) const {
    constexpr int64_t kChannels = 64;
    for (int i = 0; i < run.points; ++i) {
      for (int64_t first = 0; first < x_.shape[1]; first += kChannels) {
        const int64_t count = std::min(kChannels, x_.shape[1] - first);
        float sum[kChannels] = {};
        for (int t = 0; t < run.taps; ++t) {
          if (!run.inside[t][i]) continue;
          const float* x = static_cast<const float*>(x_.data) + run.offset[t][i] + first;
          for (int64_t c = 0; c < count; ++c) sum[c] += run.weight[t][i] * x[c];
        }
        float* out = static_cast<float*>(out_.data) + run.out[i];
        for (int64_t c = 0; c < count; ++c) out[(first + c) * out_.strides[1]] = sum[c];
      }
    }
  }

  const SampleLoop blend_;
  const abi::SampleAttrs& attrs_;
  const abi::TensorArg &x_, &grid_, &out_;
  const int spatial_;
  Dims places_;
};

void Sample(const abi::ArgBlock& args, SampleLoop blend) {
  const Sampling sampling(args, blend);
  const int64_t channels = std::max<int64_t>(1, Output(args, 0).shape[1]);
  const int64_t grain = (8192 / channels / kSampleRun + 1) * kSampleRun;
  ParallelRanges(args, sampling.points(), grain,
                 [&](int64_t begin, int64_t end) { sampling.RunPoints(begin, end); });
}

}  // namespace

void baseline::Sample(const abi::ArgBlock& args) { cpu::Sample(args, BlendPoints); }
void avx2::Sample(const abi::ArgBlock& args) { cpu::Sample(args, BlendPoints); }
void avx512::Sample(const abi::ArgBlock& args) { cpu::Sample(args, BlendPoints); }

}  // namespace aicf::cpu
