#include <gtest/gtest.h>

#include "kernels/cpu/common/test_expr.h"

namespace aicf::cpu {
namespace {

using abi::ReduceKind;

constexpr ReduceKind kKinds[] = {ReduceKind::kSum,   ReduceKind::kProd, ReduceKind::kMin,
                                 ReduceKind::kMax,   ReduceKind::kMean, ReduceKind::kArgMin,
                                 ReduceKind::kArgMax};

bool IsArg(ReduceKind kind) { return kind == ReduceKind::kArgMin || kind == ReduceKind::kArgMax; }

Dims ShapeForRank(Random& random, int rank) {
  if (rank <= 1) return RandomShape(random, rank, 5000);
  if (rank == 2) return RandomShape(random, rank, Chance(random, 30) ? 700 : 60);
  return RandomShape(random, rank, Chance(random, 20) ? 24 : 9);
}

TestStep RandomReduceStep(Random& random, DType dtype) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kReduce;
  abi::ReduceAttrs attrs;
  attrs.kind = kKinds[Pick(random, 0, 6)];
  attrs.last_index = Chance(random, 50);
  const int rank = static_cast<int>(Pick(random, IsArg(attrs.kind) ? 1 : 0, 5));
  Dims shape = ShapeForRank(random, rank);
  if (IsArg(attrs.kind)) {
    attrs.axes.push_back(Pick(random, 0, rank - 1));
    int64_t& extent = shape[static_cast<int>(attrs.axes[0])];
    extent = std::max<int64_t>(extent, 1);
  } else {
    for (int axis = 0; axis < rank; ++axis) {
      if (Chance(random, 50)) attrs.axes.push_back(axis);
    }
  }
  Dims out = shape;
  for (int64_t axis : attrs.axes) out[static_cast<int>(axis)] = 1;
  p.inputs.push_back(RandomView(random, dtype, shape, Chance(random, 20)));
  p.core_inputs = 1;
  p.outputs.push_back(RandomView(random, IsArg(attrs.kind) ? DType::kI64 : dtype, out, false));
  p.attrs = attrs;
  return step;
}

/// The reduction as a plain sum (or search) in double over one output's elements.
double ExpectedReduction(const TestStep& step, const int64_t* out_at) {
  const auto& attrs = step.problem.as<abi::ReduceAttrs>();
  Dims inner = Dims::Filled(step.problem.inputs[0].shape.rank(), 1);
  for (int64_t axis : attrs.axes) {
    inner[static_cast<int>(axis)] = step.problem.inputs[0].shape[static_cast<int>(axis)];
  }
  std::vector<double> values;
  ForEachIndex(inner, [&](const int64_t* at) {
    int64_t coords[kMaxRank] = {};
    for (int d = 0; d < inner.rank(); ++d) coords[d] = out_at[d] + at[d];
    values.push_back(step.buffers[0].At(coords));
  });
  const auto n = static_cast<double>(values.size());
  switch (attrs.kind) {
    case ReduceKind::kSum:
      return std::accumulate(values.begin(), values.end(), 0.0);
    case ReduceKind::kMean:
      return std::accumulate(values.begin(), values.end(), 0.0) / n;
    case ReduceKind::kProd:
      return std::accumulate(values.begin(), values.end(), 1.0, std::multiplies<>());
    case ReduceKind::kMin:
      return values.empty() ? INFINITY : *std::min_element(values.begin(), values.end());
    case ReduceKind::kMax:
      return values.empty() ? -INFINITY : *std::max_element(values.begin(), values.end());
    default:
      break;
  }
  const double best = attrs.kind == ReduceKind::kArgMin
                          ? *std::min_element(values.begin(), values.end())
                          : *std::max_element(values.begin(), values.end());
  size_t found = 0;
  for (size_t i = values.size(); i-- > 0;) {
    if (values[i] != best) continue;
    found = i;
    if (attrs.last_index) break;
  }
  return static_cast<double>(found);
}

TEST(Reduce, VariantsMatchTheReferenceAndTheFormula) {
  Random random(1);
  int ran = 0;
  for (int i = 0; i < 900 && !HasFailure(); ++i) {
    const DType dtype = Chance(random, 80)   ? DType::kF32
                        : Chance(random, 50) ? DType::kF64
                                             : DType::kF16;
    TestStep step = RandomReduceStep(random, dtype);
    step.Prepare(random);
    if (HasFatalFailure()) return;
    // The data are multiples of 1/16: sums are exact until rounded, and terms cancel.
    const double half = dtype == DType::kF16 ? 0x1p-10 : 1e-6;
    ran += CompareVariants(step, half, half);
    const bool prod = step.problem.as<abi::ReduceAttrs>().kind == ReduceKind::kProd;
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(abi::Family::kReduce).back(), step);
    ForEachIndex(step.problem.outputs[0].shape, [&](const int64_t* at) {
      const double exact = ExpectedReduction(step, at);
      const double got = out[0].At(at);
      if (std::isnan(exact) || (prod && !(std::fabs(exact) < 60000))) return;
      const bool near = got == exact || std::fabs(got - exact) <= half * (std::fabs(exact) + 1);
      ASSERT_TRUE(near) << got << " for " << exact << "\n" << abi::ToString(step.problem);
    });
  }
  EXPECT_GE(ran, 600);
}

TEST(Reduce, IntegersAreExact) {
  Random random(2);
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    TestStep step = RandomReduceStep(random, Chance(random, 50) ? DType::kI64 : DType::kI32);
    const ReduceKind kind = step.problem.as<abi::ReduceAttrs>().kind;
    if (kind == ReduceKind::kProd || kind == ReduceKind::kMean) continue;
    step.Prepare(random);
    if (HasFatalFailure()) return;
    CompareVariants(step, 0, 0);
    const std::vector<TestBuffer> out = RunVariant(CpuVariants(abi::Family::kReduce).back(), step);
    ForEachIndex(step.problem.outputs[0].shape, [&](const int64_t* at) {
      const double exact = ExpectedReduction(step, at);
      if (std::isinf(exact)) return;  // an extreme of nothing: the dtype's own
      ASSERT_EQ(out[0].At(at), exact) << abi::ToString(step.problem);
    });
  }
}

// Prologue over several operands (with coordinates), epilogue with an extra operand, f16 storage.
TEST(Reduce, ProloguesAndEpilogues) {
  Random random(3);
  int ran = 0;
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    TestStep step = RandomReduceStep(random, Chance(random, 70) ? DType::kF32 : DType::kF16);
    abi::Problem& p = step.problem;
    auto attrs = p.as<abi::ReduceAttrs>();
    if (IsArg(attrs.kind)) continue;
    if (attrs.kind == ReduceKind::kProd) attrs.kind = ReduceKind::kSum;
    p.attrs = attrs;
    const Dims domain = p.inputs[0].shape;
    p.inputs.push_back(RandomView(random, DType::kF32, domain, true));
    p.core_inputs = 2;
    abi::ExprBuilder pro;
    uint16_t value =
        pro.Binary(abi::ExprOp::kMul, pro.Input(0, DType::kF32), pro.Input(1, DType::kF32));
    if (domain.rank() > 0 && Chance(random, 40)) {
      value = pro.Binary(abi::ExprOp::kSub, value, pro.Cast(pro.Index(0), DType::kF32));
    }
    p.prologue = pro.Finish({value});
    if (Chance(random, 60)) {
      p.inputs.push_back(RandomView(random, DType::kF32, p.outputs[0].shape, true));
      abi::ExprBuilder epi;
      const uint16_t scaled =
          epi.Binary(abi::ExprOp::kMul, epi.Input(0, DType::kF32), epi.Const(0.25, DType::kF32));
      p.epilogue = epi.Finish({epi.Binary(abi::ExprOp::kAdd, scaled, epi.Input(1, DType::kF32))});
    }
    step.Prepare(random);
    if (HasFatalFailure()) return;
    const double tolerance = p.outputs[0].dtype == DType::kF16 ? 0x1p-9 : 2e-6;
    ran += CompareVariants(step, tolerance, tolerance);
  }
  EXPECT_GE(ran, 200);
}

TestStep LargeSum(Random& random, const Dims& shape, const Dims& axes, ReduceKind kind) {
  TestStep step;
  abi::Problem& p = step.problem;
  p.family = abi::Family::kReduce;
  p.attrs = abi::ReduceAttrs{kind, axes, false};
  Dims out = shape;
  for (int64_t axis : axes) out[static_cast<int>(axis)] = 1;
  p.inputs = {abi::DenseView(DType::kF32, shape)};
  p.outputs = {abi::DenseView(DType::kF32, out)};
  p.core_inputs = 1;
  step.Prepare(random);
  for (int64_t i = 0; i < step.input(0).elements(); ++i) {
    step.input(0).Set(i, 1.0 + static_cast<double>(random() % 1000) / 7000);
  }
  return step;
}

// Long sums, split into pieces: close to the sum in double, and the same bits on every instruction
// set and for every number of threads.
TEST(Reduce, LongSumsAreAccurateAndReproducible) {
  Random random(4);
  const struct {
    Dims shape, axes;
  } cases[] = {{{1000003}, {0}},   {{3, 200000}, {1}},      {{100000, 7}, {0}},
               {{1000, 700}, {0}}, {{4, 300, 130}, {0, 1}}, {{70, 5000}, {0, 1}}};
  for (const auto& c : cases) {
    for (ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMean, ReduceKind::kMax}) {
      const TestStep step = LargeSum(random, c.shape, c.axes, kind);
      ASSERT_GT(CompareVariants(step, 3e-7, 0), 0);
      std::vector<TestBuffer> first;
      for (const abi::KernelInfo& info : CpuVariants(abi::Family::kReduce)) {
        if (info.key == "cpu.reduce.ref" || !info.supports(step.problem, HostDevice()).empty()) {
          continue;
        }
        const std::vector<TestBuffer> split = RunVariant(info, step);
        if (first.empty()) first = split;
        EXPECT_TRUE(NearBuffers(first, split, 0, 0)) << info.key;
        TestStep serial = step;
        std::vector<void*> buffers;
        for (TestBuffer& b : serial.buffers) buffers.push_back(b.bytes.data());
        RunSerial(info.key, serial.problem, buffers.data());
        EXPECT_TRUE(NearBuffers(first, {serial.output(0)}, 0, 0)) << info.key << " on one thread";
      }
    }
  }
}

TEST(Reduce, NanWinsExtremes) {
  Random random(5);
  for (ReduceKind kind :
       {ReduceKind::kMin, ReduceKind::kMax, ReduceKind::kArgMin, ReduceKind::kArgMax}) {
    for (int64_t axis : {0, 1}) {
      for (bool last : {false, true}) {
        TestStep step;
        abi::Problem& p = step.problem;
        p.family = abi::Family::kReduce;
        p.attrs = abi::ReduceAttrs{kind, {axis}, last};
        p.inputs = {abi::DenseView(DType::kF32, {90, 75})};
        p.outputs = {abi::DenseView(IsArg(kind) ? DType::kI64 : DType::kF32,
                                    axis == 0 ? Dims{1, 75} : Dims{90, 1})};
        p.core_inputs = 1;
        step.Prepare(random);
        if (HasFatalFailure()) return;
        for (int64_t at : {7, 500, 501, 3000, 6749}) step.input(0).Set(at, NAN);
        EXPECT_GT(CompareVariants(step, 0, 0), 0);
        const auto out = RunVariant(CpuVariants(p.family).back(), step);
        const int64_t where[2] = {0, axis == 0 ? 7 : 0};
        if (!IsArg(kind)) {
          EXPECT_TRUE(std::isnan(out[0].At(where)));
        } else {
          EXPECT_EQ(out[0].At(where), axis == 0 ? 0 : 7);
        }
      }
    }
  }
}

// Lines of several blocks: equal extremes and NaN in different blocks, contiguous and strided.
TEST(Reduce, ArgExtremesAcrossBlocks) {
  Random random(6);
  for (ReduceKind kind : {ReduceKind::kArgMin, ReduceKind::kArgMax}) {
    for (bool nan : {false, true}) {
      for (bool last : {false, true}) {
        for (int64_t stride : {1, 2}) {
          TestStep step;
          abi::Problem& p = step.problem;
          p.family = abi::Family::kReduce;
          p.attrs = abi::ReduceAttrs{kind, {1}, last};
          p.inputs = {abi::View{DType::kF32, {2, 40000}, {40000 * stride, stride}, 0}};
          p.outputs = {abi::DenseView(DType::kI64, {2, 1})};
          p.core_inputs = 1;
          step.Prepare(random);
          if (HasFatalFailure()) return;
          const double extreme = kind == ReduceKind::kArgMin ? -100 : 100;
          for (int64_t at : {700, 900, 20000, 39000}) step.input(0).Set(at * stride, extreme);
          for (int64_t at : {800, 20001}) {
            if (nan) step.input(0).Set(at * stride, NAN);
          }
          EXPECT_GT(CompareVariants(step, 0, 0), 0);
          const auto out = RunVariant(CpuVariants(p.family).back(), step);
          EXPECT_EQ(out[0].At(int64_t{0}), nan ? 800 : last ? 39000 : 700);
        }
      }
    }
  }
}

}  // namespace
}  // namespace aicf::cpu
