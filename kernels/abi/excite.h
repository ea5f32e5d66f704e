/// The extents of a squeeze and excitation and the places of its operands, for kernels,
/// verification and the compiler alike.
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::abi {

struct ExciteShape {
  int64_t images = 0, channels = 0, hidden = 0, positions = 1;
  // Operand numbers. Operands [hidden_first, gate_first) belong to the hidden units (the prologue),
  // operands [gate_first, gate_end) to the gates (the score expression); x is the scaled input.
  int hidden_first = 2, gate_first = 2, gate_end = 2;
  int x = 2;
};

/// REQUIRES: a valid problem of the excite family.
inline ExciteShape ExciteShapeOf(const Problem& p) {
  const Dims& out = p.outputs[0].shape;
  ExciteShape s;
  s.images = out[0];
  s.channels = out[1];
  s.hidden = p.inputs[0].shape[0];
  for (int d = 2; d < out.rank(); ++d) s.positions *= out[d];
  s.gate_first = 2 + static_cast<int>(p.as<ExciteAttrs>().hidden_operands);
  s.gate_end = s.x = p.core_inputs;
  return s;
}

}  // namespace aicf::abi
