/// Writes the text of problems and expressions (ToString) as part of a longer text. The verifier
/// does so for every step of a device program whose symbol hashes that text (kTextSymbolPrefix).
#pragma once

#include "base/text_writer.h"
#include "kernels/abi/expr.h"
#include "kernels/abi/problem.h"

namespace aicf::abi {

void Write(TextWriter& out, const Expr& expr);
void Write(TextWriter& out, const Problem& problem);

}  // namespace aicf::abi
