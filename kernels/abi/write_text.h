/// ToString of problems and expressions as part of a longer text. The verifier writes one for every
/// step of a device program whose symbol is a hash of it (kTextSymbolPrefix).
#pragma once

#include "base/text_writer.h"
#include "kernels/abi/expr.h"
#include "kernels/abi/problem.h"

namespace aicf::abi {

void Write(TextWriter& out, const Expr& expr);
void Write(TextWriter& out, const Problem& problem);

}  // namespace aicf::abi
