#include "runtime/session_base.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/guard.h"
#include "runtime/box.h"
#include "runtime/entry_choice.h"
#include "runtime/session_names.h"
#include "schema/artifact.h"
#include "schema/roots.h"

namespace aicf {
namespace {

std::string KnownNames(const std::vector<TensorInfo>& tensors) {
  std::string out;
  for (const TensorInfo& t : tensors) out += StrCat(out.empty() ? "'" : ", '", t.name, "'");
  return out.empty() ? "none" : out;
}

/// Refuses a tensor that is bound to the caller's memory, which he reads and writes himself.
Status CheckOwn(std::string_view what, const TensorInfo& tensor, bool bound) {
  if (!bound) return OkStatus();
  return Error(Code::kInvalidArgument, what, " '", tensor.name,
               "' is bound to memory of the caller; read or write it there");
}

Status CheckIterations(int iterations) {
  if (iterations > 0) return OkStatus();
  return Error(Code::kInvalidArgument, "iterations: expected at least 1, got ", iterations);
}

}  // namespace

Result<size_t> FindTensor(std::string_view what, std::string_view name,
                          const std::vector<TensorInfo>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == name) return i;
  }
  return Error(Code::kInvalidArgument, "no ", what, " is named '", name, "'; the program has ",
               KnownNames(tensors));
}

Status CheckRank(const Dims& shape) {
  if (shape.refused_rank() == 0) return OkStatus();
  return Error(Code::kInvalidArgument, "rank ", shape.refused_rank(), ", expected 0 to ", kMaxRank);
}

Status CheckTensor(std::string_view what, const TensorInfo& tensor, const Dims& shape,
                   const ConstTensor& given) {
  const Status rank = CheckRank(given.shape);
  if (!rank.ok()) return rank.WithContext(StrCat(what, " '", tensor.name, "'"));
  if (given.dtype != tensor.dtype || given.shape != shape) {
    const bool known = IsValid(given.dtype);  // a number from outside may be no dtype
    return Error(Code::kInvalidArgument, what, " '", tensor.name, "': expected ",
                 DTypeName(tensor.dtype), " ", ToString(shape), ", got ",
                 known ? DTypeName(given.dtype) : std::string_view("an unknown dtype"), " ",
                 ToString(given.shape));
  }
  const auto expected =
      static_cast<uint64_t>(ElementCount(shape).value_or(0) * DTypeBytes(tensor.dtype));
  if (given.bytes != expected) {
    return Error(Code::kInvalidArgument, what, " '", tensor.name, "': ", DTypeName(tensor.dtype),
                 " ", ToString(shape), " takes ", expected, " bytes, the memory has ", given.bytes);
  }
  if (given.data == nullptr && expected > 0) {
    return Error(Code::kInvalidArgument, what, " '", tensor.name, "': the data pointer is null");
  }
  return OkStatus();
}

Status Claim::status() const {
  if (held_) return OkStatus();
  return Error(Code::kInvalidArgument,
               "the session is busy: another thread is inside it; use one session per thread");
}

const schema::Program& SessionBase::plan() const { return program_->artifact().program(); }

const schema::EntryPoint& SessionBase::entry() const { return plan().entry_points[current()]; }

SessionBase::SessionBase(std::shared_ptr<const Program> program, size_t lanes)
    : program_(std::move(program)),
      roots_(schema::RootsOf(plan())),
      states_(StateBuffers(plan())),
      seeds_(states_.size()),
      bound_(plan().buffers.size(), nullptr),
      choices_(lanes) {
  // Makes room for the largest entry point, so that selecting allocates nothing. Entry points of
  // one compilation have equally many tensors, those of a made-up artifact need not.
  const auto make_room = [&](EntryChoice* choice) {
    for (size_t e = program_->entries().size(); e-- > 0;) {
      ChooseWhole(program_->entries(), e, choice);
    }
  };
  for (EntryChoice& choice : choices_) make_room(&choice);
  make_room(&next_);
}

Status SessionBase::SelectLane(size_t lane) {
  const Claim claim(busy_);
  AICF_RETURN_IF_ERROR(claim.status());
  if (lane >= lanes()) {
    return Error(Code::kInvalidArgument, "lane ", lane, " of a session that has ", lanes());
  }
  lane_ = lane;
  selected_.store(current(), std::memory_order_relaxed);
  return OkStatus();
}

Status SessionBase::Select() {
  EntryChoice& selection = choices_[lane_];
  if (next_.entry == selection.entry && next_.inputs == selection.inputs) return OkStatus();
  AICF_RETURN_IF_ERROR(CheckLaneIdle());
  std::swap(selection, next_);
  const Status cleared = ClearInputs();
  if (!cleared.ok()) {
    std::swap(selection, next_);
    return cleared;
  }
  selected_.store(current(), std::memory_order_relaxed);
  return OkStatus();
}

Status SessionBase::SelectShapes(std::span<const InputShape> shapes) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_RETURN_IF_ERROR(ChooseEntry(plan(), program_->entries(), shapes, &next_));
    return Select();
  });
}

Status SessionBase::SelectEntry(std::string_view name) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    const std::vector<EntryInfo>& entries = program_->entries();
    const auto found = std::ranges::find(entries, name, &EntryInfo::name);
    if (found == entries.end()) {
      std::string known;
      for (const EntryInfo& e : entries) known += StrCat(known.empty() ? "'" : ", '", e.name, "'");
      return Error(Code::kInvalidArgument, "no entry point is named '", name, "'; the program has ",
                   known);
    }
    ChooseWhole(entries, static_cast<size_t>(found - entries.begin()), &next_);
    return Select();
  });
}

Result<Dims> SessionBase::InputShapeOf(std::string_view name) {
  return Guarded([&]() -> Result<Dims> {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindTensor("input", name, info().inputs));
    return choice().inputs[index];
  });
}

Status SessionBase::SetInput(std::string_view name, const ConstTensor& given) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindTensor("input", name, info().inputs));
    const TensorInfo& tensor = info().inputs[index];
    const Dims& shape = choice().inputs[index];
    AICF_RETURN_IF_ERROR(CheckTensor("input", tensor, shape, given));
    AICF_RETURN_IF_ERROR(CheckOwn("input", tensor, IsBound(entry().inputs[index])));
    const auto* from = static_cast<const std::byte*>(given.data);
    return ForEachRun(shape, tensor.shape, DTypeBytes(tensor.dtype),
                      [&](uint64_t part, uint64_t whole, uint64_t run) {
                        return StoreInput(index, whole, from + part, run);
                      });
  });
}

Status SessionBase::GetOutput(std::string_view name, const MutableTensor& given) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindTensor("output", name, info().outputs));
    const TensorInfo& tensor = info().outputs[index];
    AICF_RETURN_IF_ERROR(CheckOwn("output", tensor, IsBound(entry().outputs[index])));
    AICF_ASSIGN_OR_RETURN(const Dims shape, ActualShape(index));
    AICF_RETURN_IF_ERROR(
        CheckTensor("output", tensor, shape, {given.dtype, given.shape, given.data, given.bytes}));
    auto* to = static_cast<std::byte*>(given.data);
    return ForEachRun(shape, tensor.shape, DTypeBytes(tensor.dtype),
                      [&](uint64_t part, uint64_t whole, uint64_t run) {
                        return LoadOutput(index, whole, to + part, run);
                      });
  });
}

Result<Dims> SessionBase::OutputShape(std::string_view name) {
  return Guarded([&]() -> Result<Dims> {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindTensor("output", name, info().outputs));
    return ActualShape(index);
  });
}

Result<Dims> SessionBase::ActualShape(size_t index) {
  Dims shape = choice().outputs[index];
  const schema::OutputExtent* extent = entry().ExtentOf(index);
  if (extent == nullptr) return shape;
  int64_t count = 0;
  AICF_RETURN_IF_ERROR(LoadOutput(extent->count, 0, &count, sizeof count));
  int64_t& axis = shape[static_cast<int>(extent->axis)];
  axis = std::clamp<int64_t>(count, 0, axis);
  return shape;
}

Result<void*> SessionBase::InputPointer(std::string_view name) {
  return Guarded([&]() -> Result<void*> {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindTensor("input", name, info().inputs));
    return InputAddress(index);
  });
}

Result<void*> SessionBase::OutputPointer(std::string_view name) {
  return Guarded([&]() -> Result<void*> {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindTensor("output", name, info().outputs));
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
  // The flag is polled instead of waited for: once the leaving thread has cleared it, it must not
  // touch the session again, not even to notify this one.
  while (busy_.exchange(true, std::memory_order_acquire)) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace aicf
