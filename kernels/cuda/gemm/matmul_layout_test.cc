#include "kernels/cuda/gemm/matmul_layout.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace aicf::cuda {
namespace {

using abi::ExprBuilder;
using abi::ExprOp;
using abi::Problem;
using abi::View;

/// Element (r, c) of the matrix as the product sees it: column-major, transposed when asked.
int64_t Index(const MatrixLayout& m, int64_t batch, int64_t r, int64_t c) {
  const int64_t stored_row = m.transposed ? c : r;
  const int64_t stored_col = m.transposed ? r : c;
  EXPECT_LT(stored_row, m.rows);
  EXPECT_LT(stored_col, m.cols);
  return m.offset + batch * m.batch_stride + stored_col * m.ld + stored_row;
}

int64_t Index(const View& v, const std::vector<int64_t>& at) {
  int64_t index = v.offset;
  for (int i = 0; i < v.shape.rank(); ++i) index += at[i] * v.strides[i];
  return index;
}

/// A view of [batch.., rows, cols] with a random legal layout.
View RandomView(std::mt19937& random, const Dims& batch, int64_t rows, int64_t cols,
                bool row_major_only) {
  const bool transposed = !row_major_only && random() % 2 == 0;
  const int64_t inner = transposed ? rows : cols;
  const int64_t outer = transposed ? cols : rows;
  const int64_t ld = inner + static_cast<int64_t>(random() % 4);
  const bool repeated = !row_major_only && random() % 3 == 0;
  View v;
  v.offset = static_cast<int64_t>(random() % 5);
  int64_t stride = repeated ? 0 : ld * outer + static_cast<int64_t>(random() % 3);
  Dims batch_strides = batch;
  for (int i = batch.rank() - 1; i >= 0; --i) {
    batch_strides[i] = stride;
    stride *= batch[i];
  }
  v.shape = batch;
  v.strides = batch_strides;
  v.shape.push_back(rows);
  v.shape.push_back(cols);
  v.strides.push_back(transposed ? 1 : ld);
  v.strides.push_back(transposed ? ld : 1);
  return v;
}

TEST(MatmulLayout, EveryElementIsWhereTheProblemHasIt) {
  std::mt19937 random(5);
  const auto upto = [&](int n) { return 1 + static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 500; ++round) {
    Dims batch;
    for (int i = static_cast<int>(random() % 3); i > 0; --i) batch.push_back(upto(3));
    const int64_t m = upto(5), n = upto(5), k = upto(5);
    Problem p;
    p.family = abi::Family::kGemm;
    p.attrs = abi::GemmAttrs{};
    p.core_inputs = 2;
    p.inputs = {RandomView(random, batch, m, k, false), RandomView(random, batch, k, n, false)};
    p.outputs = {RandomView(random, batch, m, n, true)};
    const auto layout = DescribeMatmul(p);
    ASSERT_TRUE(layout.ok()) << layout.status().ToString();
    std::vector<int64_t> at(batch.rank(), 0);
    for (int64_t b = 0; b < layout->batch_count; ++b) {
      int64_t rest = b;
      for (int i = batch.rank() - 1; i >= 0; --i) {
        at[i] = rest % batch[i];
        rest /= batch[i];
      }
      const auto with = [&](int64_t r, int64_t c) {
        std::vector<int64_t> full = at;
        full.push_back(r);
        full.push_back(c);
        return full;
      };
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          ASSERT_EQ(Index(layout->d, b, j, i), Index(p.outputs[0], with(i, j)));
          for (int64_t l = 0; l < k; ++l) {
            ASSERT_EQ(Index(layout->a, b, j, l), Index(p.inputs[1], with(l, j)));
            ASSERT_EQ(Index(layout->b, b, l, i), Index(p.inputs[0], with(i, l)));
          }
        }
      }
    }
    EXPECT_GE(layout->a.ld, layout->a.rows);
    EXPECT_GE(layout->b.ld, layout->b.rows);
    EXPECT_GE(layout->d.ld, layout->d.rows);
  }
}

Problem Gemm(int64_t m, int64_t n, int64_t k) {
  Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.core_inputs = 2;
  p.inputs = {abi::DenseView(DType::kF32, {m, k}), abi::DenseView(DType::kF32, {k, n})};
  p.outputs = {abi::DenseView(DType::kF32, {m, n})};
  return p;
}

TEST(MatmulLayout, EpilogueOfScaleBiasResidualAndRelu) {
  Problem p = Gemm(4, 6, 8);
  p.inputs.push_back({DType::kF32, {4, 6}, {6, 1}, 3});   // residual
  p.inputs.push_back({DType::kF32, {4, 6}, {0, 1}, 12});  // bias
  ExprBuilder b;
  const uint16_t scaled =
      b.Binary(ExprOp::kMul, b.Input(0, DType::kF32), b.Const(0.5, DType::kF32));
  const uint16_t sum = b.Binary(ExprOp::kAdd, scaled, b.Input(2, DType::kF32));
  const uint16_t all = b.Binary(ExprOp::kAdd, b.Input(1, DType::kF32), sum);
  const uint16_t relu = b.Binary(ExprOp::kMax, all, b.Const(0, DType::kF32));
  p.epilogue = b.Finish({relu});
  const auto layout = DescribeMatmul(p);
  ASSERT_TRUE(layout.ok()) << layout.status().ToString();
  EXPECT_EQ(layout->alpha, 0.5);
  EXPECT_EQ(layout->bias_input, 3);
  EXPECT_EQ(layout->bias_offset, 12);
  EXPECT_EQ(layout->residual_input, 2);
  EXPECT_EQ(layout->c.offset, 3);
  EXPECT_EQ(layout->activation, MatmulActivation::kRelu);
}

TEST(MatmulLayout, RefusesWhatTheLibraryDoesNotHave) {
  const auto refused = [](const Problem& p, std::string_view why) {
    const auto layout = DescribeMatmul(p);
    ASSERT_FALSE(layout.ok()) << why;
    EXPECT_EQ(layout.status().code(), Code::kUnsupported);
    EXPECT_NE(layout.status().message().find(why), std::string::npos) << layout.status().message();
  };
  Problem p = Gemm(4, 6, 8);
  p.outputs[0] = abi::DenseView(DType::kF32, {4, 4});
  std::get<abi::GemmAttrs>(p.attrs).halves = 2;
  p.epilogue = *abi::ParseExpr("(%0 = in 0 : f32; %1 = in 1 : f32; %2 = mul %0 %1 : f32) -> %2");
  refused(p, "its product has two halves");
  p = Gemm(4, 6, 8);
  p.inputs[0].strides = {16, 2};
  refused(p, "A: neither of its matrix axes is contiguous");
  p = Gemm(4, 6, 8);
  p.outputs[0].strides = {1, 4};
  refused(p, "output: it is not row-major");
  p = Gemm(4, 6, 8);
  p.inputs[1].dtype = DType::kF16;
  refused(p, "differ in dtype");
  p = Gemm(4, 6, 8);
  p.inputs[0].dtype = p.inputs[1].dtype = p.outputs[0].dtype = DType::kF64;
  refused(p, "only f32");
  p = Gemm(4, 6, 8);
  ExprBuilder b;
  p.epilogue = b.Finish({b.Unary(ExprOp::kTanh, b.Input(0, DType::kF32))});
  refused(p, "epilogue");
  p = Gemm(4, 6, 8);
  for (View* v : {&p.inputs[0], &p.inputs[1], &p.outputs[0]}) {
    v->shape.insert(0, 2);
    v->strides.insert(0, 1000);
    v->shape.insert(0, 3);
    v->strides.insert(0, 777);
  }
  refused(p, "not walked by one stride");
  p = Gemm(4, 6, 8);
  p.family = abi::Family::kConv;
  refused(p, "it is no gemm");
  p = Gemm(4, 6, 8);
  p.math = abi::MathMode::kFp8;
  refused(p, "fp8 products");
  p = Gemm(4, 6, 8);
  p.outputs[0].dtype = DType::kF16;
  refused(p, "its dtype is not A's");
  refused(Gemm(4, 6, 0), "an extent is 0");
  const auto batched = [](int64_t extent, int64_t stride) {
    Problem q = Gemm(4, 6, 8);
    for (View* v : {&q.inputs[0], &q.inputs[1], &q.outputs[0]}) {
      v->shape.insert(0, extent);
      v->strides.insert(0, stride);
    }
    return q;
  };
  refused(batched(3, -1000), "its batch stride is negative");
  refused(batched(int64_t{1} << 31, 1000), "its batch is above");
}

// %0 is the product; %1 and %2 are operands in the output's shape, stored by rows.
TEST(MatmulLayout, RefusesOtherEpilogues) {
  const auto refused = [](std::string_view nodes, std::string_view why,
                          const std::function<void(Problem&)>& edit = {}) {
    Problem p = Gemm(4, 6, 8);
    for (int i = 0; i < 2; ++i) p.inputs.push_back(abi::DenseView(DType::kF32, {4, 6}));
    const auto epilogue = abi::ParseExpr(
        StrCat("(%0 = in 0 : f32; %1 = in 1 : f32; %2 = in 2 : f32; %3 = add %0 %1 : f32", nodes));
    ASSERT_TRUE(epilogue.ok()) << epilogue.status().ToString();
    p.epilogue = *epilogue;
    if (edit) edit(p);
    const auto layout = DescribeMatmul(p);
    ASSERT_FALSE(layout.ok()) << why;
    EXPECT_NE(layout.status().message().find(why), std::string::npos) << layout.status().message();
  };
  refused(") -> %3 %0", "it has several results");
  refused(") -> %1", "it is not relu");
  refused("; %4 = tanh %0 : f32; %5 = add %0 %4 : f32) -> %5", "something that is no operand");
  refused("; %4 = add %3 %2 : f32) -> %4", "it adds two residuals");
  refused(") -> %3", "an operand's dtype differs",
          [](Problem& p) { p.inputs[2].dtype = DType::kF16; });
  refused(") -> %3", "the residual: it is not row-major", [](Problem& p) {
    p.inputs[2].strides = {1, 4};
  });
}

}  // namespace
}  // namespace aicf::cuda
