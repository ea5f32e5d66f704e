// The excite kernel's ways of cutting an image, each met on purpose: parts of channels and of
// positions in any number, the image in registers or read again, weights asked for ahead or not,
// a last slice that is shorter or empty.
#include <gtest/gtest.h>

#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"

namespace aicf::conformance {
namespace {

using abi::ExprOp;

struct Cut {
  const char* name;
  DType dtype;
  int64_t images, channels, hidden, positions;
  int64_t channel_parts, position_parts, vector, threads;
};

// Biases for both products, SiLU, sigmoid, and a residual after the scaling.
Case ExciteCase(const Cut& cut) {
  Case c;
  abi::Problem& p = c.problem;
  p.family = abi::Family::kExcite;
  p.attrs = abi::ExciteAttrs{1};
  const int64_t line = cut.channels * cut.positions;
  const abi::View x = {
      cut.dtype, {cut.images, cut.channels, cut.positions}, {line, 1, cut.channels}, 0};
  p.inputs = {abi::DenseView(cut.dtype, {cut.hidden, cut.channels}),
              abi::DenseView(cut.dtype, {cut.channels, cut.hidden}),
              {DType::kF32, {cut.images, cut.hidden}, {0, 1}, 0},
              {DType::kF32, {cut.images, cut.channels}, {0, 1}, 0},
              x,
              x};
  p.core_inputs = 4;
  p.outputs = {x};
  const auto sum = [](abi::ExprBuilder& b) {
    return b.Binary(ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32));
  };
  abi::ExprBuilder hidden, gate, scaled;
  const uint16_t unit = sum(hidden);
  p.prologue =
      hidden.Finish({hidden.Binary(ExprOp::kMul, unit, hidden.Unary(ExprOp::kSigmoid, unit))});
  p.score = gate.Finish({gate.Unary(ExprOp::kSigmoid, sum(gate))});
  const uint16_t product =
      scaled.Binary(ExprOp::kMul, scaled.Input(0, DType::kF32), scaled.Input(1, DType::kF32));
  p.epilogue = scaled.Finish({scaled.Binary(ExprOp::kAdd, product, scaled.Input(2, DType::kF32))});
  Random random(7);
  FillBuffers(random, c, false);
  c.tolerance = {2, 1e-5};
  c.name = StrCat(cut.name, ": ", ToString(p));
  return c;
}

class EmulatedExcite : public testing::TestWithParam<Cut> {};

TEST_P(EmulatedExcite, AgreesWithTheReference) {
  if (!CanEmulate()) {
    GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  }
  const Cut& cut = GetParam();
  const Case c = ExciteCase(cut);
  ASSERT_EQ(ValidateProblem(c.problem).message(), "");
  const abi::KernelInfo& kernel = *abi::FindKernel("cuda.excite.cluster");
  const abi::Parameters parameters = {{"channel_parts", cut.channel_parts},
                                      {"position_parts", cut.position_parts},
                                      {"vector", cut.vector},
                                      {"threads", cut.threads}};
  ASSERT_EQ(kernel.refuse(c.problem, parameters, *abi::FindDevice("cuda")), "");
  const Result<Buffers> got = EmulatedBuffers(kernel, c, kernel.variant(c.problem, parameters));
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << c.name;
}

constexpr Cut kCuts[] = {
    {"one block", DType::kF16, 2, 24, 5, 20, 1, 1, 8, 128},
    {"positions in five parts", DType::kF16, 1, 24, 5, 77, 1, 5, 8, 128},
    {"channels in three parts", DType::kBF16, 1, 48, 7, 21, 3, 1, 8, 64},
    {"both in parts", DType::kF32, 2, 40, 12, 33, 2, 3, 4, 96},
    {"a shorter last slice", DType::kF16, 1, 56, 9, 18, 2, 2, 8, 64},
    {"parts without channels", DType::kF16, 1, 24, 9, 18, 8, 1, 8, 32},
    {"parts without positions", DType::kF16, 1, 24, 9, 3, 1, 8, 8, 96},
    {"too large for registers", DType::kF16, 1, 8, 3, 700, 1, 2, 8, 32},
    {"too large for the registers of many threads", DType::kF32, 1, 16, 3, 900, 1, 1, 4, 1024},
    {"weights that are not asked for ahead", DType::kF32, 1, 96, 80, 10, 1, 1, 4, 32},
    {"more hidden units than threads", DType::kF16, 1, 16, 90, 10, 2, 2, 8, 32},
    {"one hidden unit and one position", DType::kF16, 3, 16, 1, 1, 2, 1, 4, 64},
    {"single elements", DType::kBF16, 2, 7, 3, 10, 2, 2, 1, 32},
    {"sixteen blocks", DType::kF16, 1, 32, 4, 64, 4, 4, 8, 32}};

INSTANTIATE_TEST_SUITE_P(Cuts, EmulatedExcite, testing::ValuesIn(kCuts),
                         [](const testing::TestParamInfo<Cut>& i) {
                           std::string name = i.param.name;
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace aicf::conformance
