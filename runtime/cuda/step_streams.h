/// The streams of a plan while an entry point is captured: forks and joins become edges of the
/// graph.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/status.h"
#include "runtime/cuda/device_program.h"
#include "runtime/cuda/handles.h"
#include "schema/program.h"

namespace aicf::cuda {

/// Stream 0 of the plan is the stream that is captured; the others are made here and belong to the
/// capture from Fork to Join. Edges are events, recorded once each.
class StepStreams {
 public:
  /// REQUIRES: the device's context is current; the entry point has passed VerifyStreams and
  /// outlives the object. Errors: kDevice.
  static Result<StepStreams> Prepare(const DeviceProgram& program, const schema::EntryPoint& entry);

  /// Whether all steps are on stream 0; then the functions below do nothing.
  bool serial() const { return sides_.empty(); }

  // To be called while `main` is captured, in this order: Fork; then for each step Enter, its
  // launch on StreamOf, and Leave; then Join.
  // Errors: kDevice.

  /// The other streams begin after what is on `main`.
  Status Fork(CUstream main) const;
  /// Makes the step's stream wait for the steps that it waits for.
  Status Enter(CUstream main, uint32_t step) const;
  /// The stream on which the step is launched.
  CUstream StreamOf(CUstream main, uint32_t step) const;
  /// To be called right after the step is launched; records the event of a step that others wait
  /// for.
  Status Leave(CUstream main, uint32_t step) const;
  /// `main` goes on after all streams.
  Status Join(CUstream main) const;

 private:
  StepStreams(const DeviceProgram& program, const schema::EntryPoint& entry)
      : program_(&program), entry_(&entry) {}
  const Driver& driver() const { return program_->device()->driver(); }
  const schema::Step& StepAt(uint32_t step) const { return program_->plan().steps[step]; }
  Status AddEvents();
  Status Record(const Event& event, CUstream stream) const;
  Status Wait(CUstream stream, const Event& event) const;

  const DeviceProgram* program_;
  const schema::EntryPoint* entry_;
  std::vector<Stream> sides_;         ///< [i] is for the plan's stream 1 + i
  std::vector<Event> ends_;           ///< [i] is the end of sides_[i]
  Event start_;                       ///< the start of the entry point
  std::map<uint32_t, Event> events_;  ///< by step: the end of each step that another one waits for
};

}  // namespace aicf::cuda
