/// An artifact as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "schema/artifact.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

/// One object with `header`, `entry_points`, `values`, `steps` and `decisions`. A language model
/// also has `language`, and if lines of the decisions section cannot be read there is also
/// `unread_decisions`.
Json ArtifactData(const schema::Artifact& artifact, const DecisionLines& decisions);

/// ArtifactData as text.
std::string ArtifactJson(const schema::Artifact& artifact, const DecisionLines& decisions);

}  // namespace aicf::tools
