/// The variants of the recurrent family: RNN, GRU and LSTM over a whole sequence.
///
/// What the definition in kernels/abi/attrs.h leaves open, here as in kernels/cuda/recurrent:
/// states are carried in the computing precision and rounded where they are stored; the clip bounds
/// what enters f and g, not the cell state that enters h; a sequence without steps ends in states
/// of 0; lengths outside [0, steps] are taken as the nearest end.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// Any valid problem, in double.
void RecurrentRef(const abi::ArgBlock& args);

/// f32 with contiguous rows: products over panels of R with the gates applied in registers.
/// Packed: R comes packed from the compiler. Panels: R is packed at the start of each run.
template <abi::CpuIsa kIsa>
void RecurrentPacked(const abi::ArgBlock& args);
template <abi::CpuIsa kIsa>
void RecurrentPanels(const abi::ArgBlock& args);

}  // namespace aicf::cpu
