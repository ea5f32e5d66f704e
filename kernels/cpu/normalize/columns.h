/// NormalizeLoops::columns. For *.isa.cc files only.
#pragma once

#include "kernels/cpu/isa.h"
#include "kernels/cpu/normalize/loops.h"

AICF_ISA_BEGIN

void NormalizeColumns(abi::NormalizeKind kind, double epsilon, float* values, int64_t elements,
                      int64_t width);

AICF_ISA_END
