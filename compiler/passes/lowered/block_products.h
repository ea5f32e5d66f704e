/// Products with blocks (family blockgemm) as ordinary matrix products of their values.
#pragma once

#include <string>

#include "kernels/abi/problem.h"

namespace aicf {

/// Sets *product to the gemm that does what blockgemm `p` does, where the values of B's blocks are
/// stored in `rows`: [n, k], in the order of B's rows. Epilogue, halves and norm of A stay the
/// same. Returns an empty string, or why there is no such product; *product is then left alone.
/// Whether any kernel runs the product is not checked.
std::string MatrixProduct(const abi::Problem& p, const abi::View& rows, abi::Problem* product);

}  // namespace aicf
