/// The variants of the gather family: slices of a table, chosen by indices.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

void GatherRef(const abi::ArgBlock& args);
/// Rows contiguous in the table and in the output, no epilogue.
void GatherRows(const abi::ArgBlock& args);

}  // namespace aicf::cpu
