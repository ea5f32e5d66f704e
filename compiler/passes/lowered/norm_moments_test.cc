// By what is predicted for a GPU a norm becomes part of a product, or not, and the product that
// makes its rows stores the moments of their parts, or not. What a norm alone becomes is in
// tests/passes/moments-in-product.test; constants of parts are too large for that.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/costs/fit.h"
#include "compiler/ir/text.h"
#include "compiler/passes/lower/lower.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/storage/narrow_tensor.h"

namespace aicf {
namespace {

constexpr std::string_view kNoData = " @00000000000000000000000000000000\n";

std::string Matrix(int64_t rows, int64_t columns) {
  return StrCat("f16 ", rows, "x", columns, " [", columns, ", 1]+0");
}

std::string Norm(std::string_view operands, int64_t rows, int64_t terms,
                 abi::NormalizeKind kind = abi::NormalizeKind::kLayerNorm) {
  return StrCat("step [\"norm\"] ", operands,
                " : normalize math=fp32 kind=", static_cast<int>(kind), " axes=[1] ",
                "epsilon=0x1p-10 core=1 in(", Matrix(rows, terms), ", f32 ", rows, "x", terms,
                " [0, 1]+0) out(", Matrix(rows, terms),
                ") pro id epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = mul %0 %1 : f32) -> %2\n");
}

std::string Product(std::string_view name, std::string_view operands, int64_t m, int64_t k,
                    int64_t n) {
  return StrCat("step [\"", name, "\"] ", operands, " : gemm math=fp16 core=2 in(", Matrix(m, k),
                ", ", Matrix(k, n), ") out(", Matrix(m, n), ") pro id epi id\n");
}

std::string Buffer(int number, std::string_view role, std::string_view name, DType dtype,
                   std::string_view shape, std::string_view end = "\n") {
  return StrCat("%", number, " = ", role, " \"", name, "\" ", DTypeName(dtype), " ", shape, end);
}

// The program that the text says, with bf16 in the place of f16 where `bf16` is true.
ir::Lowered Parsed(std::string text, bool bf16 = false) {
  for (const std::string_view before : {" ", "(", "math="}) {
    const std::string from = StrCat(before, before == "math=" ? "fp16" : "f16 ");
    const std::string to = StrCat(before, before == "math=" ? "bf16" : "bf16 ");
    for (size_t at = 0; bf16 && (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  }
  const auto parsed = ir::ParseLowered(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  return *parsed;
}

// x [rows, terms] -> norm -> product with weights of `columns` columns -> y.
ir::Lowered Program(int64_t rows, int64_t terms, int64_t columns,
                    abi::NormalizeKind kind = abi::NormalizeKind::kLayerNorm, bool bf16 = false) {
  const std::string x = StrCat(rows, "x", terms);
  return Parsed(
      StrCat("lowered \"g\"\n", Buffer(0, "input", "x", DType::kF16, x),
             Buffer(1, "constant", "g", DType::kF32, StrCat(terms), kNoData),
             Buffer(2, "constant", "w", DType::kF16, StrCat(terms, "x", columns), kNoData),
             Buffer(3, "temp", "n", DType::kF16, x),
             Buffer(4, "output", "y", DType::kF16, StrCat(rows, "x", columns)),
             "inputs %0\noutputs %4\n", Norm("(%0, %1) -> (%3)", rows, terms, kind),
             Product("up", "(%3, %2) -> (%4)", rows, terms, columns)),
      bf16);
}

// The same behind a product of `inner` terms that makes the rows.
ir::Lowered Chain(int64_t rows, int64_t inner, int64_t terms, int64_t columns,
                  abi::NormalizeKind kind = abi::NormalizeKind::kLayerNorm, bool bf16 = false) {
  const std::string h = StrCat(rows, "x", terms);
  return Parsed(
      StrCat("lowered \"g\"\n", Buffer(0, "input", "x", DType::kF16, StrCat(rows, "x", inner)),
             Buffer(1, "constant", "v", DType::kF16, StrCat(inner, "x", terms), kNoData),
             Buffer(2, "constant", "g", DType::kF32, StrCat(terms), kNoData),
             Buffer(3, "constant", "w", DType::kF16, StrCat(terms, "x", columns), kNoData),
             Buffer(4, "temp", "h", DType::kF16, h), Buffer(5, "temp", "n", DType::kF16, h),
             Buffer(6, "output", "y", DType::kF16, StrCat(rows, "x", columns)),
             "inputs %0\noutputs %6\n", Product("down", "(%0, %1) -> (%4)", rows, inner, terms),
             Norm("(%4, %2) -> (%5)", rows, terms, kind),
             Product("up", "(%5, %3) -> (%6)", rows, terms, columns)),
      bf16);
}

// The same as Program, with `count` vectors that the product's epilogue adds to its results.
ir::Lowered WithVectors(int count) {
  std::string buffers, operands = "%3, %2", views, nodes = "%0 = in 0 : f32";
  for (int i = 0; i < count; ++i) {
    buffers += Buffer(5 + i, "constant", StrCat("b", i), DType::kF32, "768", kNoData);
    operands += StrCat(", %", 5 + i);
    views += ", f32 784x768 [0, 1]+0";
    nodes += StrCat("; %", 2 * i + 1, " = in ", i + 1, " : f32; %", 2 * i + 2, " = add %", 2 * i,
                    " %", 2 * i + 1, " : f32");
  }
  const auto parsed = ir::ParseLowered(StrCat(
      "lowered \"g\"\n", Buffer(0, "input", "x", DType::kF16, "784x192"),
      Buffer(1, "constant", "g", DType::kF32, "192", kNoData),
      Buffer(2, "constant", "w", DType::kF16, "192x768", kNoData),
      Buffer(3, "temp", "n", DType::kF16, "784x192"),
      Buffer(4, "output", "y", DType::kF16, "784x768"), buffers, "inputs %0\noutputs %4\n",
      Norm("(%0, %1) -> (%3)", 784, 192), "step [\"up\"] (", operands,
      ") -> (%4) : gemm math=fp16 core=2 in(", Matrix(784, 192), ", ", Matrix(192, 768), views,
      ") out(", Matrix(784, 768), ") pro id epi (", nodes, ") -> %", 2 * count, "\n"));
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  return *parsed;
}

// Without a name a device has no kernels: what is legal happens.
Status Move(ir::Lowered& program, std::string_view device) {
  DecisionLog decisions;
  PassContext context;
  if (!device.empty()) context.device = *abi::FindDevice(device);
  context.device.name = device;
  context.corrected_cost = [](const abi::Candidate& c, abi::MathMode math,
                              const abi::DeviceSpec& d) {
    return tune::BuiltInFit(d).Predict(c, math);
  };
  context.decisions = &decisions;
  AICF_RETURN_IF_ERROR(MomentsInProduct(program, context));
  return Verify(program);
}

size_t StepsAfter(ir::Lowered program, std::string_view device) {
  EXPECT_TRUE(Move(program, device).ok());
  return program.steps.size();
}

// Columns of the parts whose moments the first step stores; 0: none.
int64_t PartsAfter(ir::Lowered program, std::string_view device) {
  EXPECT_TRUE(Move(program, device).ok());
  const int64_t columns = program.steps[0].problem.as<abi::GemmAttrs>().part_columns;
  if (columns > 0) {
    EXPECT_EQ(program.steps.size(), 2u);
    EXPECT_EQ(program.steps[1].problem.as<abi::GemmAttrs>().part_terms, columns);
  }
  return columns;
}

TEST(NormMoments, MoveWhereSummingUpTakesLessThanAStep) {
  EXPECT_EQ(StepsAfter(Program(784, 192, 768), "cuda:sm_90a"), 1u);
  EXPECT_EQ(StepsAfter(Program(100352, 96, 384), "cuda:sm_90a"), 1u)
      << "a norm of many rows takes longer";
  EXPECT_EQ(StepsAfter(Program(128, 768, 2304), "cuda:sm_90a"), 2u) << "12 steps of the sum";
}

// The sum, mean and scale, the norm's vector of columns, and the vectors of the product are read.
TEST(NormMoments, MoveWhereTheEpilogueHasRoomForItsOperands) {
  static_assert(abi::kMaxExprInputs == 12);
  EXPECT_EQ(StepsAfter(WithVectors(8), ""), 1u);
  EXPECT_EQ(StepsAfter(WithVectors(9), ""), 2u);
}

TEST(NormMoments, StayWhereNoKernelSumsThemUp) {
  EXPECT_EQ(StepsAfter(Program(784, 192, 768), "cpu:avx512"), 2u);
  EXPECT_EQ(StepsAfter(Program(784, 192, 768), "cuda:sm_80"), 2u);
}

TEST(NormMoments, AreStoredByTheProductThatMakesTheRows) {
  EXPECT_EQ(PartsAfter(Chain(128, 3072, 768, 2304), "cuda:sm_90a"), 64);
  EXPECT_EQ(PartsAfter(Chain(128, 768, 768, 3072), "cuda:sm_90a"), 64);
  EXPECT_EQ(PartsAfter(Chain(4096, 3072, 768, 2304), "cuda:sm_90a"), 0) << "epilogues take longer";
  EXPECT_EQ(PartsAfter(Chain(128, 3072, 768, 2304), "cuda:sm_80"), 0);
  EXPECT_EQ(PartsAfter(Chain(128, 3072, 760, 2304), "cuda:sm_90a"), 0) << "no whole parts";
}

// Numbers of a few digits, the same in every run.
ir::Tensor Numbers(DType dtype, const Dims& shape, int seed) {
  const auto count = static_cast<size_t>(ElementCount(shape).value_or(0));
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 37 + static_cast<size_t>(seed) * 11) % 23) / 16.0f - 0.6f;
  const auto wide = ir::Tensor::FromValues<float>(DType::kF32, shape, values);
  return dtype == DType::kF32 ? wide : storage::Narrowed(wide, dtype);
}

// A norm by the root mean square between two products.
ir::Lowered RmsChain(int64_t rows, int64_t inner, int64_t terms, int64_t columns) {
  return Chain(rows, inner, terms, columns, abi::NormalizeKind::kRmsNorm, true);
}

// The same program whose rows, which the norm reads, are stored in f32.
ir::Lowered WithWideRows(ir::Lowered program) {
  program.buffers[program.steps[0].outputs[0]].dtype = DType::kF32;
  program.steps[0].problem.outputs[0].dtype = DType::kF32;
  program.steps[1].problem.inputs[0].dtype = DType::kF32;
  return program;
}

// What both programs compute from the same numbers, as far apart as 16 bits of a norm make them.
void ExpectSameValues(ir::Lowered program, int64_t parts) {
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    ir::LoweredBuffer& buffer = program.buffers[b];
    if (buffer.role != schema::Role::kConstant || buffer.constant.has_data()) continue;
    buffer.constant = Numbers(buffer.dtype, buffer.shape, static_cast<int>(b));
  }
  const ir::Lowered before = program;
  EXPECT_EQ(PartsAfter(program, ""), parts);
  ASSERT_TRUE(Move(program, "").ok());
  const DType dtype = program.buffers[program.inputs[0]].dtype;
  const double unit = dtype == DType::kBF16 ? 8 : 1;
  const std::vector<ir::Tensor> x = {Numbers(dtype, {5, 24}, 7)};
  const auto expected = Interpret(before, x), got = Interpret(program, x);
  ASSERT_TRUE(expected.ok() && got.ok()) << got.status().ToString();
  for (int64_t i = 0; i < (*expected)[0].count(); ++i) {
    const double value = (*expected)[0].FloatAt(i);
    EXPECT_NEAR((*got)[0].FloatAt(i), value, unit * (0.02 + 0.004 * std::abs(value))) << i;
  }
}

TEST(NormMoments, OfPartsMakeTheSameValues) {
  ExpectSameValues(Chain(5, 24, 64, 8), 64);
  ExpectSameValues(Chain(5, 24, 192, 8), 64);
  ExpectSameValues(Chain(5, 24, 48, 8), 0);
}

TEST(NormMoments, OfPartsMakeTheSameValuesOfRootMeanSquares) {
  ExpectSameValues(RmsChain(5, 24, 64, 8), 64);
  ExpectSameValues(RmsChain(5, 24, 192, 8), 64);
  ExpectSameValues(RmsChain(5, 24, 48, 8), 0);
  ExpectSameValues(WithWideRows(RmsChain(5, 24, 64, 8)), 64);
}

// A decode step of 32 requests has such norms. Prompts have so many rows that epilogues would take
// longer than the norms, and a single row is normalised by the product that reads it.
TEST(NormMoments, OfRootMeanSquaresAreStoredWhereRowsAreFew) {
  EXPECT_EQ(PartsAfter(RmsChain(32, 14336, 4096, 6144), "cuda:sm_90a"), 64);
  EXPECT_EQ(PartsAfter(RmsChain(32, 4096, 4096, 6144), "cuda:sm_90a"), 64);
  EXPECT_EQ(PartsAfter(RmsChain(2048, 4096, 4096, 6144), "cuda:sm_90a"), 0);
  EXPECT_EQ(PartsAfter(RmsChain(32, 4096, 4096, 6144), "cuda:sm_80"), 0);
}

TEST(NormMoments, OfRootMeanSquaresLeaveTheWeightsAlone) {
  ir::Lowered program = RmsChain(32, 4096, 4096, 6144);
  const ir::BufferId weights = program.steps[2].inputs[1];
  const std::string name = program.buffers[weights].name;
  ASSERT_TRUE(Move(program, "cuda:sm_90a").ok());
  ASSERT_EQ(program.steps.size(), 2u);
  const ir::LoweredStep &producer = program.steps[0], &reader = program.steps[1];
  ASSERT_EQ(producer.outputs.size(), 3u) << "the rows, the same with gain, and moments";
  EXPECT_EQ(reader.inputs[0], producer.outputs[1]);
  EXPECT_EQ(program.buffers[reader.inputs[1]].name, name);
  EXPECT_EQ(reader.inputs[2], producer.outputs[2]);
}

TEST(NormMoments, OfRootMeanSquaresStayAStepWhereNoProductMakesTheRows) {
  const ir::Lowered alone = Program(32, 4096, 6144, abi::NormalizeKind::kRmsNorm, true);
  EXPECT_EQ(StepsAfter(alone, "cuda:sm_90a"), 2u);
  EXPECT_EQ(StepsAfter(alone, ""), 2u);
}

// Rows of equal elements have no deviation, so that the epsilon alone makes their scale finite.
TEST(NormMoments, OfRootMeanSquaresOfEqualElementsMakeTheSameValues) {
  for (const double epsilon : {0x1p-10, 1e-34, 0.0}) {
    ir::Lowered program = RmsChain(5, 24, 64, 8);
    ir::LoweredBuffer& weights = program.buffers[program.steps[0].inputs[1]];
    const auto count = static_cast<size_t>(*ElementCount(weights.shape));
    const auto equal =
        ir::Tensor::FromValues<float>(DType::kF32, weights.shape, std::vector<float>(count, 64.0f));
    weights.constant = storage::Narrowed(equal, weights.dtype);
    std::get<abi::NormalizeAttrs>(program.steps[1].problem.attrs).epsilon = epsilon;
    ExpectSameValues(program, 64);
  }
}

// The product that makes the rows adds `count` vectors to them, the same one each time.
ir::Lowered WithAddedVectors(ir::Lowered program, int count) {
  ir::LoweredStep& step = program.steps[0];
  abi::Problem& p = step.problem;
  abi::ExprBuilder b;
  uint16_t sum = b.Input(0, DType::kF32);
  for (int i = 0; i < count; ++i) {
    const uint16_t vector = b.Input(1 + i, DType::kF32);
    sum = b.Binary(abi::ExprOp::kAdd, sum, vector);
    p.inputs.push_back(program.steps[1].problem.inputs[1]);
    step.inputs.push_back(program.steps[1].inputs[1]);
  }
  p.epilogue = b.Finish({sum});
  return program;
}

// The sum, the vectors and the gain are read.
TEST(NormMoments, OfRootMeanSquaresMoveWhereTheProducersEpilogueHasRoomForTheGain) {
  EXPECT_EQ(PartsAfter(WithAddedVectors(RmsChain(5, 24, 64, 8), 10), ""), 64);
  EXPECT_EQ(PartsAfter(WithAddedVectors(RmsChain(5, 24, 64, 8), 11), ""), 0);
}

TEST(NormMoments, OfRootMeanSquaresStayAStepWhereRowsTimesTheGainMayOverflow) {
  EXPECT_EQ(PartsAfter(Chain(5, 24, 64, 8, abi::NormalizeKind::kRmsNorm), ""), 0);
}

}  // namespace
}  // namespace aicf
