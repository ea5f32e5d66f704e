#include "runtime/session_base.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/guard.h"
#include "schema/artifact.h"

namespace aicf {
namespace {

std::string KnownNames(const std::vector<TensorInfo>& tensors) {
  std::string out;
  for (const TensorInfo& t : tensors) out += StrCat(out.empty() ? "'" : ", '", t.name, "'");
  return out.empty() ? "none" : out;
}

Result<size_t> Find(std::string_view what, std::string_view name,
                    const std::vector<TensorInfo>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == name) return i;
  }
  return Error(Code::kInvalidArgument, "no ", what, " is named '", name, "'; the program has ",
               KnownNames(tensors));
}

/// The caller's memory against a tensor of this shape.
Status CheckMemory(std::string_view what, const TensorInfo& tensor, const Dims& shape,
                   const void* data, uint64_t bytes) {
  const auto expected =
      static_cast<uint64_t>(ElementCount(shape).value_or(0) * DTypeBytes(tensor.dtype));
  if (expected != bytes) {
    return Error(Code::kInvalidArgument, what, " '", tensor.name, "': expected ", expected,
                 " bytes (", DTypeName(tensor.dtype), " ", ToString(shape), "), got ", bytes);
  }
  if (data == nullptr && bytes > 0) {
    return Error(Code::kInvalidArgument, what, " '", tensor.name, "': the data pointer is null");
  }
  return OkStatus();
}

Status CheckIterations(int iterations) {
  if (iterations > 0) return OkStatus();
  return Error(Code::kInvalidArgument, "iterations: expected at least 1, got ", iterations);
}

}  // namespace

Status Claim::status() const {
  if (held_) return OkStatus();
  return Error(Code::kInvalidArgument,
               "the session is busy: another thread is inside it; use one session per thread");
}

const schema::Program& SessionBase::plan() const { return program_->artifact().program(); }

const schema::EntryPoint& SessionBase::entry() const { return plan().entry_points.front(); }

Status SessionBase::SetInput(std::string_view name, const void* data, uint64_t bytes) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, Find("input", name, program_->inputs()));
    const TensorInfo& tensor = program_->inputs()[index];
    AICF_RETURN_IF_ERROR(CheckMemory("input", tensor, tensor.shape, data, bytes));
    return bytes == 0 ? OkStatus() : StoreInput(index, data, bytes);
  });
}

Status SessionBase::GetOutput(std::string_view name, void* data, uint64_t bytes) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, Find("output", name, program_->outputs()));
    AICF_ASSIGN_OR_RETURN(const Dims shape, ActualShape(index));
    AICF_RETURN_IF_ERROR(CheckMemory("output", program_->outputs()[index], shape, data, bytes));
    return bytes == 0 ? OkStatus() : LoadActual(index, shape, data);
  });
}

Result<Dims> SessionBase::OutputShape(std::string_view name) {
  return Guarded([&]() -> Result<Dims> {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, Find("output", name, program_->outputs()));
    return ActualShape(index);
  });
}

Result<Dims> SessionBase::ActualShape(size_t index) {
  Dims shape = program_->outputs()[index].shape;
  const schema::OutputExtent* extent = entry().ExtentOf(index);
  if (extent == nullptr) return shape;
  int64_t count = 0;
  AICF_RETURN_IF_ERROR(LoadOutput(extent->count, 0, &count, sizeof count));
  int64_t& axis = shape[static_cast<int>(extent->axis)];
  axis = std::clamp<int64_t>(count, 0, axis);
  return shape;
}

Status SessionBase::LoadActual(size_t index, const Dims& shape, void* data) {
  const TensorInfo& tensor = program_->outputs()[index];
  const schema::OutputExtent* extent = entry().ExtentOf(index);
  // The whole tensor is one run; else one run for every position before the dynamic axis.
  uint64_t runs = 1, run = static_cast<uint64_t>(DTypeBytes(tensor.dtype)), stride = 0;
  const int axis = extent == nullptr ? 0 : static_cast<int>(extent->axis);
  for (int d = 0; d < shape.rank(); ++d) {
    (d < axis ? runs : run) *= static_cast<uint64_t>(shape[d]);
  }
  if (runs > 1) stride = tensor.bytes / runs;
  for (uint64_t i = 0; i < runs; ++i) {
    AICF_RETURN_IF_ERROR(
        LoadOutput(index, i * stride, static_cast<std::byte*>(data) + i * run, run));
  }
  return OkStatus();
}

Result<void*> SessionBase::InputPointer(std::string_view name) {
  return Guarded([&]() -> Result<void*> {
    AICF_ASSIGN_OR_RETURN(const size_t index, Find("input", name, program_->inputs()));
    return InputAddress(index);
  });
}

Result<void*> SessionBase::OutputPointer(std::string_view name) {
  return Guarded([&]() -> Result<void*> {
    AICF_ASSIGN_OR_RETURN(const size_t index, Find("output", name, program_->outputs()));
    return OutputAddress(index);
  });
}

Status SessionBase::Run() {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    return RunOnce();
  });
}

Status SessionBase::Wait() {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    return WaitForRun();
  });
}

Result<std::vector<StepProfile>> SessionBase::Profile(int iterations) {
  return Guarded([&]() -> Result<std::vector<StepProfile>> {
    AICF_RETURN_IF_ERROR(CheckIterations(iterations));
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    return ProfileSteps(iterations);
  });
}

Result<std::vector<double>> SessionBase::TimeReplays(int iterations) {
  return Guarded([&]() -> Result<std::vector<double>> {
    AICF_RETURN_IF_ERROR(CheckIterations(iterations));
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    return TimeRuns(iterations);
  });
}

void SessionBase::WaitUntilIdle() {
  // Polled, not notified: after the flag falls the leaving thread must not touch the session again.
  while (busy_.exchange(true, std::memory_order_acquire)) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace aicf
