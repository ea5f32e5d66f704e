/// Whether a recorded symbol is its instance's.
#pragma once

#include <string_view>

#include "kernels/abi/problem.h"
#include "kernels/abi/variant.h"

namespace aicf::abi {

/// What symbols begin with: those that InstanceSymbol writes, and those of older artifacts.
inline constexpr std::string_view kSymbolPrefix = "aicf2_";
inline constexpr std::string_view kTextSymbolPrefix = "aicf_";

/// Whether `symbol` is the instance's: InstanceSymbol(kernel_key, problem, variant), or, with
/// kTextSymbolPrefix, that prefix, the key and the hash of a text of the kernel, names and values
/// of the parameters, launch, tensor maps and problem. Makes no string.
bool IsInstanceSymbol(std::string_view symbol, std::string_view kernel_key, const Problem& problem,
                      const VariantRef& variant);

}  // namespace aicf::abi
