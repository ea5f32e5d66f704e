#include "runtime/session_base.h"

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

/// Find, then the caller's memory against the tensor.
Result<size_t> FindFor(std::string_view what, std::string_view name, const void* data,
                       uint64_t bytes, const std::vector<TensorInfo>& tensors) {
  AICF_ASSIGN_OR_RETURN(const size_t index, Find(what, name, tensors));
  const TensorInfo& tensor = tensors[index];
  if (tensor.bytes != bytes) {
    return Error(Code::kInvalidArgument, what, " '", name, "': expected ", tensor.bytes, " bytes (",
                 DTypeName(tensor.dtype), " ", ToString(tensor.shape), "), got ", bytes);
  }
  if (data == nullptr && bytes > 0) {
    return Error(Code::kInvalidArgument, what, " '", name, "': the data pointer is null");
  }
  return index;
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
    AICF_ASSIGN_OR_RETURN(const size_t index,
                          FindFor("input", name, data, bytes, program_->inputs()));
    return bytes == 0 ? OkStatus() : StoreInput(index, data, bytes);
  });
}

Status SessionBase::GetOutput(std::string_view name, void* data, uint64_t bytes) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index,
                          FindFor("output", name, data, bytes, program_->outputs()));
    return bytes == 0 ? OkStatus() : LoadOutput(index, data, bytes);
  });
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
