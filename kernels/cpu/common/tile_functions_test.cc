// The functions that products apply in registers (tile_functions.h), against libm in double: each
// as the epilogue of 1 * x, in every instruction set of this machine, within the table's bounds.
#include <gtest/gtest.h>

#include <cstdio>

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/test_ulp.h"
#include "kernels/cpu/expr/scalar_ops.h"
#include "kernels/cpu/functions.h"
#include "kernels/cpu/gemm/chain_plan.h"

namespace aicf::cpu {
namespace {

using abi::ExprOp;

// y[0, n] = op(1 * x[0, n])
abi::Problem ProductOf(ExprOp op, int64_t count) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {abi::DenseView(DType::kF32, {1, 1}), abi::DenseView(DType::kF32, {1, count})};
  p.outputs = {abi::DenseView(DType::kF32, {1, count})};
  p.core_inputs = 2;
  abi::ExprBuilder b;
  p.epilogue = b.Finish({b.Unary(op, b.Input(0, DType::kF32))});
  return p;
}

bool IsChain(const abi::Expr& expr) {
  TileEpilogue e;
  e.output_count = 1;
  e.outputs[0].col_stride = 1;
  PlanChain(expr, true, &e);
  return e.is_chain;
}

// What a product leaves of a number: its sum starts at +0, so that -0 is none of its results.
std::vector<float> Samples() {
  std::vector<float> x = UlpSamples();
  for (float& v : x) v = v == 0 ? 0.0f : v;
  return x;
}

TEST(TileFunctions, KeepTheTablesBounds) {
  const std::vector<float> x = Samples();
  int rows = 0;
  for (const VectorFunction& row : kVectorFunctions) {
    if (row.home != VectorHome::kTile) continue;
    ++rows;
    const abi::Problem p = ProductOf(row.op, static_cast<int64_t>(x.size()));
    ASSERT_TRUE(IsChain(p.epilogue)) << abi::ExprOpName(row.op) << " is not computed in registers";
    for (const char* isa : {"baseline", "avx2", "avx512"}) {
      const abi::KernelInfo* kernel = abi::FindKernel(StrCat("cpu.gemm.panels_", isa));
      ASSERT_NE(kernel, nullptr);
      if (!kernel->supports(p, *abi::FindDevice("cpu")).empty()) continue;
      std::vector<float> one = {1.0f}, in = x, y(x.size());
      void* const buffers[] = {one.data(), in.data(), y.data()};
      RunSerial(kernel->key, p, buffers);
      double worst = 0;
      const auto beyond = BeyondBound(
          row, x, y, [&](double v) { return FloatUnary(row.op, v, true); }, &worst);
      std::printf("%-10s %-9s max %.3f ULP\n", std::string(abi::ExprOpName(row.op)).c_str(), isa,
                  worst);
      EXPECT_TRUE(beyond.empty()) << abi::ExprOpName(row.op) << " " << isa << ": " << worst
                                  << " ULP, " << beyond.size() << " samples beyond the bound, the "
                                  << "first " << (beyond.empty() ? 0 : beyond.front());
    }
  }
  EXPECT_GE(rows, 4);
}

}  // namespace
}  // namespace aicf::cpu
