/// The variants of the attention family (kernels/abi/attrs.h, AttentionAttrs).
#pragma once

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// Any valid problem: products and sums in double, scores rounded to f32 only where an expression
/// of f32 reads them. Needs no workspace, whatever the number of keys.
void AttentionRef(const abi::ArgBlock& args);

/// f32, f16 and bf16: tiles of rows over blocks of keys (flash.h).
template <abi::CpuIsa kIsa>
void AttentionFlash(const abi::ArgBlock& args);

}  // namespace aicf::cpu
