/// Several plans as one program with an entry point each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "schema/artifact.h"

namespace aicf {

struct NamedPlan {
  std::string name;           ///< of its entry point in the result
  schema::Contents contents;  ///< program, weights and images of one entry point, as MakePlan gives
};

/// The plans' steps one after the other, each with its own buffers. What is equal is there once:
/// constants by their bytes, images by their hash. Entry points never run at the same time, so they
/// lie over each other in one arena, as large as the largest needs. Metadata is the first plan's.
///
/// REQUIRES: at least one plan; all of one target and math mode, with one entry point each that the
/// verifier accepts; names differ. Of one plan it only changes the name.
/// States of one name are one state, which all entry points share.
/// Errors: kInvalidArgument for such a state that differs in dtype or shape; kResource when the
/// numbers of steps or buffers overflow.
/// Deterministic: equal plans in equal order give equal contents.
Result<schema::Contents> MergePlans(std::vector<NamedPlan> plans);

/// The same, plan by plan: no more than two plans' weights are there at a time, which for a
/// language model with ten entry points is the difference between two copies of its weights and
/// ten.
class PlanMerger {
 public:
  PlanMerger();
  ~PlanMerger();
  PlanMerger(const PlanMerger&) = delete;
  PlanMerger& operator=(const PlanMerger&) = delete;

  /// Errors: those of MergePlans.
  Status Add(NamedPlan plan);
  /// REQUIRES: a plan was added, and Take was not called before.
  Result<schema::Contents> Take();

 private:
  class Merged;
  std::optional<NamedPlan> only_;  ///< as long as there is no second plan
  std::unique_ptr<Merged> merged_;
};

}  // namespace aicf
