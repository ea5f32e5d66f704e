/// Limits for one execution, chosen so that a thousand executions take a second or two.
#pragma once

#include "compiler/options/compile_options.h"

namespace aicf::fuzz {

inline Budgets SmallBudgets() {
  Budgets budgets;
  budgets.Set(Budget::kModelBytes, int64_t{64} << 20);
  budgets.Set(Budget::kNodes, 400);
  budgets.Set(Budget::kNameBytes, int64_t{1} << 20);
  budgets.Set(Budget::kInterface, 64);
  budgets.Set(Budget::kFoldedOperations, 200'000);
  budgets.Set(Budget::kFoldedBytes, int64_t{1} << 20);
  return budgets;
}

/// Plans without device code and without files beside the model's.
inline CompileOptions SmallOptions(const char* target) {
  CompileOptions options;
  options.target = target;
  options.images = false;
  options.kernel_cache_dir = "none";
  options.budgets = SmallBudgets();
  return options;
}

}  // namespace aicf::fuzz
