/// Which steps of an entry point have finished when another one begins. Streams and waits leave
/// some pairs of steps unordered; the order of the steps in the program is one order that they
/// allow.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/program.h"

namespace aicf::schema {

/// A step comes after the step before it on its stream, after the steps it waits for, and after all
/// that these come after. The first step of every stream comes after the start of the entry point,
/// and the end of the entry point comes after the last step of every stream.
///
/// A programmatic launch changes nothing about this: its kernel touches no memory before the step
/// before it has finished. What VerifyStreams asks of such a step makes that hold along chains,
/// too.
class StepOrder {
 public:
  /// REQUIRES: streams are below kMaxStreams; waits name earlier steps of the entry point.
  /// Cost: O(steps * streams) where there are several streams, O(steps) otherwise.
  StepOrder(const Program& program, const EntryPoint& entry);

  /// Whether all steps are on one stream, so that each comes after all earlier ones.
  bool serial() const { return streams_ == 1; }

  /// Whether step `a` has finished when step `b` begins. Both are of the entry point.
  bool Before(int64_t a, int64_t b) const;

  /// Whether every other step of the entry point comes before or after `step`. Steps on both sides
  /// of such a one are ordered, too.
  bool Alone(int64_t step) const {
    return serial() || alone_[static_cast<size_t>(step - first_step_)];
  }

 private:
  /// The last step of the stream that has finished when `step` begins, or -1.
  int64_t& LastBefore(int64_t step, uint32_t stream) {
    return last_before_[static_cast<size_t>(step - first_step_) * streams_ + stream];
  }
  void Follow(int64_t step, int64_t earlier);
  void FindAlone();

  int64_t first_step_;
  uint32_t streams_ = 1;
  std::vector<uint32_t> stream_of_;   ///< by step of the entry point; empty when serial
  std::vector<int64_t> last_before_;  ///< by step and stream; empty when serial
  std::vector<bool> alone_;           ///< by step; empty when serial
};

}  // namespace aicf::schema
