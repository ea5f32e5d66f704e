/// The flags about timing caches and tuning, and the costs that follow from them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "schema/artifact.h"
#include "tools/common/flags.h"

namespace aicf::tools {

struct TuneFlags {
  std::vector<std::string> caches;  ///< --timing-cache
  std::string device;               ///< --timing-device
  std::string tune;                 ///< --tune: empty: not given; "true", or seconds
  std::string state = "cold";       ///< --tune-state
  bool error_on_miss = false;
  bool fit_costs = false;  ///< false in every compilation: FitCostsCommand handles the flag
};

void AddTuneFlags(CommandLine& line, TuneFlags& flags);
/// trtexec's spellings of these flags.
std::vector<Spelling> TuneSpellings();

/// The costs that --timing-cache, --tune and --error-on-timing-cache-miss ask for, to be used as
/// CompileOptions::costs; nullptr when none of them is given. `quiet` suppresses the line about
/// what was measured. Errors: kInvalidArgument for contradicting flags or a malformed cache, naming
/// the file; kIo.
Result<std::shared_ptr<CostSource>> MakeCosts(const TuneFlags& flags, const CompileOptions& options,
                                              bool quiet);

/// The measured times on which an artifact's decisions rest; nullptr when nothing was measured.
/// Errors: kBadArtifact.
Result<std::shared_ptr<CostSource>> RecordedCosts(const schema::Artifact& artifact);

/// Handles command lines with --fit-costs, which have no model: fits the predictions to the times
/// of a cache and prints compiler/costs/fitted_costs.def. Sets `asked` to whether this is such a
/// command line.
Status FitCostsCommand(const std::vector<std::string>& argv, bool* asked);

}  // namespace aicf::tools
