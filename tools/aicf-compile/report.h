/// What aicf-compile prints about a finished compilation.
#pragma once

#include <string>
#include <vector>

#include "compiler/compiler.h"

namespace aicf::tools {

/// A summary: steps, fusion, memory relative to its lower bound, file, time. `signer` names the key
/// that signed the artifact; it is empty for none.
std::string SummaryText(const CompileResult& result, const std::string& signer, double seconds);
/// Milliseconds of every pass, in order.
std::string TimingsText(const std::vector<PassTiming>& timings);
/// Every decision with its reason, and what was refused and why. `nodes` limits the list to
/// decisions about source nodes whose names match this pattern (base/pattern.h); "true" stands for
/// all. Errors: kInvalidArgument for a pattern that no decision's nodes match.
Result<std::string> ExplainText(const DecisionLog& log, const std::string& nodes);

}  // namespace aicf::tools
