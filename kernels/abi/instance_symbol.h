/// Whether a recorded symbol is its instance's.
#pragma once

#include <string_view>

#include "kernels/abi/problem.h"
#include "kernels/abi/variant.h"

namespace aicf::abi {

/// symbol == InstanceSymbol(kernel_key, problem, variant), without a string of its own.
bool IsInstanceSymbol(std::string_view symbol, std::string_view kernel_key, const Problem& problem,
                      const VariantRef& variant);

}  // namespace aicf::abi
