#include "runtime/cpu/step_table.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/abi/operation_count.h"
#include "kernels/cpu/functions.h"
#include "schema/roots.h"

namespace aicf {
namespace {

constexpr uint64_t AlignUp(uint64_t value) {
  return (value + schema::kBufferAlignment - 1) / schema::kBufferAlignment *
         schema::kBufferAlignment;
}

std::byte* AddressAt(const schema::Artifact& artifact, const TableMemory& memory, uint32_t root) {
  if (!memory.bound.empty() && memory.bound[root] != nullptr) return memory.bound[root];
  const schema::Buffer& storage = artifact.program().buffers[root];
  if (storage.storage == schema::Storage::kArena) return memory.arena + storage.offset;
  if (storage.storage == schema::Storage::kState) return memory.state + storage.offset;
  // Kernels take one pointer type for both directions; no step writes a weight (verified).
  return const_cast<std::byte*>(artifact.weights().data()) + storage.offset;
}

bool Overlap(const std::byte* a, uint64_t a_bytes, const std::byte* b, uint64_t b_bytes) {
  return a_bytes > 0 && b_bytes > 0 && a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

std::shared_ptr<const BufferAddresses> StepTable::Resolve(const schema::Artifact& artifact,
                                                          const TableMemory& memory) {
  auto addresses = std::make_shared<BufferAddresses>();
  const std::vector<uint32_t> roots = schema::RootsOf(artifact.program());  // chains end: verified
  addresses->reserve(roots.size());
  for (uint32_t root : roots) addresses->push_back(AddressAt(artifact, memory, root));
  return addresses;
}

Result<StepTable> StepTable::Build(const schema::Artifact& artifact,
                                   const schema::EntryPoint& entry, const TableMemory& memory,
                                   const ParallelContext& parallel, const Kernels& kernels) {
  return Build(artifact, entry, memory, Resolve(artifact, memory), parallel, kernels);
}

Result<StepTable> StepTable::Build(const schema::Artifact& artifact,
                                   const schema::EntryPoint& entry, const TableMemory& memory,
                                   std::shared_ptr<const BufferAddresses> addresses,
                                   const ParallelContext& parallel, const Kernels& kernels) {
  const schema::Program& program = artifact.program();
  StepTable table;
  table.arena_ = memory.arena;
  AICF_ASSIGN_OR_RETURN(const abi::DeviceSpec target, abi::FindDevice(program.target));
  table.reference_ = kernels.reference || target.backend != abi::Backend::kCpu;
  table.device_ = target;
  if (table.reference_) {
    AICF_ASSIGN_OR_RETURN(table.device_, abi::FindDevice("cpu:baseline"));
  }
  table.addresses_ = std::move(addresses);
  for (uint32_t i = 0; i < entry.step_count; ++i) {
    AICF_RETURN_IF_ERROR(table.AddStep(program, entry.first_step + i, parallel, kernels));
  }
  AICF_RETURN_IF_ERROR(table.AddLoops(program, entry));
  AICF_RETURN_IF_ERROR(table.BindScratch());
  return table;
}

Status StepTable::AddLoops(const schema::Program& program, const schema::EntryPoint& entry) {
  AICF_ASSIGN_OR_RETURN(const schema::LoopTree tree, schema::LoopTree::Build(entry));
  for (int l = 0; l < static_cast<int>(tree.size()); ++l) {
    size_t next = static_cast<size_t>(l) + 1;
    while (next < tree.size() && tree.begin(static_cast<int>(next)) < tree.end(l)) ++next;
    loops_.push_back({static_cast<size_t>(tree.begin(l) - entry.first_step),
                      static_cast<size_t>(tree.end(l) - entry.first_step),
                      AddressOf(entry.loops[static_cast<size_t>(l)].condition), next,
                      TripOperations(program, entry.loops[static_cast<size_t>(l)])});
  }
  return OkStatus();
}

// Steps that share packed bytes each unpack them: their views may differ.
Result<std::byte*> StepTable::Unpack(const schema::Step& step, uint32_t input) {
  AICF_ASSIGN_OR_RETURN(const abi::Extent extent, abi::ExtentOf(step.problem.inputs[input]));
  AICF_ASSIGN_OR_RETURN(HostMemory memory,
                        HostMemory::Allocate("a constant without its kernel's layout",
                                             static_cast<uint64_t>(extent.end)));
  const abi::KernelInfo* kernel = abi::FindKernel(step.kernel);  // known: verified
  kernel->unpack(step.problem, step.parameters, static_cast<int>(input),
                 AddressOf(step.inputs[input]), memory.data());
  unpacked_.push_back(std::move(memory));
  return unpacked_.back().data();
}

Result<std::vector<void*>> StepTable::OperandsOf(const schema::Step& step, uint32_t index,
                                                 const Kernels& kernels) {
  std::vector<void*> operands;
  for (uint32_t k = 0; k < step.inputs.size(); ++k) {
    operands.push_back(AddressOf(step.inputs[k]));
    if (!reference_ || !step.IsPacked(k)) continue;
    const auto found = std::ranges::find_if(
        kernels.unpacked, [&](const UnpackedInput& u) { return u.step == index && u.input == k; });
    if (found == kernels.unpacked.end()) {
      AICF_ASSIGN_OR_RETURN(operands.back(), Unpack(step, k));
      continue;
    }
    // Kernels take one pointer type for both directions; no step writes a constant (verified).
    operands.back() = const_cast<std::byte*>(found->data);
  }
  for (uint32_t b : step.outputs) operands.push_back(AddressOf(b));
  return operands;
}

Status StepTable::AddStep(const schema::Program& program, uint32_t index,
                          const ParallelContext& parallel, const Kernels& kernels) {
  const schema::Step& step = program.steps[index];
  const std::string key = reference_ ? abi::ReferenceKey(step.problem.family) : step.kernel;
  const abi::KernelInfo* info = abi::FindKernel(key);
  Prepared prepared;
  prepared.function = cpu::FindFunction(key);
  if (info == nullptr || prepared.function == nullptr) {
    return Error(Code::kUnsupported, "step ", steps_.size(), ": this build has no kernel '", key,
                 "'");
  }
  AICF_ASSIGN_OR_RETURN(std::vector<void*> buffers, OperandsOf(step, index, kernels));
  prepared.first_tensor = static_cast<uint32_t>(tensors_.size());
  tensors_.resize(tensors_.size() + buffers.size());
  cpu::FillTensors(step.problem, buffers.data(), &tensors_[prepared.first_tensor]);

  abi::ArgBlock& args = prepared.args;
  args.input_count = static_cast<uint32_t>(step.inputs.size());
  args.output_count = static_cast<uint32_t>(step.outputs.size());
  args.problem = &step.problem;
  args.stream = parallel.stream;
  args.parallel_for = parallel.parallel_for;
  args.threads = parallel.threads;
  prepared.first_snapshot = static_cast<uint32_t>(snapshots_.size());
  if (reference_) {
    args.workspace_bytes = info->workspace_bytes(step.problem, device_);
    prepared.scratch_workspace = args.workspace_bytes;
    scratch_needed_ = std::max(scratch_needed_, AlignUp(args.workspace_bytes));
    AddSnapshots(program, step, *info);
  } else {
    args.workspace_bytes = step.workspace_bytes;
    args.workspace = step.workspace_bytes > 0 ? arena_ + step.workspace_offset : nullptr;
  }
  prepared.snapshot_count = static_cast<uint32_t>(snapshots_.size()) - prepared.first_snapshot;
  AddGuards(step, prepared);
  operations_ += abi::OperationCount(step.problem);
  steps_.push_back(prepared);
  return OkStatus();
}

void StepTable::AddGuards(const schema::Step& step, Prepared& prepared) {
  prepared.first_guard = static_cast<uint32_t>(guards_.size());
  prepared.guard_count = static_cast<uint32_t>(step.guards.size());
  for (const schema::Guard& g : step.guards) guards_.push_back({AddressOf(g.buffer), g.expected});
}

void StepTable::AddSnapshots(const schema::Program& program, const schema::Step& step,
                             const abi::KernelInfo& reference) {
  const uint32_t first_tensor =
      static_cast<uint32_t>(tensors_.size() - step.inputs.size() - step.outputs.size());
  uint64_t offset = AlignUp(reference.workspace_bytes(step.problem, device_));
  for (uint32_t k = 0; k < step.inputs.size(); ++k) {
    const std::byte* from = AddressOf(step.inputs[k]);
    const uint64_t bytes = program.buffers[step.inputs[k]].bytes;
    const bool shared = std::any_of(step.outputs.begin(), step.outputs.end(), [&](uint32_t out) {
      return Overlap(from, bytes, AddressOf(out), program.buffers[out].bytes);
    });
    if (!shared || reference.in_place(step.problem, static_cast<int>(k))) continue;
    snapshot_tensors_.emplace_back(snapshots_.size(), first_tensor + k);
    snapshots_.push_back({from, offset, bytes});
    offset += AlignUp(bytes);
  }
  scratch_needed_ = std::max(scratch_needed_, offset);
}

Status StepTable::BindScratch() {
  AICF_ASSIGN_OR_RETURN(scratch_,
                        HostMemory::Allocate("scratch of the reference kernels", scratch_needed_));
  for (const auto& [snapshot, tensor] : snapshot_tensors_) {
    tensors_[tensor].data = scratch_.data() + snapshots_[snapshot].offset;
  }
  for (Prepared& step : steps_) {
    step.args.tensors = tensors_.data() + step.first_tensor;
    if (step.scratch_workspace > 0) step.args.workspace = scratch_.data();
  }
  return OkStatus();
}

bool StepTable::GuardsHold(size_t i) const {
  const Prepared& step = steps_[i];
  for (uint32_t g = 0; g < step.guard_count; ++g) {
    const ReadyGuard& guard = guards_[step.first_guard + g];
    if ((*guard.at != std::byte{0}) != guard.expected) return false;
  }
  return true;
}

void StepTable::RunAlways(size_t i) const {
  const Prepared& step = steps_[i];
  for (uint32_t s = 0; s < step.snapshot_count; ++s) {
    const Snapshot& snapshot = snapshots_[step.first_snapshot + s];
    std::memcpy(scratch_.data() + snapshot.offset, snapshot.from, snapshot.bytes);
  }
  step.function(step.args);
}

}  // namespace aicf
