/// The report: one page that shows an artifact in a browser, with nothing from outside the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schema/artifact.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

/// What the page shows: ArtifactData (json.h) with, per step, its problem as data (problem_json.h)
/// in place of text; "lowered" (lowered_json.h), "device" (the target's ceilings), "title", and
/// "profile" (profile_reader.h) when there is one.
Json ReportData(const schema::Artifact& artifact, const DecisionLines& decisions,
                std::string_view title, const Json& profile);

/// The page around `data`. Deterministic: equal data give equal bytes. No text of `data` can end
/// the element that holds it, and the page's policy lets nothing but its own script and style run
/// and nothing be fetched.
std::string ReportPage(const Json& data);

/// Where the report comes from and goes to.
struct ReportFiles {
  std::string html;
  std::string profile;   ///< empty: none
  std::string artifact;  ///< its file name is the page's title
  bool force = false;    ///< an existing page is replaced
};

/// Writes the report whole or not at all. Errors: kIo, also for an existing output without `force`;
/// kInvalidArgument for a profile that is none of this artifact, or an output that is an input.
Status WriteReport(const schema::Artifact& artifact, const DecisionLines& decisions,
                   const ReportFiles& files);

}  // namespace aicf::tools
