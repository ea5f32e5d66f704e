/// What aicf-run --verify prints, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "tools/aicf-run/options.h"
#include "tools/aicf-run/tensors.h"
#include "tools/verify/verify_steps.h"

namespace aicf::tools {

/// The report of --verify: verdict, the first step that failed, the worst steps (all with
/// --verbose), the outputs' drift, and how to pin a step.
std::string StepsText(const RunOptions& options, const Program& program, size_t entry,
                      const StepsReport& report);
std::string StepsJson(const RunOptions& options, const Program& program, size_t entry,
                      const StepsReport& report);

/// One sample of the golden section after its run.
struct SampleCheck {
  size_t entry = 0;
  std::string origin;  ///< of the expected outputs: "given", "reference"
  Tolerance tolerance;
  std::vector<CheckResult> checks;
};

/// The report of --verify=golden.
std::string SamplesText(const RunOptions& options, const Program& program,
                        const std::string& device, const std::vector<SampleCheck>& samples);
std::string SamplesJson(const RunOptions& options, const Program& program,
                        const std::string& device, const std::vector<SampleCheck>& samples);

/// A step's name for people: "step 12 (cuda.gemm.tile; node_product)". Names are escaped.
std::string StepName(const Program& program, uint32_t step);

}  // namespace aicf::tools
