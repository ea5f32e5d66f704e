/// ToString of problems and expressions at the end of a text. The verifier writes one for every
/// step of a device program, whose symbol is a hash of it.
#pragma once

#include <string>

#include "kernels/abi/expr.h"
#include "kernels/abi/problem.h"

namespace aicf::abi {

void AppendTo(std::string& out, const Expr& expr);
void AppendTo(std::string& out, const Problem& problem);

}  // namespace aicf::abi
