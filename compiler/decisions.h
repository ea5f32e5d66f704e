/// Decisions as data: every choice the compiler makes, with its reason and what was refused.
/// Passes record them; what a person changed of them comes back as wishes (edit/wishes.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace aicf {

struct Alternative {
  std::string choice;
  std::string refusal;      ///< one sentence; empty when it was legal
  double cost_us = -1;      ///< predicted; -1 when unknown
  double measured_us = -1;  ///< -1 when it was not measured
};

struct Decision {
  std::string kind;     ///< "fold", "layout", "copy", "guard", "fusion", "epilogue", "prologue",
                        ///< "rounding", "precision", "kernel", "algorithm", "state", "stream",
                        ///< "launch", "in-place", "memory", "bucket"
  std::string subject;  ///< step or value, with the source nodes' names
  std::string choice;
  std::string reason;   ///< "policy", "measured", "predicted", "only-legal", "tie-break", or
                        ///< "rule: <sentence>" for rewrites that are always an improvement
  std::string pass;     ///< pass that decided
  double cost_us = -1;  ///< predicted
  std::vector<Alternative> alternatives;
  std::string entry = {};  ///< entry point it was made for; empty where a program has no buckets
  int step = -1;           ///< number of the plan's step that it is about; -1: of none
  std::vector<std::string> nodes = {};  ///< source nodes; of the producer for an edge
  std::vector<std::string> into = {};   ///< edges only: source nodes of the consumer
  double measured_us = -1;
};

/// What stays the same about a decision when other decisions change: kind, entry point, and subject
/// without the step's number. Decisions with equal identities are told apart by their order.
std::string IdentityOf(const Decision& decision);

/// Appended to in program order; order is part of the deterministic output.
class DecisionLog {
 public:
  void Record(Decision decision) { decisions_.push_back(std::move(decision)); }
  const std::vector<Decision>& decisions() const { return decisions_; }
  std::vector<Decision>& mutable_decisions() { return decisions_; }
  /// Takes over decisions as they are.
  void Append(const DecisionLog& other);
  /// Takes over the decisions made for one of several entry points, whose first step is
  /// `first_step` of the program: "step 3 [node]" becomes the program's own number.
  void Append(const DecisionLog& other, std::string_view entry, size_t first_step);
  /// The plan lost these of its steps: decisions about the others get their new numbers, those about
  /// lost ones none, but keep their place among equal identities.
  void RemoveSteps(const std::vector<bool>& gone);
  /// One JSON object per line, keys in a fixed order.
  std::string ToJsonLines() const;
  /// The inverse; empty lines are skipped. Errors: kInvalidArgument with the line's number.
  static Result<DecisionLog> Parse(std::string_view lines);

 private:
  std::vector<Decision> decisions_;
};

}  // namespace aicf
