/// Samples for an artifact's golden section: checked against the program, their outputs computed
/// where they are not given.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/ir/lowered.h"
#include "schema/artifact.h"

namespace aicf {

/// One sample as the user gives it.
struct GoldenSpec {
  /// By name: every input, and any number of metas and outputs; metas that are not given are zero.
  /// A name that is an output too is the input. Elements
  /// that NumPy lacks come as in .npy files: u16 for bf16, i8 or u8 for everything below 8 bits.
  std::map<std::string, ir::Tensor, std::less<>> tensors = {};
  /// None set: atol and rtol are kGoldenTolerance.
  std::optional<double> atol = {}, rtol = {}, rel = {};
};

inline constexpr double kGoldenTolerance = 1e-3;

/// Fills contents.golden. A sample belongs to the first entry point whose inputs, and whose metas
/// where they are given, have its shapes.
/// Without an output among its tensors, all outputs are computed from the entry point's lowered
/// program by the reference kernels, in the model's own precision whatever the math mode.
/// `lowered`: of the program's entry points, in their order.
/// Errors: kInvalidArgument naming the sample (counted from 1) and the tensor.
Status AttachGolden(const std::vector<GoldenSpec>& specs,
                    const std::vector<const ir::Lowered*>& lowered, schema::Contents& contents);

}  // namespace aicf
