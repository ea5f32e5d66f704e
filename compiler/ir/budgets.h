/// Limits of what one compilation may take, so that no model, however small its file, makes it run
/// for hours or exhaust the machine. Declared in budgets.def; a caller may raise or lower each.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace aicf {

enum class Budget : uint8_t {
#define AICF_BUDGET(id, name, limit, text) id,
#include "compiler/ir/budgets.def"
#undef AICF_BUDGET
};

inline constexpr size_t kBudgets = 0
#define AICF_BUDGET(id, name, limit, text) +1
#include "compiler/ir/budgets.def"
#undef AICF_BUDGET
    ;

/// A value; distinct objects may be used from distinct threads.
class Budgets {
 public:
  /// The defaults.
  Budgets();

  int64_t Of(Budget budget) const { return limits_[static_cast<size_t>(budget)]; }
  void Set(Budget budget, int64_t limit) { limits_[static_cast<size_t>(budget)] = limit; }
  /// "NAME:VALUE". Errors: kInvalidArgument listing the names, or for a value that is no positive
  /// number.
  Status Parse(std::string_view text);

  /// Ok while `amount` is within the budget. Errors: kResource naming what was exceeded and the
  /// flag.
  Status Check(Budget budget, int64_t amount) const;

 private:
  std::array<int64_t, kBudgets> limits_;
};

/// A line for each budget, with name, default and what is counted, for a help text.
std::string BudgetList();

}  // namespace aicf
