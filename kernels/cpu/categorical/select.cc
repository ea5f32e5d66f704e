/// cpu.categorical.*: one pass over the row finds the maxima of groups of categories. At least k
/// categories reach the k-th largest of these maxima, so that it is a lower bound for the k largest
/// categories: later passes look only at the few stretches that have a maximum not below it.
#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <span>

#include "kernels/abi/draw.h"
#include "kernels/cpu/categorical/categorical.h"
#include "kernels/cpu/categorical/loops.h"
#include "kernels/cpu/categorical/results.h"
#include "kernels/cpu/categorical/scratch.h"
#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();
/// The order in which top-k and top-p take categories.
struct TakenBefore {
  bool operator()(const Category& a, const Category& b) const {
    return a.logit > b.logit || (a.logit == b.logit && a.index < b.index);
  }
};

/// One row's draw.
class RowDraw {
 public:
  RowDraw(const abi::ArgBlock& args, const CategoricalLoops& loops, void* memory)
      : args_(args), loops_(loops), n_(Input(args, 0).shape[1]) {
    auto* const base = static_cast<std::byte*>(memory);
    const CategoricalScratch at(n_);
    row_ = reinterpret_cast<float*>(base + at.row);
    maxima_ = reinterpret_cast<float*>(base + at.maxima);
    some_ = reinterpret_cast<float*>(base + at.some);
    sums_ = reinterpret_cast<double*>(base + at.sums);
    taken_ = reinterpret_cast<Category*>(base + at.taken);
  }

  void Run(int64_t b) {
    b_ = b;
    Load();
    max_ = loops_.maxima(x_, n_, maxima_);
    const bool valid = max_ < -kNothing && max_ > kNothing;  // NaN is neither
    int64_t id = 0;
    if (valid) id = Float(1) > 0 ? Draw() : FirstLargest();
    StoreDraw(args_, b_, id, valid);
  }

 private:
  double Float(int k) const { return LoadAt(Input(args_, k), &b_).f; }
  int64_t Int(int k) const { return LoadAt(Input(args_, k), &b_).i; }

  void Load() {
    const abi::TensorArg& x = Input(args_, 0);
    const int64_t first[kMaxRank] = {b_, 0};
    const void* from = ElementAt(x, first);
    x_ = row_;
    if (x.strides[1] != 1) {
      for (int64_t at[kMaxRank] = {b_, 0}; at[1] < n_; ++at[1]) {
        row_[at[1]] = static_cast<float>(LoadAt(x, at).f);
      }
    } else if (x.dtype == DType::kF32) {
      x_ = static_cast<const float*>(from);
    } else {
      const auto widen = x.dtype == DType::kF16 ? loops_.widen_f16 : loops_.widen_bf16;
      widen(static_cast<const uint16_t*>(from), row_, n_);
    }
  }

  int64_t FirstLargest() const {
    const float* group = maxima_;
    while (*group != max_) ++group;
    // Groups are numbered stretch by stretch: the first group with the maximum is in the first
    // stretch with it.
    int64_t i = (group - maxima_) / kStretchGroups * kStretch;
    while (x_[i] != max_) ++i;
    return i;
  }

  int64_t Draw() {
    factor_ = 1 / Float(1);
    const int64_t top_k = Int(2);
    Category cut = {0, kNothing, std::numeric_limits<int32_t>::max()};
    if (top_k > 0 && top_k < n_) cut = LastOfTopK(top_k);
    if (Float(3) < 1) cut = LastOfTopP(cut);
    return cut.index < std::numeric_limits<int32_t>::max() ? DrawTaken(cut) : DrawAny();
  }

  /// A logit that at least `count` categories reach, usually not many more; minus infinity if there
  /// are fewer groups than that.
  float BoundFor(int64_t count) const {
    const int64_t groups = StretchesOf(n_) * kStretchGroups;
    if (count > groups) return kNothing;
    std::copy(maxima_, maxima_ + groups, some_);
    float* const nth = some_ + count - 1;
    std::nth_element(some_, nth, some_ + groups, std::greater<>());
    return *nth;
  }

  /// `last` and the categories that are taken before it (TakenBefore), in the order of their
  /// numbers.
  std::span<Category> TakenUntil(const Category& last) const {
    Category* end = taken_;
    for (int64_t s = 0; s < StretchesOf(n_); ++s) {
      const float* most = maxima_ + s * kStretchGroups;
      if (*std::max_element(most, most + kStretchGroups) < last.logit) continue;
      const int64_t stop = std::min(n_, (s + 1) * kStretch);
      for (int64_t i = s * kStretch; i < stop; ++i) {
        *end = {0, x_[i], static_cast<int32_t>(i)};
        end += x_[i] > last.logit || (x_[i] == last.logit && i <= last.index) ? 1 : 0;
      }
    }
    return {taken_, end};
  }
  std::span<Category> TakenDownTo(float logit) const {
    return TakenUntil({0, logit, std::numeric_limits<int32_t>::max()});
  }

  /// Sets the categories' masses and returns their sum.
  double FillMasses(std::span<Category> categories) const {
    constexpr size_t kSome = 256;
    float logits[kSome];
    double masses[kSome], sum = 0;
    for (size_t first = 0; first < categories.size(); first += kSome) {
      const size_t count = std::min(kSome, categories.size() - first);
      for (size_t i = 0; i < count; ++i) logits[i] = categories[first + i].logit;
      sum += loops_.masses(logits, static_cast<int64_t>(count), max_, factor_, masses);
      for (size_t i = 0; i < count; ++i) categories[first + i].mass = masses[i];
    }
    return sum;
  }

  Category LastOfTopK(int64_t top_k) const {
    const std::span<Category> taken = TakenDownTo(BoundFor(top_k));
    const auto last = taken.begin() + top_k - 1;
    std::nth_element(taken.begin(), last, taken.end(), TakenBefore());
    return *last;
  }

  Category LastOfTopP(const Category& cut) {
    const double top_p = Float(3);
    if (cut.index < std::numeric_limits<int32_t>::max()) {
      const std::span<Category> taken = TakenUntil(cut);
      return LastReaching(taken, top_p * FillMasses(taken));
    }
    const double target = top_p * SumBlocks(kNothingLeast);
    // Few categories usually have most of the mass, so the search begins with few and widens.
    for (int64_t count = 256;; count *= 8) {
      const float bound = BoundFor(count);
      const std::span<Category> taken = TakenDownTo(bound);
      if (FillMasses(taken) >= target || bound == kNothing) return LastReaching(taken, target);
    }
  }

  /// The last category that is taken if categories are taken, at least one, until their mass
  /// reaches the target. To avoid sorting all of them, masses are first added up in bins by their
  /// leading bits, which tells the bin in which the target is reached.
  static Category LastReaching(std::span<Category> taken, double target) {
    double masses[kMassBins] = {};
    for (const Category& c : taken) masses[MassBin(c.mass)] += c.mass;
    double before = 0;
    int64_t bin = 0;
    while (bin < kMassBins - 1 && before + masses[bin] < target) before += masses[bin++];
    const auto end = std::partition(taken.begin(), taken.end(),
                                    [&](const Category& c) { return MassBin(c.mass) == bin; });
    // The bin may be empty, where all masses together do not reach the target.
    if (end == taken.begin()) {
      return *std::max_element(taken.begin(), taken.end(), TakenBefore());
    }
    return LastWithin({taken.begin(), end}, before, target);
  }

  /// 32 bins for each power of two, the largest masses first; the last bin has all masses below
  /// 2^-64.
  static constexpr int64_t kMassBins = 64 * 32 + 1;
  static int64_t MassBin(double mass) {
    constexpr int64_t kOne = int64_t{1023} << 5;
    const int64_t leading = std::bit_cast<int64_t>(mass) >> 47;
    return std::clamp<int64_t>(kOne - leading, 0, kMassBins - 1);
  }

  static Category LastWithin(std::span<Category> taken, double before, double target) {
    auto low = taken.begin(), high = taken.end();
    while (high - low > 32) {
      const auto middle = low + (high - low) / 2;
      std::nth_element(low, middle, high, TakenBefore());
      double upper = before;
      for (auto c = low; c != middle; ++c) upper += c->mass;
      if (upper >= target) {
        high = middle;
      } else {
        before = upper;
        low = middle;
      }
    }
    std::sort(low, high, TakenBefore());
    while (low + 1 != high && before + low->mass < target) before += (low++)->mass;
    return *low;
  }

  double Uniform() const {
    return static_cast<double>(
        abi::UniformDraw(static_cast<uint64_t>(Int(5)), static_cast<uint64_t>(Int(6))));
  }

  /// Draws among the categories that are taken until `cut`, which is one of them.
  int64_t DrawTaken(const Category& cut) {
    const std::span<Category> taken = TakenUntil(cut);
    FillMasses(taken);
    const double least = Float(4);
    const int64_t first = FirstLargest();
    double all = 0;
    for (Category& c : taken) {
      if (c.mass < least && c.index != first) c.mass = 0;
      all += c.mass;
    }
    const double target = Uniform() * all;
    double running = 0;
    for (const Category& c : taken) {
      running += c.mass;
      if (running > target) return c.index;
    }
    return LastOf(taken);
  }
  static int64_t LastOf(std::span<const Category> taken) {
    size_t i = taken.size() - 1;
    while (i > 0 && taken[i].mass == 0) --i;
    return taken[i].index;
  }

  static constexpr double kNothingLeast = -1;

  /// The masses of a block, with those below `least` set to 0. Returns their sum.
  double BlockMasses(int64_t first, double least, double (&mass)[kMassBlock]) const {
    const int64_t count = std::min(kMassBlock, n_ - first);
    const double sum = loops_.masses(x_ + first, count, max_, factor_, mass);
    if (!(least > 0)) return sum;
    double left = 0;
    for (int64_t i = 0; i < count; ++i) {
      mass[i] = mass[i] < least ? 0 : mass[i];
      left += mass[i];
    }
    return left;
  }

  double SumBlocks(double least) const {
    double mass[kMassBlock], all = 0;
    for (int64_t first = 0; first < n_; first += kMassBlock) {
      all += sums_[first / kMassBlock] = BlockMasses(first, least, mass);
    }
    return all;
  }

  /// Draws among all categories.
  int64_t DrawAny() {
    const double least = Float(4);
    if (least > 1) return FirstLargest();
    const double target = Uniform() * SumBlocks(least);
    double mass[kMassBlock], running = 0;
    int64_t last = 0;
    for (int64_t first = 0; first < n_; first += kMassBlock) {
      const double sum = sums_[first / kMassBlock];
      // The margin is there because a block's sum may round differently from the running sum of its
      // masses one by one.
      if (sum == 0 || running + sum * (1 + 1e-9) <= target) {
        running += sum;
        continue;
      }
      BlockMasses(first, least, mass);
      double within = running;
      for (int64_t i = 0; i < std::min(kMassBlock, n_ - first); ++i) {
        within += mass[i];
        if (mass[i] > 0) last = first + i;
        if (within > target) return first + i;
      }
      running += sum;
    }
    return last;
  }

  const abi::ArgBlock& args_;
  const CategoricalLoops& loops_;
  const int64_t n_;
  float *row_, *maxima_, *some_;  ///< see CategoricalScratch
  double* sums_;
  Category* taken_;
  int64_t b_ = 0;
  const float* x_ = nullptr;
  float max_ = 0;
  double factor_ = 0;
};

void RunCategorical(const abi::ArgBlock& args, const CategoricalLoops& loops) {
  CopyDrawTable(args);
  const int64_t rows = Input(args, 0).shape[0];
  const int64_t pieces = std::min(rows, kCategoricalPieces);
  const uint64_t bytes = CategoricalScratch(Input(args, 0).shape[1]).bytes;
  ParallelRanges(args, pieces, 1, [&](int64_t piece, int64_t) {
    RowDraw draw(args, loops, static_cast<std::byte*>(args.workspace) + piece * bytes);
    for (int64_t b = piece; b < rows; b += pieces) draw.Run(b);
  });
}

}  // namespace

void baseline::Categorical(const abi::ArgBlock& args) { RunCategorical(args, kCategoricalLoops); }
void avx2::Categorical(const abi::ArgBlock& args) { RunCategorical(args, kCategoricalLoops); }
void avx512::Categorical(const abi::ArgBlock& args) { RunCategorical(args, kCategoricalLoops); }

}  // namespace aicf::cpu
