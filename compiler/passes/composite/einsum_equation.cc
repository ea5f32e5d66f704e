#include "compiler/passes/composite/einsum_equation.h"

#include <algorithm>
#include <map>
#include <string>

namespace aicf {
namespace {

Status Bad(std::string_view equation, std::string_view what) {
  return Error(Code::kBadModel, "equation '", std::string(equation), "': ", what);
}

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

struct Term {
  std::string before, after;  // letters before and after the ellipsis
  bool ellipsis = false;
};

Result<Term> ParseTerm(std::string_view equation, std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsLetter(text[i])) {
      (term.ellipsis ? term.after : term.before) += text[i];
    } else if (text.substr(i, 3) == "..." && !term.ellipsis) {
      term.ellipsis = true;
      i += 2;
    } else {
      return Bad(equation, "expected letters, and at most one ellipsis per term");
    }
  }
  return term;
}

// `wide`: the number of axes that the ellipsis stands for.
Labels LabelsOf(const Term& term, int wide) {
  Labels labels(term.before.begin(), term.before.end());
  for (int k = wide; term.ellipsis && k > 0; --k) labels.push_back(kEllipsis + k - 1);
  labels.insert(labels.end(), term.after.begin(), term.after.end());
  return labels;
}

Labels ImplicitResult(const std::vector<Labels>& operands, int wide) {
  std::map<int, int> count;
  for (const Labels& labels : operands) {
    for (int label : labels) ++count[label];
  }
  Labels result;
  for (int k = wide; k > 0; --k) result.push_back(kEllipsis + k - 1);
  for (const auto& [label, n] : count) {
    if (label < kEllipsis && n == 1) result.push_back(label);
  }
  return result;
}

Status CheckResult(std::string_view equation, const EinsumEquation& e) {
  for (size_t i = 0; i < e.result.size(); ++i) {
    const int label = e.result[i];
    if (std::find(e.result.begin(), e.result.begin() + static_cast<std::ptrdiff_t>(i), label) !=
        e.result.begin() + static_cast<std::ptrdiff_t>(i)) {
      return Bad(equation, "its result names a label twice");
    }
    const bool known = std::ranges::any_of(
        e.operands, [&](const Labels& l) { return std::ranges::find(l, label) != l.end(); });
    if (!known) return Bad(equation, "its result names a label that no operand has");
  }
  return OkStatus();
}

}  // namespace

Result<EinsumEquation> ParseEinsum(std::string_view given, const std::vector<int>& ranks) {
  std::string text(given);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t'; });
  const size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  EinsumEquation e;
  int wide = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const size_t comma = left.find(',');
    AICF_ASSIGN_OR_RETURN(const Term term, ParseTerm(given, left.substr(0, comma)));
    const int letters = static_cast<int>(term.before.size() + term.after.size());
    const int rest = ranks[i] - letters;
    if (rest < 0 || (rest > 0 && !term.ellipsis)) {
      return Bad(given, StrCat("term ", i, " does not fit an operand of rank ", ranks[i]));
    }
    e.operands.push_back(LabelsOf(term, rest));
    wide = std::max(wide, rest);
    const bool last = i + 1 == ranks.size();
    if (last != (comma == std::string_view::npos)) {
      return Bad(given, StrCat("it has not ", ranks.size(), " terms, as there are inputs"));
    }
    if (!last) left.remove_prefix(comma + 1);
  }
  if (arrow == std::string::npos) {
    e.result = ImplicitResult(e.operands, wide);
  } else {
    AICF_ASSIGN_OR_RETURN(const Term term,
                          ParseTerm(given, std::string_view(text).substr(arrow + 2)));
    e.result = LabelsOf(term, wide);
  }
  AICF_RETURN_IF_ERROR(CheckResult(given, e));
  return e;
}

}  // namespace aicf
