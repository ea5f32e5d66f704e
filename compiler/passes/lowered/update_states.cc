#include <algorithm>

#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

void Remove(std::vector<ir::BufferId>& list, ir::BufferId id) {
  list.erase(std::ranges::find(list, id));
}

// Removes an output from the list. The outputs behind it move up by one, and `extents`, which names
// outputs by their place in the list, follows.
void RemoveOutput(ir::Lowered& lowered, ir::BufferId id) {
  const auto at =
      static_cast<uint32_t>(std::ranges::find(lowered.outputs, id) - lowered.outputs.begin());
  for (schema::OutputExtent& e : lowered.extents) {
    e.output -= e.output > at ? 1 : 0;
    e.count -= e.count > at ? 1 : 0;
  }
  Remove(lowered.outputs, id);
}

ir::LoweredStep CopyOf(const ir::Lowered& lowered, ir::BufferId from, ir::BufferId to) {
  const ir::LoweredBuffer& b = lowered.buffers[from];
  const abi::View view = abi::DenseView(b.dtype, b.shape);
  abi::Problem p;
  p.family = abi::Family::kCopy;
  p.attrs = abi::CopyAttrs{{Dims::Filled(view.shape.rank(), 0)}, false, 0};
  p.inputs = {view};
  p.outputs = {view};
  p.core_inputs = 1;
  return {{StrCat("state:", lowered.buffers[to].name)}, std::move(p), {from}, {to}};
}

void Update(ir::Lowered& lowered, ir::LoweredState& state, PassContext& context) {
  ir::LoweredBuffer next = lowered.buffers[state.present];
  next.role = schema::Role::kState;
  const ir::BufferId value = state.present;
  lowered.buffers[value].role = schema::Role::kTemp;
  lowered.buffers[value].name += ".new";
  lowered.buffers[state.past].role = schema::Role::kState;
  Remove(lowered.inputs, state.past);
  RemoveOutput(lowered, value);
  state.present = static_cast<ir::BufferId>(lowered.buffers.size());
  lowered.buffers.push_back(std::move(next));
  if (*ElementCount(lowered.buffers[value].shape) == 0) return;  // nothing to copy
  ir::LoweredStep copy = CopyOf(lowered, value, state.present);
  Decision d =
      context.About(DecisionKind::kCopy,
                    schema::Subject::ValueOf(SubjectForm::kWritten,
                                             lowered.buffers[state.present].name, copy.sources),
                    "update-states");
  d.choice = "copy";
  d.Because(Reason::kRule,
            "a state changes at the end, unless its new value can be made in its place");
  context.Record(std::move(d));
  lowered.steps.push_back(std::move(copy));
}

}  // namespace

Status UpdateStates(ir::Lowered& lowered, PassContext& context) {
  for (ir::LoweredState& state : lowered.states) Update(lowered, state, context);
  return OkStatus();
}

}  // namespace aicf
