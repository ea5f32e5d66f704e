/// The compiler's log of decisions (schema/decision.h). Passes record into it through their context
/// (passes/pass.h); what a person changed of it comes back as wishes (edit/wishes.h).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/status.h"
#include "compiler/decisions/text_pool.h"
#include "schema/decision.h"

namespace aicf {

using schema::Alternative;
using schema::Decision;
using schema::DecisionKind;
using schema::Reason;
using schema::SubjectForm;

/// Appended to in program order; order is part of the deterministic output.
///
/// There are several decisions for every node of a model, and the names of nodes in each, so the
/// log keeps them as bytes that name texts by their number: some 50 bytes a decision.
class DecisionLog {
 public:
  DecisionLog() = default;
  explicit DecisionLog(const std::vector<Decision>& decisions);

  void Record(const Decision& decision);
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Each in order; it lives during the call.
  void ForEach(FunctionRef<void(const Decision&)> visit) const;
  /// All of them at once, kept until the log changes. Cost: a kilobyte a decision, so not for what
  /// a compilation does by itself. Not thread safe, unlike the other const functions.
  const std::vector<Decision>& decisions() const;
  /// Forgets all but the first ones.
  void Truncate(size_t size);

  /// Takes over decisions as they are.
  void Append(const DecisionLog& other);
  /// Takes over the decisions made for one of several entry points, whose first step is
  /// `first_step` of the program: steps get the program's own numbers.
  void Append(DecisionLog other, std::string_view entry, size_t first_step);
  /// The plan lost these of its steps: decisions about the others get their new numbers, those
  /// about lost ones none, but keep their place among equal identities.
  void RemoveSteps(const std::vector<bool>& gone);
  /// One JSON object per line, keys in a fixed order.
  std::string ToJsonLines() const;
  /// As many of them as take up to `bytes`. Where others follow, a last line says how many.
  std::string ToJsonLines(int64_t bytes) const;
  /// The inverse; empty lines are skipped. Errors: kInvalidArgument with the line's number.
  static Result<DecisionLog> Parse(std::string_view lines);

 private:
  /// Encoded decisions, one after the other, and how many.
  struct Chunk {
    std::string bytes;
    size_t count = 0;
  };
  void Rewrite(FunctionRef<void(Decision&)> change);

  TextPool texts_;
  std::deque<Chunk> chunks_;
  size_t size_ = 0;
  mutable std::optional<std::vector<Decision>> all_;  // decisions()
};

/// The pass of the decision that says how many others an artifact leaves out.
inline constexpr std::string_view kLeaveOutDecisions = "leave-out-decisions";

}  // namespace aicf
