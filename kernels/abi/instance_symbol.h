/// Whether a recorded symbol is its instance's.
#pragma once

#include <string_view>

#include "kernels/abi/problem.h"
#include "kernels/abi/variant.h"

namespace aicf::abi {

/// What InstanceSymbol begins with, and what symbols of artifacts made before there was it do.
inline constexpr std::string_view kSymbolPrefix = "aicf2_";
inline constexpr std::string_view kTextSymbolPrefix = "aicf_";

/// symbol == InstanceSymbol(kernel_key, problem, variant), without a string of its own; or, where
/// it begins with kTextSymbolPrefix, that prefix, the key and the hash of a text that says the
/// same.
bool IsInstanceSymbol(std::string_view symbol, std::string_view kernel_key, const Problem& problem,
                      const VariantRef& variant);

}  // namespace aicf::abi
