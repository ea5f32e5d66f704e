/// Cases for the tests of integer products: operands with the ends of their types, epilogues that
/// requantise, and every variant compared with the reference bit by bit.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "kernels/cpu/gemm/kernel_case.h"

namespace aicf::cpu::testing {

inline DType RandomOf(Rng& rng, std::initializer_list<DType> dtypes) {
  return dtypes.begin()[Uniform(rng, 0, static_cast<int64_t>(dtypes.size()) - 1)];
}

/// The dtypes of x and of the weights, in every pair that a form takes.
inline std::pair<DType, DType> RandomIntegers(Rng& rng) {
  const DType x = RandomOf(rng, {DType::kU8, DType::kU8, DType::kI8, DType::kI8, DType::kI16});
  return {x, RandomOf(rng, {DType::kI8, DType::kI8, DType::kI8, DType::kU8, DType::kI16})};
}

/// Fills integer operands with random bits, and often with the ends of their range alone.
inline void FillIntegers(Rng& rng, KernelCase* c) {
  c->Fill(rng);
  for (size_t i = 0; i < c->problem.inputs.size(); ++i) {
    const abi::View& v = c->problem.inputs[i];
    if (IsFloat(v.dtype) || DTypeBytes(v.dtype) > 2) continue;
    const bool ends = Uniform(rng, 0, 2) == 0;
    const bool is_signed = KindOf(v.dtype) == DTypeKind::kSigned;
    const auto bytes = static_cast<size_t>(DTypeBytes(v.dtype));
    const int64_t span = int64_t{1} << (8 * bytes);
    const int64_t low = is_signed ? -span / 2 : 0;
    for (size_t at = 0; at + bytes <= c->buffers[i].size(); at += bytes) {
      const int64_t value =
          ends ? low + Uniform(rng, 0, 1) * (span - 1) : Uniform(rng, low, low + span - 1);
      std::memcpy(&c->buffers[i][at], &value, bytes);
    }
  }
}

/// A scale between the smallest denormal number and 1e28, of whatever magnitude, with which sums of
/// 32 bits stay finite.
inline float ExtremeScale(Rng& rng) {
  const float mantissa =
      Uniform(rng, 0, 1) ? 1 : 1 + static_cast<float>(Uniform(rng, 0, 999)) / 1000;
  return std::ldexp(mantissa, static_cast<int>(Uniform(rng, -149, 93)));
}

/// Gives every f32 operand of the epilogue such scales, each element another.
inline void FillScales(Rng& rng, KernelCase* c) {
  for (size_t i = 0; i < c->problem.inputs.size(); ++i) {
    if (c->problem.inputs[i].dtype != DType::kF32) continue;
    for (size_t at = 0; at + sizeof(float) <= c->buffers[i].size(); at += sizeof(float)) {
      const float value = ExtremeScale(rng);
      std::memcpy(&c->buffers[i][at], &value, sizeof(float));
    }
  }
}

/// Sums to codes by scales of every magnitude: times the operands' scales, each a number or one per
/// column; over the result's; whose zero point is an end of the codes; often dequantised and
/// quantised once more.
inline void AddExtremeRequantisation(Rng& rng, int column_axis, KernelCase* c) {
  using abi::ExprOp;
  abi::ExprBuilder b;
  const auto number = [&](double x) { return b.Const(x, DType::kF32); };
  const DType to = RandomOf(rng, {DType::kU8, DType::kI8});
  const double low = to == DType::kU8 ? 0 : -128;
  const auto quantised = [&](uint16_t v, double scale, double zero) {
    v = b.Unary(ExprOp::kRound, b.Binary(ExprOp::kDiv, v, number(scale)));
    v = b.Binary(ExprOp::kAdd, v, number(zero));
    v = b.Binary(ExprOp::kMin, b.Binary(ExprOp::kMax, v, number(low)), number(low + 255));
    return b.Cast(v, abi::ComputeDType(to));
  };
  uint16_t v = b.Cast(b.Input(0, DType::kI32), DType::kF32);
  double scale = ExtremeScale(rng);
  if (Uniform(rng, 0, 1) == 0) {
    const int k = c->AddOperand(rng, KernelCase::Operand::kColumn, column_axis, DType::kF32);
    v = b.Binary(ExprOp::kMul, v, b.Input(k, DType::kF32));
  } else {
    v = b.Binary(ExprOp::kMul, v, number(scale));
    // The result's scale is of the sums' magnitude, so that codes lie between the ends.
    scale = static_cast<float>(scale * std::ldexp(1.0, static_cast<int>(Uniform(rng, 2, 12))));
  }
  const double zero = low + 255 * static_cast<double>(Uniform(rng, 0, 1));
  v = quantised(v, scale, zero);
  if (Uniform(rng, 0, 1) == 0) {
    v = b.Binary(ExprOp::kSub, b.Cast(v, DType::kF32), number(zero));
    v = b.Binary(ExprOp::kMul, v, number(scale));
    v = quantised(v, static_cast<float>(scale * (Uniform(rng, 0, 1) ? 2 : 0.4)),
                  low + 255 - (zero - low));
  }
  c->problem.epilogue = b.Finish({v});
  c->problem.outputs[0].dtype = to;
}

/// What follows a quantised product: sums less a number per column, in f32 times a scale, then
/// either rounded with a zero point into u8 or i8, or with a bias and an activation as f32.
inline void AddRequantisation(Rng& rng, int column_axis, KernelCase* c) {
  using abi::ExprOp;
  abi::ExprBuilder b;
  uint16_t v = b.Input(0, DType::kI32);
  if (Uniform(rng, 0, 2) > 0) {
    const int k = c->AddOperand(rng, KernelCase::Operand::kColumn, column_axis, DType::kI32);
    v = b.Binary(Uniform(rng, 0, 1) ? ExprOp::kSub : ExprOp::kAdd, v, b.Input(k, DType::kI32));
  }
  v = b.Cast(v, DType::kF32);
  if (Uniform(rng, 0, 1) == 0) {
    const int k = c->AddOperand(rng, KernelCase::Operand::kColumn, column_axis, DType::kF32);
    v = b.Binary(ExprOp::kMul, v, b.Input(k, DType::kF32));
  } else {
    v = b.Binary(ExprOp::kMul, v, b.Const(0.0123, DType::kF32));
  }
  DType to = RandomOf(rng, {DType::kU8, DType::kI8, DType::kF32});
  if (Uniform(rng, 0, 2) == 0) {
    // A quantised residual.
    const DType codes = RandomOf(rng, {DType::kU8, DType::kI8});
    const int k = c->AddOperand(rng, KernelCase::Operand::kFull, column_axis, codes);
    uint16_t r = b.Cast(b.Input(k, codes), DType::kF32);
    if (Uniform(rng, 0, 1) == 0) r = b.Binary(ExprOp::kSub, r, b.Const(19, DType::kF32));
    r = b.Binary(ExprOp::kMul, r, b.Const(0.731, DType::kF32));
    v = b.Binary(ExprOp::kAdd, v, r);
  }
  if (to == DType::kF32) {
    const int k = c->AddOperand(rng, KernelCase::Operand::kColumn, column_axis, DType::kF32);
    v = b.Binary(ExprOp::kAdd, v, b.Input(k, DType::kF32));
    v = b.Binary(ExprOp::kMax, v, b.Const(0, DType::kF32));
  } else {
    v = b.Unary(ExprOp::kRound, v);
    v = b.Binary(ExprOp::kAdd, v, b.Const(to == DType::kU8 ? 117 : -5, DType::kF32));
    v = b.Binary(ExprOp::kMax, v, b.Const(to == DType::kU8 ? 0 : -128, DType::kF32));
    v = b.Binary(ExprOp::kMin, v, b.Const(to == DType::kU8 ? 255 : 127, DType::kF32));
    v = b.Cast(v, abi::ComputeDType(to));
  }
  c->problem.epilogue = b.Finish({v});
  c->problem.outputs[0].dtype = to;
}

/// Runs every variant of the family that takes the case. Results with integers in them have one
/// value alone. Returns how many ran.
inline int ExpectExactVariants(Rng& rng, const KernelCase& c, const std::string& what) {
  const std::string family(abi::FamilyName(c.problem.family));
  const abi::KernelInfo* ref = abi::FindKernel("cpu." + family + ".ref");
  const auto expected = RunVariant(*ref, c, 2);
  int ran = 0;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(c.problem.family)) {
    const int threads = static_cast<int>(Uniform(rng, 1, 3));
    if (kernel.backend != abi::Backend::kCpu || kernel.key == ref->key) continue;
    if (!kernel.supports(c.problem, HostDevice(threads)).empty()) continue;
    ++ran;
    const auto found = RunVariant(kernel, c, threads);
    EXPECT_EQ(WorstError(c, 0, found[0], expected[0]), 0)
        << kernel.key << " " << what << ": " << ToString(c.problem);
  }
  return ran;
}

}  // namespace aicf::cpu::testing
