/// A recurrent problem's extents and the places of its operands, for kernels and lowering alike.
#pragma once

#include "kernels/abi/problem.h"

namespace aicf::abi {

/// Number of gates of a cell; R has one row per gate and hidden unit.
inline int64_t GatesOf(CellKind cell) {
  return cell == CellKind::kRnn ? 1 : cell == CellKind::kGru ? 3 : 4;
}
/// Number of activations per direction, which are listed in the order f, g, h.
inline int ActivationsOf(CellKind cell) {
  return cell == CellKind::kRnn ? 1 : cell == CellKind::kGru ? 2 : 3;
}

struct RecurrentShape {
  int64_t steps = 0, directions = 1, batch = 0, hidden = 0, gates = 1;
  // Operand numbers; -1: absent.
  int h0 = 2, c0 = -1, peepholes = -1, bias = -1, lengths = -1;
};

/// REQUIRES: a valid problem of the recurrent family.
inline RecurrentShape RecurrentShapeOf(const Problem& p) {
  const auto& a = p.as<RecurrentAttrs>();
  const Dims& gates = p.inputs[0].shape;
  RecurrentShape s;
  s.steps = gates[0];
  s.directions = gates[1];
  s.batch = gates[2];
  s.hidden = p.inputs[1].shape[2];
  s.gates = GatesOf(a.cell);
  int next = 3;
  if (a.cell == CellKind::kLstm) s.c0 = next++;
  if (a.peepholes) s.peepholes = next++;
  if (a.cell == CellKind::kGru && a.linear_before_reset) s.bias = next++;
  if (a.lengths) s.lengths = next++;
  return s;
}

/// True for a GRU that applies its reset gates to the state before the hidden gate's product reads
/// it. That product must then wait for the reset gates of all units.
inline bool ResetsBeforeProduct(const Problem& p) {
  const auto& a = p.as<RecurrentAttrs>();
  return a.cell == CellKind::kGru && !a.linear_before_reset;
}

/// Whether direction `d` walks the sequence backwards.
inline bool IsReversed(const Problem& p, int64_t d) {
  return p.as<RecurrentAttrs>().direction == Direction::kReverse || d == 1;
}

}  // namespace aicf::abi
