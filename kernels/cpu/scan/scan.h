/// The variants of the scan family: running sums and products along one axis.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

void ScanRef(const abi::ArgBlock& args);
/// f32, f64, i32 and i64, dense: all positions behind the axis side by side.
void ScanDense(const abi::ArgBlock& args);

}  // namespace aicf::cpu
