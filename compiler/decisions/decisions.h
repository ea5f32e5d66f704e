/// The compiler's log of decisions (schema/decision.h). Passes record into it through their context
/// (passes/pass.h); what a person changed of it comes back as wishes (edit/wishes.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schema/decision.h"

namespace aicf {

using schema::Alternative;
using schema::Decision;
using schema::DecisionKind;
using schema::Reason;
using schema::SubjectForm;

/// Appended to in program order; order is part of the deterministic output.
class DecisionLog {
 public:
  DecisionLog() = default;
  explicit DecisionLog(std::vector<Decision> decisions) : decisions_(std::move(decisions)) {}

  void Record(Decision decision) { decisions_.push_back(std::move(decision)); }
  const std::vector<Decision>& decisions() const { return decisions_; }
  std::vector<Decision>& mutable_decisions() { return decisions_; }
  /// Takes over decisions as they are.
  void Append(const DecisionLog& other);
  /// Takes over the decisions made for one of several entry points, whose first step is
  /// `first_step` of the program: steps get the program's own numbers.
  void Append(const DecisionLog& other, std::string_view entry, size_t first_step);
  /// The plan lost these of its steps: decisions about the others get their new numbers, those
  /// about lost ones none, but keep their place among equal identities.
  void RemoveSteps(const std::vector<bool>& gone);
  /// One JSON object per line, keys in a fixed order.
  std::string ToJsonLines() const { return schema::ToJsonLines(decisions_); }
  /// The inverse; empty lines are skipped. Errors: kInvalidArgument with the line's number.
  static Result<DecisionLog> Parse(std::string_view lines);

 private:
  std::vector<Decision> decisions_;
};

}  // namespace aicf
