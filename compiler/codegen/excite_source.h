/// The part of an excite instance's text that no other family has.
#pragma once

#include <string>

#include "kernels/abi/problem.h"

namespace aicf {

/// What kernels/cuda/excite/*.cuh find defined:
///   Hidden, Gate           the prologue at hidden unit (n, m) and the score at channel (n, c):
///     Operands             what the expression reads beside the product
///     Load(args, n, i)     its values there
///     Of(operands, product, n, i)
///   Excited                typedef of the struct that says where the elements of x are
///   kExcited               the operand's number
///   ExcitedOf(operands)    the elements of x that an Epilogue::Operands<V> holds: a
///                          HeldRun<Excited, V>
/// REQUIRES: a valid problem of the excite family; Epilogue is defined.
std::string ExciteSource(const abi::Problem& problem);

}  // namespace aicf
