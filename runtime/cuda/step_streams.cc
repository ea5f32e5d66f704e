#include "runtime/cuda/step_streams.h"

#include <algorithm>

namespace aicf::cuda {

Result<StepStreams> StepStreams::Prepare(const DeviceProgram& program,
                                         const schema::EntryPoint& entry) {
  StepStreams streams(program, entry);
  uint32_t last = 0;
  for (uint32_t s = entry.first_step; s < entry.first_step + entry.step_count; ++s) {
    last = std::max(last, streams.StepAt(s).stream);
  }
  for (uint32_t i = 0; i < last; ++i) {
    AICF_ASSIGN_OR_RETURN(Stream stream, CreateStream(program.device()));
    streams.sides_.push_back(std::move(stream));
  }
  if (!streams.serial()) AICF_RETURN_IF_ERROR(streams.AddEvents());
  return streams;
}

Status StepStreams::AddEvents() {
  const auto make = [this] { return CreateEvent(program_->device(), kEventDisableTiming); };
  AICF_ASSIGN_OR_RETURN(start_, make());
  for (size_t i = 0; i < sides_.size(); ++i) {
    AICF_ASSIGN_OR_RETURN(Event end, make());
    ends_.push_back(std::move(end));
  }
  for (uint32_t s = entry_->first_step; s < entry_->first_step + entry_->step_count; ++s) {
    for (uint32_t earlier : StepAt(s).waits) {
      if (events_.contains(earlier)) continue;
      AICF_ASSIGN_OR_RETURN(Event event, make());
      events_.emplace(earlier, std::move(event));
    }
  }
  return OkStatus();
}

Status StepStreams::Record(const Event& event, CUstream stream) const {
  return driver().Check(driver().EventRecord(event.get(), stream), "recording an edge");
}

Status StepStreams::Wait(CUstream stream, const Event& event) const {
  return driver().Check(driver().StreamWaitEvent(stream, event.get(), 0u), "adding an edge");
}

CUstream StepStreams::StreamOf(CUstream main, uint32_t step) const {
  const uint32_t stream = StepAt(step).stream;
  return stream == 0 ? main : sides_[stream - 1].get();
}

Status StepStreams::Fork(CUstream main) const {
  if (serial()) return OkStatus();
  AICF_RETURN_IF_ERROR(Record(start_, main));
  for (const Stream& side : sides_) AICF_RETURN_IF_ERROR(Wait(side.get(), start_));
  return OkStatus();
}

Status StepStreams::Enter(CUstream main, uint32_t step) const {
  for (uint32_t earlier : StepAt(step).waits) {
    AICF_RETURN_IF_ERROR(Wait(StreamOf(main, step), events_.at(earlier)));
  }
  return OkStatus();
}

Status StepStreams::Leave(CUstream main, uint32_t step) const {
  const auto event = events_.find(step);
  return event == events_.end() ? OkStatus() : Record(event->second, StreamOf(main, step));
}

Status StepStreams::Join(CUstream main) const {
  for (size_t i = 0; i < sides_.size(); ++i) {
    AICF_RETURN_IF_ERROR(Record(ends_[i], sides_[i].get()));
    AICF_RETURN_IF_ERROR(Wait(main, ends_[i]));
  }
  return OkStatus();
}

}  // namespace aicf::cuda
