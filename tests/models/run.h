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

/// The same for a CUDA plan in the math mode on the reference kernels, whose products are of
/// operands rounded to the mode (rounded_steps.h).
Result<std::vector<OutputError>> RoundedOutputErrors(const ModelCase& c, abi::MathMode math);

/// What is known of a reference output (reference_errors.inc), scaled as OutputError is.
struct ReferenceRow {
  std::string_view model, output;
  double engine = 0;                    ///< its own distance from float64
  int depth = 0;                        ///< products in a row on the longest way to it
  double fp32 = 0, tf32 = 0, fp16 = 0;  ///< what rounding products' operands to the mode costs
};
/// nullptr where there is none.
const ReferenceRow* FindReference(std::string_view model, std::string_view output);

/// What an output may be off by: what its reference is off by itself (`engine`), and
///   fp32: 1e-4, or 2e-2 for models that store f16. Where rounding in fp32 costs more than that in
///   float64, one rounding decides something, such as which of two equal scores is the larger one;
///   then the limit is that cost and 1e-4.
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
