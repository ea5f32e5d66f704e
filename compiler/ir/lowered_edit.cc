#include "compiler/ir/lowered_edit.h"

#include <algorithm>

namespace aicf::ir {
namespace {

void Insert(std::vector<int>& sorted, int s) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), s);
  if (at == sorted.end() || *at != s) sorted.insert(at, s);
}

void Remove(std::vector<int>& sorted, int s) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), s);
  if (at != sorted.end() && *at == s) sorted.erase(at);
}

}  // namespace

void DropUnusedBuffers(Lowered& lowered) {
  std::vector<bool> used(lowered.buffers.size(), false);
  auto mark = [&](const std::vector<BufferId>& ids) {
    for (BufferId b : ids) used[b] = true;
  };
  mark(lowered.inputs);
  mark(lowered.outputs);
  for (const LoweredState& s : lowered.states) used[s.past] = used[s.present] = true;
  for (const LoweredLoop& l : lowered.loops) used[l.condition] = true;
  for (const LoweredStep& s : lowered.steps) {
    mark(s.inputs);
    mark(s.outputs);
    for (const schema::Guard& g : s.guards) used[g.buffer] = true;
  }
  if (std::ranges::find(used, false) == used.end()) return;
  std::vector<BufferId> map(used.size(), 0);
  std::vector<LoweredBuffer> kept;
  for (size_t b = 0; b < used.size(); ++b) {
    if (!used[b]) continue;
    map[b] = static_cast<BufferId>(kept.size());
    kept.push_back(std::move(lowered.buffers[b]));
  }
  lowered.buffers = std::move(kept);
  auto renumber = [&](std::vector<BufferId>& ids) {
    for (BufferId& b : ids) b = map[b];
  };
  renumber(lowered.inputs);
  renumber(lowered.outputs);
  for (LoweredState& s : lowered.states) s = {map[s.past], map[s.present]};
  for (LoweredLoop& l : lowered.loops) l.condition = map[l.condition];
  for (LoweredStep& s : lowered.steps) {
    renumber(s.inputs);
    renumber(s.outputs);
    for (schema::Guard& g : s.guards) g.buffer = map[g.buffer];
  }
}

StepEditor::StepEditor(Lowered& lowered)
    : lowered_(lowered),
      alive_(lowered.steps.size(), true),
      readers_(lowered.buffers.size()),
      writers_(lowered.buffers.size()),
      after_(lowered.steps.size()) {
  for (int s = 0; s < size(); ++s) Link(s);
}

void StepEditor::Link(int s) {
  for (BufferId b : lowered_.steps[s].inputs) Insert(readers_[b], s);
  for (const schema::Guard& g : lowered_.steps[s].guards) Insert(readers_[g.buffer], s);
  for (BufferId b : lowered_.steps[s].outputs) Insert(writers_[b], s);
}

void StepEditor::Unlink(int s) {
  for (BufferId b : lowered_.steps[s].inputs) Remove(readers_[b], s);
  for (const schema::Guard& g : lowered_.steps[s].guards) Remove(readers_[g.buffer], s);
  for (BufferId b : lowered_.steps[s].outputs) Remove(writers_[b], s);
}

BufferId StepEditor::AddBuffer(LoweredBuffer buffer) {
  lowered_.buffers.push_back(std::move(buffer));
  readers_.emplace_back();
  writers_.emplace_back();
  return static_cast<BufferId>(lowered_.buffers.size() - 1);
}

void StepEditor::Replace(int s, LoweredStep step) {
  Unlink(s);
  lowered_.steps[s] = std::move(step);
  Link(s);
}

void StepEditor::Erase(int s) {
  changed_ = true;
  Unlink(s);
  alive_[s] = false;
  lowered_.steps[s] = {};
}

void StepEditor::ReplaceWithMany(int s, std::vector<LoweredStep> steps) {
  changed_ = true;
  Unlink(s);
  lowered_.steps[s] = std::move(steps[0]);
  after_[s].assign(std::make_move_iterator(steps.begin() + 1),
                   std::make_move_iterator(steps.end()));
  // The added steps count as uses at this position, so that nothing is moved past them.
  Link(s);
  for (const LoweredStep& added : after_[s]) {
    for (BufferId b : added.inputs) Insert(readers_[b], s);
    for (BufferId b : added.outputs) Insert(writers_[b], s);
  }
}

bool StepEditor::ChangesBetween(BufferId b, int from, int to) const {
  if (buffer(b).role != schema::Role::kCarried) return false;
  if (step(from).loop != step(to).loop) return true;
  return std::ranges::any_of(writers_[b], [&](int w) { return from < w && w <= to; });
}

bool StepEditor::IsCondition(BufferId b) const {
  return std::ranges::any_of(lowered_.loops,
                             [&](const LoweredLoop& l) { return l.condition == b; });
}

void StepEditor::Finish() {
  if (!changed_) return DropUnusedBuffers(lowered_);
  std::vector<LoweredStep> kept;
  kept.reserve(lowered_.steps.size());
  for (int s = 0; s < size(); ++s) {
    if (!alive_[s]) continue;
    kept.push_back(std::move(lowered_.steps[s]));
    for (LoweredStep& added : after_[s]) kept.push_back(std::move(added));
  }
  lowered_.steps = std::move(kept);
  DropUnusedBuffers(lowered_);
}

}  // namespace aicf::ir
