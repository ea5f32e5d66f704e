/// The cases that run on the GPU, family by family. Making them needs no GPU, so that any machine
/// finds a family without cases.
#pragma once

#include <vector>

#include "tests/conformance/layouts.h"

namespace aicf::conformance {

/// The variants that take a case on the device, `most` of them: the one predicted to be the fastest
/// comes first, and the others rotate with `turn`. With most == 1, all of them take turns.
std::vector<KernelOption> VariantsOf(const Case& c, const abi::DeviceSpec& device, size_t most,
                                     size_t turn);

/// At least 100 random cases of every family, in the math modes and with the kinds of data that the
/// family knows.
std::vector<KernelCase> GpuRandomCases(abi::Family family, const abi::DeviceSpec& device);

/// Cases of all layouts (layouts.h), with the variants that are chosen for SmallDevice().
std::vector<KernelCase> LayoutCases(abi::Family family);

/// A device of one multiprocessor. For it, kernels use whole vectors even if a case is small.
abi::DeviceSpec SmallDevice();

}  // namespace aicf::conformance
