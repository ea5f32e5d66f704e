/// A small program made by hand, for the runtime's tests: t0 = x * w; t(i) = t(i-1) + x; y = the
/// last. Tests only.
#pragma once

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "base/hash.h"
#include "kernels/abi/choice.h"
#include "kernels/abi/kernel.h"
#include "schema/artifact.h"

namespace aicf::testing {

struct ChainOptions {
  std::string target = "cpu:baseline";
  int64_t elements = 1000;
  int steps = 4;
  std::string arch = "sm_90a";
};

/// Weight i of the chain.
inline float ChainWeight(int64_t i) { return 0.25f * static_cast<float>(i % 17) - 2; }

/// What element i of y is for input value x.
inline float ChainExpected(const ChainOptions& options, int64_t i, float x) {
  float value = x * ChainWeight(i);
  for (int s = 1; s < options.steps; ++s) value += x;
  return value;
}

inline uint64_t Padded(uint64_t bytes) {
  return (bytes + schema::kBufferAlignment - 1) / schema::kBufferAlignment *
         schema::kBufferAlignment;
}

inline schema::Step ChainStep(const ChainOptions& options, abi::ExprOp op, uint32_t a, uint32_t b,
                              uint32_t out) {
  schema::Step step;
  const abi::View view = abi::DenseView(DType::kF32, {options.elements});
  step.problem.family = abi::Family::kElementwise;
  step.problem.attrs = abi::ElementwiseAttrs{};
  step.problem.inputs = {view, view};
  step.problem.outputs = {view};
  step.problem.core_inputs = 2;
  abi::ExprBuilder e;
  step.problem.epilogue =
      e.Finish({e.Binary(op, e.Input(0, DType::kF32), e.Input(1, DType::kF32))});
  step.inputs = {a, b};
  step.outputs = {out};
  step.sources = {abi::FamilyName(step.problem.family).data()};
  const auto device = abi::FindDevice(options.target);
  for (const abi::KernelInfo& kernel : abi::KernelsOf(abi::Family::kElementwise)) {
    if (kernel.backend != device->backend || !kernel.supports(step.problem, *device).empty()) {
      continue;
    }
    step.kernel = kernel.key;
    if (kernel.backend == abi::Backend::kCuda) {
      schema::SetVariant(step, abi::BestCandidate(kernel, step.problem, *device)->variant);
      step.symbol = abi::InstanceSymbol(kernel.key, step.problem, schema::VariantOf(step));
      step.image = 0;
    }
    break;
  }
  EXPECT_FALSE(step.kernel.empty()) << "no kernel for " << options.target;
  return step;
}

/// One elementwise step out = -in by the target's first kernel.
inline schema::Step Negate(const std::string& target, DType dtype, const Dims& shape, uint32_t in,
                           uint32_t out) {
  schema::Step step;
  step.sources = {"node"};
  step.problem.family = abi::Family::kElementwise;
  step.problem.attrs = abi::ElementwiseAttrs{};
  step.problem.inputs = {abi::DenseView(dtype, shape)};
  step.problem.outputs = step.problem.inputs;
  step.problem.core_inputs = 1;
  abi::ExprBuilder e;
  step.problem.epilogue = e.Finish({e.Unary(abi::ExprOp::kNeg, e.Input(0, dtype))});
  step.inputs = {in};
  step.outputs = {out};
  const auto device = abi::FindDevice(target);
  for (const abi::KernelInfo& kernel : abi::KernelsOf(abi::Family::kElementwise)) {
    if (kernel.backend != device->backend || !kernel.supports(step.problem, *device).empty()) {
      continue;
    }
    step.kernel = kernel.key;
    if (kernel.backend == abi::Backend::kCuda) {
      schema::SetVariant(step, abi::BestCandidate(kernel, step.problem, *device)->variant);
      step.symbol = abi::InstanceSymbol(kernel.key, step.problem, schema::VariantOf(step));
      step.image = 0;
    }
    return step;
  }
  return step;
}

/// The header of a cubin without sections: enough for a driver that is not real.
inline std::vector<std::byte> EmptyCubin() {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = 190;
  std::vector<std::byte> bytes(sizeof(header));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

/// Buffers: 0 x, 1 w, 2 y, then temporaries; offsets without reuse, so that every byte has one
/// owner.
inline schema::Contents ChainContents(const ChainOptions& options) {
  schema::Contents contents;
  schema::Program& p = contents.program;
  p.target = options.target;
  const uint64_t bytes = static_cast<uint64_t>(options.elements) * 4;
  const auto add = [&](const std::string& name, schema::Role role) {
    schema::Buffer buffer;
    buffer.name = name;
    buffer.shape = {options.elements};
    buffer.bytes = bytes;
    buffer.role = role;
    buffer.storage =
        role == schema::Role::kConstant ? schema::Storage::kWeights : schema::Storage::kArena;
    if (buffer.storage == schema::Storage::kArena) {
      buffer.offset = p.arena_bytes;
      p.arena_bytes += Padded(bytes);
    }
    p.buffers.push_back(buffer);
    return static_cast<uint32_t>(p.buffers.size() - 1);
  };
  const uint32_t x = add("x", schema::Role::kInput);
  const uint32_t w = add("w", schema::Role::kConstant);
  const uint32_t y = add("y", schema::Role::kOutput);
  contents.weights.resize(bytes);
  for (int64_t i = 0; i < options.elements; ++i) {
    const float value = ChainWeight(i);
    std::memcpy(contents.weights.data() + 4 * i, &value, 4);
  }
  p.weights_bytes = bytes;
  uint32_t last = x;
  for (int s = 0; s < options.steps; ++s) {
    const uint32_t out =
        s + 1 == options.steps ? y : add("%" + std::to_string(s), schema::Role::kTemp);
    p.steps.push_back(ChainStep(options, s == 0 ? abi::ExprOp::kMul : abi::ExprOp::kAdd, last,
                                s == 0 ? w : x, out));
    last = out;
  }
  p.arena_lower_bound = p.arena_bytes;
  p.entry_points.push_back({"main", {x}, {y}, 0, static_cast<uint32_t>(options.steps)});
  if (options.target.starts_with("cuda")) {
    contents.images = EmptyCubin();
    p.images.push_back(
        {options.arch, "test compiler", HashBytes(contents.images), 0, contents.images.size()});
  }
  return contents;
}

inline std::shared_ptr<const Program> MakeProgram(const schema::Contents& contents) {
  const auto bytes = schema::Serialize(contents);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  if (!bytes.ok()) return nullptr;
  auto program = Program::FromBytes(*bytes);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return program.ok() ? *program : nullptr;
}

inline std::vector<float> RandomInput(int64_t elements, unsigned seed) {
  std::vector<float> values(static_cast<size_t>(elements));
  for (size_t i = 0; i < values.size(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = static_cast<float>(static_cast<int>(seed >> 16) % 2000) / 64.0f;
  }
  return values;
}

/// Expects y of the session's last run on input x.
inline void ExpectChainOutput(Session& session, const ChainOptions& options,
                              const std::vector<float>& x) {
  std::vector<float> y(x.size());
  const Status got = session.GetOutput("y", TensorInto(y));
  ASSERT_TRUE(got.ok()) << got.ToString();
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(y[i], ChainExpected(options, static_cast<int64_t>(i), x[i])) << i;
  }
}

}  // namespace aicf::testing
