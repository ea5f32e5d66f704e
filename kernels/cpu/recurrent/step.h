/// One time step of a part of the hidden units, once per instruction set. Plain data: filled by
/// fused.cc, run by step.isa.cc.
#pragma once

#include <cstdint>

#include "kernels/cpu/recurrent/activation.h"

namespace aicf::cpu {

struct StepFunction {
  abi::CellActivation kind = abi::CellActivation::kTanh;
  float alpha = 0;
  float beta = 0;
};

/// Rows of the batch are `*_row` floats apart; state rows are padded to whole vectors with zeros.
struct CellStep {
  abi::CellKind cell = abi::CellKind::kLstm;
  bool resets_first = false;  ///< GRU whose hidden gate is the second pass
  bool input_forget = false;
  int pass = 0;
  float clip = 0;     ///< 0: none
  StepFunction f[3];  ///< f, g, h
  int64_t hidden = 0;
  int64_t state_row = 0;          ///< hidden units padded to whole vectors
  const float* packed = nullptr;  ///< block 0 of this pass
  int64_t block_floats = 0;
  const float* gates = nullptr;  ///< this step's products with the input: [gate][unit] per row
  int64_t gates_row = 0;
  const float* peepholes = nullptr;  ///< i, o, f, each `hidden` long; or null
  const float* bias = nullptr;       ///< recurrent bias of the hidden gate; or null
  const float* h_in = nullptr;       ///< what the product reads is this, or `reset` in pass 1
  float* h_out = nullptr;
  float* c = nullptr;
  float* update = nullptr;  ///< resets_first: update gates of pass 0, read in pass 1
  float* reset = nullptr;   ///< resets_first: reset gates times the state
  float* y = nullptr;       ///< this step's output rows
  int64_t y_row = 0;
  const bool* active = nullptr;  ///< per row, or null: whether the sequence has this step
};

/// Runs rows [row_begin, row_end) of unit blocks [block_begin, block_end).
using RunCellStepFn = void (*)(const CellStep& step, int64_t row_begin, int64_t row_end,
                               int64_t block_begin, int64_t block_end);

#define AICF_CELL_STEP_OF(isa)                                                                    \
  namespace isa {                                                                                 \
  void RunCellStep(const CellStep& step, int64_t row_begin, int64_t row_end, int64_t block_begin, \
                   int64_t block_end);                                                            \
  }
AICF_CELL_STEP_OF(baseline)
AICF_CELL_STEP_OF(avx2)
AICF_CELL_STEP_OF(avx512)
#undef AICF_CELL_STEP_OF

}  // namespace aicf::cpu
