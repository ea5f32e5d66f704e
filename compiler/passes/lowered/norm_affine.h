/// What a norm's epilogue does, where that is no more than a gain and a shift.
#pragma once

#include <optional>

#include "kernels/abi/problem.h"

namespace aicf {

/// The gain and the shift of a norm: numbers of its operands, -1 for none.
struct NormAffine {
  int gain = -1, shift = -1;
};

/// Of an epilogue that is raw * gain + shift, or a part of that, in any order; nullopt for others.
std::optional<NormAffine> AffineOf(const abi::Problem& norm);

}  // namespace aicf
