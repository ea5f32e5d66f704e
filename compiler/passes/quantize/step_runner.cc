#include "compiler/passes/quantize/step_runner.h"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "base/float16.h"
#include "compiler/ir/lowered_loops.h"
#include "kernels/abi/choice.h"
#include "kernels/abi/packing.h"
#include "kernels/cpu/functions.h"
#include "schema/loop_walk.h"

namespace aicf::quantize {
namespace {

constexpr size_t kAlignment = 64;

abi::DeviceSpec AnyMachine() { return *abi::FindDevice("cpu:baseline"); }

// Whether all operands that the kernel wants packed are constants.
bool CanPack(const abi::KernelInfo& kernel, const ir::Lowered& lowered,
             const ir::LoweredStep& step) {
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    if (!abi::LayoutOf(kernel, step.problem, {}, k)) continue;
    if (!lowered.buffers[step.inputs[k]].constant.has_data()) return false;
  }
  return true;
}

AlignedBytes Copied(std::span<const std::byte> bytes) {
  AlignedBytes copy(bytes.size());
  std::ranges::copy(bytes, copy.data());
  return copy;
}

}  // namespace

AlignedBytes::AlignedBytes(size_t bytes) : storage_(bytes + kAlignment) {
  const auto address = reinterpret_cast<uintptr_t>(storage_.data());
  data_ = storage_.data() + (kAlignment - address % kAlignment) % kAlignment;
}

Result<StepRunner> StepRunner::Create(const ir::Lowered& lowered, int threads) {
  StepRunner runner(lowered);
  try {
    runner.pool_ = std::make_unique<cpu::ThreadPool>(threads);
  } catch (const std::system_error& e) {
    return Error(Code::kResource, "cannot start threads: ", e.what());
  }
  AICF_ASSIGN_OR_RETURN(runner.loops_, ir::LoopRanges(lowered));
  for (const ir::LoweredBuffer& b : lowered.buffers) {
    runner.memory_.emplace_back(ir::BytesOf(b));
    if (b.constant.has_data()) std::ranges::copy(b.constant.bytes(), runner.memory_.back().data());
  }
  for (const ir::LoweredStep& step : lowered.steps) {
    runner.choices_.push_back(runner.ChooseKernel(step));
  }
  return runner;
}

StepRunner::Choice StepRunner::ChooseKernel(const ir::LoweredStep& step) const {
  const abi::DeviceSpec device = AnyMachine();
  const abi::KernelInfo* chosen = abi::FindKernel(abi::ReferenceKey(step.problem.family));
  double least = 0;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(step.problem.family)) {
    if (kernel.backend != abi::Backend::kCpu || !kernel.deterministic ||
        kernel.key == abi::ReferenceKey(step.problem.family) ||
        !kernel.supports(step.problem, device).empty() || !CanPack(kernel, *lowered_, step)) {
      continue;
    }
    const std::optional<abi::Candidate> best = abi::BestCandidate(kernel, step.problem, device);
    if (!best || (least > 0 && best->cost_us >= least)) continue;
    chosen = &kernel;
    least = best->cost_us;
  }
  Choice choice{std::string(chosen->key), {}};
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    if (!abi::LayoutOf(*chosen, step.problem, {}, k)) continue;
    const ir::Tensor& constant = lowered_->buffers[step.inputs[k]].constant;
    choice.packed.emplace_back(
        k, Copied(abi::PackedInput(*chosen, step.problem, {}, k, constant.bytes().data())));
  }
  return choice;
}

void StepRunner::Load(const std::vector<ir::Tensor>& inputs) {
  for (size_t b = 0; b < memory_.size(); ++b) {
    const ir::LoweredBuffer& buffer = lowered_->buffers[b];
    if (!buffer.constant.has_data()) std::memset(memory_[b].data(), 0, ir::BytesOf(buffer));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::ranges::copy(inputs[i].bytes(), memory_[lowered_->inputs[i]].data());
  }
}

Status StepRunner::Run(int first, const Instead& instead) {
  return schema::WalkSteps(
      loops_, static_cast<uint32_t>(first), static_cast<uint32_t>(lowered_->steps.size()),
      [&](uint32_t step) {
        if (!instead || !instead(static_cast<int>(step))) RunStep(static_cast<int>(step));
        return OkStatus();
      },
      [&](const schema::Loop& loop) -> Result<bool> {
        return *memory_[loop.condition].data() != std::byte{0};
      });
}

void StepRunner::RunStep(int s, const void* value, const void* weights) {
  const ir::LoweredStep& step = lowered_->steps[static_cast<size_t>(s)];
  Choice& choice = choices_[static_cast<size_t>(s)];
  std::vector<void*> addresses;
  for (const ir::BufferId b : step.inputs) addresses.push_back(memory_[b].data());
  for (auto& [k, bytes] : choice.packed) addresses[k] = bytes.data();
  if (value != nullptr) addresses[0] = const_cast<void*>(value);
  if (weights != nullptr) addresses[1] = const_cast<void*>(weights);
  for (const ir::BufferId b : step.outputs) addresses.push_back(memory_[b].data());
  cpu::RunParallel(choice.key, step.problem, addresses.data(), pool_.get(),
                   &cpu::ThreadPool::ParallelFor, pool_->threads());
}

AlignedBytes StepRunner::Pack(int s, const ir::Tensor& weights) const {
  const ir::LoweredStep& step = lowered_->steps[static_cast<size_t>(s)];
  const abi::KernelInfo& kernel = *abi::FindKernel(choices_[static_cast<size_t>(s)].key);
  if (!abi::LayoutOf(kernel, step.problem, {}, 1)) {
    return Copied(weights.bytes());
  }
  return Copied(abi::PackedInput(kernel, step.problem, {}, 1, weights.bytes().data()));
}

std::vector<float> StepRunner::Floats(ir::BufferId b) {
  const ir::LoweredBuffer& buffer = lowered_->buffers[b];
  const auto count = static_cast<size_t>(*ElementCount(buffer.shape));
  std::vector<float> floats(count);
  const std::byte* from = memory_[b].data();
  if (buffer.dtype == DType::kF32) {
    std::memcpy(floats.data(), from, count * sizeof(float));
    return floats;
  }
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, from + 2 * i, sizeof bits);
    floats[i] = buffer.dtype == DType::kF16 ? F16ToF32(bits) : BF16ToF32(bits);
  }
  return floats;
}

}  // namespace aicf::quantize
