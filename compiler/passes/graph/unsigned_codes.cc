// Codes of i8 whose zero point is the lowest of them, as quantisers give them to values that are
// never negative, become codes of u8 with the zero point 0: each is 128 more, and means the same. A
// zero point of 0 costs a product nothing: its sums need no correction, and its padding is plain
// zeros.
#include <algorithm>

#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

constexpr std::string_view kUnsignedCodes = "unsigned-codes";

bool IsLowest(const ir::Graph& graph, ir::ValueId zero) {
  if (zero == ir::kNoValue) return false;
  const ir::Value& value = graph.values[zero];
  if (value.dtype != DType::kI8 || !value.is_constant()) return false;
  const ir::Tensor& t = value.constant;
  for (int64_t i = 0; i < t.count(); ++i) {
    if (t.IntAt(i) != -128) return false;
  }
  return t.count() > 0;
}

// Whether the node does nothing with the codes but read them with the same zero point.
bool ReadsAsLowest(const ir::Graph& graph, const ir::Node& node) {
  return node.op == "DequantizeLinear" && IsLowest(graph, node.input(2));
}

ir::ValueId Zeros(const ir::Graph& graph, ir::ValueId like, ValueMaker& make) {
  const ir::Value value = graph.values[like];
  const std::vector<uint8_t> zeros(static_cast<size_t>(value.constant.count()));
  return make.Constant(
      StrCat(value.name, " unsigned"),
      ir::Tensor::FromValues<uint8_t>(DType::kU8, value.shape, std::span<const uint8_t>(zeros)));
}

}  // namespace

Status UnsignedCodes(ir::Graph& graph, PassContext& context) {
  const Uses uses(graph);
  ValueMaker make(graph);
  for (ir::Node& node : graph.nodes) {
    if (node.op != "QuantizeLinear" || !IsLowest(graph, node.input(2))) continue;
    const ir::ValueId codes = node.outputs[0];
    const std::vector<int>& readers = uses.Of(codes);
    const bool all = std::ranges::all_of(
        readers, [&](int reader) { return ReadsAsLowest(graph, graph.nodes[reader]); });
    if (!all || readers.empty() || uses.IsOutput(codes) || node.attrs.contains("output_dtype")) {
      continue;
    }
    RecordRewrite(
        context, kUnsignedCodes, DecisionKind::kLayout, About(node), "u8",
        "its zero point is the lowest code: as the code 0 of u8 it costs products nothing");
    node.inputs[2] = Zeros(graph, node.inputs[2], make);
    graph.values[codes].dtype = DType::kU8;
    for (const int reader : readers) {
      ir::Node& reading = graph.nodes[reader];
      reading.inputs[2] = Zeros(graph, reading.inputs[2], make);
    }
  }
  return OkStatus();
}

}  // namespace aicf
