/// Changing a lowered program while walking it: uses stay current, positions stay stable.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/lowered.h"

namespace aicf::ir {

/// Removes buffers that no step and no signature names, and renumbers the rest in order.
void DropUnusedBuffers(Lowered& lowered);

/// A walk over a program's steps that may replace and erase them. Indices of steps do not change
/// until Finish. Keeps for every buffer the steps that read it and write it.
class StepEditor {
 public:
  explicit StepEditor(Lowered& lowered);

  int size() const { return static_cast<int>(lowered_.steps.size()); }
  bool alive(int s) const { return alive_[s]; }
  const LoweredStep& step(int s) const { return lowered_.steps[s]; }
  const LoweredBuffer& buffer(BufferId b) const { return lowered_.buffers[b]; }
  Lowered& lowered() { return lowered_; }

  /// Steps, ascending, each once. A guard is a read.
  const std::vector<int>& readers(BufferId b) const { return readers_[b]; }
  const std::vector<int>& writers(BufferId b) const { return writers_[b]; }
  /// The one step that writes the buffer, or -1.
  int OnlyWriter(BufferId b) const { return writers_[b].size() == 1 ? writers_[b][0] : -1; }
  /// The one step that reads the buffer, or -1.
  int OnlyReader(BufferId b) const { return readers_[b].size() == 1 ? readers_[b][0] : -1; }

  /// Whether a read of the buffer may give another value at step `to` than at `from`, an earlier
  /// step that reads it: it is carried, and is written up to there, or other trips read it there.
  bool ChangesBetween(BufferId b, int from, int to) const;
  /// Whether a loop reads the buffer as its condition; no step need do so.
  bool IsCondition(BufferId b) const;

  /// A further buffer, which no step names yet.
  BufferId AddBuffer(LoweredBuffer buffer);
  void Replace(int s, LoweredStep step);
  /// The step's contents are gone at once.
  void Erase(int s);
  /// Puts several steps in the place of one, in order. Only the first keeps the position `s`; the
  /// others are placed after it on Finish and take part in no further edit.
  void ReplaceWithMany(int s, std::vector<LoweredStep> steps);
  /// Whether several steps stand at this position; step(s) shows only the first.
  bool IsMany(int s) const { return !after_[s].empty(); }

  /// Closes the gaps and drops unused buffers. The editor must not be used afterwards.
  void Finish();

 private:
  void Link(int s);
  void Unlink(int s);

  Lowered& lowered_;
  std::vector<bool> alive_;
  std::vector<std::vector<int>> readers_, writers_;
  std::vector<std::vector<LoweredStep>> after_;  ///< by position; empty unless ReplaceWithMany
  bool changed_ = false;                         ///< a position holds no step now, or several
};

}  // namespace aicf::ir
