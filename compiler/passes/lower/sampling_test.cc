// GridSample, RoiAlign and MaxRoiPool against plain loops, over random shapes and attributes. The
// kernels' own tests cover modes and paddings; these, what the attributes come to.
#include <algorithm>
#include <random>

#include "compiler/passes/lower/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::Pick;

/// Steps of an eighth: coordinates and corners that every rounding keeps.
Array Eighths(std::mt19937& rng, const Dims& shape, int64_t low, int64_t high) {
  Array a(shape);
  for (double& v : a.data) v = static_cast<double>(Pick(rng, low, high)) / 8;
  return a;
}

std::string F32(const Dims& shape) { return StrCat("f32[", ToString(shape), "]"); }

/// Value at (y, x) of a plane, zero outside.
double Pixel(const Array& x, int64_t n, int64_t c, int64_t row, int64_t column) {
  const bool inside = row >= 0 && column >= 0 && row < x.shape[2] && column < x.shape[3];
  return inside ? x[{n, c, row, column}] : 0;
}

double Bilinear(const Array& x, int64_t n, int64_t c, double row, double column) {
  double sum = 0;
  for (int k = 0; k < 4; ++k) {
    const double r = std::floor(row) + k / 2, s = std::floor(column) + k % 2;
    sum += (1 - std::abs(row - r)) * (1 - std::abs(column - s)) *
           Pixel(x, n, c, static_cast<int64_t>(r), static_cast<int64_t>(s));
  }
  return sum;
}

TEST(GridSampleOp, EveryForm) {
  std::mt19937 rng(1);
  for (int i = 0; i < 40; ++i) {
    const bool align = i % 2 == 0, nearest = i % 3 == 0, border = Pick(rng, 0, 1) == 0;
    const Dims shape = {Pick(rng, 1, 2), Pick(rng, 1, 3), Pick(rng, 1, 6), Pick(rng, 1, 6)};
    const Dims out = {shape[0], shape[1], Pick(rng, 1, 5), Pick(rng, 1, 5)};
    const Dims grid_shape = {shape[0], out[2], out[3], 2};
    const Array grid = Eighths(rng, grid_shape, -12, 12);
    const ir::Tensor x = testing::Random(DType::kF32, shape, static_cast<uint32_t>(i));
    const Array data = testing::ToArray(x);
    const Array want = testing::Generate(out, [&](const Dims& at) {
      double place[2];
      for (int d = 0; d < 2; ++d) {
        const double extent = static_cast<double>(shape[d + 2]);
        const double n = grid[{at[0], at[2], at[3], 1 - d}];
        place[d] = align ? (n + 1) / 2 * (extent - 1) : ((n + 1) * extent - 1) / 2;
        if (nearest) place[d] = std::nearbyint(place[d]);
        if (border) place[d] = std::clamp(place[d], 0.0, extent - 1);
      }
      return Bilinear(data, at[0], at[1], place[0], place[1]);
    });
    const std::string text = StrCat(
        "graph \"g\" {\ninput %x: ", F32(shape), "\ninput %g: ", F32(grid_shape),
        "\n%y: ", F32(out), " = GridSample(%x, %g) {mode=", nearest ? "\"nearest\"" : "\"linear\"",
        ", padding_mode=", border ? "\"border\"" : "\"zeros\"", ", align_corners=", align ? 1 : 0,
        "} \"n\"\noutput %y\n}");
    testing::ExpectGraph(text, {{"x", x}, {"g", testing::ToTensor(grid, DType::kF32)}}, want, 1e-5,
                         1e-5);
  }
}

TEST(RoiAlignOp, EveryForm) {
  std::mt19937 rng(2);
  for (int i = 0; i < 40; ++i) {
    const bool half = i % 2 == 0;
    const int64_t ratio = Pick(rng, 1, 2), boxes = Pick(rng, 1, 4);
    const double scale = i % 3 == 0 ? 0.5 : 1;
    const Dims shape = {Pick(rng, 1, 3), Pick(rng, 1, 3), 8, 7};
    const Dims out = {boxes, shape[1], Pick(rng, 1, 2), Pick(rng, 1, 2)};
    const ir::Tensor x = testing::Random(DType::kF32, shape, static_cast<uint32_t>(i));
    const Array data = testing::ToArray(x);
    Array box = Eighths(rng, {boxes, 4}, 0, 48);
    Array batch({boxes});
    for (double& v : batch.data) v = static_cast<double>(Pick(rng, 0, shape[0] - 1));
    const Array want = testing::Generate(out, [&](const Dims& at) {
      double start[2], bin[2];
      for (int d = 0; d < 2; ++d) {
        const double shift = half ? 0.5 : 0;
        start[d] = box[{at[0], 1 - d}] * scale - shift;
        double length = box[{at[0], 3 - d}] * scale - shift - start[d];
        if (!half) length = std::max(length, 1.0);
        bin[d] = length / static_cast<double>(out[d + 2]);
      }
      double sum = 0;
      for (int64_t s = 0; s < ratio * ratio; ++s) {
        double place[2];
        bool inside = true;
        for (int d = 0; d < 2; ++d) {
          const double k = static_cast<double>(d == 0 ? s / ratio : s % ratio) + 0.5;
          place[d] = start[d] + static_cast<double>(at[d + 2]) * bin[d] +
                     k * bin[d] / static_cast<double>(ratio);
          inside = inside && place[d] >= -1 && place[d] <= static_cast<double>(shape[d + 2]);
          place[d] = std::clamp(place[d], 0.0, static_cast<double>(shape[d + 2] - 1));
        }
        const auto n = static_cast<int64_t>(batch[{at[0]}]);
        if (inside) sum += Bilinear(data, n, at[1], place[0], place[1]);
      }
      return sum / static_cast<double>(ratio * ratio);
    });
    const std::string text =
        StrCat("graph \"g\" {\ninput %x: ", F32(shape), "\ninput %b: ", F32({boxes, 4}),
               "\ninput %i: i64[", boxes, "]\n%y: ", F32(out),
               " = RoiAlign(%x, %b, %i) {coordinate_transformation_mode=",
               half ? "\"half_pixel\"" : "\"output_half_pixel\"", ", output_height=", out[2],
               ", output_width=", out[3], ", sampling_ratio=", ratio,
               ", spatial_scale=", scale == 1 ? "1.0" : "0.5", "} \"n\"\noutput %y\n}");
    testing::ExpectGraph(text,
                         {{"x", x},
                          {"b", testing::ToTensor(box, DType::kF32)},
                          {"i", testing::ToTensor(batch, DType::kI64)}},
                         want, 1e-4, 1e-5);
  }
}

TEST(MaxRoiPoolOp, EveryForm) {
  std::mt19937 rng(3);
  for (int i = 0; i < 30; ++i) {
    const int64_t boxes = Pick(rng, 1, 4);
    const Dims shape = {Pick(rng, 1, 3), Pick(rng, 1, 3), 9, 8};
    const Dims out = {boxes, shape[1], Pick(rng, 1, 2), Pick(rng, 1, 2)};
    const ir::Tensor x = testing::Random(DType::kF32, shape, static_cast<uint32_t>(i));
    const Array data = testing::ToArray(x);
    Array rows({boxes, 5});
    testing::ForEach(rows.shape, [&](const Dims& at) {
      rows[at] = static_cast<double>(at[1] == 0 ? Pick(rng, 0, shape[0] - 1) : Pick(rng, 0, 9));
    });
    const Array want = testing::Generate(out, [&](const Dims& at) {
      int64_t begin[2], end[2];
      for (int d = 0; d < 2; ++d) {
        const double first = rows[{at[0], 2 - d}];
        const double length = std::max(rows[{at[0], 4 - d}] - first + 1, 1.0);
        const double bin = length / static_cast<double>(out[d + 2]);
        const auto edge = [&](double e) {
          return std::clamp<int64_t>(static_cast<int64_t>(e + first), 0, shape[d + 2]);
        };
        begin[d] = edge(std::floor(static_cast<double>(at[d + 2]) * bin));
        end[d] = edge(std::ceil(static_cast<double>(at[d + 2] + 1) * bin));
      }
      double best = -INFINITY;
      for (int64_t r = begin[0]; r < end[0]; ++r) {
        for (int64_t c = begin[1]; c < end[1]; ++c) {
          best = std::max(best, data[{static_cast<int64_t>(rows[{at[0], 0}]), at[1], r, c}]);
        }
      }
      return std::isinf(best) ? 0 : best;
    });
    const std::string text =
        StrCat("graph \"g\" {\ninput %x: ", F32(shape), "\ninput %b: ", F32({boxes, 5}),
               "\n%y: ", F32(out), " = MaxRoiPool(%x, %b) {pooled_shape=[", out[2], ", ", out[3],
               "]} \"n\"\noutput %y\n}");
    testing::ExpectGraph(text, {{"x", x}, {"b", testing::ToTensor(rows, DType::kF32)}}, want, 0, 0);
  }
}

TEST(SamplingOps, WrongFormsAreRefused) {
  const std::string head =
      "graph \"g\" {\ninput %x: f32[1x2x3x4]\ninput %g: f32[1x5x5x2]\ninput %v: f32[1x5x5x5x3]\n"
      "input %b: f32[3x4]\ninput %i: i64[2]\ninput %j: i64[3]\n%y: f32 = ";
  for (const char* node :
       {"GridSample(%x, %v)", "GridSample(%x, %g) {mode=\"bilinear\"}",
        "GridSample(%x, %g) {padding_mode=\"mirror\"}", "RoiAlign(%x, %b, %i)",
        "RoiAlign(%x, %b, %j) {mode=\"sum\"}", "RoiAlign(%x, %b, %j) {output_height=0}",
        "MaxRoiPool(%x, %b) {pooled_shape=[1, 1]}"}) {
    EXPECT_FALSE(testing::RunGraph(head + node + " \"n\"\noutput %y\n}", {}).ok()) << node;
  }
}

}  // namespace
}  // namespace aicf
