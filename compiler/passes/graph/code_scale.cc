#include "compiler/passes/graph/code_scale.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace aicf {

int64_t CodeScale::Lowest() const {
  return KindOf(codes) == DTypeKind::kSigned ? -(int64_t{1} << (8 * DTypeBytes(codes) - 1)) : 0;
}

int64_t CodeScale::Highest() const {
  return Lowest() + (int64_t{1} << (8 * DTypeBytes(codes))) - 1;
}

int64_t CodeScale::Quantised(double value) const {
  const float quotient = static_cast<float>(value) / scale;
  const double code = std::nearbyint(static_cast<double>(quotient)) + static_cast<double>(zero);
  return static_cast<int64_t>(
      std::clamp(code, static_cast<double>(Lowest()), static_cast<double>(Highest())));
}

ir::Tensor CodeScale::Constant(int64_t code) const {
  if (DTypeBytes(codes) == 2) {
    const auto value = static_cast<int16_t>(code);
    return ir::Tensor::FromValues<int16_t>(codes, {}, std::span(&value, 1));
  }
  const auto value = static_cast<int8_t>(code);
  return ir::Tensor::FromValues<int8_t>(codes, {}, std::span(&value, 1));
}

std::string ReadCodeScale(const ir::Graph& graph, const ir::Node& node, DType codes,
                          CodeScale* out) {
  if (!IsInteger(codes) || IsStorageOnly(codes) || DTypeBytes(codes) > 2) {
    return "dtype: codes that are not of 8 or 16 bits";
  }
  const ir::Tensor& scale = graph.values[node.inputs[1]].constant;
  if (!scale.has_data() || scale.count() != 1) {
    return "operand: a scale that is no constant number";
  }
  if (scale.dtype() != DType::kF32) return "dtype: a scale that is not f32";
  *out = {static_cast<float>(scale.FloatAt(0)), 0, codes};
  if (!(out->scale > 0) || !std::isfinite(out->scale * 65536)) {
    return "range: a scale whose codes have no finite values";
  }
  if (node.input(2) == ir::kNoValue) return "";
  const ir::Tensor& zero = graph.values[node.inputs[2]].constant;
  if (!zero.has_data()) return "operand: a computed zero point";
  if (zero.count() != 1) return "operand: more than one zero point";
  out->zero = zero.IntAt(0);
  return "";
}

}  // namespace aicf
