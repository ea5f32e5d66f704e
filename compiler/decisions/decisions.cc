#include "compiler/decisions/decisions.h"

namespace aicf {

void DecisionLog::Append(const DecisionLog& other) {
  decisions_.insert(decisions_.end(), other.decisions_.begin(), other.decisions_.end());
}

void DecisionLog::Append(const DecisionLog& other, std::string_view entry, size_t first_step) {
  for (Decision d : other.decisions_) {
    d.subject.entry = entry;
    if (d.subject.step >= 0) d.subject.step += static_cast<int>(first_step);
    decisions_.push_back(std::move(d));
  }
}

void DecisionLog::RemoveSteps(const std::vector<bool>& gone) {
  std::vector<int> number(gone.size(), -1);
  int next = 0;
  for (size_t s = 0; s < gone.size(); ++s) {
    if (!gone[s]) number[s] = next++;
  }
  for (Decision& d : decisions_) {
    int& step = d.subject.step;
    if (step >= 0 && static_cast<size_t>(step) < gone.size()) {
      step = number[static_cast<size_t>(step)];
    }
  }
}

Result<DecisionLog> DecisionLog::Parse(std::string_view lines) {
  AICF_ASSIGN_OR_RETURN(std::vector<Decision> decisions, schema::ParseDecisionLines(lines));
  return DecisionLog(std::move(decisions));
}

}  // namespace aicf
