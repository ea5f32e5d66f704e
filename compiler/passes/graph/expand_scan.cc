// Scan, unrolled or as a loop.
#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/scanner.h"
#include "compiler/ir/op_table.h"
#include "compiler/passes/graph/expand.h"
#include "compiler/passes/graph/loop_form.h"

namespace aicf {

using ir::kNoValue;
using ir::ValueId;

// A Scan's attributes, completed.
struct ScanForm {
  const ir::Body* body = nullptr;
  size_t states = 0, inputs = 0, outputs = 0;
  std::vector<int64_t> input_axes, output_axes;  ///< output axes may count from the end
  std::vector<int64_t> input_reverse, output_reverse;
  bool batched = false;  ///< opset 8: axis 0 is a batch, axis 1 the sequence
};

namespace {

// Limit of the nodes of an unrolled Scan. It is low because verifying what stacks the results takes
// quadratic time: it looks at all of them for each.
constexpr int64_t kMaxUnrolledScan = 2'000;

// The body of a loop whose trip does what one step of the Scan does. It takes the trip number, the
// condition and the states (2 + states values), and picks the slices itself.
ir::Body LoopBody(const ScanForm& form, const std::vector<ValueId>& inputs,
                  const std::vector<int64_t>& axes, int64_t steps) {
  auto graph = std::make_shared<ir::Graph>(*form.body->graph);
  ir::Body body{"body", nullptr, form.body->captures};
  const auto value = [&](std::string_view name) {
    ir::Value v;
    v.name = graph->UniqueName(name);
    return graph->AddValue(std::move(v));
  };
  const ValueId trip = value("trip"), go = value("go");
  std::vector<ir::Node> picks;
  ValueId last = kNoValue;
  for (size_t k = 0; k < form.inputs; ++k) {
    ValueId at = trip;
    if (form.input_reverse[k] != 0) {
      if (last == kNoValue) {
        last = value("last");
        const int64_t position = steps - 1;
        graph->values[last].constant =
            ir::Tensor::FromValues<int64_t>(DType::kI64, {}, std::span(&position, 1));
      }
      at = value("back");
      picks.push_back({"Sub", "back", {last, trip}, {at}, {}, {}});
    }
    const ValueId from = value("scanned");
    body.captures.emplace_back(from, inputs[k]);
    picks.push_back({"Gather",
                     "slice",
                     {from, at},
                     {graph->inputs[form.states + k]},
                     {{"axis", ir::AttrValue(axes[k])}},
                     {}});
  }
  graph->nodes.insert(graph->nodes.begin(), picks.begin(), picks.end());
  graph->inputs.resize(form.states);
  graph->inputs.insert(graph->inputs.begin(), {trip, go});
  graph->outputs.insert(graph->outputs.begin(), go);
  body.graph = std::move(graph);
  return body;
}

std::vector<int64_t> Padded(std::vector<int64_t> list, size_t size) {
  list.resize(size, 0);
  return list;
}

Result<ScanForm> ReadForm(const ir::Node& node) {
  ScanForm form;
  form.body = node.FindBody("body");
  if (form.body == nullptr) return Error(Code::kBadModel, "has no body");
  const size_t formal = form.body->graph->inputs.size();
  const int64_t inputs = node.Int("num_scan_inputs", 0);
  if (inputs < 1 || static_cast<size_t>(inputs) > formal) {
    return Error(Code::kBadModel, "scans ", inputs, " of ", formal, " inputs");
  }
  form.inputs = static_cast<size_t>(inputs);
  form.states = formal - form.inputs;
  // Opset 8 has the sequence lengths as one more input, in front of the others.
  form.batched = node.inputs.size() == formal + 1;
  if (node.inputs.size() != formal && !form.batched) {
    return Error(Code::kBadModel, "passes ", node.inputs.size(), " values to a body with ", formal);
  }
  if (form.body->graph->outputs.size() < form.states) {
    return Error(Code::kBadModel, "its body has fewer outputs than carried values");
  }
  if (node.outputs.size() > form.body->graph->outputs.size()) {
    return Error(Code::kBadModel, "its body has ", form.body->graph->outputs.size(),
                 " outputs for ", node.outputs.size(), " results");
  }
  form.outputs = form.body->graph->outputs.size() - form.states;
  form.input_axes = Padded(node.Ints("scan_input_axes"), form.inputs);
  form.output_axes = Padded(node.Ints("scan_output_axes"), form.outputs);
  form.input_reverse =
      Padded(node.Ints(form.batched ? "directions" : "scan_input_directions"), form.inputs);
  form.output_reverse = Padded(node.Ints("scan_output_directions"), form.outputs);
  return form;
}

}  // namespace

Result<ValueId> Expander::Pick(const ir::Node& owner, ValueId from, int64_t axis, int64_t index) {
  const ValueId at = Int(StrCat(owner.name, "/at"), index);
  return Emit(owner, "Gather", {from, at}, {{"axis", ir::AttrValue(axis)}});
}

// Gives the final states, then one stacked value for each scan output.
Result<Expander::Ids> Expander::RunScan(const ir::Node& node, const ScanForm& form, Ids state,
                                        const Ids& inputs, std::string_view instance,
                                        bool explains) {
  std::vector<int64_t> axes;
  int64_t steps = -1;
  for (size_t k = 0; k < form.inputs; ++k) {
    const Dims& shape = graph_.values[inputs[k]].shape;
    int64_t axis = form.input_axes[k];
    if (axis < 0) axis += shape.rank();
    if (axis < 0 || axis >= shape.rank()) {
      return Error(Code::kBadModel, "scan axis ", form.input_axes[k], " of ", ToString(shape));
    }
    axes.push_back(axis);
    const int64_t extent = shape[static_cast<int>(axis)];
    if (steps >= 0 && extent != steps) {
      return Error(Code::kBadModel, "scans inputs of ", steps, " and ", extent, " steps");
    }
    steps = extent;
  }
  const auto each =
      static_cast<int64_t>(form.body->graph->nodes.size() + form.inputs + form.outputs);
  const bool unrolls = (Checked(steps) * each).In(0, kMaxUnrolledScan);
  if (explains) {
    Explain(node, unrolls ? "unrolled" : "a loop",
            StrCat("the scan axis has ", steps, " steps, which would become ", each,
                   " nodes each; up to ", kMaxUnrolledScan, " nodes are unrolled"));
  }
  if (!unrolls) return RepeatScan(node, form, state, inputs, axes, steps);
  std::vector<Ids> scans(form.outputs);
  for (int64_t t = 0; t < steps; ++t) {
    Ids arguments = state;
    for (size_t k = 0; k < form.inputs; ++k) {
      const int64_t at = form.input_reverse[k] != 0 ? steps - 1 - t : t;
      AICF_ASSIGN_OR_RETURN(const ValueId slice, Pick(node, inputs[k], axes[k], at));
      arguments.push_back(slice);
    }
    AICF_ASSIGN_OR_RETURN(const Ids results,
                          Inline(node, *form.body, arguments, StrCat(instance, t)));
    state.assign(results.begin(), results.begin() + static_cast<ptrdiff_t>(form.states));
    for (size_t k = 0; k < form.outputs; ++k) scans[k].push_back(results[form.states + k]);
  }
  AICF_ASSIGN_OR_RETURN(const Ids stacked, StackScans(node, form, scans));
  state.insert(state.end(), stacked.begin(), stacked.end());
  return state;
}

Result<Expander::Ids> Expander::RepeatScan(const ir::Node& node, const ScanForm& form,
                                           const Ids& state, const Ids& inputs,
                                           const std::vector<int64_t>& axes, int64_t steps) {
  const ir::Body body = LoopBody(form, inputs, axes, steps);
  ir::Node loop;
  loop.op = "Loop";
  loop.name = node.name;
  loop.inputs = {Int(StrCat(node.name, "/steps"), steps), kNoValue};
  loop.inputs.insert(loop.inputs.end(), state.begin(), state.end());
  for (size_t k = 0; k < form.states + form.outputs; ++k) {
    ir::Value value;
    value.name = make_.Fresh(StrCat(node.name, "/result"));
    loop.outputs.push_back(graph_.AddValue(std::move(value)));
  }
  LoopForm repeated{&body, form.states, form.outputs, true, steps};
  AICF_RETURN_IF_ERROR(Repeat(loop, repeated));
  Ids results(loop.outputs.begin(), loop.outputs.begin() + static_cast<ptrdiff_t>(form.states));
  for (size_t k = 0; k < form.outputs; ++k) {
    AICF_ASSIGN_OR_RETURN(const ValueId arranged,
                          Arranged(node, loop.outputs[form.states + k], form.output_axes[k],
                                   form.output_reverse[k] != 0));
    results.push_back(arranged);
  }
  return results;
}

Result<ValueId> Expander::Arranged(const ir::Node& node, ValueId stacked, int64_t axis,
                                   bool reverse) {
  const int rank = graph_.values[stacked].shape.rank();
  if (reverse) {
    const auto list = [&](int64_t v) { return make_.Ints(StrCat(node.name, "/slice"), {{v}}); };
    AICF_ASSIGN_OR_RETURN(
        stacked,
        Emit(node, "Slice",
             {stacked, list(-1), list(std::numeric_limits<int64_t>::min()), list(0), list(-1)}));
  }
  AICF_ASSIGN_OR_RETURN(const int at, ir::NormalizeAxis(axis, rank));
  if (at == 0) return stacked;
  std::vector<int64_t> perm;
  for (int d = 1; d < rank; ++d) perm.push_back(d);
  perm.insert(perm.begin() + at, 0);
  return Emit(node, "Transpose", {stacked}, {{"perm", ir::AttrValue(perm)}});
}

Result<Expander::Ids> Expander::StackScans(const ir::Node& node, const ScanForm& form,
                                           const std::vector<Ids>& scans) {
  Ids out;
  for (size_t k = 0; k < scans.size(); ++k) {
    Ids items = scans[k];
    if (form.output_reverse[k] != 0) std::reverse(items.begin(), items.end());
    AICF_ASSIGN_OR_RETURN(const ValueId stacked, Stack(node, items, form.output_axes[k]));
    out.push_back(stacked);
  }
  return out;
}

Status Expander::BatchedScan(const ir::Node& node, const ScanForm& form) {
  if (node.inputs[0] != kNoValue) {
    return Error(Code::kUnsupported, "sequence lengths of opset 8");
  }
  const int64_t batch =
      graph_.values[node.inputs[1]].shape.rank() > 0 ? graph_.values[node.inputs[1]].shape[0] : 0;
  std::vector<Ids> results(form.states + form.outputs);
  for (int64_t b = 0; b < batch; ++b) {
    Ids parts;
    for (size_t k = 1; k < node.inputs.size(); ++k) {
      AICF_ASSIGN_OR_RETURN(const ValueId part, Pick(node, node.inputs[k], 0, b));
      parts.push_back(part);
    }
    const Ids state(parts.begin(), parts.begin() + static_cast<ptrdiff_t>(form.states));
    const Ids inputs(parts.begin() + static_cast<ptrdiff_t>(form.states), parts.end());
    AICF_ASSIGN_OR_RETURN(const Ids one,
                          RunScan(node, form, state, inputs, StrCat(b, "."), b == 0));
    for (size_t k = 0; k < one.size(); ++k) results[k].push_back(one[k]);
  }
  for (size_t k = 0; k < results.size(); ++k) {
    AICF_ASSIGN_OR_RETURN(const ValueId stacked, Stack(node, results[k], 0));
    AICF_RETURN_IF_ERROR(Bind(node, k, stacked));
  }
  return OkStatus();
}

Status Expander::Scan(const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const ScanForm form, ReadForm(node));
  if (form.batched) return BatchedScan(node, form);
  const auto split = node.inputs.begin() + static_cast<ptrdiff_t>(form.states);
  AICF_ASSIGN_OR_RETURN(const Ids results, RunScan(node, form, Ids(node.inputs.begin(), split),
                                                   Ids(split, node.inputs.end()), "", true));
  for (size_t k = 0; k < results.size(); ++k) AICF_RETURN_IF_ERROR(Bind(node, k, results[k]));
  return OkStatus();
}

}  // namespace aicf
