#include "tools/verify/judge.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace aicf::tools {
namespace {

/// For integers that float arithmetic decides: the share of elements that may always land on the
/// other side of a rounding boundary.
constexpr double kBoundaryShare = 1e-3;

/// Whether few enough elements differ. Of pairs of values that are `error` apart, the share 2 *
/// error falls on different sides of a boundary between integers.
bool FewEnough(const Comparison& c, double eps, double magnitude) {
  const double share = kBoundaryShare + 4 * eps * (1 + magnitude);
  return static_cast<double>(c.different) <= std::max(1.0, share * static_cast<double>(c.elements));
}

}  // namespace

std::vector<std::byte> Gather(const abi::View& view, std::span<const std::byte> buffer) {
  const auto item = static_cast<size_t>(DTypeBytes(view.dtype));
  std::vector<std::byte> out(static_cast<size_t>(abi::ElementsOf(view)) * item);
  if (out.empty()) return out;
  const int rank = view.shape.rank();
  const int64_t row = rank == 0 ? 1 : view.shape[rank - 1];
  const int64_t step = rank == 0 ? 1 : view.strides[rank - 1];
  Dims at = Dims::Filled(rank, 0);
  for (size_t done = 0; done < out.size();) {
    int64_t from = view.offset;
    for (int d = 0; d + 1 < rank; ++d) from += at[d] * view.strides[d];
    for (int64_t i = 0; i < row; ++i, done += item) {
      std::memcpy(&out[done], &buffer[static_cast<size_t>(from + i * step) * item], item);
    }
    for (int d = rank - 2; d >= 0 && ++at[d] == view.shape[d]; --d) at[d] = 0;
  }
  return out;
}

Judgement Judge(const TensorView& got, const TensorView& want, const StepTolerance& own,
                const Tolerance& given) {
  Judgement result;
  result.tolerance = given;
  const bool rounded = !own.exact && !IsFloat(want.dtype);
  const bool by_user = given.atol || given.rtol || given.rel;
  const double magnitude = own.exact ? 0 : RootMeanSquare(want);
  if (!by_user) {
    result.tolerance = rounded ? Tolerance{1, 0, {}} : Tolerance{own.eps * magnitude, own.eps, {}};
  }
  result.comparison = Compare(got, want, result.tolerance);
  result.pass = result.comparison.pass;
  if (!by_user && rounded && !FewEnough(result.comparison, own.eps, magnitude)) result.pass = false;
  return result;
}

Judgement JudgeWithin(const TensorView& got, const TensorView& want, const TensorView& low,
                      const TensorView& high, const StepTolerance& own, Judgement failed) {
  Comparison& c = failed.comparison;
  c.mismatches = 0;
  c.different = 0;
  for (int64_t i = 0; i < c.elements; ++i) {
    const double g = ElementAt(got, i), w = ElementAt(want, i);
    const double l = ElementAt(low, i), h = ElementAt(high, i);
    const double room = std::max(std::fabs(l - w), std::fabs(h - w));
    const double limit = *failed.tolerance.atol + *failed.tolerance.rtol * std::fabs(w);
    const double error = std::fabs(g - w);
    const bool alike = g == w || (std::isnan(g) && std::isnan(w));
    // Where an end of the range is infinite or NaN, the result may be so, too.
    const bool open = !std::isfinite(room) && (!std::isfinite(l) || !std::isfinite(h));
    if (alike || error <= room || (open && !std::isfinite(g))) continue;
    ++c.different;
    if (!(error <= limit + room)) ++c.mismatches;
  }
  c.pass = failed.pass =
      c.mismatches == 0 && (IsFloat(want.dtype) || FewEnough(c, own.eps, RootMeanSquare(want)));
  failed.cancelled = failed.pass;
  return failed;
}

}  // namespace aicf::tools
