/// What two artifacts decided differently.
///
/// Decisions are matched by what they are about, not by their position or their step's number,
/// which shift from one artifact to the other. They are about the same if they agree in kind
/// (fusions of any kind count as one), entry point, source nodes and the consumer's source nodes.
/// Several about the same are matched by their identity (schema/decision.h), then by pass, then by
/// order.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schema/artifact.h"
#include "tools/inspect/evidence.h"

namespace aicf::tools {

/// A fact about a whole artifact that differs: target, math, sizes, options, model.
struct HeaderDifference {
  std::string what;
  std::string a, b;  ///< empty: the artifact does not say
};

/// Sums over the chosen kernels of all steps.
struct PlanCost {
  size_t steps = 0;
  double predicted_us = 0;             ///< sum over the kernels with a predicted cost
  double measured_us = 0;              ///< sum over the kernels with a measured cost
  size_t predicted = 0, measured = 0;  ///< how many kernels have a predicted or a measured cost
};

struct Differences {
  std::vector<HeaderDifference> header;
  /// Pairs of positions in the decisions of A and B. `changed` differ in their choice; `restated`
  /// make the same choice with another reason, cost or alternatives.
  std::vector<std::pair<size_t, size_t>> changed, restated;
  std::vector<size_t> only_a, only_b;
  size_t equal = 0;
  PlanCost cost_a, cost_b;

  bool empty() const {
    return header.empty() && changed.empty() && restated.empty() && only_a.empty() &&
           only_b.empty();
  }
};

/// One of the two artifacts, with the decisions that were read from it.
struct DiffSide {
  const schema::Artifact* artifact;
  const Evidence* evidence;
  std::string name;  ///< shown to people: the name of its file
};

Differences Compare(const DiffSide& a, const DiffSide& b);

/// At most 100 columns where names allow it; "no differences" when there are none.
std::string DiffText(const DiffSide& a, const DiffSide& b, const Differences& differences);

/// {"a", "b", "header", "changed", "restated", "only_in_a", "only_in_b", "equal", "totals"}.
Json DiffJson(const DiffSide& a, const DiffSide& b, const Differences& differences);

/// "12 decisions differ, 3 are only in A, ..."; for an error's sentence.
std::string DiffSummary(const Differences& differences);

}  // namespace aicf::tools
