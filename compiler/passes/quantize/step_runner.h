/// Executes a lowered program step by step, any number of times. It uses kernels that every machine
/// has and that give the same bits on each of them, whatever the number of threads. They are many
/// times as fast as the reference kernels.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/ir/lowered.h"
#include "kernels/abi/kernel.h"
#include "kernels/cpu/threads/thread_pool.h"
#include "schema/program.h"

namespace aicf::quantize {

/// Zeros, 64-byte aligned, as vector kernels may assume.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t bytes);
  AlignedBytes(AlignedBytes&&) = default;
  AlignedBytes& operator=(AlignedBytes&&) = default;
  std::byte* data() { return data_; }

 private:
  std::vector<std::byte> storage_;
  std::byte* data_;
};

/// Keeps the value of every buffer from run to run. Not thread safe.
class StepRunner {
 public:
  /// Packs constants once; keeps a reference to the program. `threads` 0: one per core that the
  /// process may use. Errors: those of ir::LoopRanges; kResource when the system grants no threads.
  static Result<StepRunner> Create(const ir::Lowered& lowered, int threads = 0);

  /// Clears everything but constants, and copies the inputs, in the order of lowered.inputs.
  void Load(const std::vector<ir::Tensor>& inputs);

  /// Executes a step in another way: true when it did.
  using Instead = std::function<bool(int step)>;
  /// Runs the steps from `first` on. REQUIRES: what they read is there; `first` is 0 where the
  /// program has loops.
  Status Run(int first, const Instead& instead);
  /// Runs one step, with other buffers as operands 0 and 1 where they are not nullptr; operand 1
  /// then has been packed by Pack.
  void RunStep(int step, const void* value = nullptr, const void* weights = nullptr);
  /// Packs another constant for operand 1 of a step as the step's kernel takes it, for RunStep.
  AlignedBytes Pack(int step, const ir::Tensor& weights) const;

  std::byte* data(ir::BufferId b) { return memory_[b].data(); }
  /// The elements of a buffer of f32, f16 or bf16.
  std::vector<float> Floats(ir::BufferId b);

 private:
  struct Choice {
    std::string key;
    std::vector<std::pair<size_t, AlignedBytes>> packed;  ///< by operand
  };

  explicit StepRunner(const ir::Lowered& lowered) : lowered_(&lowered) {}
  Choice ChooseKernel(const ir::LoweredStep& step) const;

  const ir::Lowered* lowered_;
  std::unique_ptr<cpu::ThreadPool> pool_;
  std::vector<schema::Loop> loops_;
  std::vector<AlignedBytes> memory_;
  std::vector<Choice> choices_;
};

}  // namespace aicf::quantize
