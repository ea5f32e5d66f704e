/// An artifact as text for people.
#pragma once

#include <string>
#include <vector>

#include "schema/artifact.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

std::string HeaderText(const schema::Artifact& artifact);
std::string EntryPointText(const schema::Artifact& artifact);
std::string MemoryText(const schema::Artifact& artifact);
std::string StepsText(const schema::Artifact& artifact);

/// Everything about one step: operands with their bytes, kernel, launch, arithmetic, and the
/// decisions that speak of it. REQUIRES: index is a step.
std::string StepText(const schema::Artifact& artifact, uint32_t index,
                     const DecisionLines& decisions);

/// "program", "weights", ...
std::string SectionName(schema::SectionKind kind);
/// "arena +4096", "weights +0", "= buffer 7".
std::string StorageText(const schema::Buffer& buffer);

}  // namespace aicf::tools
