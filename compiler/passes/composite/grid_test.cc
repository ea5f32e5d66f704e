// Ops that place data in a grid: crops, blocks, affine coordinates, pooled positions, resampling.
#include "compiler/passes/composite/resize_weights.h"
#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::ExpectRun;
using testing::ForEach;
using testing::Generate;
using testing::ListText;
using testing::Random;
using testing::ToArray;

TEST(CenterCropPad, EveryMix) {
  for (const Dims& to : {Dims{5, 4}, Dims{2, 9}, Dims{8, 3}, Dims{6, 7}, Dims{0, 8}}) {
    const ir::Tensor x = Random(DType::kF32, {6, 2, 7}, 1);
    const Array a = ToArray(x);
    CompositeCase c("CenterCropPad");
    c.Input("x", x)
        .Input("to", testing::Ints({to[0], to[1]}), true)
        .Attr("axes", "[0, -1]")
        .Output("y");
    const auto shift = [](int64_t from, int64_t size) {
      return from >= size ? (from - size) / 2 : -((size - from) / 2);
    };
    ExpectRun(c, Generate({to[0], 2, to[1]}, [&](Dims at) {
                at[0] += shift(6, to[0]);
                at[2] += shift(7, to[1]);
                const bool inside = at[0] >= 0 && at[0] < 6 && at[2] >= 0 && at[2] < 7;
                return inside ? a[at] : 0;
              }));
  }
}

TEST(Col2Im, BlocksAreSummedWhereTheyOverlap) {
  struct Form {
    int64_t image[2], block[2], stride[2], dilation[2], pad[4];
  };
  const Form forms[] = {{{5, 5}, {1, 5}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
                        {{5, 6}, {2, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
                        {{6, 7}, {2, 2}, {2, 3}, {1, 1}, {0, 0, 0, 0}},
                        {{7, 6}, {3, 2}, {1, 2}, {2, 1}, {1, 0, 2, 1}},
                        {{4, 4}, {4, 4}, {1, 1}, {1, 1}, {2, 2, 2, 2}}};
  uint32_t seed = 1;
  for (int i = 0; i < 10; ++i) {
    const Form& f = forms[i / 2];
    const DType dtype = i % 2 == 0 ? DType::kF32 : i % 4 == 1 ? DType::kI64 : DType::kI8;
    int64_t count[2];
    for (int d = 0; d < 2; ++d) {
      count[d] = (f.image[d] + f.pad[d] + f.pad[d + 2] - f.dilation[d] * (f.block[d] - 1) - 1) /
                     f.stride[d] +
                 1;
    }
    const int64_t size = f.block[0] * f.block[1];
    const ir::Tensor x = Random(dtype, {2, 3 * size, count[0] * count[1]}, seed++, -4, 4);
    const Array a = ToArray(x);
    Array want({2, 3, f.image[0], f.image[1]});
    ForEach({2, 3, f.block[0], f.block[1], count[0], count[1]}, [&](const Dims& at) {
      const int64_t row = at[4] * f.stride[0] + at[2] * f.dilation[0] - f.pad[0];
      const int64_t column = at[5] * f.stride[1] + at[3] * f.dilation[1] - f.pad[1];
      if (row < 0 || row >= f.image[0] || column < 0 || column >= f.image[1]) return;
      want[{at[0], at[1], row, column}] +=
          a[{at[0], at[1] * size + at[2] * f.block[1] + at[3], at[4] * count[1] + at[5]}];
    });
    CompositeCase c("Col2Im");
    c.Input("x", x).Input("image", testing::Ints({f.image[0], f.image[1]}), true);
    c.Input("block", testing::Ints({f.block[0], f.block[1]}), true);
    c.Attr("strides", ListText({f.stride[0], f.stride[1]}));
    c.Attr("dilations", ListText({f.dilation[0], f.dilation[1]}));
    c.Attr("pads", ListText({f.pad[0], f.pad[1], f.pad[2], f.pad[3]})).Output("y");
    ExpectRun(c, want, 0, 1e-5, 1e-5);
  }
}

TEST(Col2Im, NoImagesAndNoChannels) {
  for (const DType dtype : {DType::kF32, DType::kI32}) {
    for (const Dims& blocks : {Dims{0, 6, 4}, Dims{2, 0, 4}}) {
      CompositeCase c("Col2Im");
      c.Input("x", Random(dtype, blocks, 1)).Input("image", testing::Ints({3, 4}), true);
      c.Input("block", testing::Ints({2, 3}), true).Output("y");
      ExpectRun(c, Array({blocks[0], blocks[1] / 6, 3, 4}), 0, 0, 0);
    }
  }
}

TEST(AffineGrid, BothRanksAndAlignments) {
  uint32_t seed = 1;
  for (const Dims& size : {Dims{2, 3, 4, 5}, Dims{1, 1, 1, 6}, Dims{2, 1, 3, 2, 4}}) {
    for (bool align : {false, true}) {
      const int rank = size.rank() - 2;
      const ir::Tensor theta = Random(DType::kF32, {size[0], rank, rank + 1}, seed++);
      const Array t = ToArray(theta);
      Dims out{size[0]};
      for (int i = 2; i < size.rank(); ++i) out.push_back(size[i]);
      out.push_back(rank);
      const auto coordinate = [&](int64_t i, int64_t n) {
        if (!align) return (2.0 * static_cast<double>(i) + 1) / static_cast<double>(n) - 1;
        return n == 1 ? 0 : 2.0 * static_cast<double>(i) / static_cast<double>(n - 1) - 1;
      };
      CompositeCase c("AffineGrid");
      c.Input("t", theta).Input("size", testing::Ints({size.begin(), size.end()}), true);
      c.Attr("align_corners", align ? "1" : "0").Output("y");
      ExpectRun(
          c,
          Generate(out,
                   [&](const Dims& at) {
                     double sum = t[{at[0], at.back(), rank}];
                     for (int k = 0; k < rank; ++k) {
                       sum += t[{at[0], at.back(), k}] * coordinate(at[rank - k], out[rank - k]);
                     }
                     return sum;
                   }),
          0, 1e-5, 1e-5);
    }
  }
}

struct Pool {
  std::vector<int64_t> kernel, strides, dilations, pads;
  bool ceil, column_major;
};

// The position of the maximum of a window, the first in its own order.
int64_t MaximumAt(const Pool& p, const Array& x, const Dims& at) {
  const int spatial = static_cast<int>(p.kernel.size());
  Dims taps;
  for (int64_t k : p.kernel) taps.push_back(k);
  double best = -INFINITY;
  int64_t found = -1;
  ForEach(taps, [&](const Dims& tap) {
    Dims from{at[0], at[1]};
    for (int d = 0; d < spatial; ++d) {
      const auto k = static_cast<size_t>(d);
      from.push_back(at[d + 2] * p.strides[k] + tap[d] * p.dilations[k] - p.pads[k]);
      if (from[d + 2] < 0 || from[d + 2] >= x.shape[d + 2]) return;
    }
    if (found >= 0 && x[from] <= best) return;
    best = x[from];
    found = from[0] * x.shape[1] + from[1];
    for (int d = 0; d < spatial; ++d) found *= x.shape[d + 2];
    int64_t step = 1, offset = 0;
    for (int k = 0; k < spatial; ++k) {
      const int d = p.column_major ? k : spatial - 1 - k;
      offset += from[d + 2] * step;
      step *= x.shape[d + 2];
    }
    found += offset;
  });
  return found;
}

TEST(MaxPoolIndices, EveryForm) {
  const std::pair<Dims, Pool> forms[] = {
      {{2, 3, 9}, {{3}, {2}, {1}, {0, 0}, false, false}},
      {{2, 2, 5, 6}, {{2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, false, false}},
      {{2, 2, 5, 6}, {{3, 2}, {1, 2}, {1, 1}, {1, 1, 1, 0}, false, true}},
      {{1, 2, 7, 6}, {{2, 3}, {2, 2}, {2, 1}, {0, 1, 1, 1}, true, false}},
      {{1, 2, 4, 5, 3}, {{2, 2, 2}, {1, 2, 1}, {1, 1, 1}, {0, 0, 0, 1, 0, 0}, false, true}}};
  for (const auto& [shape, p] : forms) {
    for (DType dtype : {DType::kF32, DType::kI8, DType::kU8}) {
      // Few values, so that equal ones are common.
      Array a = ToArray(Random(DType::kI32, shape, 3, dtype == DType::kU8 ? 0 : -3, 3));
      CompositeCase c("MaxPoolIndices");
      c.Input("x", testing::ToTensor(a, dtype)).Attr("kernel_shape", ListText(p.kernel));
      c.Attr("strides", ListText(p.strides)).Attr("dilations", ListText(p.dilations));
      c.Attr("pads", ListText(p.pads)).Attr("ceil_mode", p.ceil ? "1" : "0");
      c.Attr("storage_order", p.column_major ? "1" : "0").Output("y").Output("i");
      const auto run = c.Run();
      ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
      const Array want = Generate(run->outputs[0].shape, [&, &p = p](const Dims& at) {
        return static_cast<double>(MaximumAt(p, a, at));
      });
      testing::ExpectClose(run->outputs[1], want, 0, 0, c.Text());
    }
  }
}

TEST(MaxUnpool, PutsValuesBack) {
  for (bool padded : {false, true}) {
    const Array x = ToArray(Random(DType::kF32, {2, 1, 2, 3}, 1, 1, 2));
    const Array where = Generate({2, 1, 2, 3}, [](const Dims& at) {
      return static_cast<double>(at[0] * 24 + at[2] * 12 + at[3] * 2 + 7 * at[2] % 2);
    });
    CompositeCase c("MaxUnpool");
    c.Input("x", testing::ToTensor(x, DType::kF32))
        .Input("i", testing::ToTensor(where, DType::kI64));
    if (padded) c.Input("shape", testing::Ints({2, 1, 6, 7}), true);
    c.Attr("kernel_shape", "[2, 2]").Attr("strides", "[2, 2]").Output("y");
    Array want(padded ? Dims{2, 1, 6, 7} : Dims{2, 1, 4, 6});
    ForEach(x.shape, [&](const Dims& at) {
      const auto flat = static_cast<int64_t>(where[at]);
      want[{flat / 24, 0, flat % 24 / 6, flat % 6}] = x[at];
    });
    ExpectRun(c, want);
  }
}

// Weights by the kernel's formula, at the coordinate of half pixels.
TEST(ResizeWeights, AntialiasWeighsEveryElementUnderTheWidenedKernel) {
  for (const auto& [in, out] :
       {std::pair<int64_t, int64_t>{10, 4}, {7, 3}, {5, 5}, {4, 9}, {9, 1}}) {
    for (bool cubic : {false, true}) {
      AxisResize a;
      a.attrs.mode = cubic ? abi::ResizeMode::kCubic : abi::ResizeMode::kLinear;
      a.attrs.scales = {static_cast<double>(out) / static_cast<double>(in)};
      a.in = in;
      a.out = out;
      a.antialias = true;
      const double scale = std::min(1.0, a.attrs.scales[0]), reach = (cubic ? 2 : 1) / scale;
      for (int64_t o = 0; o < out; ++o) {
        const double x = (static_cast<double>(o) + 0.5) / a.attrs.scales[0] - 0.5;
        std::vector<double> want(static_cast<size_t>(in), 0), got(want);
        double total = 0;
        for (int64_t p = -40; p < in + 40; ++p) {
          const double d = std::abs(static_cast<double>(p) - x) * scale;
          if (d >= reach * scale) continue;
          const double near = (1.25 * d - 2.25) * d * d + 1;
          const double far = ((-0.75 * d + 3.75) * d - 6) * d + 3;
          const double weight = !cubic ? 1 - d : d <= 1 ? near : far;
          want[static_cast<size_t>(std::clamp<int64_t>(p, 0, in - 1))] += weight;
          total += weight;
        }
        const Taps taps = WeightsOf(a, o);
        for (size_t k = 0; k < taps.index.size(); ++k) {
          got[static_cast<size_t>(taps.index[k])] += taps.weight[k];
        }
        for (size_t i = 0; i < want.size(); ++i) {
          EXPECT_NEAR(got[i], want[i] / total, 1e-6) << in << " to " << out << " at " << o;
        }
      }
    }
  }
}

TEST(ResizeGeneral, CropsOfSeveralAxes) {
  const ir::Tensor x = Random(DType::kF32, {2, 5, 6}, 1);
  const Array a = ToArray(x);
  const double begin[] = {0.25, -0.3}, end[] = {1, 0.8};
  CompositeCase c("ResizeGeneral");
  const Array roi =
      Generate({4}, [&](const Dims& i) { return i[0] < 2 ? begin[i[0]] : end[i[0] - 2]; });
  c.Input("x", x).Input("roi", testing::ToTensor(roi, DType::kF64), true).Absent();
  c.Input("sizes", testing::Ints({4, 7}), true).Attr("axes", "[1, 2]").Attr("mode", "\"linear\"");
  c.Attr("coordinate_transformation_mode", "\"tf_crop_and_resize\"");
  c.Attr("extrapolation_value", "9.5").Output("y");
  const int64_t out[] = {4, 7};
  ExpectRun(c,
            Generate({2, 4, 7},
                     [&](const Dims& at) {
                       double value = 0;
                       double at_axis[2];
                       for (int d = 0; d < 2; ++d) {
                         const auto last = static_cast<double>(a.shape[d + 1] - 1);
                         at_axis[d] = begin[d] * last + static_cast<double>(at[d + 1]) *
                                                            (end[d] - begin[d]) * last /
                                                            static_cast<double>(out[d] - 1);
                         if (at_axis[d] < 0 || at_axis[d] > last) return 9.5;
                       }
                       for (int k = 0; k < 4; ++k) {
                         const int64_t y0 = static_cast<int64_t>(std::floor(at_axis[0])) + k / 2;
                         const int64_t x0 = static_cast<int64_t>(std::floor(at_axis[1])) + k % 2;
                         const double weight =
                             (1 - std::abs(at_axis[0] - static_cast<double>(y0))) *
                             (1 - std::abs(at_axis[1] - static_cast<double>(x0)));
                         if (weight > 0) value += weight * a[{at[0], y0, x0}];
                       }
                       return value;
                     }),
            0, 1e-5, 1e-5);
}

}  // namespace
}  // namespace aicf
