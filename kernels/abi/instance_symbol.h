/// Checks that a recorded symbol is that of the step's own instance.
#pragma once

#include <string_view>

#include "kernels/abi/problem.h"
#include "kernels/abi/variant.h"

namespace aicf::abi {

/// Prefixes of symbols: the first of those that InstanceSymbol writes, the second of those in older
/// artifacts, which hash a text.
inline constexpr std::string_view kSymbolPrefix = "aicf2_";
inline constexpr std::string_view kTextSymbolPrefix = "aicf_";

/// Whether `symbol` belongs to this instance. A symbol with kTextSymbolPrefix has to be that
/// prefix, the key, and the hash of a text that holds the kernel, the names and values of the
/// parameters, the launch, the tensor maps and the problem. Any other has to equal
/// InstanceSymbol(kernel_key, problem, variant). The comparison makes no string.
bool IsInstanceSymbol(std::string_view symbol, std::string_view kernel_key, const Problem& problem,
                      const VariantRef& variant);

}  // namespace aicf::abi
