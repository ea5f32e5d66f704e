#include <algorithm>

#include "base/hash.h"
#include "compiler/ir/lowered_edit.h"
#include "compiler/ir/scaled_node.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lower.h"

namespace aicf {
namespace {

// Ranks with one to three spatial axes, as in abi::ConvAttrs.
bool HasSpatialRank(const Dims& shape) { return shape.rank() >= 3 && shape.rank() <= 5; }

bool IsConv(const ir::Node& node) {
  return node.op == "Conv" || node.op == "ConvTranspose" || node.op == "ConvInteger" ||
         node.op == "QLinearConv" || node.op == ir::kCodeConv;
}

std::string OrderName(const Dims& order) {
  if (order == ir::ChannelsLastOrder(order.rank())) return "channels-last";
  return StrCat("axis order ", ToListString(order));
}

}  // namespace

LowerContext::LowerContext(const ir::Graph& graph, ir::Lowered& lowered, PassContext& pass)
    : graph_(graph),
      lowered_(lowered),
      pass_(pass),
      views_(graph.values.size()),
      is_output_(graph.values.size(), false),
      feeds_conv_(graph.values.size(), false),
      output_buffers_(graph.values.size()) {
  for (ir::ValueId id : graph.outputs) is_output_[id] = true;
  for (const ir::Node& node : graph.nodes) {
    if (IsConv(node)) feeds_conv_[node.inputs[0]] = true;
  }
  for (ir::ValueId id : graph.inputs) {
    const ir::Value& v = value(id);
    const ir::BufferId b = AddBuffer({v.name, v.dtype, v.shape, schema::Role::kInput, {}});
    lowered_.inputs.push_back(b);
    views_[id] = ValueView{b, abi::DenseView(v.dtype, v.shape)};
  }
}

ir::BufferId LowerContext::AddBuffer(ir::LoweredBuffer buffer) {
  lowered_.buffers.push_back(std::move(buffer));
  return static_cast<ir::BufferId>(lowered_.buffers.size() - 1);
}

ValueView LowerContext::Get(ir::ValueId id) {
  if (!views_[id] && value(id).is_constant()) {
    views_[id] = Constant(value(id).name, value(id).constant);
  }
  return *views_[id];
}

void LowerContext::Alias(ir::ValueId id, ValueView view) { views_[id] = std::move(view); }

bool LowerContext::WantsChannelsLast(ir::ValueId id) const {
  return feeds_conv_[id] && HasSpatialRank(value(id).shape);
}

ValueView LowerContext::DefineInOrder(ir::ValueId id, const Dims& order) {
  const ir::Value& v = value(id);
  const bool output = is_output_[id];
  const schema::Role role = output ? schema::Role::kOutput : schema::Role::kTemp;
  ValueView made{AddBuffer({v.name, v.dtype, v.shape, role, {}}), abi::DenseView(v.dtype, v.shape)};
  if (output) output_buffers_[id] = made.buffer;
  if (!output && !order.empty()) made.view.strides = ir::StridesInOrder(v.shape, order);
  views_[id] = made;
  return made;
}

ValueView LowerContext::DefineDense(ir::ValueId id) { return DefineInOrder(id, {}); }

ValueView LowerContext::Define(ir::ValueId id) {
  if (!WantsChannelsLast(id)) return DefineDense(id);
  return DefineInOrder(id, ir::ChannelsLastOrder(value(id).shape.rank()));
}

ValueView LowerContext::DefineLike(ir::ValueId id, const ValueView& leader) {
  if (WantsChannelsLast(id)) return Define(id);
  const ValueView made = DefineInOrder(id, ir::AxisOrder(leader.view));
  const auto group = group_of_.find(leader.buffer);
  if (group != group_of_.end() && !is_output_[id]) {
    group_of_[made.buffer] = group->second;
    groups_[group->second].followers.push_back(value(id).name);
  }
  return made;
}

ValueView LowerContext::DefineChannelsLast(const ir::Node& node, ir::ValueId id) {
  if (!HasSpatialRank(value(id).shape)) return DefineDense(id);
  const Dims order = ir::ChannelsLastOrder(value(id).shape.rank());
  const ValueView made = DefineInOrder(id, order);
  schema::Subject subject =
      schema::Subject::ValueOf(SubjectForm::kValue, value(id).name, {node.name});
  if (is_output_[id]) {
    Decision d = pass_.About(DecisionKind::kLayout, std::move(subject), "lower");
    d.choice = "row-major";
    d.Because(Reason::kRule, "the caller sees graph outputs row-major").alternatives = {
        {"channels-last", "graph-output: the value is one, and callers see those row-major", -1}};
    pass_.Record(std::move(d));
    return made;
  }
  group_of_[made.buffer] = groups_.size();
  groups_.push_back({std::move(subject), order, {}});
  return made;
}

ValueView LowerContext::Temp(std::string_view name, DType dtype, const Dims& shape,
                             const Dims& order) {
  ValueView made{AddBuffer({std::string(name), dtype, shape, schema::Role::kTemp, {}}),
                 abi::DenseView(dtype, shape)};
  if (!order.empty()) made.view.strides = ir::StridesInOrder(shape, order);
  return made;
}

ValueView LowerContext::DefineCarried(ir::ValueId id) {
  const ir::Value& v = value(id);
  const ValueView made{AddBuffer({v.name, v.dtype, v.shape, schema::Role::kCarried, {}}),
                       abi::DenseView(v.dtype, v.shape)};
  views_[id] = made;
  return made;
}

bool LowerContext::IsCarried(const ValueView& view) const {
  return lowered_.buffers[view.buffer].role == schema::Role::kCarried;
}

void LowerContext::OpenLoop(ir::BufferId condition) {
  lowered_.loops.push_back({condition, loop_});
  loop_ = static_cast<int32_t>(lowered_.loops.size()) - 1;
}

void LowerContext::CloseLoop() { loop_ = lowered_.loops[static_cast<size_t>(loop_)].parent; }

ValueView LowerContext::Constant(std::string_view name, const ir::Tensor& tensor) {
  const Hash128 hash = HashBytes(tensor.bytes());
  std::vector<ir::BufferId>& known = constants_[{hash.high, hash.low}];
  for (ir::BufferId b : known) {
    const ir::LoweredBuffer& buffer = lowered_.buffers[b];
    if (buffer.dtype == tensor.dtype() && buffer.constant.bytes().size() == tensor.bytes().size()) {
      return {b, abi::DenseView(tensor.dtype(), tensor.shape())};
    }
  }
  const ir::BufferId b = AddBuffer(
      {std::string(name), tensor.dtype(), tensor.shape(), schema::Role::kConstant, tensor});
  known.push_back(b);
  return {b, abi::DenseView(tensor.dtype(), tensor.shape())};
}

void LowerContext::Emit(const ir::Node& node, abi::Problem problem,
                        std::vector<ir::BufferId> inputs, std::vector<ir::BufferId> outputs) {
  const bool writes = std::any_of(problem.outputs.begin(), problem.outputs.end(),
                                  [](const abi::View& v) { return abi::ElementsOf(v) != 0; });
  if (!writes) return;
  lowered_.steps.push_back(
      {{node.name}, std::move(problem), std::move(inputs), std::move(outputs), {}, loop_});
}

void LowerContext::EmitCopy(const ir::Node& node, const ValueView& from, const ValueView& to,
                            std::string_view why, Reason reason) {
  abi::Problem p;
  p.family = abi::Family::kCopy;
  p.attrs = abi::CopyAttrs{{Dims::Filled(to.view.shape.rank(), 0)}, false, 0};
  p.inputs = {from.view};
  p.outputs = {to.view};
  p.core_inputs = 1;
  Emit(node, std::move(p), {from.buffer}, {to.buffer});
  RecordCopy(node, lowered_.buffers[to.buffer].name, std::string(why), reason);
}

void LowerContext::RecordCopy(const ir::Node& node, const std::string& written, std::string why,
                              Reason reason) {
  Decision d =
      pass_.About(DecisionKind::kCopy,
                  schema::Subject::ValueOf(SubjectForm::kWritten, written, {node.name}), "lower");
  d.choice = "copy";
  pass_.Record(d.Because(reason, std::move(why)));
}

void LowerContext::CopyToOutput(const ir::Node& node, ir::ValueId id) {
  const ir::Value& v = value(id);
  const ValueView made{AddBuffer({v.name, v.dtype, v.shape, schema::Role::kOutput, {}}),
                       abi::DenseView(v.dtype, v.shape)};
  EmitCopy(node, Get(id), made,
           "a graph output has its own row-major buffer, and the value is a view");
  output_buffers_[id] = made.buffer;
}

void LowerContext::FinishOutputs(const ir::Node& node) {
  for (ir::ValueId id : node.outputs) {
    if (id == ir::kNoValue || !is_output_[id] || output_buffers_[id]) continue;
    CopyToOutput(node, id);
  }
}

void LowerContext::RecordLayouts() {
  for (const LayoutGroup& g : groups_) {
    std::string rule =
        "a convolution reads and writes whole pixels, so channels are stored next to each "
        "other";
    if (!g.followers.empty()) rule += StrCat("; followed by ", g.followers.size(), " values:");
    for (size_t i = 0; i < g.followers.size(); ++i) {
      rule += StrCat(i == 0 ? " '" : ", '", g.followers[i], "'");
    }
    Decision d = pass_.About(DecisionKind::kLayout, g.subject, "lower");
    d.choice = OrderName(g.order);
    d.Because(Reason::kRule, std::move(rule)).alternatives = {
        {"row-major", "cost: it would transpose at every convolution", -1}};
    pass_.Record(std::move(d));
  }
}

bool LowerContext::IsBufferName(const std::string& name) {
  for (; named_ < lowered_.buffers.size(); ++named_) names_.insert(lowered_.buffers[named_].name);
  return names_.contains(name);
}

// Exports the count of a graph output as an output buffer of its own, behind the outputs of the
// graph. Outputs with the same count share it.
void LowerContext::ExportCount(size_t output, const ir::DynamicExtent& extent) {
  const auto [known, fresh] =
      counts_.emplace(extent.count, static_cast<uint32_t>(lowered_.outputs.size()));
  lowered_.extents.push_back(
      {static_cast<uint32_t>(output), static_cast<uint32_t>(extent.axis), known->second});
  if (!fresh) return;
  std::string name = StrCat(value(graph_.outputs[output]).name, ".count");
  while (IsBufferName(name)) name += "_";
  const ValueView from = Get(extent.count);
  const ValueView to{AddBuffer({name, DType::kI64, {1}, schema::Role::kOutput, {}}),
                     abi::DenseView(DType::kI64, {1})};
  ir::Node source;
  source.name = StrCat("output:", name);
  EmitCopy(source, {from.buffer, *ir::Reshape(from.view, {1})}, to,
           "the count of a graph output is read by the caller");
  lowered_.outputs.push_back(to.buffer);
}

void LowerContext::Finish(const ir::DynamicExtents& extents) {
  for (ir::ValueId id : graph_.outputs) {
    if (!output_buffers_[id]) {
      // The output is an input or a constant of the graph.
      ir::Node source;
      source.name = StrCat("output:", value(id).name);
      CopyToOutput(source, id);
    }
    lowered_.outputs.push_back(*output_buffers_[id]);
  }
  for (size_t o = 0; o < graph_.outputs.size(); ++o) {
    const ir::DynamicExtent* extent = extents.Of(graph_.outputs[o]);
    if (extent != nullptr) ExportCount(o, *extent);
  }
  RecordLayouts();
  ir::DropUnusedBuffers(lowered_);
}

}  // namespace aicf
