/// Time per step, beside what the step does and what the device could do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "base/status.h"

namespace aicf::tools {

struct StepRow {
  uint32_t step = 0;
  std::string kernel;  ///< what ran; for a CUDA plan on the CPU the reference kernel's key
  std::vector<std::string> sources;
  std::string grid, block;  ///< "24x1x1"; empty on the CPU
  double ms = 0;
  double bytes = 0, flop = 0;
  double roofline = -1;  ///< share of the speed that bandwidth and arithmetic allow; -1: unknown
};

/// Profiles `iterations` replays. `on_cuda` says that the session runs on a GPU.
Result<std::vector<StepRow>> ProfileSteps(Session& session, const Program& program, bool on_cuda,
                                          int iterations);

/// The profile as a table. The widest column, the source nodes, is the last. The table ends with
/// the sum of the steps' times beside the time of a whole replay.
std::string ProfileTable(const std::vector<StepRow>& rows, double replay_ms);

/// Chrome's trace event format, which Perfetto reads: the steps of one replay after each other.
/// `replay_ms`: the whole replay's time, which goes along as "otherData".
std::string ProfileTrace(const std::vector<StepRow>& rows, const std::string& device,
                         double replay_ms);

}  // namespace aicf::tools
