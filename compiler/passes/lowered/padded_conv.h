/// Convolutions together with the copy that pads their input.
#pragma once

#include "compiler/ir/lowered_edit.h"
#include "kernels/abi/problem.h"

namespace aicf {

/// A convolution with what a copy in front of it does. A product of codes with a zero point reads
/// its input with that zero point around it, which a copy puts there.
struct PaddedConv {
  abi::Problem problem;    ///< as if the convolution read the copy's input and padded it itself
  ir::BufferId input = 0;  ///< what it would read
  int copy = -1;           ///< the step that copies; -1: none, and `problem` is the step's own
  double fill = 0;         ///< the value of its padding
};

/// The convolution at position `conv`, with the copy if there is one that it alone reads and that
/// pads spatial axes only.
PaddedConv PaddedConvOf(const ir::StepEditor& editor, int conv);

}  // namespace aicf
