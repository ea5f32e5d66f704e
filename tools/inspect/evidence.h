/// Everything an artifact says about how it came to be, read once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "schema/artifact.h"
#include "tools/common/decisions.h"
#include "tools/common/lowered.h"

namespace aicf::tools {

/// Where a source node's name occurs.
struct Mentions {
  std::vector<size_t> decisions;  ///< that name it: in `nodes`, in `into` or in their choice
  std::vector<uint32_t> steps;    ///< steps of the plan that have it among their sources
  std::vector<std::pair<size_t, size_t>> lowered;  ///< such steps before fusion: program, step
};

/// What is said of an artifact without decisions, and how to get one that has them.
inline constexpr std::string_view kStripped =
    "the artifact was stripped of its decisions (aicf-compile --strip); the model compiled without "
    "--strip has them";

struct Evidence {
  const schema::Program* program = nullptr;  ///< the artifact, which owns it, has to outlive this
  bool stripped = false;                     ///< without decisions and the program before fusion
  std::vector<Decision> decisions;
  std::vector<RecordedProgram> lowered;  ///< before fusion; empty in a stripped artifact
  std::string lowered_fault;             ///< why the lowered section could not be read
  std::map<std::string, Mentions, std::less<>> mentions;  ///< by name

  /// The entry point's program before fusion; nullptr if the artifact does not have it.
  const RecordedProgram* LoweredOf(size_t entry) const;
  /// Position of the entry point that has the step. REQUIRES: a step of the program.
  size_t EntryOf(uint32_t step) const;
  /// Whether decision `d` was made for the entry point.
  bool IsFor(const Decision& d, size_t entry) const;
  /// Whether a step, a lowered step or a decision of the entry point names the source node.
  bool Knows(size_t entry, std::string_view node) const;
  /// Source nodes that a step, a lowered step or a decision of the entry point names; sorted.
  std::vector<std::string> NodesOf(size_t entry) const;
};

Evidence GatherEvidence(const schema::Artifact& artifact);

/// Where in the pipeline a decision was made.
enum class Stage : uint8_t { kGraph, kLowering, kSteps, kPlan };
Stage StageOf(const Decision& decision);

}  // namespace aicf::tools
