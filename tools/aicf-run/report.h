/// What aicf-run prints, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "tools/aicf-run/measure.h"
#include "tools/aicf-run/profile.h"
#include "tools/aicf-run/tensors.h"

namespace aicf::tools {

struct Report {
  const RunOptions* options = nullptr;
  const Program* program = nullptr;
  std::vector<Dims> output_shapes;  ///< shapes of the outputs after the first run
  const Selection* selection = nullptr;
  std::string device;
  int threads = 0;  ///< CPU; 0 on CUDA
  bool on_cuda = false;
  bool reference = false;  ///< a CUDA plan runs on the CPU's reference kernels
  double load_ms = 0;      ///< time to read, verify, allocate, upload and capture
  double first_ms = 0;     ///< time of the first inference
  MemoryReport memory;
  std::vector<CheckResult> checks;
  Tolerance tolerance;
  Measurement measurement;
  std::vector<StepRow> profile;  ///< empty without --profile
};

/// Everything known before the steady state: artifact, device, tensors, load and first inference.
std::string HeadText(const Report& report);
/// One PASS or FAIL line per reference.
std::string CheckText(const Report& report);
/// Memory, profile and trtexec's performance summary, as asked for.
std::string TailText(const Report& report);
/// One object: load_ms, first_ms, latency_ms, peak_memory_bytes, device and more.
std::string JsonText(const Report& report);

}  // namespace aicf::tools
