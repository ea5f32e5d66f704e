/// The variants of the append family, which stores rows of keys and values in a cache of pages and
/// turns queries and keys by their positions (RoPE).
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

void AppendRef(const abi::ArgBlock& args);

/// Takes heads whose elements are contiguous and handles them one at a time.
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
