/// An attention instance's score expression and the names of its optional operands, as CUDA C++.
#pragma once

#include <string>

#include "kernels/abi/problem.h"

namespace aicf {

/// `struct Score` with Of(args, product, b, h, i, j), evaluated at one point of [B, Hq, Tq, Tk];
/// and for the operands that attributes name (Lengths, Table, Origins, Log) a view and a number, -1
/// where there is none. REQUIRES: a valid problem of the attention family.
std::string ScoreSource(const abi::Problem& problem);

}  // namespace aicf
