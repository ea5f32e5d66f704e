/// Attention that appends rows to its pools first (abi::AppendsRows), as the two steps that it
/// stands for.
#pragma once

#include "kernels/abi/attention.h"
#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// Bytes of workspace for the turned queries; 0 for a problem that does not append.
inline uint64_t TurnedQueryBytes(const abi::Problem& problem) {
  if (!abi::AppendsRows(problem)) return 0;
  const abi::View& q = problem.inputs[0];
  return static_cast<uint64_t>(abi::ElementsOf(q) * DTypeBytes(q.dtype));
}

/// Appends by the append family's reference kernel, then calls `attention` with the arguments of a
/// step that does not append: the turned queries, and the pools with the new rows.
/// REQUIRES: abi::AppendsRows, and a workspace of TurnedQueryBytes.
void AppendThenAttend(const abi::ArgBlock& args, void (*attention)(const abi::ArgBlock&));

}  // namespace aicf::cpu
