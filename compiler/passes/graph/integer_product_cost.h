/// Whether a product of quantised operands is worth computing in its codes, integers or float8, on
/// a GPU.
#pragma once

#include <string>

#include "compiler/ir/graph.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// The dtypes of the codes that a product multiplies, and whether a step of its own dequantises the
/// left codes if the product becomes one of floats. That is not so where the product alone reads
/// them: then the step that makes them dequantises them.
struct ProductCodes {
  DType x, w;
  bool dequantised_apart = false;
};

/// Empty where a Conv, MatMul or Gemm is faster when its codes are multiplied as they are than when
/// they are dequantised and multiplied as floats; else the refusal. It compares what the target's
/// kernels are predicted to take for either, in the layouts that lowering gives them. The product
/// of floats has the dtype and the math mode that the options ask for. REQUIRES: shapes are
/// inferred, the right operand of MatMul and Gemm is a matrix.
std::string IntegerProductRefusal(const ir::Graph& graph, const ir::Node& node,
                                  const ProductCodes& codes, const PassContext& context);

/// Empty where a product of codes is predicted to be faster than one of floats of the dtype, else
/// the refusal with both times.
std::string SlowerInCodes(double codes_us, double floats_us, DType floats);

}  // namespace aicf
