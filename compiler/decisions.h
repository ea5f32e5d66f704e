/// Decisions as data: every choice the compiler makes, with its reason and what was refused.
/// Passes record; nothing reads a decision back except `select/apply`, from an edited file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aicf {

struct Alternative {
  std::string choice;
  std::string refusal;    ///< one sentence; empty when it was legal
  double cost_us = -1;    ///< predicted or measured; -1 when unknown
};

struct Decision {
  std::string kind;       ///< "fusion", "epilogue", "prologue", "copy", "in-place", "layout",
                          ///< "precision", "kernel", "algorithm", "memory", "fold", "stream",
                          ///< "bucket"
  std::string subject;    ///< step or value, with the source nodes' names
  std::string choice;
  std::string reason;     ///< "policy", "measured", "predicted", "only-legal", "tie-break", or
                          ///< "rule: <sentence>" for rewrites that are always an improvement
  std::string pass;       ///< pass that decided
  double cost_us = -1;
  std::vector<Alternative> alternatives;
  std::string entry = {};  ///< entry point it was made for; empty where a program has no buckets
};

/// Appended to in program order; order is part of the deterministic output.
class DecisionLog {
 public:
  void Record(Decision decision) { decisions_.push_back(std::move(decision)); }
  const std::vector<Decision>& decisions() const { return decisions_; }
  std::vector<Decision>& mutable_decisions() { return decisions_; }
  /// Takes over the decisions made for one of several entry points, whose first step is
  /// `first_step` of the program: "step 3 [node]" becomes the program's own number.
  void Append(const DecisionLog& other, std::string_view entry, size_t first_step);
  /// One JSON object per line, keys in a fixed order.
  std::string ToJsonLines() const;

 private:
  std::vector<Decision> decisions_;
};

}  // namespace aicf
