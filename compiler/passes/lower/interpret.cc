#include <algorithm>
#include <cstring>

#include "compiler/ir/lowered_loops.h"
#include "compiler/passes/lower/lower.h"
#include "kernels/cpu/functions.h"
#include "schema/loop_walk.h"

namespace aicf {
namespace {

// 64-byte aligned, zeroed memory: vector kernels may assume the alignment.
class Memory {
 public:
  explicit Memory(size_t bytes) : storage_(bytes + kAlignment) {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data());
    data_ = storage_.data() + (kAlignment - address % kAlignment) % kAlignment;
  }
  std::byte* data() { return data_; }

 private:
  static constexpr size_t kAlignment = 64;
  std::vector<std::byte> storage_;
  std::byte* data_;
};

Status CheckInputs(const ir::Lowered& lowered, const std::vector<ir::Tensor>& inputs) {
  if (inputs.size() != lowered.inputs.size()) {
    return Error(Code::kInvalidArgument, inputs.size(), " inputs given, expected ",
                 lowered.inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::LoweredBuffer& want = lowered.buffers[lowered.inputs[i]];
    if (inputs[i].dtype() == want.dtype && inputs[i].shape() == want.shape) continue;
    return Error(Code::kInvalidArgument, "input '", want.name, "' is ",
                 DTypeName(inputs[i].dtype()), " ", ToString(inputs[i].shape()), ", expected ",
                 DTypeName(want.dtype), " ", ToString(want.shape));
  }
  return OkStatus();
}

void RunStep(const ir::LoweredStep& step, std::vector<Memory>& memory) {
  std::vector<void*> addresses;
  for (ir::BufferId b : step.inputs) addresses.push_back(memory[b].data());
  for (ir::BufferId b : step.outputs) addresses.push_back(memory[b].data());
  cpu::RunSerial(abi::ReferenceKey(step.problem.family), step.problem, addresses.data());
}

}  // namespace

Result<std::vector<ir::Tensor>> Interpret(const ir::Lowered& lowered,
                                          const std::vector<ir::Tensor>& inputs,
                                          const AfterStep& after_step) {
  AICF_RETURN_IF_ERROR(CheckInputs(lowered, inputs));
  std::vector<Memory> memory;
  memory.reserve(lowered.buffers.size());
  for (const ir::LoweredBuffer& b : lowered.buffers) {
    memory.emplace_back(ir::BytesOf(b));
    if (b.constant.has_data()) std::ranges::copy(b.constant.bytes(), memory.back().data());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::ranges::copy(inputs[i].bytes(), memory[lowered.inputs[i]].data());
  }
  AICF_ASSIGN_OR_RETURN(const std::vector<schema::Loop> loops, ir::LoopRanges(lowered));
  AICF_RETURN_IF_ERROR(schema::WalkSteps(
      loops, 0, static_cast<uint32_t>(lowered.steps.size()),
      [&](uint32_t step) {
        RunStep(lowered.steps[step], memory);
        if (!after_step) return OkStatus();
        for (ir::BufferId b : lowered.steps[step].outputs) {
          after_step(b, std::span(memory[b].data(), ir::BytesOf(lowered.buffers[b])));
        }
        return OkStatus();
      },
      [&](const schema::Loop& loop) -> Result<bool> {
        return *memory[loop.condition].data() != std::byte{0};
      }));
  std::vector<ir::Tensor> outputs;
  for (ir::BufferId b : lowered.outputs) {
    const ir::LoweredBuffer& buffer = lowered.buffers[b];
    const std::byte* data = memory[b].data();
    outputs.push_back(ir::Tensor::Own(buffer.dtype, buffer.shape,
                                      std::vector<std::byte>(data, data + ir::BytesOf(buffer))));
  }
  return outputs;
}

}  // namespace aicf
