/// One output of one step against the reference's.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/abi/problem.h"
#include "tools/common/compare.h"
#include "tools/verify/step_tolerance.h"

namespace aicf::tools {

/// The view's elements in row-major order, out of its buffer's bytes. Elements of the buffer that
/// are not the view's (another writer's part of a concatenation) are left out.
std::vector<std::byte> Gather(const abi::View& view, std::span<const std::byte> buffer);

struct Judgement {
  bool pass = true;
  Tolerance tolerance;     ///< that the elements were compared with; 0 and 0: exactly
  Comparison comparison;   ///< of the gathered elements
  bool cancelled = false;  ///< passes by the bounds of its terms, not by its norm
};

/// `given`: the user's tolerance; where it is empty, the step's own (step_tolerance.h).
/// REQUIRES: both hold the same number of elements.
Judgement Judge(const TensorView& got, const TensorView& want, const StepTolerance& own,
                const Tolerance& given);

/// Judges again an output that failed by its own tolerance: every element may be as much farther
/// off as `low` and `high` are from `want`.
Judgement JudgeWithin(const TensorView& got, const TensorView& want, const TensorView& low,
                      const TensorView& high, const StepTolerance& own, Judgement failed);

}  // namespace aicf::tools
