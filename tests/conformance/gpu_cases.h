/// What the GPU runs, family by family. Needs no GPU, so that a family without cases is found
/// anywhere.
#pragma once

#include <vector>

#include "tests/conformance/layouts.h"

namespace aicf::conformance {

/// Variants of a case's family that take it on the device: `most` of them, the cheapest first, the
/// others rotating with `turn`; with most == 1 all of them take turns.
std::vector<KernelOption> VariantsOf(const Case& c, const abi::DeviceSpec& device, size_t most,
                                     size_t turn);

/// Random cases: at least 100 of every family, in the math modes and with the data that it knows.
std::vector<KernelCase> GpuRandomCases(abi::Family family, const abi::DeviceSpec& device);

/// Cases of all layouts (layouts.h), as they are cut for SmallDevice().
std::vector<KernelCase> LayoutCases(abi::Family family);

/// A device of one multiprocessor: on it kernels work on whole vectors even where a case is small.
abi::DeviceSpec SmallDevice();

}  // namespace aicf::conformance
