// Normalisations against their definitions in f64.
#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::ForEach;
using testing::Generate;
using testing::Random;
using testing::ToArray;

// Mean of f over every position that agrees with `at` outside the axes.
double Mean(const Dims& shape, const Dims& at, const std::vector<int>& axes,
            const std::function<double(const Dims&)>& f) {
  Dims inner;
  for (int a : axes) inner.push_back(shape[a]);
  double sum = 0;
  ForEach(inner, [&](const Dims& i) {
    Dims point = at;
    for (size_t k = 0; k < axes.size(); ++k) point[axes[k]] = i[static_cast<int>(k)];
    sum += f(point);
  });
  return sum / static_cast<double>(*ElementCount(inner));
}

struct Statistics {
  double mean, variance;
};

Statistics Of(const Array& x, const Dims& at, const std::vector<int>& axes) {
  const double mean = Mean(x.shape, at, axes, [&](const Dims& i) { return x[i]; });
  const double variance =
      Mean(x.shape, at, axes, [&](const Dims& i) { return (x[i] - mean) * (x[i] - mean); });
  return {mean, variance};
}

void ExpectNorm(const CompositeCase& c, const Array& want, size_t output = 0) {
  testing::ExpectRun(c, want, output, 2e-5, 2e-6);
}

TEST(Norms, LayerNormalizationGivesItsStatistics) {
  for (int axis = 0; axis < 3; ++axis) {
    const ir::Tensor x = Random(DType::kF32, {3, 4, 5}, 1);
    const Array a = ToArray(x);
    Dims normalized(a.shape.span().subspan(static_cast<size_t>(axis)));
    CompositeCase c("LayerNormalizationStatistics");
    c.Input("x", x).Input("s", Random(DType::kF32, normalized, 2));
    c.Attr("axis", StrCat(axis)).Output("y").Output("mean").Output("inv");
    std::vector<int> axes;
    Dims kept = a.shape;
    for (int i = axis; i < 3; ++i) {
      axes.push_back(i);
      kept[i] = 1;
    }
    ExpectNorm(c, Generate(kept, [&](const Dims& at) { return Of(a, at, axes).mean; }), 1);
    ExpectNorm(
        c,
        Generate(kept,
                 [&](const Dims& at) { return 1 / std::sqrt(Of(a, at, axes).variance + 1e-5); }),
        2);
  }
}

TEST(Norms, MeanVarianceNormalization) {
  const std::pair<std::string, std::vector<int>> forms[] = {
      {"", {0, 2, 3}}, {"[1]", {1}}, {"[0, 1, 2, 3]", {0, 1, 2, 3}}, {"[-1]", {3}}};
  for (const auto& [text, axes] : forms) {
    const ir::Tensor x = Random(DType::kF32, {2, 3, 4, 5}, 3, -1, 5);
    const Array a = ToArray(x);
    CompositeCase c("MeanVarianceNormalization");
    c.Input("x", x).Output("y");
    if (!text.empty()) c.Attr("axes", text);
    ExpectNorm(c, Generate(a.shape, [&, &axes = axes](const Dims& at) {
                 const Statistics s = Of(a, at, axes);
                 return (a[at] - s.mean) / (std::sqrt(s.variance) + 1e-9);
               }));
  }
}

TEST(Norms, GroupNormalizationOfBothForms) {
  uint32_t seed = 1;
  for (int64_t groups : {1, 2, 3, 6}) {
    for (bool per_channel : {false, true}) {
      for (const Dims& spatial : {Dims{}, Dims{5}, Dims{3, 2}}) {
        Dims shape{2, 6};
        for (int64_t e : spatial) shape.push_back(e);
        if (ElementCount(spatial) == 1 && groups == 6) continue;  // one element each: all zero
        const ir::Tensor x = Random(DType::kF32, shape, seed++);
        const Dims own{per_channel ? 6 : groups};
        const ir::Tensor scale = Random(DType::kF32, own, seed++),
                         bias = Random(DType::kF32, own, seed++);
        const Array a = ToArray(x), s = ToArray(scale), b = ToArray(bias);
        Dims grouped{2, groups, 6 / groups};
        for (int64_t e : spatial) grouped.push_back(e);
        Array wide = a;
        wide.shape = grouped;
        std::vector<int> axes;
        for (int i = 2; i < grouped.rank(); ++i) axes.push_back(i);
        CompositeCase c("GroupNormalization");
        c.Input("x", x).Input("s", scale).Input("b", bias).Attr("num_groups", StrCat(groups));
        c.Attr("epsilon", "0.01").Output("y");
        ExpectNorm(c, Generate(shape, [&](const Dims& at) {
                     const int64_t group = at[1] / (6 / groups);
                     Dims inside{at[0], group, at[1] % (6 / groups)};
                     for (int i = 2; i < at.rank(); ++i) inside.push_back(at[i]);
                     const Statistics m = Of(wide, inside, axes);
                     const int64_t p = per_channel ? at[1] : group;
                     return (a[at] - m.mean) / std::sqrt(m.variance + 0.01) * s[{p}] + b[{p}];
                   }));
      }
    }
  }
}

TEST(Norms, LpNormalizationKeepsZeros) {
  for (int p : {1, 2}) {
    for (int axis : {0, 1, -1}) {
      Array a = ToArray(Random(DType::kF32, {3, 4, 2}, 9));
      const int at_axis = axis < 0 ? 2 : axis;
      ForEach(a.shape, [&](const Dims& at) {
        if (at[(at_axis + 1) % 3] == 0) a[at] = 0;
      });
      CompositeCase c("LpNormalization");
      c.Input("x", testing::ToTensor(a, DType::kF32))
          .Attr("p", StrCat(p))
          .Attr("axis", StrCat(axis));
      c.Output("y");
      ExpectNorm(
          c, Generate(a.shape, [&](const Dims& at) {
            const double mean = Mean(a.shape, at, {at_axis},
                                     [&](const Dims& i) { return std::pow(std::abs(a[i]), p); });
            const double norm = std::pow(mean * static_cast<double>(a.shape[at_axis]), 1.0 / p);
            return norm == 0 ? 0 : a[at] / norm;
          }));
    }
  }
}

TEST(Norms, LocalResponse) {
  for (int64_t size : {1, 2, 3, 5, 9}) {
    for (const Dims& shape : {Dims{2, 6}, Dims{1, 5, 3}, Dims{2, 4, 2, 3}}) {
      const ir::Tensor x = Random(DType::kF32, shape, static_cast<uint32_t>(size));
      const Array a = ToArray(x);
      CompositeCase c("LRN");
      c.Input("x", x).Attr("size", StrCat(size)).Attr("alpha", "0.3").Attr("beta", "0.6");
      c.Attr("bias", "1.5").Output("y");
      ExpectNorm(c, Generate(shape, [&](const Dims& at) {
                   double sum = 0;
                   const int64_t first = at[1] - (size - 1) / 2;
                   for (int64_t k = first; k < first + size; ++k) {
                     if (k < 0 || k >= shape[1]) continue;
                     Dims i = at;
                     i[1] = k;
                     sum += a[i] * a[i];
                   }
                   return a[at] / std::pow(1.5 + 0.3 / static_cast<double>(size) * sum, 0.6);
                 }));
    }
  }
}

TEST(Norms, BatchNormalizationTrains) {
  for (const Dims& shape : {Dims{4, 3}, Dims{2, 3, 5}, Dims{2, 3, 2, 4}}) {
    const ir::Tensor x = Random(DType::kF32, shape, 5);
    std::vector<ir::Tensor> p;
    for (uint32_t i = 0; i < 4; ++i) p.push_back(Random(DType::kF32, {3}, 10 + i, 0.5, 2));
    const Array a = ToArray(x);
    std::vector<int> axes{0};
    for (int i = 2; i < shape.rank(); ++i) axes.push_back(i);
    CompositeCase c("BatchNormalizationTraining");
    c.Input("x", x).Input("s", p[0]).Input("b", p[1]).Input("m", p[2]).Input("v", p[3]);
    c.Attr("momentum", "0.75").Output("y").Output("rm").Output("rv");
    const auto value = [&](size_t i, int64_t channel) { return ToArray(p[i])[{channel}]; };
    const auto of_channel = [&](int64_t channel) {
      Dims at = Dims::Filled(shape.rank(), 0);
      at[1] = channel;
      return Of(a, at, axes);
    };
    ExpectNorm(c, Generate(shape, [&](const Dims& at) {
                 const Statistics m = of_channel(at[1]);
                 return (a[at] - m.mean) / std::sqrt(m.variance + 1e-5) * value(0, at[1]) +
                        value(1, at[1]);
               }));
    ExpectNorm(c,
               Generate({3},
                        [&](const Dims& at) {
                          return 0.75 * value(2, at[0]) + 0.25 * of_channel(at[0]).mean;
                        }),
               1);
    ExpectNorm(c,
               Generate({3},
                        [&](const Dims& at) {
                          return 0.75 * value(3, at[0]) + 0.25 * of_channel(at[0]).variance;
                        }),
               2);
  }
}

}  // namespace
}  // namespace aicf
