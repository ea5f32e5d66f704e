// Loop: unrolled where everything that ends it is known.
#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/scanner.h"
#include "compiler/passes/graph/expand.h"
#include "compiler/passes/graph/loop_form.h"

namespace aicf {

using ir::kNoValue;
using ir::ValueId;

namespace {

Result<LoopForm> FormOf(const ir::Node& node) {
  LoopForm form;
  form.body = node.FindBody("body");
  if (form.body == nullptr) return Error(Code::kBadModel, "has no body");
  const size_t results = form.body->graph->outputs.size();
  form.carried = node.inputs.size() > 2 ? node.inputs.size() - 2 : 0;
  form.limited = node.input(0) != kNoValue;
  if (results < 1 + form.carried || node.outputs.size() > results - 1) {
    return Error(Code::kBadModel, "its body has ", results, " outputs for ", form.carried,
                 " carried values and ", node.outputs.size(), " results");
  }
  form.scans = results - 1 - form.carried;
  return form;
}

// Nodes that unrolling inlines; 0 where nothing says how many trips there are.
int64_t UnrolledNodes(const LoopForm& form) {
  const int64_t each = static_cast<int64_t>(form.body->graph->nodes.size()) + 1;
  return (Checked(std::max<int64_t>(form.trips.value_or(0), 0)) * each).value().value_or(INT64_MAX);
}

}  // namespace

Status Expander::Loop(const ir::Node& node) {
  AICF_RETURN_IF_ERROR(CheckTensors(node, 2));
  AICF_ASSIGN_OR_RETURN(LoopForm form, FormOf(node));
  AICF_ASSIGN_OR_RETURN(form.trips, ConstantScalar(node.input(0)));
  const int64_t budget = context_.budgets.Of(Budget::kNodes);
  AICF_ASSIGN_OR_RETURN(const bool few, Unroll(node, form, std::min(kMaxUnrolled, budget)));
  if (few) return OkStatus();
  const Status repeated = Repeat(node, form);
  if (repeated.code() != Code::kUnsupported) return repeated;
  // It cannot stay a loop, e.g. because shapes or sequences change from trip to trip. So it is
  // unrolled, however many nodes that takes within the budget.
  AICF_ASSIGN_OR_RETURN(const bool many, Unroll(node, form, budget));
  if (many) return OkStatus();
  const int64_t nodes = UnrolledNodes(form);
  if (!form.trips || nodes <= budget) return repeated;
  return context_.budgets.Check(Budget::kNodes, nodes).WithContext(repeated.message());
}

Result<bool> Expander::Unroll(const ir::Node& node, const LoopForm& form, int64_t most) {
  if (form.limited && !form.trips) return false;
  AICF_ASSIGN_OR_RETURN(const std::optional<int64_t> start, ConstantScalar(node.input(1)));
  if (node.input(1) != kNoValue && !start) return false;
  const bool first = most <= kMaxUnrolled;
  if (UnrolledNodes(form) > most - nodes_) return false;
  if (first && too_long_.contains(form.body->graph.get())) return false;
  const size_t nodes = graph_.nodes.size();
  const size_t decisions = context_.decisions->size();
  const int64_t inlined = nodes_;
  bool unrolled = false;
  const int64_t before = std::exchange(most_nodes_, most);
  const Status status = UnrollTrips(node, form, &unrolled);
  most_nodes_ = before;
  const bool too_long = !status.ok() && nodes_ > most && inlined <= most;
  if (!too_long) AICF_RETURN_IF_ERROR(status);
  if (unrolled) return true;
  if (too_long) too_long_.insert(form.body->graph.get());
  // Nothing uses what the attempt has made, so it is removed again.
  nodes_ = inlined;
  graph_.nodes.erase(graph_.nodes.begin() + static_cast<ptrdiff_t>(nodes), graph_.nodes.end());
  context_.decisions->Truncate(decisions);
  return false;
}

Status Expander::UnrollTrips(const ir::Node& node, const LoopForm& form, bool* unrolled) {
  ValueId go = node.input(1) != kNoValue ? node.inputs[1] : Bool(node.name, true);
  Ids state(node.inputs.end() - static_cast<ptrdiff_t>(form.carried), node.inputs.end());
  std::vector<Ids> scans(form.scans);
  int64_t i = 0;
  for (; !form.trips || i < *form.trips; ++i) {
    AICF_ASSIGN_OR_RETURN(const std::optional<int64_t> known, ConstantScalar(go));
    if (!known) return OkStatus();
    if (*known == 0) break;
    Ids arguments = {Int(StrCat(node.name, "/i"), i), go};
    arguments.insert(arguments.end(), state.begin(), state.end());
    AICF_ASSIGN_OR_RETURN(const Ids results,
                          Inline(node, *form.body, arguments, std::to_string(i)));
    AICF_RETURN_IF_ERROR(CountNode());  // a body without nodes reaches no limit by itself
    go = results[0];
    const auto first_scan = results.begin() + 1 + static_cast<ptrdiff_t>(form.carried);
    state.assign(results.begin() + 1, first_scan);
    for (size_t s = 0; s < scans.size(); ++s)
      scans[s].push_back(first_scan[static_cast<ptrdiff_t>(s)]);
  }
  *unrolled = true;
  Explain(node, StrCat(i, " iterations"), "what ends it is known: unrolled");
  for (size_t c = 0; c < form.carried; ++c) AICF_RETURN_IF_ERROR(Bind(node, c, state[c]));
  for (size_t s = 0; s < scans.size() && form.carried + s < node.outputs.size(); ++s) {
    if (node.outputs[form.carried + s] == kNoValue) continue;
    AICF_ASSIGN_OR_RETURN(const ValueId stacked, Stack(node, scans[s], 0));
    AICF_RETURN_IF_ERROR(Bind(node, form.carried + s, stacked));
  }
  return OkStatus();
}

}  // namespace aicf
