/// Scratch of the vector kernels. Host code only.
#pragma once

#include "kernels/cpu/recurrent/packing.h"

namespace aicf::cpu {

/// Number of state buffers: two hidden states, which are read and written in turns, the cell state,
/// the update gates, and the reset gates times the state.
inline constexpr int kFusedStates = 5;

/// Floats of one direction's states.
inline int64_t FusedStateFloats(const abi::RecurrentShape& s, const RecurrentPacking& layout) {
  return kFusedStates * s.batch * layout.padded();
}

/// States of all directions, then one flag per direction and row.
inline uint64_t FusedWorkspace(const abi::Problem& p, int lanes) {
  const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
  const int64_t floats = s.directions * FusedStateFloats(s, RecurrentPacking(p, lanes));
  return sizeof(float) * static_cast<uint64_t>(floats) +
         static_cast<uint64_t>(s.directions * s.batch);
}

}  // namespace aicf::cpu
