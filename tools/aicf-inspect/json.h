/// An artifact as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "schema/artifact.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

/// One object with `header`, `entry_points`, `values`, `steps` and `decisions`.
Json ArtifactData(const schema::Artifact& artifact, const std::vector<Json>& decisions);

/// The same as text: one object with `header`, `entry_points`, `values`, `steps` and `decisions`.
std::string ArtifactJson(const schema::Artifact& artifact, const std::vector<Json>& decisions);

}  // namespace aicf::tools
