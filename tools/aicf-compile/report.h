/// What aicf-compile prints about a finished compilation.
#pragma once

#include <string>
#include <vector>

#include "compiler/compiler.h"

namespace aicf::tools {

/// Steps, fusion, memory over its lower bound, file, time.
std::string SummaryText(const CompileResult& result, double seconds);
/// Milliseconds of every pass, in order.
std::string TimingsText(const std::vector<PassTiming>& timings);
/// Every decision with its reason, and what was refused and why.
std::string ExplainText(const DecisionLog& log);

}  // namespace aicf::tools
