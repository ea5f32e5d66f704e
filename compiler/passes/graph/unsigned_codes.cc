// Codes of i8 with a zero point become codes of u8 whose zero point is 128 more: each code is 128
// more, and means the same. Quantisers give the lowest code as zero point to values that are never
// negative. As the code 0 it costs a product nothing: its sums need no correction, and its padding
// is plain zeros. With any zero point, codes of u8 take two instructions less to round to: NaN
// becomes the code 0, which for u8 is where clamping leads anyway. Codes without a zero point stay,
// since they cost a product nothing as they are.
#include <algorithm>

#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

constexpr std::string_view kUnsignedCodes = "unsigned-codes";

// Whether the zero point is one of i8 that is not 0 anywhere.
bool HasZeroPoint(const ir::Graph& graph, ir::ValueId zero) {
  if (zero == ir::kNoValue) return false;
  const ir::Value& value = graph.values[zero];
  if (value.dtype != DType::kI8 || !value.is_constant()) return false;
  const ir::Tensor& t = value.constant;
  for (int64_t i = 0; i < t.count(); ++i) {
    if (t.IntAt(i) == 0) return false;
  }
  return t.count() > 0;
}

// Whether the node does nothing with the codes but read them with the zero point `zero`.
bool ReadsWith(const ir::Graph& graph, const ir::Node& node, ir::ValueId zero) {
  if (node.op != "DequantizeLinear" || !HasZeroPoint(graph, node.input(2))) return false;
  const ir::Tensor& a = graph.values[node.input(2)].constant;
  const ir::Tensor& b = graph.values[zero].constant;
  return a.shape() == b.shape() && std::ranges::equal(a.bytes(), b.bytes());
}

ir::ValueId UnsignedOf(const ir::Graph& graph, ir::ValueId zero, ValueMaker& make) {
  const ir::Value value = graph.values[zero];
  std::vector<uint8_t> codes;
  for (int64_t i = 0; i < value.constant.count(); ++i)
    codes.push_back(static_cast<uint8_t>(value.constant.IntAt(i) + 128));
  return make.Constant(
      StrCat(value.name, " unsigned"),
      ir::Tensor::FromValues<uint8_t>(DType::kU8, value.shape, std::span<const uint8_t>(codes)));
}

}  // namespace

Status UnsignedCodes(ir::Graph& graph, PassContext& context) {
  const Uses uses(graph);
  ValueMaker make(graph);
  for (ir::Node& node : graph.nodes) {
    if (node.op != "QuantizeLinear" || !HasZeroPoint(graph, node.input(2))) continue;
    const ir::ValueId codes = node.outputs[0], zero = node.inputs[2];
    const std::vector<int>& readers = uses.Of(codes);
    const bool all = std::ranges::all_of(
        readers, [&](int reader) { return ReadsWith(graph, graph.nodes[reader], zero); });
    if (!all || readers.empty() || uses.IsOutput(codes) || node.attrs.contains("output_dtype")) {
      continue;
    }
    RecordRewrite(context, kUnsignedCodes, DecisionKind::kLayout, About(node), "u8",
                  "with a zero point they take fewer instructions to round to, and the lowest code "
                  "as zero point costs products nothing as the code 0");
    node.inputs[2] = UnsignedOf(graph, zero, make);
    graph.values[codes].dtype = DType::kU8;
    for (const int reader : readers) {
      ir::Node& reading = graph.nodes[reader];
      reading.inputs[2] = UnsignedOf(graph, reading.inputs[2], make);
    }
  }
  return OkStatus();
}

}  // namespace aicf
