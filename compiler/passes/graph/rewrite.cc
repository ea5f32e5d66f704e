#include "compiler/passes/graph/rewrite.h"

#include "base/float16.h"

namespace aicf {

ValueMaker::ValueMaker(ir::Graph& graph) : graph_(graph) {}

// Names are collected when the first value is made: most passes make no value of most graphs.
void ValueMaker::CollectNames() {
  if (collected_) return;
  collected_ = true;
  names_.reserve(graph_.values.size());
  for (const ir::Value& v : graph_.values) names_.insert(v.name);
}

std::string ValueMaker::Fresh(std::string_view base) {
  CollectNames();
  std::string name(base);
  name_bytes_ += static_cast<int64_t>(name.size());
  if (names_.insert(name).second) return name;
  int& next = next_.try_emplace(name, 1).first->second;
  do {
    name = StrCat(base, ".", next++);
  } while (!names_.insert(name).second);
  return name;
}

ir::ValueId ValueMaker::Value(std::string_view base, DType dtype, const Dims& shape) {
  ir::Value value;
  value.name = Fresh(base);
  value.dtype = dtype;
  value.shape = shape;
  value.shape_known = true;
  return graph_.AddValue(std::move(value));
}

ir::ValueId ValueMaker::Constant(std::string_view base, ir::Tensor tensor) {
  const ir::ValueId id = Value(base, tensor.dtype(), tensor.shape());
  graph_.values[id].constant = std::move(tensor);
  return id;
}

ir::ValueId ValueMaker::Ints(std::string_view base, std::span<const int64_t> values) {
  return Constant(base, ir::Tensor::FromValues<int64_t>(
                            DType::kI64, {static_cast<int64_t>(values.size())}, values));
}

ir::Tensor ScalarTensor(double value, DType dtype) {
  if (dtype == DType::kF64) return ir::Tensor::FromValues<double>(dtype, {}, std::span(&value, 1));
  const float single = static_cast<float>(value);
  if (dtype == DType::kF32) return ir::Tensor::FromValues<float>(dtype, {}, std::span(&single, 1));
  const uint16_t half = dtype == DType::kF16 ? F32ToF16(single) : F32ToBF16(single);
  return ir::Tensor::FromValues<uint16_t>(dtype, {}, std::span(&half, 1));
}

Forwarding::Forwarding(ir::Graph& graph)
    : graph_(graph),
      stands_for_(graph.values.size()),
      dropped_(graph.nodes.size(), false),
      is_output_(graph.values.size(), false),
      is_produced_(graph.values.size(), false) {
  for (size_t v = 0; v < stands_for_.size(); ++v) stands_for_[v] = static_cast<ir::ValueId>(v);
  for (ir::ValueId v : graph.outputs) is_output_[v] = true;
  for (const ir::Node& node : graph.nodes) {
    for (ir::ValueId v : node.outputs) {
      if (v != ir::kNoValue) is_produced_[v] = true;
    }
  }
}

ir::ValueId Forwarding::Resolve(ir::ValueId v) const {
  // Values that a pass adds while it runs stand for themselves.
  while (v != ir::kNoValue && v < static_cast<ir::ValueId>(stands_for_.size()) &&
         stands_for_[v] != v) {
    v = stands_for_[v];
  }
  return v;
}

bool Forwarding::Forward(int producer, ir::ValueId from, ir::ValueId to) {
  to = Resolve(to);
  if (!is_output_[from]) {
    stands_for_[from] = to;
  } else {
    const bool renames =
        to < static_cast<ir::ValueId>(stands_for_.size()) && is_produced_[to] && !is_output_[to];
    if (!renames) return false;
    stands_for_[to] = from;
  }
  Drop(producer);
  return true;
}

void Forwarding::Apply() {
  std::vector<ir::Node> kept;
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    if (n < dropped_.size() && dropped_[n]) continue;
    ir::Node& node = graph_.nodes[n];
    for (ir::ValueId& v : node.inputs) v = Resolve(v);
    // The only outputs with a substitute are those that have taken over the name of a graph output.
    for (ir::ValueId& v : node.outputs) v = Resolve(v);
    kept.push_back(std::move(node));
  }
  graph_.nodes = std::move(kept);
}

Uses::Uses(const ir::Graph& graph)
    : users_(ir::UsersOf(graph)), is_output_(graph.values.size(), false) {
  for (ir::ValueId v : graph.outputs) is_output_[v] = true;
}

int Uses::Single(ir::ValueId v) const {
  return !is_output_[v] && users_[v].size() == 1 ? users_[v][0] : -1;
}

void RecordRewrite(PassContext& context, std::string_view pass, DecisionKind kind,
                   schema::Subject subject, std::string choice, std::string rule,
                   std::vector<Alternative> alternatives) {
  Decision decision = context.About(kind, std::move(subject), pass);
  decision.choice = std::move(choice);
  decision.Because(Reason::kRule, std::move(rule)).alternatives = std::move(alternatives);
  context.Record(std::move(decision));
}

schema::Subject About(const ir::Node& node) { return schema::Subject::Op(node.op, node.name); }

schema::Subject About(const ir::Graph& graph, const std::vector<int>& nodes) {
  schema::NodeNames names;
  for (const int n : nodes) names.push_back(graph.nodes[n].name);
  return schema::Subject::Of(SubjectForm::kNodes, std::move(names));
}

}  // namespace aicf
