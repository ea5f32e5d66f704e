#include "compiler/passes/graph/expand.h"

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "base/scanner.h"

namespace aicf {
namespace {

using ir::kNoValue;
using ir::ValueId;

constexpr std::string_view kControl[] = {"If", "Loop", "Scan"};
constexpr std::string_view kSequence[] = {
    "ConcatFromSequence", "SequenceAt",     "SequenceConstruct",  "SequenceEmpty",
    "SequenceErase",      "SequenceInsert", "SequenceLength",     "SequenceMap",
    "SplitToSequence",    "Optional",       "OptionalGetElement", "OptionalHasElement"};

template <size_t N>
bool Contains(const std::string_view (&names)[N], std::string_view op) {
  for (std::string_view name : names) {
    if (name == op) return true;
  }
  return false;
}

}  // namespace

Expander::Expander(ir::Graph& graph, ValueMaker& make, PassContext& context, Visit visit)
    : graph_(graph),
      make_(make),
      context_(context),
      visit_(std::move(visit)),
      most_nodes_(context.budgets.Of(Budget::kNodes)) {}

bool Expander::Takes(const ir::Node& node) const {
  if (Contains(kControl, node.op) || Contains(kSequence, node.op)) return true;
  if (node.op != "Identity" || node.inputs.empty()) return false;
  return IsSequence(node.inputs[0]) || nones_.contains(node.inputs[0]);
}

Status Expander::Expand(const ir::Node& node) {
  if (node.op == "If") return If(node);
  if (node.op == "Loop") return Loop(node);
  if (node.op == "Scan") return Scan(node);
  if (node.op.starts_with("Optional")) return Optional(node);
  if (node.op == "Identity") return Bind(node, 0, node.inputs[0]);
  return Sequence(node);
}

Status Expander::CheckTensors(const ir::Node& node, size_t count) const {
  for (size_t i = 0; i < std::min(count, node.inputs.size()); ++i) {
    const ValueId v = node.inputs[i];
    if (v == kNoValue) continue;
    if (IsSequence(v)) return Error(Code::kBadModel, "input ", i, " is a sequence");
    if (IsNone(v)) return Error(Code::kBadModel, "input ", i, " is an empty optional");
  }
  return OkStatus();
}

Status Expander::If(const ir::Node& node) {
  const ir::Body* then_body = node.FindBody("then_branch");
  const ir::Body* else_body = node.FindBody("else_branch");
  if (node.inputs.size() != 1 || then_body == nullptr || else_body == nullptr) {
    return Error(Code::kBadModel, "needs a condition and two branches");
  }
  const size_t count = node.outputs.size();
  if (then_body->graph->outputs.size() != count || else_body->graph->outputs.size() != count) {
    return Error(Code::kBadModel, "its branches do not have ", count, " outputs each");
  }
  AICF_RETURN_IF_ERROR(CheckTensors(node, 1));
  AICF_ASSIGN_OR_RETURN(const std::optional<int64_t> known, ConstantScalar(node.inputs[0]));
  if (known) {
    const bool taken = *known != 0;
    Explain(node, taken ? "then_branch" : "else_branch", "the condition is constant");
    AICF_ASSIGN_OR_RETURN(const Ids results, Inline(node, taken ? *then_body : *else_body, {}, ""));
    for (size_t i = 0; i < count; ++i) AICF_RETURN_IF_ERROR(Bind(node, i, results[i]));
    return OkStatus();
  }
  Explain(node, "both branches",
          "the condition is known at run time only: its results are selected");
  path_.emplace_back(node.inputs[0], true);
  const Result<Ids> yes = Inline(node, *then_body, {}, "then");
  path_.back().second = false;
  const Result<Ids> no = Inline(node, *else_body, {}, "else");
  path_.pop_back();
  // A branch that breaks a rule for these shapes would fail whenever it was taken: it is
  // impossible.
  const auto impossible = [](const Result<Ids>& r) { return r.status().code() == Code::kBadModel; };
  if (yes.ok() && impossible(no)) return SelectOrNan(node, *yes, true, no.status());
  if (no.ok() && impossible(yes)) return SelectOrNan(node, *no, false, yes.status());
  AICF_RETURN_IF_ERROR(yes.status());
  AICF_RETURN_IF_ERROR(no.status());
  for (size_t i = 0; i < count; ++i) {
    if (node.outputs[i] == kNoValue) continue;
    AICF_ASSIGN_OR_RETURN(const ValueId merged, Select(node, node.inputs[0], (*yes)[i], (*no)[i]));
    AICF_RETURN_IF_ERROR(Bind(node, i, merged));
  }
  return OkStatus();
}

Status Expander::SelectOrNan(const ir::Node& node, const Ids& possible, bool when,
                             const Status& other) {
  const std::string_view name = when ? "else_branch" : "then_branch";
  if (!context_.nan_branches) {
    return Error(
        Code::kUnsupported, "the ", name, " cannot run with these shapes (", other.message(),
        "), and a run decides whether it is taken; bind the condition's inputs with --bind, "
        "or let its results be NaN with --impossible-branches=nan");
  }
  Log(LogLevel::kWarning,
      StrCat("If node ", Quote(node.name), ": the ", name, " cannot run with these shapes (",
             other.message(), "); where the condition takes it, the results are NaN"));
  Explain(node, StrCat("NaN for the ", name), StrCat("with these shapes ", other.message()));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    const DType dtype = graph_.values[possible[i]].dtype;
    if (IsSequence(possible[i]) || !IsFloat(dtype)) return other;
    ValueId none = make_.Constant(StrCat(node.name, "/nan"),
                                  ir::Tensor::FromValues<float>(DType::kF32, {}, {{nan}}));
    if (dtype != DType::kF32) {
      AICF_ASSIGN_OR_RETURN(
          none, Emit(node, "Cast", {none}, {{"to", ir::AttrValue(std::string(DTypeName(dtype)))}}));
    }
    AICF_ASSIGN_OR_RETURN(const ValueId condition, Scalar(node, node.inputs[0]));
    AICF_ASSIGN_OR_RETURN(
        const ValueId merged,
        Emit(node, "Where", {condition, when ? possible[i] : none, when ? none : possible[i]}));
    AICF_RETURN_IF_ERROR(Bind(node, i, merged));
  }
  return OkStatus();
}

Result<ValueId> Expander::Scalar(const ir::Node& owner, ValueId condition) {
  if (graph_.values[condition].shape.rank() == 0) return condition;
  const ValueId shape = make_.Ints(StrCat(owner.name, "/scalar"), {});
  return Emit(owner, "Reshape", {condition, shape});
}

Result<ValueId> Expander::Outside(ValueId inside, Scope& scope) {
  if (inside == kNoValue) return kNoValue;
  ValueId& known = scope.values[static_cast<size_t>(inside)];
  if (known != kNoValue) return known;
  const ir::Value& value = scope.graph->values[inside];
  if (!value.is_constant()) {
    return Error(Code::kBadModel, "reads ", Quote(value.name), " of a subgraph before it exists");
  }
  ValueId& shared = constants_[scope.graph].emplace(inside, kNoValue).first->second;
  if (shared == kNoValue) shared = make_.Constant(value.name, value.constant);
  return known = shared;
}

Status Expander::InlineNode(const ir::Node& source, Scope& scope) {
  ir::Node node = source;
  node.name = StrCat(scope.prefix, "/", source.name);
  for (ValueId& v : node.inputs) {
    AICF_ASSIGN_OR_RETURN(v, Outside(v, scope));
  }
  for (ir::Body& nested : node.bodies) {
    for (auto& [inside, outside] : nested.captures) {
      AICF_ASSIGN_OR_RETURN(outside, Outside(outside, scope));
    }
  }
  for (ValueId& v : node.outputs) {
    if (v == kNoValue) continue;
    ir::Value value;
    value.name = make_.Fresh(StrCat(scope.prefix, "/", scope.graph->values[v].name));
    const ValueId outside = graph_.AddValue(std::move(value));
    scope.values[v] = outside;
    v = outside;
  }
  return visit_(std::move(node));
}

Status Expander::CountNode() {
  const int64_t budget = context_.budgets.Of(Budget::kNodes);
  // Nested loops may be unrolled and given up several times, so more nodes are made than remain: up
  // to four times the budget.
  if (++nodes_made_ / 4 > budget) return context_.budgets.Check(Budget::kNodes, nodes_made_);
  if (++nodes_ <= most_nodes_) return OkStatus();
  return context_.budgets.Check(Budget::kNodes, std::max(nodes_, budget + 1));
}

Result<Expander::Ids> Expander::Inline(const ir::Node& owner, const ir::Body& body,
                                       std::span<const ValueId> arguments,
                                       std::string_view instance) {
  const ir::Graph& inner = *body.graph;
  if (arguments.size() != inner.inputs.size()) {
    return Error(Code::kBadModel, "passes ", arguments.size(), " values to a subgraph with ",
                 inner.inputs.size(), " inputs");
  }
  Scope scope{body.graph, Ids(inner.values.size(), kNoValue),
              instance.empty() ? owner.name : StrCat(owner.name, "/", instance)};
  for (size_t i = 0; i < arguments.size(); ++i) scope.values[inner.inputs[i]] = arguments[i];
  for (const auto& [inside, outside] : body.captures) scope.values[inside] = outside;
  for (const ir::Node& source : inner.nodes) {
    AICF_RETURN_IF_ERROR(CountNode());
    AICF_RETURN_IF_ERROR(InlineNode(source, scope));
  }
  Ids results;
  for (ValueId v : inner.outputs) {
    AICF_ASSIGN_OR_RETURN(const ValueId result, Outside(v, scope));
    results.push_back(result);
  }
  return results;
}

Result<std::optional<int64_t>> Expander::ConstantScalar(ValueId v) const {
  if (v == kNoValue || !graph_.values[v].is_constant()) return std::optional<int64_t>();
  const ir::Tensor& tensor = graph_.values[v].constant;
  if (tensor.count() != 1 || IsFloat(tensor.dtype())) {
    return Error(Code::kBadModel, Quote(graph_.values[v].name), " is no integer or bool scalar");
  }
  return std::optional<int64_t>(tensor.IntAt(0));
}

Status Expander::EmitInto(const ir::Node& owner, std::string_view op, Ids inputs, ValueId output,
                          ir::AttrMap attrs) {
  ir::Node node;
  node.op = op;
  node.name = owner.name;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  node.attrs = std::move(attrs);
  return visit_(std::move(node));
}

Result<ValueId> Expander::Emit(const ir::Node& owner, std::string_view op, Ids inputs,
                               ir::AttrMap attrs) {
  ir::Value value;
  value.name = make_.Fresh(StrCat(owner.name, "/", op));
  const ValueId output = graph_.AddValue(std::move(value));
  AICF_RETURN_IF_ERROR(EmitInto(owner, op, std::move(inputs), output, std::move(attrs)));
  return output;
}

Result<ValueId> Expander::Select(const ir::Node& owner, ValueId condition, ValueId yes,
                                 ValueId no) {
  if (yes == no) return yes;
  if (IsNone(yes) || IsNone(no) || IsSequence(yes) != IsSequence(no)) {
    return Error(Code::kUnsupported,
                 "selects at run time between something and an empty optional; "
                 "bind the condition's inputs with --bind");
  }
  if (IsSequence(yes)) return SelectItems(owner, condition, yes, no);
  const ir::Value &a = graph_.values[yes], &b = graph_.values[no];
  if (a.dtype != b.dtype) return Error(Code::kBadModel, "its branches differ in dtype");
  if (a.shape != b.shape) {
    return Error(Code::kUnsupported, "one branch gives ", ToString(a.shape), ", the other ",
                 ToString(b.shape),
                 ": the shape would be known at run time only; bind the "
                 "condition's inputs with --bind");
  }
  AICF_ASSIGN_OR_RETURN(condition, Scalar(owner, condition));
  return Emit(owner, "Where", {condition, yes, no});
}

Result<ValueId> Expander::SelectItems(const ir::Node& owner, ValueId condition, ValueId yes,
                                      ValueId no) {
  const Ids from_yes = sequences_.at(yes), from_no = sequences_.at(no);
  if (from_yes.size() != from_no.size()) {
    return Error(Code::kUnsupported, "one branch gives a sequence of ", from_yes.size(),
                 ", the other one of ", from_no.size(),
                 ": the length would be known at run time "
                 "only; bind the condition's inputs with --bind");
  }
  Ids items;
  for (size_t i = 0; i < from_yes.size(); ++i) {
    AICF_ASSIGN_OR_RETURN(const ValueId item, Select(owner, condition, from_yes[i], from_no[i]));
    items.push_back(item);
  }
  ir::Value value;
  value.name = make_.Fresh(StrCat(owner.name, "/sequence"));
  const ValueId sequence = graph_.AddValue(std::move(value));
  sequences_[sequence] = std::move(items);
  return sequence;
}

Result<ValueId> Expander::Stack(const ir::Node& owner, const Ids& items, int64_t axis) {
  if (items.empty()) {
    return Error(Code::kUnsupported, "stacks no items: the shape of the result is unknown");
  }
  Ids expanded;
  const ValueId axes = make_.Ints(StrCat(owner.name, "/axis"), std::vector<int64_t>{axis});
  for (ValueId item : items) {
    AICF_ASSIGN_OR_RETURN(const ValueId v, Emit(owner, "Unsqueeze", {item, axes}));
    expanded.push_back(v);
  }
  return Emit(owner, "Concat", std::move(expanded), {{"axis", ir::AttrValue(axis)}});
}

ValueId Expander::Int(std::string_view base, int64_t value) {
  return make_.Constant(base, ir::Tensor::FromValues<int64_t>(DType::kI64, {}, {{value}}));
}

ValueId Expander::Bool(std::string_view base, bool value) {
  const uint8_t byte = value ? 1 : 0;
  return make_.Constant(base, ir::Tensor::FromValues<uint8_t>(DType::kBool, {}, {{byte}}));
}

Status Expander::Bind(const ir::Node& owner, size_t output, ValueId value) {
  const ValueId target = output < owner.outputs.size() ? owner.outputs[output] : kNoValue;
  if (target == kNoValue) return OkStatus();
  const auto items = sequences_.find(value);
  if (items != sequences_.end()) {
    sequences_[target] = Ids(items->second);
    return OkStatus();
  }
  if (IsNone(value)) {
    nones_[target] = true;
    return OkStatus();
  }
  return EmitInto(owner, "Identity", {value}, target);
}

Status Expander::ExpandOutputs() {
  Ids outputs;
  for (ValueId v : graph_.outputs) {
    if (nones_.contains(v)) {
      return Error(Code::kUnsupported, "output ", Quote(graph_.values[v].name),
                   " is an empty optional");
    }
    const auto items = sequences_.find(v);
    if (items == sequences_.end()) {
      outputs.push_back(v);
      continue;
    }
    ir::Node owner;
    owner.name = graph_.values[v].name;
    const Ids list = items->second;
    for (size_t i = 0; i < list.size(); ++i) {
      if (IsSequence(list[i]) || IsNone(list[i])) {
        return Error(Code::kUnsupported, "output ", Quote(owner.name),
                     " is a sequence of sequences or optionals");
      }
      ir::Value item;
      item.name = make_.Fresh(StrCat(owner.name, "[", i, "]"));
      outputs.push_back(graph_.AddValue(std::move(item)));
      AICF_RETURN_IF_ERROR(EmitInto(owner, "Identity", {list[i]}, outputs.back()));
    }
  }
  graph_.outputs = std::move(outputs);
  return OkStatus();
}

void Expander::Explain(const ir::Node& node, std::string choice, std::string reason) {
  RecordRewrite(context_, "infer-and-fold", DecisionKind::kControlFlow, About(node),
                std::move(choice), std::move(reason), {});
}

}  // namespace aicf
