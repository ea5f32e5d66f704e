/// NormalizeLoops::columns. For *.isa.cc files only.
#pragma once

#include "kernels/cpu/isa.h"
#include "kernels/cpu/normalize/loops.h"

AICF_ISA_BEGIN

void NormalizeColumns(abi::NormalizeKind kind, double epsilon, float* values, int64_t elements,
                      int64_t width);
void ColumnSums(const float* values, int64_t stride, int64_t rows, int64_t columns,
                const float* shift, bool squares, double* totals);
void ColumnAffine(const float* src, int64_t stride, float* dst, int64_t rows, int64_t columns,
                  const float* shift, const float* scale);

AICF_ISA_END
