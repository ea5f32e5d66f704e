// Fourier transforms against the complex sum of their definition.
#include <complex>
#include <numbers>

#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::Random;
using testing::ToArray;
using Complex = std::complex<double>;

Complex At(const Array& x, Dims at, int axis, int64_t i) {
  if (i >= x.shape[axis]) return 0;
  at[axis] = i;
  at[at.rank() - 1] = 0;
  const double real = x[at];
  if (x.shape.back() == 1) return real;
  at[at.rank() - 1] = 1;
  return {real, x[at]};
}

Complex Turn(int64_t k, int64_t n, double sign) {
  return std::polar(1.0,
                    sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
}

// Sample `o` of a full transform along `axis`.
Complex Sum(const Array& x, const Dims& at, int axis, int64_t n, bool inverse, int64_t o) {
  Complex sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += At(x, at, axis, i) * Turn(i * o % n, n, inverse ? 1 : -1);
  }
  return inverse ? sum / static_cast<double>(n) : sum;
}

struct DftForm {
  Dims shape;
  int axis;
  int64_t length;  // 0: not given
  bool inverse, onesided;
};

Array Reference(const DftForm& f, const Array& x) {
  const int64_t n = f.length > 0 ? f.length : x.shape[f.axis];
  Dims out = x.shape;
  out[f.axis] = f.onesided ? n / 2 + 1 : n;
  out[out.rank() - 1] = 2;
  return testing::Generate(out, [&](const Dims& at) {
    const Complex sum = Sum(x, at, f.axis, n, f.inverse, at[f.axis]);
    return at.back() == 0 ? sum.real() : sum.imag();
  });
}

TEST(Dft, EveryForm) {
  uint32_t seed = 1;
  const DftForm forms[] = {
      {{1, 8, 1}, 1, 0, false, false},       {{1, 8, 2}, 1, 0, false, false},
      {{2, 7, 1}, 1, 0, false, true},        {{2, 7, 2}, 1, 0, true, false},
      {{3, 5, 4, 1}, 0, 0, false, true},     {{3, 5, 4, 2}, 2, 0, false, false},
      {{2, 6, 1}, 1, 9, false, false},       {{2, 6, 1}, 1, 4, false, true},
      {{2, 6, 2}, 1, 4, true, false},        {{2, 6, 2}, 1, 11, true, false},
      {{1, 1, 1}, 1, 0, false, false},       {{4, 64, 1}, 1, 0, false, true},
      {{2, 3, 2, 5, 2}, 3, 0, false, false}, {{5, 1}, 0, 0, false, true},
      {{0, 4, 1}, 1, 0, false, false}};
  for (const DftForm& f : forms) {
    for (bool negative : {false, true}) {
      const ir::Tensor x = Random(DType::kF32, f.shape, seed++);
      CompositeCase c("DFT");
      c.Input("x", x);
      f.length > 0 ? c.Input("n", testing::Ints({f.length}), true) : c.Absent();
      c.Input("axis", testing::Ints({negative ? f.axis - f.shape.rank() : f.axis}), true);
      if (f.inverse) c.Attr("inverse", "1");
      if (f.onesided) c.Attr("onesided", "1");
      c.Output("y");
      const auto run = c.Run();
      ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
      testing::ExpectClose(run->outputs[0], Reference(f, ToArray(x)), 1e-5, 2e-5, c.Text());
    }
  }
}

// The inverse of a onesided transform gives the real signal back.
TEST(Dft, HalfSpectraComeBack) {
  for (int64_t n : {2, 5, 8, 9}) {
    const ir::Tensor signal = Random(DType::kF32, {3, n, 1}, static_cast<uint32_t>(n));
    const Array spectrum = Reference({{3, n, 1}, 1, 0, false, true}, ToArray(signal));
    CompositeCase c("DFT");
    c.Input("x", testing::ToTensor(spectrum, DType::kF32)).Input("n", testing::Ints({n}), true);
    c.Input("axis", testing::Ints({1}), true)
        .Attr("inverse", "1")
        .Attr("onesided", "1")
        .Output("y");
    const auto run = c.Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
    testing::ExpectClose(run->outputs[0], ToArray(signal), 1e-5, 2e-6, c.Text());
  }
}

TEST(Dft, BadAxesAndLengthsAreRefused) {
  for (const auto& [axis, n] : {std::pair{2, 4}, {-1, 4}, {3, 4}, {1, 0}, {1, -3}}) {
    CompositeCase c("DFT");
    c.Input("x", Random(DType::kF32, {2, 4, 1}, 1)).Input("n", testing::Ints({n}), true);
    c.Input("axis", testing::Ints({axis}), true).Output("y");
    EXPECT_EQ(testing::Refusal(c).code(), Code::kBadModel) << c.Text();
  }
}

struct Frames {
  int64_t batch, samples, parts, step, length;
  bool window, onesided;
};

Array Reference(const Frames& f, const Array& x, const Array& window) {
  const int64_t count = (f.samples - f.length) / f.step + 1;
  const int64_t bins = f.onesided ? f.length / 2 + 1 : f.length;
  return testing::Generate({f.batch, count, bins, 2}, [&](const Dims& at) {
    Complex sum = 0;
    for (int64_t t = 0; t < f.length; ++t) {
      const Complex sample = At(x, {at[0], 0, 0}, 1, at[1] * f.step + t);
      sum += sample * (f.window ? window[{t}] : 1) * Turn(t * at[2] % f.length, f.length, -1);
    }
    return at[3] == 0 ? sum.real() : sum.imag();
  });
}

TEST(Stft, EveryForm) {
  uint32_t seed = 1;
  for (int bits = 0; bits < 24; ++bits) {
    const Frames f{1 + bits % 3, 20 + bits,       1 + (bits & 1), 1 + bits % 5,
                   4 + bits % 7, (bits & 2) != 0, (bits & 4) != 0};
    const ir::Tensor x = Random(DType::kF32, {f.batch, f.samples, f.parts}, seed++);
    const ir::Tensor window = Random(DType::kF32, {f.length}, seed++);
    CompositeCase c("STFT");
    c.Input("x", x).Input("step", testing::Ints({f.step}), true);
    f.window ? c.Input("w", window, (bits & 8) != 0) : c.Absent();
    if (!f.window || (bits & 16) != 0) c.Input("n", testing::Ints({f.length}), true);
    c.Attr("onesided", f.onesided ? "1" : "0").Output("y");
    const auto run = c.Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
    testing::ExpectClose(run->outputs[0], Reference(f, ToArray(x), ToArray(window)), 1e-5, 1e-5,
                         c.Text());
  }
}

}  // namespace
}  // namespace aicf
