/// aicf-run --verify: checks kernels against the reference kernels, or outputs against the samples
/// that the artifact carries.
#pragma once

#include "base/status.h"
#include "tools/aicf-run/options.h"

namespace aicf::tools {

/// Verifies as options.verify says and prints the report. REQUIRES: it is not kOff.
/// Errors: kCheckFailed, after the report, naming the first step or output that failed; those of
/// VerifySteps; kInvalidArgument for samples that the artifact does not carry.
Status RunVerify(const RunOptions& options);

}  // namespace aicf::tools
