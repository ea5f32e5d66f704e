/// Cases for the tests of integer products: operands with the ends of their types, epilogues that
/// requantise, and every variant compared with the reference bit by bit.
#pragma once

#include <gtest/gtest.h>

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
