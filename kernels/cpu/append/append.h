/// The variants of the append family: rows of keys and values into a cache in pages, queries and
/// keys turned by their positions.
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

void AppendRef(const abi::ArgBlock& args);

/// Heads whose elements are next to each other, one after the other.
namespace baseline {
void AppendHeads(const abi::ArgBlock& args);
}
namespace avx2 {
void AppendHeads(const abi::ArgBlock& args);
}
namespace avx512 {
void AppendHeads(const abi::ArgBlock& args);
}

}  // namespace aicf::cpu
