// Loop: unrolled where everything that ends it is known.
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

}  // namespace

Status Expander::Loop(const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(LoopForm form, FormOf(node));
  AICF_ASSIGN_OR_RETURN(form.trips, ConstantScalar(node.input(0)));
  AICF_ASSIGN_OR_RETURN(const bool unrolled, Unroll(node, form));
  if (unrolled) return OkStatus();
  return Repeat(node, form);
}

Result<bool> Expander::Unroll(const ir::Node& node, const LoopForm& form) {
  if (form.limited && !form.trips) return false;
  AICF_ASSIGN_OR_RETURN(const std::optional<int64_t> start, ConstantScalar(node.input(1)));
  if (node.input(1) != kNoValue && !start) return false;
  const size_t nodes = graph_.nodes.size();
  const size_t decisions = context_.decisions->decisions().size();
  const int64_t inlined = nodes_;
  bool unrolled = false;
  const Status status = UnrollTrips(node, form, &unrolled);
  const bool too_long = !status.ok() && nodes_ > kMaxNodes && inlined <= kMaxNodes;
  if (!too_long) AICF_RETURN_IF_ERROR(status);
  if (unrolled) return true;
  // What was made is used by nothing.
  nodes_ = inlined;
  graph_.nodes.erase(graph_.nodes.begin() + static_cast<ptrdiff_t>(nodes), graph_.nodes.end());
  std::vector<Decision>& log = context_.decisions->mutable_decisions();
  log.erase(log.begin() + static_cast<ptrdiff_t>(decisions), log.end());
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
    // A body without nodes reaches no limit by itself.
    if (++nodes_ > kMaxNodes) return Error(Code::kUnsupported, "makes too many trips to unroll");
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
