// The categorical kernel's ways of cutting a row, each met on purpose: one block or many, some of
// them without categories, the row kept or read again, bounds that the near bins hold and that they
// do not.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernels/cpu/expr/scalar_eval.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"

namespace aicf::conformance {
namespace {

struct RowCut {
  const char* name;
  DType dtype;
  int64_t categories, stride;
  int64_t threads, cluster, cached;
};

/// What a row is asked for, and what its logits are.
struct Asked {
  float temperature;
  int32_t top_k;
  float top_p, min_p;
};
constexpr Asked kAsked[] = {{0, 0, 1, 0},           {1, 0, 1, 0},
                            {0.7f, 5, 1, 0},        {0.7f, 40, 0.5077f, 0},
                            {2.5f, 0, 0.9137f, 0},  {1, 0, 1, 0.0513f},
                            {1, 0, 0, 0},           {1, 1, 1, 0},
                            {1, 1 << 20, 1, 0},     {1, 90, 0.3713f, 0.3571f},
                            {0.01f, 7, 0.9137f, 0}, {40, 0, 0.3713f, 0.9f},
                            {1, 300, 0.9999f, 0},   {1, 0, 0.9999f, 1.5f}};

/// Kinds of rows: steps, equal ones, few values, far below zero, with minus infinity, and around
/// zero, where keys are far apart.
float LogitOf(Random& random, int kind) {
  switch (kind) {
    case 0:
      return static_cast<float>(random.Int(-2000, 2000)) / 256;
    case 1:
      return 1.25f;
    case 2:
      return static_cast<float>(random.Int(0, 2));
    case 3:
      return static_cast<float>(random.Int(-4000, -1000)) / 16;
    case 4:
      return random.OneIn(3) ? static_cast<float>(random.Int(-64, 64)) / 8 : -INFINITY;
    default:
      return static_cast<float>(random.Int(-1, 1)) *
             std::ldexp(1.0f, static_cast<int>(random.Int(-20, 2)));
  }
}

Case CategoricalCase(const RowCut& cut) {
  constexpr int kKinds = 6;
  // Many threads take long: then every fifth row, which still meets every kind.
  const int64_t step = cut.threads * cut.cluster > 1500 ? 5 : 1;
  const auto rows = (static_cast<int64_t>(std::size(kAsked)) * kKinds + step - 1) / step;
  Case c;
  abi::Problem& p = c.problem;
  p.family = abi::Family::kCategorical;
  p.attrs = abi::CategoricalAttrs{};
  const auto per_row = [&](DType dtype) { return abi::DenseView(dtype, {rows}); };
  p.inputs = {{cut.dtype,
               {rows, cut.categories},
               {cut.categories * cut.stride, cut.stride},
               cut.stride == 1 ? 0 : 3},
              per_row(DType::kF32),
              per_row(DType::kI32),
              per_row(DType::kF32),
              per_row(DType::kF32),
              per_row(DType::kI64),
              per_row(DType::kI32)};
  p.core_inputs = 7;
  p.outputs = {per_row(DType::kI32), per_row(DType::kBool)};
  Random random(19);
  FillBuffers(random, c, false);
  for (int64_t b = 0; b < rows; ++b) {
    const auto row = static_cast<size_t>(b);
    for (int64_t i = 0; i < cut.categories; ++i) {
      const abi::View& x = p.inputs[0];
      const int64_t at = x.offset + b * x.strides[0] + i * x.strides[1];
      cpu::StoreScalar(c.buffers[0].data() + at * DTypeBytes(cut.dtype), cut.dtype,
                       cpu::FloatScalar(LogitOf(random, static_cast<int>(b * step % kKinds))));
    }
    const Asked& asked = kAsked[row * static_cast<size_t>(step) / kKinds];
    std::memcpy(c.buffers[1].data() + 4 * row, &asked.temperature, 4);
    std::memcpy(c.buffers[2].data() + 4 * row, &asked.top_k, 4);
    std::memcpy(c.buffers[3].data() + 4 * row, &asked.top_p, 4);
    std::memcpy(c.buffers[4].data() + 4 * row, &asked.min_p, 4);
  }
  c.tolerance = {};
  c.name = StrCat(cut.name, ": ", ToString(p));
  return c;
}

class EmulatedCategorical : public testing::TestWithParam<RowCut> {};

TEST_P(EmulatedCategorical, AgreesWithTheReference) {
  if (!CanEmulate()) {
    GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  }
  const RowCut& cut = GetParam();
  const Case c = CategoricalCase(cut);
  ASSERT_EQ(ValidateProblem(c.problem).message(), "");
  const abi::KernelInfo& kernel = *abi::FindKernel("cuda.categorical.select");
  const abi::Parameters parameters = {
      {"threads", cut.threads}, {"cluster", cut.cluster}, {"cached", cut.cached}};
  ASSERT_EQ(kernel.refuse(c.problem, parameters, *abi::FindDevice("cuda")), "");
  const Result<Buffers> got = EmulatedBuffers(kernel, c, kernel.variant(c.problem, parameters));
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << c.name;
}

constexpr RowCut kRowCuts[] = {
    {"one block", DType::kF32, 1000, 1, 256, 1, 1},
    {"one block that reads again", DType::kBF16, 1000, 1, 256, 1, 0},
    {"two blocks", DType::kF16, 1111, 1, 256, 2, 1},
    {"three blocks of odd warps", DType::kF32, 999, 1, 288, 3, 1},
    {"sixteen blocks", DType::kF32, 5000, 1, 256, 16, 1},
    {"blocks without categories", DType::kBF16, 40, 1, 256, 8, 1},
    {"many threads, read again", DType::kF32, 5000, 1, 1024, 2, 0},
    {"gaps between logits", DType::kF16, 700, 3, 256, 4, 1},
    {"one category", DType::kF32, 1, 1, 256, 2, 1},
};

INSTANTIATE_TEST_SUITE_P(RowCuts, EmulatedCategorical, testing::ValuesIn(kRowCuts),
                         [](const testing::TestParamInfo<RowCut>& i) {
                           return testing::PrintToString(i.index);
                         });

}  // namespace
}  // namespace aicf::conformance
