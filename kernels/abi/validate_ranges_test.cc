// Every attribute that is a number from outside: what is no number, infinite, beyond f32 or beyond
// its range, and the ends of the ranges, which are legal.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/abi/ranges.h"
#include "kernels/abi/validate_faults.h"

namespace aicf::abi {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kWild[] = {std::nan(""), kInf, -kInf, 1e300, -1e300};

/// Sets one attribute: `set(attributes, value)`.
template <class A>
using Setter = std::function<void(A&, double)>;

template <class A>
void ExpectReals(const Problem& valid, std::string_view name, const Setter<A>& set,
                 const std::vector<double>& refused, const std::vector<double>& accepted) {
  std::vector<Fault> faults;
  for (double value : kWild) {
    faults.push_back({name, Edit<A>([=](A& a) { set(a, value); })});
  }
  for (double value : refused) {
    faults.push_back({name, Edit<A>([=](A& a) { set(a, value); })});
  }
  ExpectRefused(valid, faults);
  for (double value : accepted) {
    Problem p = valid;
    set(std::get<A>(p.attrs), value);
    EXPECT_EQ(ValidateProblem(p).message(), "") << name << " " << value;
  }
}

constexpr double kDenormal = 5e-324;

TEST(ValidateRanges, Resize) {
  ResizeAttrs attrs;
  attrs.scales = {1, 2};
  const auto p = ProblemOf(Family::kResize, attrs, 1, {F32({2, 3})}, {F32({2, 6})});
  using A = ResizeAttrs;
  ExpectReals<A>(p, "scale", [](A& a, double v) { a.scales[0] = v; },
                 {0, -1, kDenormal, 1e-40, 1e30, 0x1.8p40}, {0x1p-40, 0x1p40});
  ExpectReals<A>(p, "scale", [](A& a, double v) { a.scales[1] = v; }, {0, -2}, {0.5});
  ExpectReals<A>(p, "cubic coefficient", [](A& a, double v) { a.cubic_a = v; }, {},
                 {0, kDenormal, 1e30, -0.75});
}

TEST(ValidateRanges, Roi) {
  const auto p = ProblemOf(Family::kRoi, RoiAttrs{RoiKind::kAlignAverage, 1, 0, true}, 3,
                           {F32({1, 2, 8, 8}), F32({3, 4}), I64({3})}, {F32({3, 2, 2, 2})});
  using A = RoiAttrs;
  ExpectReals<A>(p, "spatial scale", [](A& a, double v) { a.spatial_scale = v; }, {},
                 {0, -1, kDenormal, 1e30});
  const auto samples = [](int64_t n) { return Edit<A>([=](A& a) { a.sampling_ratio = n; }); };
  ExpectRefused(p, {{"sampling ratio 1025", samples(1025)},
                    {"sampling ratio 9223372036854775807", samples(INT64_MAX)},
                    {"sampling ratio -9223372036854775808", samples(INT64_MIN)}});
  Problem most = p;
  samples(kMaxRoiSamples)(most);
  EXPECT_EQ(ValidateProblem(most).message(), "");
}

TEST(ValidateRanges, FillsOfIntegers) {
  const View bytes = DenseView(DType::kU8, {2});
  const auto p = ProblemOf(Family::kCopy, CopyAttrs{{Dims{1}}, true, 0}, 1,
                           {DenseView(DType::kU8, {1})}, {bytes});
  using A = CopyAttrs;
  ExpectReals<A>(p, "fill", [](A& a, double v) { a.fill = v; }, {0x1p65, -0x1p64, 1e30},
                 {0x1p64, -0x1p63, 0.5});
  // Masks of attention are filled with infinity.
  auto floats =
      ProblemOf(Family::kCopy, CopyAttrs{{Dims{1}}, true, -kInf}, 1, {F32({1})}, {F32({2})});
  EXPECT_EQ(ValidateProblem(floats).message(), "");
}

TEST(ValidateRanges, Epsilons) {
  const auto normalize =
      ProblemOf(Family::kNormalize, NormalizeAttrs{NormalizeKind::kLayerNorm, {1}, 0}, 1,
                {F32({2, 3})}, {F32({2, 3})});
  ExpectReals<NormalizeAttrs>(normalize, "epsilon",
                              [](NormalizeAttrs& a, double v) { a.epsilon = v; }, {},
                              {0, kDenormal, 1e30});
  GemmAttrs norm;
  norm.rms_epsilon = 1e-6;
  const auto rows =
      ProblemOf(Family::kGemm, norm, 3, {F32({2, 3}), F32({3, 4}), F32({2, 3})}, {F32({2, 4})});
  const auto set = [](double v) {
    return Edit<GemmAttrs>([=](GemmAttrs& a) { a.rms_epsilon = v; });
  };
  ExpectRefused(rows, {{"epsilon", set(kInf)}, {"epsilon", set(1e300)}});
}

TEST(ValidateRanges, Attention) {
  const auto p =
      ProblemOf(Family::kAttention, AttentionAttrs{}, 3,
                {F32({1, 2, 3, 4}), F32({1, 2, 5, 4}), F32({1, 2, 5, 6})}, {F32({1, 2, 3, 6})});
  using A = AttentionAttrs;
  ExpectReals<A>(p, "scale", [](A& a, double v) { a.scale = v; }, {}, {0, -1, kDenormal, 1e30});
  ExpectRefused(p, {{"offset", Edit<A>([](A& a) { a.offset = INT64_MAX; })},
                    {"offset", Edit<A>([](A& a) { a.offset = INT64_MIN; })},
                    {"window", Edit<A>([](A& a) { a.window_left = INT64_MAX; })},
                    {"window", Edit<A>([](A& a) { a.window_right = INT64_MIN; })}});
}

TEST(ValidateRanges, Recurrent) {
  RecurrentAttrs attrs;
  attrs.cell = CellKind::kRnn;
  attrs.activations = {0};
  attrs.alpha = attrs.beta = {0};
  const auto p =
      ProblemOf(Family::kRecurrent, attrs, 3, {F32({5, 1, 2, 3}), F32({1, 3, 3}), F32({1, 2, 3})},
                {F32({5, 1, 2, 3}), F32({1, 2, 3})});
  using A = RecurrentAttrs;
  ExpectReals<A>(p, "alpha", [](A& a, double v) { a.alpha[0] = v; }, {}, {0, -1, 1e30});
  ExpectReals<A>(p, "beta", [](A& a, double v) { a.beta[0] = v; }, {}, {0, -1, 1e30});
  ExpectReals<A>(p, "clip", [](A& a, double v) { a.clip = v; }, {-1}, {0, kDenormal, 1e30});
}

TEST(ValidateRanges, WindowsOfPools) {
  constexpr int64_t kMost = kMaxWindowReach;
  const auto p =
      ProblemOf(Family::kPool, PoolAttrs{PoolKind::kMax, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, 1,
                {F32({1, 3, 8, 8})}, {F32({1, 3, 4, 4})});
  using A = PoolAttrs;
  ExpectRefused(p, {{"kernel 2147483648", Edit<A>([](A& a) { a.kernel[0] = kMost + 1; })},
                    {"kernel 9223372036854775807", Edit<A>([](A& a) { a.kernel[1] = INT64_MAX; })},
                    {"a window of more than 2147483647 elements", Edit<A>([](A& a) {
                       a.kernel = {1 << 16, 1 << 15};
                     })},
                    // Each alone is within its range, the position of the last tap is not.
                    {"extent overflows", Edit<A>([](A& a) { a.kernel[0] = kMost - 5; })},
                    {"extent overflows", Edit<A>([](A& a) { a.pads_end[0] = kMost - 7; })}});
  Problem wide = p;
  std::get<A>(wide.attrs).kernel = {1 << 20, 1 << 10};
  EXPECT_EQ(ValidateProblem(wide).message(), "");
}

}  // namespace
}  // namespace aicf::abi
