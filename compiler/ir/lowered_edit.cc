#include "compiler/ir/lowered_edit.h"

#include <algorithm>

namespace aicf::ir {
void StepList::Insert(int step) {
  if (!several_) {
    if (!has_one_) {
      one_ = step;
      has_one_ = true;
      return;
    }
    if (one_ == step) return;
    several_ = std::make_unique<std::vector<int>>(1, one_);
  }
  const auto at = std::lower_bound(several_->begin(), several_->end(), step);
  if (at == several_->end() || *at != step) several_->insert(at, step);
}

void StepList::Remove(int step) {
  if (!several_) {
    if (one_ == step) has_one_ = false;
    return;
  }
  const auto at = std::lower_bound(several_->begin(), several_->end(), step);
  if (at != several_->end() && *at == step) several_->erase(at);
}

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
  size_t kept = 0;
  for (size_t b = 0; b < used.size(); ++b) {
    if (!used[b]) continue;
    map[b] = static_cast<BufferId>(kept);
    if (kept != b) lowered.buffers[kept] = std::move(lowered.buffers[b]);
    ++kept;
  }
  lowered.buffers.erase(lowered.buffers.begin() + static_cast<ptrdiff_t>(kept),
                        lowered.buffers.end());
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
      writers_(lowered.buffers.size()) {
  for (int s = 0; s < size(); ++s) Link(s);
}

void StepEditor::Link(int s) {
  for (BufferId b : lowered_.steps[s].inputs) readers_[b].Insert(s);
  for (const schema::Guard& g : lowered_.steps[s].guards) readers_[g.buffer].Insert(s);
  for (BufferId b : lowered_.steps[s].outputs) writers_[b].Insert(s);
}

void StepEditor::Unlink(int s) {
  for (BufferId b : lowered_.steps[s].inputs) readers_[b].Remove(s);
  for (const schema::Guard& g : lowered_.steps[s].guards) readers_[g.buffer].Remove(s);
  for (BufferId b : lowered_.steps[s].outputs) writers_[b].Remove(s);
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
  steps.erase(steps.begin());
  after_.erase(s);
  // The added steps count as uses at this position, so that nothing is moved past them.
  Link(s);
  for (const LoweredStep& added : steps) {
    for (BufferId b : added.inputs) readers_[b].Insert(s);
    for (BufferId b : added.outputs) writers_[b].Insert(s);
  }
  if (!steps.empty()) after_[s] = std::move(steps);
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
  if (changed_) after_.empty() ? CloseGaps() : PlaceAll();
  DropUnusedBuffers(lowered_);
}

// Removes erased steps where none was added. Steps are large, and there may be a million, so they
// stay in their memory.
void StepEditor::CloseGaps() {
  std::vector<LoweredStep>& steps = lowered_.steps;
  size_t kept = 0;
  for (size_t s = 0; s < steps.size(); ++s) {
    if (!alive_[s]) continue;
    if (kept != s) steps[kept] = std::move(steps[s]);
    ++kept;
  }
  steps.erase(steps.begin() + static_cast<ptrdiff_t>(kept), steps.end());
}

void StepEditor::PlaceAll() {
  std::vector<LoweredStep> kept;
  kept.reserve(lowered_.steps.size());
  for (int s = 0; s < size(); ++s) {
    if (!alive_[s]) continue;
    kept.push_back(std::move(lowered_.steps[s]));
    if (!IsMany(s)) continue;
    for (LoweredStep& added : after_[s]) kept.push_back(std::move(added));
  }
  lowered_.steps = std::move(kept);
}

}  // namespace aicf::ir
