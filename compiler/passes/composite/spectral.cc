// Fourier transforms as products with constant matrices, which are computed in double.
#include <cmath>
#include <numbers>

#include "base/checked.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

// A transform of one axis: `in` samples of one or two components (real, imaginary) to `out`
// samples.
struct Transform {
  int64_t length = 0;  // N of exp(-2 pi j k t / N)
  int64_t in = 0, in_parts = 2;
  int64_t out = 0, out_parts = 2;
  bool inverse = false;
  bool half_input = false;  // the input holds the first half of a symmetric spectrum
};

// cos and sin of the angle from input sample i to output sample o. Whole turns are taken off in
// integers, which is exact.
std::pair<double, double> Turn(const Transform& t, int64_t i, int64_t o) {
  const auto step = static_cast<double>((static_cast<__int128>(i) * o) % t.length);
  const double angle = 2 * std::numbers::pi * step / static_cast<double>(t.length);
  return {std::cos(angle), (t.inverse ? 1 : -1) * std::sin(angle)};
}

double WeightOf(const Transform& t, int64_t i) {
  double weight = t.inverse ? 1 / static_cast<double>(t.length) : 1;
  // The other half of the spectrum is the conjugate of this one.
  if (t.half_input && i != 0 && 2 * i != t.length) weight *= 2;
  return weight;
}

// [in * in_parts, out * out_parts]
std::vector<double> Matrix(const Transform& t) {
  std::vector<double> m(static_cast<size_t>(t.in * t.in_parts * t.out * t.out_parts));
  size_t at = 0;
  for (int64_t i = 0; i < t.in; ++i) {
    for (int64_t part = 0; part < t.in_parts; ++part) {
      for (int64_t o = 0; o < t.out; ++o) {
        const auto [cosine, sine] = Turn(t, i, o);
        const double weight = WeightOf(t, i);
        m[at++] = weight * (part == 0 ? cosine : -sine);
        if (t.out_parts == 2) m[at++] = weight * (part == 0 ? sine : cosine);
      }
    }
  }
  return m;
}

Status CheckSize(const Transform& t) {
  const bool fits = t.length >= 1 && t.in >= 0 && t.out >= 0 && t.in < kMaxTableElements &&
                    t.out < kMaxTableElements &&
                    t.in * 2 <= kMaxTableElements / std::max<int64_t>(2 * t.out, 1);
  if (fits) return OkStatus();
  return Error(Code::kUnsupported, "a transform of length ", t.length,
               ": its matrix would be too large");
}

struct DftShape {
  Transform transform;
  int axis = 0;
};

Result<DftShape> ReadDft(const Composer& c) {
  const Dims x = c.Shape(c.In(0));
  const int rank = x.rank();
  if (rank < 2 || (x[rank - 1] != 1 && x[rank - 1] != 2)) {
    return Error(Code::kBadModel, "its input ", ToString(x), " has no last axis of 1 or 2 parts");
  }
  int64_t given = -2;
  if (c.Has(2)) {
    AICF_ASSIGN_OR_RETURN(given, ConstantInt(c, 2, "axis"));
  }
  DftShape s;
  AICF_ASSIGN_OR_RETURN(s.axis, ir::NormalizeAxis(given, rank));
  if (s.axis == rank - 1) return Error(Code::kBadModel, "axis ", given, " is that of the parts");
  Transform& t = s.transform;
  const int64_t samples = x[s.axis];
  const bool onesided = c.node().Int("onesided", 0) != 0;
  t.inverse = c.node().Int("inverse", 0) != 0;
  t.half_input = t.inverse && onesided;
  t.length = t.half_input ? (Checked(samples) - 1 + samples - 1).value().value_or(0) : samples;
  if (c.Has(1)) {
    AICF_ASSIGN_OR_RETURN(t.length, ConstantInt(c, 1, "dft_length"));
  }
  if (t.length < 1) return Error(Code::kBadModel, "a transform of length ", t.length);
  const int64_t half = t.length / 2 + 1;
  // Samples beyond the length are cut off; missing ones count as zero.
  t.in = std::min(samples, t.half_input ? half : t.length);
  t.in_parts = x[rank - 1];
  t.out = onesided && !t.inverse ? half : t.length;
  t.out_parts = t.half_input ? 1 : 2;
  AICF_RETURN_IF_ERROR(CheckSize(t));
  return s;
}

std::vector<int64_t> SwapAxes(int rank, int a, int b) {
  std::vector<int64_t> perm = AxesFrom(0, rank);
  std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(b)]);
  return perm;
}

}  // namespace

Status ExpandDFT(Composer& c) {
  AICF_ASSIGN_OR_RETURN(const DftShape s, ReadDft(c));
  const Transform& t = s.transform;
  ir::ValueId x = Wide(c, c.In(0));
  AICF_RETURN_IF_ERROR(c.status());
  const int rank = c.Shape(x).rank();
  if (c.Shape(x)[s.axis] != t.in) x = c.Window(x, s.axis, 0, t.in);
  const std::vector<int64_t> perm = SwapAxes(rank, s.axis, rank - 2);
  x = c.Transpose(x, perm);
  AICF_RETURN_IF_ERROR(c.status());  // the shape of a failed value has no axes
  Dims rows = c.Shape(x);
  Dims flat = rows;
  flat.erase(rank - 1);
  flat[rank - 2] = t.in * t.in_parts;
  const ir::ValueId matrix =
      Floats(c, Matrix(t), {t.in * t.in_parts, t.out * t.out_parts}, c.Type(x));
  ir::ValueId y = c.MatMul(c.Reshape(x, flat), matrix);
  rows[rank - 2] = t.out;
  rows[rank - 1] = t.out_parts;
  y = c.Transpose(c.Reshape(y, rows), perm);
  c.Output(0, c.Cast(y, c.Type(c.In(0))));
  return c.status();
}

namespace {

struct StftShape {
  Transform transform;
  int64_t step = 1;
};

Result<StftShape> ReadStft(const Composer& c) {
  const Dims x = c.Shape(c.In(0));
  if (x.rank() != 3 || (x[2] != 1 && x[2] != 2)) {
    return Error(Code::kBadModel, "its signal has shape ", ToString(x));
  }
  StftShape s;
  AICF_ASSIGN_OR_RETURN(s.step, ConstantInt(c, 1, "frame_step"));
  Transform& t = s.transform;
  if (c.Has(3)) {
    AICF_ASSIGN_OR_RETURN(t.length, ConstantInt(c, 3, "frame_length"));
  } else if (c.Has(2)) {
    t.length = ElementCount(c.Shape(c.In(2))).value_or(0);
  }
  if (c.Has(2) && !(c.Shape(c.In(2)) == Dims{t.length})) {
    return Error(Code::kBadModel, "its window has shape ", ToString(c.Shape(c.In(2))),
                 ", expected ", t.length);
  }
  if (s.step < 1 || t.length < 1 || t.length > x[1]) {
    return Error(Code::kBadModel, "frames of ", t.length, " every ", s.step, " samples of ", x[1]);
  }
  t.in = t.length;
  t.in_parts = x[2];
  t.out = c.node().Int("onesided", 1) != 0 ? t.length / 2 + 1 : t.length;
  AICF_RETURN_IF_ERROR(CheckSize(t));
  return s;
}

}  // namespace

// Frames overlap, so the transform is a convolution: one output channel per bin and part, one input
// channel per part. The window belongs to its weights.
Status ExpandSTFT(Composer& c) {
  AICF_ASSIGN_OR_RETURN(const StftShape s, ReadStft(c));
  const Transform& t = s.transform;
  const ir::ValueId signal = Wide(c, c.In(0));
  const DType dtype = c.Type(signal);
  const int64_t channels = t.out * t.out_parts;
  ir::ValueId weights = Floats(c, Matrix(t), {t.in, t.in_parts, channels}, dtype);
  weights = c.Transpose(weights, {2, 1, 0});
  if (c.Has(2)) weights = c.Mul(weights, c.Cast(c.In(2), dtype));
  ir::ValueId y = c.Op("Conv", {c.Transpose(signal, {0, 2, 1}), weights},
                       {{"strides", std::vector<int64_t>{s.step}}});
  const Dims out = c.Shape(y);
  AICF_RETURN_IF_ERROR(c.status());
  y = c.Reshape(c.Transpose(y, {0, 2, 1}), {out[0], out[2], t.out, t.out_parts});
  c.Output(0, c.Cast(y, c.Type(c.In(0))));
  return c.status();
}

}  // namespace aicf
