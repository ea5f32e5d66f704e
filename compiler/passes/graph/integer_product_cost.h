/// Whether a product of quantised operands is worth computing in integers on a GPU.
#pragma once

#include <string>

#include "compiler/ir/graph.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// What a product multiplies: the dtypes of its codes, and whether the left ones are dequantised in
/// a step of their own where the product is one of floats. They are not where the product alone
/// reads them: then they are dequantised by what makes them.
struct ProductCodes {
  DType x, w;
  bool dequantised_apart = false;
};

/// Empty, or why a Conv, MatMul or Gemm is no faster when its codes are multiplied as they are than
/// when they are dequantised and multiplied as floats: by what the target's kernels are predicted
/// to take for either, in the layouts that lowering gives them. A float product is one of the dtype
/// and the math mode that the options ask for. REQUIRES: shapes are inferred, the right operand of
/// MatMul and Gemm is a matrix.
std::string IntegerProductRefusal(const ir::Graph& graph, const ir::Node& node,
                                  const ProductCodes& codes, const PassContext& context);

/// Empty where a product of codes is predicted to be faster than one of floats of the dtype, else
/// the refusal with both times.
std::string SlowerInCodes(double codes_us, double floats_us, DType floats);

}  // namespace aicf
