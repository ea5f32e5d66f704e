/// An artifact as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "schema/artifact.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

/// One object with `header`, `entry_points`, `values`, `steps` and `decisions`; of a language model
/// also `language`; where lines of the decisions section cannot be read, also `unread_decisions`.
Json ArtifactData(const schema::Artifact& artifact, const DecisionLines& decisions);

/// The same as text: one object with `header`, `entry_points`, `values`, `steps` and `decisions`.
std::string ArtifactJson(const schema::Artifact& artifact, const DecisionLines& decisions);

}  // namespace aicf::tools
