// DeformConv and TensorScatter against plain loops, over random forms.
#include <random>

#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::Pick;

std::string List(std::initializer_list<int64_t> values) { return ToListString(Dims(values)); }

struct DeformConvForm {
  int64_t batch, group, offset_group, inner, outer;  // channels = group * inner
  int64_t height, width, kh, kw, stride[2], dilation[2], pad[4];
  bool bias, mask;

  int64_t channels() const { return group * inner; }
  int64_t Out(int d) const {
    const int64_t extent = d == 0 ? height : width, kernel = d == 0 ? kh : kw;
    return (extent + pad[d] + pad[d + 2] - (kernel - 1) * dilation[d] - 1) / stride[d] + 1;
  }
};

DeformConvForm RandomDeformConvForm(std::mt19937& rng) {
  DeformConvForm f{};
  f.batch = Pick(rng, 1, 2);
  f.group = Pick(rng, 1, 2);
  f.inner = Pick(rng, 1, 2);
  f.outer = Pick(rng, 1, 2);
  f.offset_group = f.channels() % 2 == 0 ? Pick(rng, 1, 2) : 1;
  f.kh = Pick(rng, 1, 3);
  f.kw = Pick(rng, 1, 3);
  for (int d = 0; d < 2; ++d) {
    f.stride[d] = Pick(rng, 1, 2);
    f.dilation[d] = Pick(rng, 1, 2);
    f.pad[d] = Pick(rng, 0, 2);
    f.pad[d + 2] = Pick(rng, 0, 2);
  }
  f.height = (f.kh - 1) * f.dilation[0] + Pick(rng, 1, 5);
  f.width = (f.kw - 1) * f.dilation[1] + Pick(rng, 1, 5);
  f.bias = Pick(rng, 0, 1) == 0;
  f.mask = Pick(rng, 0, 1) == 0;
  return f;
}

/// Bilinear between the four elements around (y, x); elements outside are zero.
double At(const Array& image, int64_t n, int64_t c, double y, double x) {
  double sum = 0;
  for (int64_t dy = 0; dy < 2; ++dy) {
    for (int64_t dx = 0; dx < 2; ++dx) {
      const double row = std::floor(y) + static_cast<double>(dy);
      const double column = std::floor(x) + static_cast<double>(dx);
      const bool inside = row >= 0 && column >= 0 && row < static_cast<double>(image.shape[2]) &&
                          column < static_cast<double>(image.shape[3]);
      if (!inside) continue;
      const double weight = (1 - std::abs(y - row)) * (1 - std::abs(x - column));
      sum += weight * image[{n, c, static_cast<int64_t>(row), static_cast<int64_t>(column)}];
    }
  }
  return sum;
}

Array ExpectedDeformConv(const DeformConvForm& f, const Array& x, const Array& w,
                         const Array& offset, const Array& bias, const Array& mask) {
  const int64_t share = f.channels() / f.offset_group, maps = f.group * f.outer;
  return testing::Generate({f.batch, maps, f.Out(0), f.Out(1)}, [&](const Dims& at) {
    double sum = f.bias ? bias[{at[1]}] : 0;
    for (int64_t c = 0; c < f.inner; ++c) {
      const int64_t channel = at[1] / f.outer * f.inner + c;
      for (int64_t k = 0; k < f.kh * f.kw; ++k) {
        const int64_t tap = channel / share * f.kh * f.kw + k;
        const double y =
            static_cast<double>(at[2] * f.stride[0] - f.pad[0] + k / f.kw * f.dilation[0]) +
            offset[{at[0], 2 * tap, at[2], at[3]}];
        const double column =
            static_cast<double>(at[3] * f.stride[1] - f.pad[1] + k % f.kw * f.dilation[1]) +
            offset[{at[0], 2 * tap + 1, at[2], at[3]}];
        const double scale = f.mask ? mask[{at[0], tap, at[2], at[3]}] : 1;
        sum += scale * w[{at[1], c, k / f.kw, k % f.kw}] * At(x, at[0], channel, y, column);
      }
    }
    return sum;
  });
}

TEST(DeformConv, EveryForm) {
  std::mt19937 rng(1);
  for (uint32_t i = 0; i < 40; ++i) {
    const DeformConvForm f = RandomDeformConvForm(rng);
    const int64_t taps = f.offset_group * f.kh * f.kw;
    const ir::Tensor x =
        testing::Random(DType::kF32, {f.batch, f.channels(), f.height, f.width}, i * 5);
    const ir::Tensor w =
        testing::Random(DType::kF32, {f.group * f.outer, f.inner, f.kh, f.kw}, i * 5 + 1);
    const ir::Tensor offset =
        testing::Random(DType::kF32, {f.batch, 2 * taps, f.Out(0), f.Out(1)}, i * 5 + 2);
    const ir::Tensor bias = testing::Random(DType::kF32, {f.group * f.outer}, i * 5 + 3);
    const ir::Tensor mask =
        testing::Random(DType::kF32, {f.batch, taps, f.Out(0), f.Out(1)}, i * 5 + 4);
    CompositeCase c("DeformConv");
    c.Input("x", x).Input("w", w, i % 2 == 0).Input("offset", offset);
    f.bias ? c.Input("b", bias) : c.Absent();
    if (f.mask) c.Input("mask", mask);
    c.Attr("strides", List({f.stride[0], f.stride[1]}))
        .Attr("dilations", List({f.dilation[0], f.dilation[1]}))
        .Attr("pads", List({f.pad[0], f.pad[1], f.pad[2], f.pad[3]}))
        .Attr("group", std::to_string(f.group))
        .Attr("offset_group", std::to_string(f.offset_group))
        .Output("y");
    const auto run = c.Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
    testing::ExpectClose(
        run->outputs[0],
        ExpectedDeformConv(f, testing::ToArray(x), testing::ToArray(w), testing::ToArray(offset),
                           testing::ToArray(bias), testing::ToArray(mask)),
        1e-4, 1e-4, c.Text());
  }
}

TEST(DeformConv, WrongShapesAreRefused) {
  const auto make = [](const Dims& offset, const Dims& weights) {
    CompositeCase c("DeformConv");
    c.Input("x", testing::Random(DType::kF32, {1, 2, 4, 4}, 1))
        .Input("w", testing::Random(DType::kF32, weights, 2))
        .Input("offset", testing::Random(DType::kF32, offset, 3))
        .Output("y");
    return c;
  };
  EXPECT_TRUE(make({1, 8, 3, 3}, {1, 2, 2, 2}).Run().ok());
  EXPECT_EQ(testing::Refusal(make({1, 8, 4, 4}, {1, 2, 2, 2})).code(), Code::kBadModel);
  EXPECT_EQ(testing::Refusal(make({1, 8, 3, 3}, {1, 3, 2, 2})).code(), Code::kBadModel);
  EXPECT_EQ(testing::Refusal(make({1, 8, 3, 3}, {1, 2, 5, 5})).code(), Code::kBadModel);
}

TEST(TensorScatter, EveryForm) {
  std::mt19937 rng(2);
  for (uint32_t i = 0; i < 40; ++i) {
    Dims cache;
    for (int64_t k = Pick(rng, 2, 4); k > 0; --k) cache.push_back(Pick(rng, 1, 5));
    const int axis = static_cast<int>(Pick(rng, 1, cache.rank() - 1));
    const bool circular = i % 2 == 0, given = i % 3 != 0;
    Dims update = cache;
    update[axis] = Pick(rng, 1, cache[axis]);
    std::vector<int64_t> starts;
    for (int64_t b = 0; b < cache[0]; ++b) {
      starts.push_back(given ? Pick(rng, 0, cache[axis] - (circular ? 1 : update[axis])) : 0);
    }
    const ir::Tensor past = testing::Random(DType::kF32, cache, i);
    const ir::Tensor now = testing::Random(DType::kF32, update, i + 100);
    CompositeCase c("TensorScatter");
    c.Input("past", past).Input("now", now);
    if (given) c.Input("starts", testing::Ints(starts));
    c.Attr("axis", std::to_string(i % 4 < 2 ? axis : axis - cache.rank()));
    c.Attr("mode", circular ? "\"circular\"" : "\"linear\"").Output("y");
    const auto run = c.Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
    Array want = testing::ToArray(past);
    const Array rows = testing::ToArray(now);
    testing::ForEach(update, [&](const Dims& at) {
      Dims to = at;
      to[axis] = (to[axis] + starts[static_cast<size_t>(at[0])]) % cache[axis];
      want[to] = rows[at];
    });
    testing::ExpectClose(run->outputs[0], want, 0, 0, c.Text());
  }
}

}  // namespace
}  // namespace aicf
