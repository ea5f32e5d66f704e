/// Judges an output of a step by comparing it with the reference's.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/abi/problem.h"
#include "tools/common/compare.h"
#include "tools/verify/step_tolerance.h"

namespace aicf::tools {

/// Collects the view's elements from its buffer's bytes, in row-major order. Other elements of the
/// buffer, such as another writer's part of a concatenation, are left out.
std::vector<std::byte> Gather(const abi::View& view, std::span<const std::byte> buffer);

struct Judgement {
  bool pass = true;
  Tolerance tolerance;     ///< used for the comparison; 0 and 0: the elements must be equal
  Comparison comparison;   ///< of the gathered elements
  bool cancelled = false;  ///< passes only by the bounds of its terms (product_bounds.h)
};

/// `given` is the user's tolerance; if it is empty, the step's own is used (step_tolerance.h).
/// REQUIRES: both hold the same number of elements.
Judgement Judge(const TensorView& got, const TensorView& want, const StepTolerance& own,
                const Tolerance& given);

/// Judges an output again that failed by its step's own tolerance. The tolerance of each element
/// grows by the distance from `want` to `low` or `high`, whichever is larger.
Judgement JudgeWithin(const TensorView& got, const TensorView& want, const TensorView& low,
                      const TensorView& high, const StepTolerance& own, Judgement failed);

}  // namespace aicf::tools
