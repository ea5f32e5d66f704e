/// Changing a lowered program while walking it: uses stay current, positions stay stable.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/lowered.h"

namespace aicf::ir {

/// Removes buffers that no step and no signature names, and renumbers the rest in order.
void DropUnusedBuffers(Lowered& lowered);

/// Numbers of steps, ascending, each once. Most lists have a single step, which needs no memory of
/// its own: an editor has two lists for every buffer.
class StepList {
 public:
  const int* begin() const { return several_ ? several_->data() : &one_; }
  const int* end() const { return begin() + size(); }
  size_t size() const { return several_ ? several_->size() : has_one_; }
  bool empty() const { return size() == 0; }
  /// REQUIRES: i < size().
  int operator[](size_t i) const { return begin()[i]; }
  /// REQUIRES: !empty().
  int back() const { return end()[-1]; }

  operator std::vector<int>() const { return std::vector<int>(begin(), end()); }  // NOLINT
  friend bool operator==(const StepList& a, const std::vector<int>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  void Insert(int step);
  void Remove(int step);

 private:
  int one_ = 0;
  bool has_one_ = false;
  std::unique_ptr<std::vector<int>> several_;  ///< all of them, once there were two
};

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
  const std::vector<LoweredState>& states() const { return lowered_.states; }

  /// The steps that read (write) the buffer, ascending, each once. A guard is a read.
  const StepList& readers(BufferId b) const { return readers_[b]; }
  const StepList& writers(BufferId b) const { return writers_[b]; }
  /// The one step that writes the buffer, or -1.
  int OnlyWriter(BufferId b) const { return writers_[b].size() == 1 ? writers_[b][0] : -1; }
  /// The one step that reads the buffer, or -1.
  int OnlyReader(BufferId b) const { return readers_[b].size() == 1 ? readers_[b][0] : -1; }

  /// Whether a read of the buffer may give another value at step `to` than at the earlier step
  /// `from`, which reads it. True only for a carried buffer: where a step after `from`, up to `to`,
  /// writes it, or where `to` is in another loop, since other trips would read it there.
  bool ChangesBetween(BufferId b, int from, int to) const;
  /// Whether the buffer is the condition of a loop. Such a buffer is read even if no step reads it.
  bool IsCondition(BufferId b) const;

  /// Adds a buffer, which no step names yet.
  BufferId AddBuffer(LoweredBuffer buffer);
  void Replace(int s, LoweredStep step);
  /// Erases a step; its contents are gone at once.
  void Erase(int s);
  /// Puts several steps in the place of one, in order. Only the first keeps the position `s`; the
  /// others are placed after it on Finish and take part in no further edit.
  void ReplaceWithMany(int s, std::vector<LoweredStep> steps);
  /// Whether several steps stand at this position; step(s) shows only the first.
  bool IsMany(int s) const { return after_.contains(s); }

  /// Closes the gaps and drops unused buffers. The editor must not be used afterwards.
  void Finish();

 private:
  void Link(int s);
  void Unlink(int s);
  void CloseGaps();
  void PlaceAll();

  Lowered& lowered_;
  std::vector<bool> alive_;
  std::vector<StepList> readers_, writers_;
  std::unordered_map<int, std::vector<LoweredStep>> after_;  ///< by position: ReplaceWithMany
  bool changed_ = false;  ///< a position holds no step now, or several
};

}  // namespace aicf::ir
