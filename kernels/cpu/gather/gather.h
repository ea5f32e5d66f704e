/// The variants of the gather family: elements or slices of a table, chosen by indices.
#pragma once

#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/variants.h"

namespace aicf::cpu {

/// Number of axes of a row: axes at the end of the output that are the data's last axes.
/// REQUIRES: kTake or kPoints.
inline int GatherRowRank(const abi::Problem& p) {
  const auto& a = p.as<abi::GatherAttrs>();
  const int rank = p.inputs[0].shape.rank();
  if (a.kind == abi::GatherKind::kTake) return rank - 1 - static_cast<int>(a.axis);
  return rank - static_cast<int>(a.batch_axes + p.inputs[1].shape.back());
}

void GatherRef(const abi::ArgBlock& args);
/// kTake and kPoints: rows contiguous in the table and in the output, no epilogue.
void GatherRows(const abi::ArgBlock& args);
/// kElements, no epilogue.
AICF_CPU_ISA_VARIANTS(GatherElements)

}  // namespace aicf::cpu
