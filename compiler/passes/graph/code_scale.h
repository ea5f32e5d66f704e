/// One scale and zero point of a whole tensor of codes.
#pragma once

#include <string>

#include "compiler/ir/graph.h"

namespace aicf {

struct CodeScale {
  float scale = 0;
  int64_t zero = 0;
  DType codes = DType::kU8;

  bool operator==(const CodeScale&) const = default;
  int64_t Lowest() const;
  int64_t Highest() const;
  /// The code that QuantizeLinear gives a number.
  int64_t Quantised(double value) const;
  /// A rank-0 constant of the codes' dtype.
  ir::Tensor Constant(int64_t code) const;
};

/// Reads the scale and zero point of a QuantizeLinear or DequantizeLinear node whose codes have
/// dtype `codes`. Gives "", or the refusal where they are not two constant numbers, or where codes
/// would stand for numbers that are not finite.
std::string ReadCodeScale(const ir::Graph& graph, const ir::Node& node, DType codes,
                          CodeScale* out);

}  // namespace aicf
