/// Which values may hold finite numbers beyond the range of 16 bits because a constant of the model
/// puts them there. The usual one is a mask: what must not be seen has -1e9 or the least f32 added,
/// and as an infinity it would make NaN of a softmax whose row is masked altogether.
#pragma once

#include <vector>

#include "base/dtype.h"
#include "compiler/ir/lowered.h"

namespace aicf::storage {

/// By buffer. Constants are followed through operators that add, scale or select, and through steps
/// that only move elements; a softmax, a product or another operator ends that. Bounds of a minimum
/// or maximum do not count: they are there to be never reached.
/// `narrow`: kF16 or kBF16. Cost: linear in the program, and a pass over constants that are added
/// to or selected.
std::vector<bool> BeyondRange(const ir::Lowered& lowered, DType narrow);

}  // namespace aicf::storage
