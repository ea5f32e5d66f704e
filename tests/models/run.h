/// Compiling and running a model case.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aicf/aicf.h"
#include "compiler/compiler.h"
#include "tests/models/cases.h"

namespace aicf::testing {

/// `precision`: CompileOptions::precision.
Result<std::vector<std::byte>> CompileBytes(const ModelCase& c, const std::string& target,
                                            abi::MathMode math, DType precision = DType::kF32);
Result<std::shared_ptr<const Program>> CompileCase(const ModelCase& c, const std::string& target,
                                                   abi::MathMode math,
                                                   DType precision = DType::kF32);

struct OutputError {
  std::string name;
  double error;  ///< largest absolute error, scaled by the largest magnitude of the reference
};

/// Runs the case's inputs and compares every output. Errors: kCheckFailed on another shape or
/// dtype.
Result<std::vector<OutputError>> OutputErrors(const ModelCase& c,
                                              std::shared_ptr<const Program> program,
                                              const std::string& device);

/// Like OutputErrors, for a CUDA plan in this math mode that runs on the reference kernels with the
/// operands of products rounded to the mode (rounded_steps.h).
Result<std::vector<OutputError>> RoundedOutputErrors(const ModelCase& c, abi::MathMode math);

/// What is known about the errors of a reference output (reference_errors.inc), scaled like
/// OutputError::error.
struct ReferenceRow {
  std::string_view model, output;
  double engine = 0;                    ///< distance of the reference itself from float64
  int depth = 0;                        ///< most products in a row on a path to the output
  double fp32 = 0, tf32 = 0, fp16 = 0;  ///< error from rounding products' operands to the mode
};
/// nullptr where there is none.
const ReferenceRow* FindReference(std::string_view model, std::string_view output);

/// The error that an output may have. It is the sum of the reference's own error (`engine`) and
///   fp32: 1e-4, or 2e-2 for models that store f16. Where rounding in fp32 costs more than that in
///   float64, one rounding decides something, such as which of two equal scores is the larger one;
///   then the limit is that cost plus 1e-4.
///   tf32, fp16: each product rounds its operands to 11 bits, and these roundings add up like a
///   random walk over the products in a row. Four times the length of the walk is allowed. A model
///   that amplifies roundings exceeds that in float64 too; then twice that cost is allowed, because
///   the same roundings meet other sums.
double OutputTolerance(const ReferenceRow& row, abi::MathMode math, bool stores_half);
/// The same for values stored in f16: beside the operands of products, every value between steps is
/// rounded, so twice the limit of fp16.
double StorageTolerance(const ReferenceRow& row);
/// Whether the limit for tf32 and fp16 is that of a model which amplifies roundings.
bool Amplifies(const ReferenceRow& row, abi::MathMode math);

bool HasGpu();
bool HasNvrtc();

}  // namespace aicf::testing
