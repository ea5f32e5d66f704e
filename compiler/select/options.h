/// What a caller may say about planning: which kernels, and where their costs come from.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compiler/costs/cost_source.h"
#include "compiler/costs/library_algorithms.h"
#include "compiler/edit/policy.h"
#include "compiler/passes/pass.h"

namespace aicf {

struct PlanOptions {
  Policy policy;
  bool policy_strict = false;
  bool deterministic = false;  ///< only kernels that declare it
  RunnerOptions passes;        ///< of all stages
  /// Asked for library kernels that the policy names; not owned. nullptr: they are refused.
  LibraryAlgorithms* library_algorithms = nullptr;
  /// Measured and predicted costs (compiler/costs/cached_costs.h, tune/tuner.h); not owned.
  /// nullptr: predictions.
  CostSource* costs = nullptr;
  /// CUDA: false plans without device code, which needs no NVRTC. Such an artifact is verified like
  /// any other and executes on the CPU reference (--device=cpu); a GPU refuses it.
  bool images = true;
  std::string kernel_cache_dir;  ///< "" : $XDG_CACHE_HOME/aicf or ~/.cache/aicf; "none": off
  std::function<void(std::string_view phase, int done, int total)> progress;
};

}  // namespace aicf
