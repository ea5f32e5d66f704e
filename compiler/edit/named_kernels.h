/// Whether there are kernels of the names that a policy gives: a slip of the pen is one error, not
/// a warning for each step.
#pragma once

#include "base/status.h"
#include "compiler/edit/policy.h"
#include "kernels/abi/device.h"

namespace aicf {

/// Checks every clause about a kernel. Its name has to be part of the key of a kernel that runs on
/// the device and, where the clause is about a family, is one of that family. Names with the
/// extents of a tile ("tensor_64x64") may be those of a GPU kernel's variants, which only a problem
/// tells, and are not refused here. Of a --from artifact's own clauses nobody should call this:
/// they may name kernels of the target for which it was compiled. Errors: kInvalidArgument naming
/// the clause, and the nearest kernels where there are any; kUnsupported for a name of
/// kernel_names.def without a kernel, with the sentence there.
Status CheckPolicyKernels(const Policy& policy, const abi::DeviceSpec& device);

}  // namespace aicf
