#include "compiler/passes/graph/channel_affine.h"

#include <cmath>
#include <cstring>

#include "base/float16.h"

namespace aicf {
namespace {

template <class... Pieces>
Status No(const Pieces&... pieces) {
  return Error(Code::kUnsupported, pieces...);
}

// One value per channel from a constant that broadcasts over everything else.
Result<std::vector<double>> PerChannel(const ir::Graph& graph, ir::ValueId operand,
                                       const Dims& shape, int axis) {
  const ir::Value& v = graph.values[operand];
  if (!v.is_constant()) return No("its operand is not constant");
  if (!IsFloat(v.dtype)) return No("its operand is not a float");
  const int lead = shape.rank() - v.shape.rank();
  if (lead < 0) return No("its operand has more axes than the result");
  for (int i = 0; i < v.shape.rank(); ++i) {
    const bool channel = i + lead == axis;
    if (v.shape[i] == 1 || (channel && v.shape[i] == shape[axis])) continue;
    return No("its operand of shape ", ToString(v.shape), " does not vary by channel alone");
  }
  std::vector<double> out(shape[axis]);
  for (size_t c = 0; c < out.size(); ++c) {
    out[c] = v.constant.FloatAt(v.constant.count() == 1 ? 0 : static_cast<int64_t>(c));
  }
  return out;
}

Result<ChannelAffine> BatchNormAffine(const ir::Graph& graph, const ir::Node& node, int axis) {
  const int64_t channels = graph.values[node.inputs[0]].shape[axis];
  std::vector<double> p[4];
  for (int i = 0; i < 4; ++i) {
    const ir::Value& v = graph.values[node.inputs[i + 1]];
    if (!v.is_constant()) return No("its parameters are not constant");
    for (int64_t c = 0; c < channels; ++c) p[i].push_back(v.constant.FloatAt(c));
  }
  const auto& [scale, bias, mean, variance] = p;
  const double epsilon = node.Float("epsilon", static_cast<double>(1e-5f));
  ChannelAffine out;
  for (int64_t c = 0; c < channels; ++c) {
    out.scale.push_back(scale[c] / std::sqrt(variance[c] + epsilon));
    out.shift.push_back(bias[c] - mean[c] * out.scale[c]);
  }
  return out;
}

Result<ChannelAffine> BinaryAffine(const ir::Graph& graph, const ir::Node& node, ir::ValueId input,
                                   int axis) {
  const bool first = node.inputs[0] == input;
  if (node.inputs[0] == node.inputs[1]) return No("both operands are the result");
  if (!first && (node.op == "Sub" || node.op == "Div"))
    return No("the result is its second operand");
  const Dims& shape = graph.values[input].shape;
  AICF_ASSIGN_OR_RETURN(const std::vector<double> c,
                        PerChannel(graph, node.inputs[first ? 1 : 0], shape, axis));
  ChannelAffine out{std::vector<double>(c.size(), 1), std::vector<double>(c.size(), 0)};
  for (size_t i = 0; i < c.size(); ++i) {
    if (node.op == "Mul") out.scale[i] = c[i];
    if (node.op == "Div") out.scale[i] = 1 / c[i];
    if (node.op == "Add") out.shift[i] = c[i];
    if (node.op == "Sub") out.shift[i] = -c[i];
  }
  return out;
}

// Stores a folded weight or bias, computed in f64, in the dtype. False where the dtype cannot hold
// it as a finite number.
bool Store(DType dtype, double value, std::byte* out) {
  const float single = static_cast<float>(value);
  const auto put = [&](auto v, bool finite) {
    std::memcpy(out, &v, sizeof v);
    return finite;
  };
  if (dtype == DType::kF64) return put(value, std::isfinite(value));
  if (dtype == DType::kF32) return put(single, std::isfinite(single));
  if (dtype == DType::kBF16)
    return put(F32ToBF16(single), std::isfinite(BF16ToF32(F32ToBF16(single))));
  return put(F32ToF16(single), std::isfinite(F16ToF32(F32ToF16(single))));
}

// Element i of the result is value(i).
template <class F>
Result<ir::Tensor> MakeTensor(DType dtype, const Dims& shape, F&& value) {
  const int64_t count = *ElementCount(shape);
  const int64_t size = DTypeBytes(dtype);
  std::vector<std::byte> bytes(count * size);
  for (int64_t i = 0; i < count; ++i) {
    if (!Store(dtype, value(i), bytes.data() + i * size))
      return No("a folded value would not be finite");
  }
  return ir::Tensor::Own(dtype, shape, std::move(bytes));
}

// The output channel that weight element i belongs to.
struct ChannelOfWeight {
  bool transposed_conv = false;  // [C, M/group, kernel...]
  bool columns = false;          // Gemm without transB: [K, N]
  int64_t inner = 1;             // elements per step of the channel axis
  int64_t channels = 1;          // along that axis of the weights
  int64_t group_rows = 1;        // transposed: input channels per group

  int64_t operator()(int64_t i) const {
    const int64_t row = i / inner;
    if (columns) return i % channels;
    if (!transposed_conv) return row;
    return row % channels + channels * (row / channels / group_rows);
  }
};

ChannelOfWeight MakeChannelOfWeight(const ir::Node& product, const Dims& w) {
  ChannelOfWeight of;
  const bool gemm = product.op == "Gemm";
  of.transposed_conv = product.op == "ConvTranspose";
  of.columns = gemm && product.Int("transB", 0) == 0;
  const int first = of.transposed_conv ? 2 : 1;
  of.inner = *ElementCount(Dims(w.span().subspan(first)));
  of.channels = of.transposed_conv || of.columns ? w[1] : w[0];
  if (of.transposed_conv) of.group_rows = w[0] / product.Int("group", 1);
  return of;
}

}  // namespace

bool IsProduct(const ir::Node& node) {
  return node.op == "Conv" || node.op == "ConvTranspose" || node.op == "Gemm";
}

Result<ChannelAffine> AffineOf(const ir::Graph& graph, const ir::Node& node, ir::ValueId input,
                               int axis) {
  const bool binary = node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div";
  if (!binary && node.op != "BatchNormalization")
    return No(node.op, " is no multiplication or addition");
  if (!(graph.values[node.outputs[0]].shape == graph.values[input].shape)) {
    return No("it broadcasts the result");
  }
  AICF_ASSIGN_OR_RETURN(ChannelAffine out, binary ? BinaryAffine(graph, node, input, axis)
                                                  : BatchNormAffine(graph, node, axis));
  for (size_t c = 0; c < out.scale.size(); ++c) {
    if (!std::isfinite(out.scale[c]) || !std::isfinite(out.shift[c])) {
      return No("its scale or shift of channel ", c, " is not finite");
    }
  }
  return out;
}

Result<FoldedProduct> FoldAffine(const ir::Graph& graph, const ir::Node& product,
                                 const ChannelAffine& affine) {
  const ir::Value& w = graph.values[product.inputs[1]];
  const int64_t channels = static_cast<int64_t>(affine.scale.size());
  std::vector<double> bias(channels, 0);
  if (product.input(2) != ir::kNoValue) {
    const Dims result = graph.values[product.outputs[0]].shape;
    const Dims shape = product.op == "Gemm" ? result : Dims{1, channels};
    auto given = PerChannel(graph, product.inputs[2], shape, 1);
    if (!given.ok()) return No("the bias is no constant per channel");
    bias = *std::move(given);
  }
  const double beta = product.op == "Gemm" ? product.Float("beta", 1) : 1;
  const ChannelOfWeight channel = MakeChannelOfWeight(product, w.shape);
  FoldedProduct out;
  AICF_ASSIGN_OR_RETURN(out.weights, MakeTensor(w.dtype, w.shape, [&](int64_t i) {
                          return w.constant.FloatAt(i) * affine.scale[channel(i)];
                        }));
  AICF_ASSIGN_OR_RETURN(out.bias, MakeTensor(w.dtype, {channels}, [&](int64_t c) {
                          return beta * bias[c] * affine.scale[c] + affine.shift[c];
                        }));
  return out;
}

}  // namespace aicf
