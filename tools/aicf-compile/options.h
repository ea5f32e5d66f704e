/// aicf-compile's command line as checked values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/passes/pass.h"
#include "schema/artifact.h"
#include "schema/keys.h"
#include "tools/common/files.h"

namespace aicf::tools {

struct CompileArgs {
  std::string model;  ///< absent with --from
  bool has_model = false;
  std::string from;     ///< --from: the artifact whose lowered program is compiled
  std::string rebuild;  ///< --rebuild: the artifact whose bytes are to be reproduced
  std::shared_ptr<const schema::Artifact> artifact;  ///< loaded from `from` or `rebuild`
  std::string output;            ///< empty with --check, or if --stop-after prints to stdout
  std::string export_decisions;  ///< file; empty: none
  CompileOptions options;
  std::shared_ptr<CostSource> costs;  ///< what options.costs points to
  std::optional<Stage> stop_after;
  bool check = false;
  std::string explain;  ///< --explain: pattern of source nodes; "true": all decisions
  bool timings = false;
  std::optional<schema::SecretKey> sign;  ///< the private key that signs the artifact
  Existing existing = Existing::kRefuse;
};

/// Fills `args`; `run` stays false when --help or --version was answered. With --from and
/// --rebuild, options that are not on the command line are those that the artifact was made with.
/// Errors: kInvalidArgument; kIo for an unreadable policy or decisions file; those of loading the
/// artifact.
Status ParseCompileArgs(const std::vector<std::string>& argv, CompileArgs* args, bool* run);

}  // namespace aicf::tools
