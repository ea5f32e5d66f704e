/// Products with blocks (family blockgemm) as ordinary matrix products of their values.
#pragma once

#include <string>

#include "kernels/abi/problem.h"

namespace aicf {

/// The product that blockgemm `p` is once the values of its blocks lie in `rows`, [n, k] in its
/// rows' order, with the same epilogue, halves and norm of A. Fills *product in only where it
/// returns an empty string, otherwise says why there is none. Which kernels run it is not looked
/// at.
std::string MatrixProduct(const abi::Problem& p, const abi::View& rows, abi::Problem* product);

}  // namespace aicf
