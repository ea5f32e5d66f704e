// Every rule of the families that read blocks and of draws, broken once.
#include <gtest/gtest.h>

#include "kernels/abi/validate_faults.h"

namespace aicf::abi {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

View Bytes(const Dims& shape) { return DenseView(DType::kU8, shape); }

// Two times three rows of 64 elements in Q4_0.
Problem SomeDecoding() {
  return ProblemOf(Family::kDequantize, DequantizeAttrs{BlockFormat::kQ4_0}, 1, {Bytes({2, 3, 36})},
                   {DenseView(DType::kF16, {2, 3, 64})});
}

template <class A>
std::function<void(Problem&)> Format(int format) {
  return Edit<A>([=](A& a) { a.format = static_cast<BlockFormat>(format); });
}

TEST(ValidateBlocks, DecodingNamesTheBrokenRule) {
  const auto scalars = [](Problem& p) {
    p.inputs[0] = Bytes({});
    p.outputs[0] = F32({});
  };
  const auto no_whole_blocks = [](Problem& p) { p.outputs[0] = F32({2, 3, 65}); };
  const auto apart = [](Problem& p) { p.inputs[0].strides = {216, 72, 2}; };
  ExpectRefused(SomeDecoding(),
                {{"ranks of blocks and output", scalars},
                 {"ranks of blocks and output", Input(0, Bytes({6, 36}))},
                 {"axis 0 differs", Input(0, Bytes({3, 3, 36}))},
                 {"axis 1 differs", Input(0, Bytes({2, 2, 36}))},
                 {"unknown block format", Format<DequantizeAttrs>(kBlockFormatCount)},
                 {"the blocks are i8", Input(0, DenseView(DType::kI8, {2, 3, 36}))},
                 {"65 elements in Q4_0 does not take 36", no_whole_blocks},
                 {"65 elements in Q4_0 does not take 0",
                  [&](Problem& p) {
                    no_whole_blocks(p);
                    p.inputs[0] = Bytes({2, 3, 0});
                  }},
                 {"64 elements in Q4_0 does not take 35", Input(0, Bytes({2, 3, 35}))},
                 {"of blocks are 2 apart", apart},
                 {"math mode int8", [](Problem& p) { p.math = MathMode::kInt8; }},
                 {"0 core inputs", [](Problem& p) { p.core_inputs = 0; }},
                 {"a row of 64 elements in F16", Format<DequantizeAttrs>(1)}});
}

TEST(ValidateBlocks, ARowWithoutBytesHasNoDistanceBetweenThem) {
  Problem p = SomeDecoding();
  p.inputs[0] = {DType::kU8, {2, 3, 0}, {0, 0, 7}, 0};
  p.outputs[0] = F32({2, 3, 0});
  EXPECT_EQ(ValidateProblem(p).message(), "");
}

// [2, 5, 64] times 7 rows of 64 elements in Q8_0, and a bias.
Problem SomeBlockProduct() {
  Problem p = ProblemOf(Family::kBlockGemm, BlockGemmAttrs{BlockFormat::kQ8_0}, 2,
                        {DenseView(DType::kF16, {2, 5, 64}), Bytes({7, 68})}, {F32({2, 5, 7})});
  p.math = MathMode::kInt8;
  return p;
}

TEST(ValidateBlocks, ProductsNameTheBrokenRule) {
  const auto math = [](MathMode mode) { return [=](Problem& p) { p.math = mode; }; };
  const auto vectors = [](Problem& p) {
    p.inputs[0] = F32({64});
    p.outputs[0] = F32({7});
  };
  const auto apart = [](Problem& p) { p.inputs[1].strides = {136, 2}; };
  ExpectRefused(SomeBlockProduct(),
                {{"ranks of A and output", vectors},
                 {"ranks of A and output", Input(0, F32({5, 64}))},
                 {"the blocks have rank 3", Input(1, Bytes({1, 7, 68}))},
                 {"axis 0 of A and output", Input(0, F32({3, 5, 64}))},
                 {"axis 1 of A and output", Input(0, F32({2, 4, 64}))},
                 {"8 rows of blocks for 7 columns", Input(1, Bytes({8, 68}))},
                 {"A is f64", Input(0, DenseView(DType::kF64, {2, 5, 64}))},
                 {"math mode tf32", math(MathMode::kTf32)},
                 {"math mode fp8", math(MathMode::kFp8)},
                 {"unknown block format", Format<BlockGemmAttrs>(kBlockFormatCount)},
                 {"the blocks are f32", Input(1, F32({7, 68}))},
                 {"does not take 68 bytes", Input(0, F32({2, 5, 32}))},
                 {"of blocks are 2 apart", apart}});
  const auto halves = [](int64_t n) {
    return [n](Problem& p) { std::get<BlockGemmAttrs>(p.attrs).halves = n; };
  };
  ExpectRefused(SomeBlockProduct(), {{"3 halves, expected 1 or 2", halves(3)},
                                     {"two halves without an epilogue", halves(2)}});
  for (const MathMode mode : {MathMode::kFp32, MathMode::kFp16, MathMode::kBf16}) {
    Problem p = SomeBlockProduct();
    p.math = mode;
    EXPECT_EQ(ValidateProblem(p).message(), "");
  }
}

// The larger one of two halves, of rows that are normalised.
TEST(ValidateBlocks, HalvesAndNorms) {
  Problem p = SomeBlockProduct();
  std::get<BlockGemmAttrs>(p.attrs).halves = 2;
  std::get<BlockGemmAttrs>(p.attrs).rms_epsilon = 1e-5;
  p.inputs[1] = Bytes({14, 68});
  p.inputs.push_back(F32({2, 5, 64}));
  p.core_inputs = 3;
  ExprBuilder b;
  p.epilogue = b.Finish({b.Binary(ExprOp::kMax, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  EXPECT_EQ(ValidateProblem(p).message(), "");
  const auto epsilon = [](double e) {
    return [e](Problem& q) { std::get<BlockGemmAttrs>(q.attrs).rms_epsilon = e; };
  };
  ExpectRefused(p, {{"13 rows of blocks for 7 columns of two halves", Input(1, Bytes({13, 68}))},
                    {"15 rows of blocks for 7 columns of two halves", Input(1, Bytes({15, 68}))},
                    {"7 rows of blocks for 7 columns of two halves", Input(1, Bytes({7, 68}))},
                    {"epsilon inf, expected", epsilon(std::numeric_limits<double>::infinity())},
                    {"the gain has shape", Input(2, F32({2, 5, 63}))},
                    {"which are not both f32", Input(2, DenseView(DType::kF64, {2, 5, 64}))},
                    {"3 core inputs of 3, expected 2", epsilon(AddedReal::kAbsent)}});
}

// Draws from 3 rows of 50 categories.
Problem SomeDraws() {
  return ProblemOf(Family::kCategorical, CategoricalAttrs{}, 7,
                   {DenseView(DType::kF16, {3, 50}), F32({3}), DenseView(DType::kI32, {3}),
                    F32({3}), F32({3}), I64({3}), DenseView(DType::kI32, {3})},
                   {DenseView(DType::kI32, {3}), DenseView(DType::kBool, {3})});
}

// Draws that are also stored in a table of 5 numbers.
TEST(ValidateDraws, ThatAreStored) {
  const View table = DenseView(DType::kI32, {5}), places = DenseView(DType::kI32, {3});
  Problem p = SomeDraws();
  EXPECT_FALSE(StoresDraws(p));
  std::get<CategoricalAttrs>(p.attrs).stores = 1;
  p.inputs.insert(p.inputs.end(), {table, places});
  p.outputs.push_back(table);
  p.core_inputs = 9;
  EXPECT_EQ(ValidateProblem(p).message(), "");
  EXPECT_TRUE(StoresDraws(p));
  EXPECT_EQ(OutputInPlaceOf(p, kDrawTable), 2);
  EXPECT_EQ(OutputInPlaceOf(p, kDrawPlaces), 0);
  const auto stores = [](int64_t value) {
    return [value](Problem& q) { std::get<CategoricalAttrs>(q.attrs).stores = value; };
  };
  ExpectRefused(p, {{"9 core inputs of 9, expected 7", stores(0)},
                    {"stores is 2", stores(2)},
                    {"10 operands, expected 9", [](Problem& q) { q.inputs.push_back(F32({3})); }},
                    {"1 outputs, expected 2 or 3", [](Problem& q) { q.outputs.resize(1); }},
                    {"the table is i64", Input(7, I64({5}))},
                    {"the table is i32 5x1", Input(7, DenseView(DType::kI32, {5, 1}))},
                    {"places is i64", Input(8, I64({3}))},
                    {"places has shape", Input(8, DenseView(DType::kI32, {5}))},
                    {"the next table is i64", Output(2, I64({5}))},
                    {"the next table has shape", Output(2, DenseView(DType::kI32, {6}))}});
  p.outputs.erase(p.outputs.begin() + 1);
  EXPECT_EQ(ValidateProblem(p).message(), "");
  EXPECT_EQ(OutputInPlaceOf(p, kDrawTable), 1);
}

TEST(ValidateDraws, TheErrorNamesTheBrokenRule) {
  const View ids = DenseView(DType::kI32, {3}), valid = DenseView(DType::kBool, {3});
  ExpectRefused(
      SomeDraws(),
      {{"the logits are f64", Input(0, DenseView(DType::kF64, {3, 50}))},
       {"the logits have rank 3", Input(0, F32({1, 3, 50}))},
       {"0 categories", Input(0, F32({3, 0}))},
       {"2147483648 categories", Input(0, testing::Repeated({3, int64_t{1} << 31}))},
       {"8 operands, expected 7", [](Problem& p) { p.inputs.push_back(F32({3})); }},
       {"temperature is i32", Input(1, ids)},
       {"temperature has shape", Input(1, F32({2}))},
       {"top_k is i64", Input(2, I64({3}))},
       {"top_k has shape", Input(2, DenseView(DType::kI32, {3, 1}))},
       {"top_p is i32", Input(3, ids)},
       {"top_p has shape", Input(3, F32({4}))},
       {"min_p is f16", Input(4, DenseView(DType::kF16, {3}))},
       {"min_p has shape", Input(4, F32({1}))},
       {"seeds is i32", Input(5, ids)},
       {"seeds has shape", Input(5, I64({50}))},
       {"counters is f32, expected i64", Input(6, F32({3}))},
       {"counters has shape", Input(6, I64({2}))},
       {"3 outputs", [=](Problem& p) { p.outputs.push_back(valid); }},
       {"output 0 is i64", Output(0, I64({3}))},
       {"output 1 is i32", Output(1, ids)},
       {"an output has shape", Output(0, DenseView(DType::kI32, {3, 1}))},
       {"an output has shape", Output(1, DenseView(DType::kBool, {50}))},
       {"6 core inputs", [](Problem& p) { p.core_inputs = 6; }},
       {"no prologue", [](Problem& p) { p.prologue = *ParseExpr("(%0 = in 0 : f32) -> %0"); }},
       {"no epilogue", [](Problem& p) { p.epilogue = *ParseExpr("(%0 = in 0 : i32) -> %0"); }}});
}

TEST(ValidateDraws, CountersAndTheSecondOutputAreChoices) {
  Problem p = SomeDraws();
  p.inputs[6] = I64({3});
  EXPECT_EQ(ValidateProblem(p).message(), "");
  p.outputs.pop_back();
  EXPECT_EQ(ValidateProblem(p).message(), "");
  p.inputs[0] = testing::Repeated({3, (int64_t{1} << 31) - 1}, DType::kBF16);
  EXPECT_EQ(ValidateProblem(p).message(), "");
}

}  // namespace
}  // namespace aicf::abi
