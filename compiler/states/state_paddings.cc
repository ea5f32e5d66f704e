#include "compiler/states/state_paddings.h"

#include <algorithm>
#include <optional>

namespace aicf {
namespace {

// New positions; nothing for those that leave the list.
using Renumbered = std::vector<std::optional<uint32_t>>;

template <class Leaves>
Renumbered Renumber(const std::vector<ir::BufferId>& list, Leaves leaves) {
  Renumbered out;
  uint32_t next = 0;
  for (ir::BufferId b : list) {
    out.push_back(leaves(b) ? std::nullopt : std::optional(next));
    if (!leaves(b)) ++next;
  }
  return out;
}

// The name of the first of the padding's tensors that leaves; empty when none does.
std::string FirstLeaving(const schema::Padding& p, const ir::Lowered& l, const Renumbered& inputs,
                         const Renumbered& outputs) {
  for (const schema::PaddedInput& i : p.inputs) {
    if (!inputs[i.input]) return l.buffers[l.inputs[i.input]].name;
  }
  for (const schema::PaddedOutput& o : p.outputs) {
    if (!outputs[o.output]) return l.buffers[l.outputs[o.output]].name;
  }
  return "";
}

}  // namespace

std::vector<schema::Padding> PaddingsBesideStates(const std::vector<schema::Padding>& paddings,
                                                  const ir::Lowered& lowered,
                                                  PassContext& context) {
  const Renumbered inputs = Renumber(lowered.inputs, [&](ir::BufferId b) {
    const auto past = [b](const ir::LoweredState& s) { return s.past == b; };
    return lowered.buffers[b].role == schema::Role::kMeta ||
           std::ranges::any_of(lowered.states, past);
  });
  const Renumbered outputs = Renumber(lowered.outputs, [&](ir::BufferId b) {
    return std::ranges::any_of(lowered.states,
                               [b](const ir::LoweredState& s) { return s.present == b; });
  });
  std::vector<schema::Padding> kept;
  for (schema::Padding p : paddings) {
    const std::string leaving = FirstLeaving(p, lowered, inputs, outputs);
    if (!leaving.empty()) {
      Decision d =
          context.About(DecisionKind::kBucket,
                        schema::Subject::Named(SubjectForm::kPadding, leaving), "prove-paddings");
      d.choice = "exact shapes only";
      d.Because(Reason::kOnlyLegal).alternatives = {
          {"padding", StrCat("role: '", leaving, "' is a state or a meta, which is whole"), -1}};
      context.Record(std::move(d));
      continue;
    }
    for (schema::PaddedInput& i : p.inputs) i.input = *inputs[i.input];
    for (schema::PaddedOutput& o : p.outputs) o.output = *outputs[o.output];
    kept.push_back(std::move(p));
  }
  return kept;
}

}  // namespace aicf
