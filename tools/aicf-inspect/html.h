/// The report: a page that shows an artifact in a browser and loads nothing from outside its file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schema/artifact.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

/// The data that the page shows. It is ArtifactData (json.h), in which each step has its problem as
/// data (problem_json.h) instead of text, and in addition "lowered" (lowered_json.h), "device" (the
/// target's ceilings), "title", and "profile" (profile_reader.h) when there is one.
Json ReportData(const schema::Artifact& artifact, const DecisionLines& decisions,
                std::string_view title, const Json& profile);

/// The page with `data` in it. Equal data give equal bytes. No text in `data` can end the element
/// that holds it, and the page's security policy lets only its own script and style run and lets
/// nothing be fetched.
std::string ReportPage(const Json& data);

/// Where the report comes from and goes to.
struct ReportFiles {
  std::string html;
  std::string profile;   ///< empty: none
  std::string artifact;  ///< its file name is the page's title
  bool force = false;    ///< an existing page is replaced
};

/// Writes the report whole or not at all. Errors: kIo, also for an existing output without `force`;
/// kInvalidArgument for a profile of another artifact, or an output that is also an input.
Status WriteReport(const schema::Artifact& artifact, const DecisionLines& decisions,
                   const ReportFiles& files);

}  // namespace aicf::tools
