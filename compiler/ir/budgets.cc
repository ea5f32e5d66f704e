#include "compiler/ir/budgets.h"

#include <algorithm>

#include "base/scanner.h"

namespace aicf {
namespace {

struct BudgetInfo {
  std::string_view name;
  int64_t limit;
  std::string_view text;
};

constexpr BudgetInfo kInfos[] = {
#define AICF_BUDGET(id, name, limit, text) {name, limit, text},
#include "compiler/ir/budgets.def"
#undef AICF_BUDGET
};

}  // namespace

Budgets::Budgets() {
  for (size_t i = 0; i < kBudgets; ++i) limits_[i] = kInfos[i].limit;
}

Status Budgets::Parse(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  for (size_t i = 0; i < kBudgets; ++i) {
    if (kInfos[i].name != name) continue;
    Scanner in(text.substr(std::min(name.size() + 1, text.size())));
    const Result<int64_t> value = in.Int();
    if (!value.ok() || *value < 1 || !in.AtEnd()) {
      return Error(Code::kInvalidArgument, "budget '", text, "': expected ", name,
                   ": and a positive number");
    }
    limits_[i] = *value;
    return OkStatus();
  }
  std::string names;
  for (const BudgetInfo& info : kInfos) names += StrCat(names.empty() ? "" : ", ", info.name);
  return Error(Code::kInvalidArgument, "budget '", text, "': expected NAME:VALUE, a name of ",
               names);
}

Status Budgets::Check(Budget budget, int64_t amount) const {
  if (amount <= Of(budget)) return OkStatus();
  const BudgetInfo& info = kInfos[static_cast<size_t>(budget)];
  return Error(Code::kResource, "it takes ", amount, " ", info.text, ", the budget is ", Of(budget),
               "; --budget=", info.name, ":", amount, " allows them");
}

std::string BudgetList() {
  std::string out;
  for (const BudgetInfo& info : kInfos) {
    out += StrCat(out.empty() ? "" : "\n", "  ", info.name, std::string(19 - info.name.size(), ' '),
                  info.limit, " ", info.text);
  }
  return out;
}

}  // namespace aicf
