/// aicf-run's command line as checked values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "base/status.h"
#include "tools/aicf-run/generate_options.h"
#include "tools/common/compare.h"
#include "tools/common/keys.h"

namespace aicf::tools {

/// What --verify compares.
enum class VerifyMode : unsigned char {
  kOff,
  kSteps,   ///< compares every step with the reference kernels on the same buffers
  kGolden,  ///< compares a replay with the samples that the artifact carries
};

struct RunOptions {
  std::string artifact;
  RequiredSignature signature;
  VerifyMode verify = VerifyMode::kOff;  ///< other than kOff: verifies instead of measuring
  bool verbose = false;
  std::string entry;  ///< entry point's name; empty: the one that serves the loaded inputs
  SessionOptions session;

  std::vector<std::string> load_inputs;       ///< "name:file.npy", names checked once loaded
  std::vector<std::string> load_ref_outputs;  ///< the same
  std::vector<std::string> load_states;       ///< the same, for states
  std::string export_states;                  ///< directory; empty: none
  bool keep_state = false;                    ///< each run continues from the previous one's states
  Tolerance tolerance;
  std::string export_output;  ///< directory; empty: none

  double warm_up_ms = 200;
  double duration_s = 3;
  int iterations = 10;  ///< at least this many
  std::vector<double> percentiles = {90, 95, 99};

  bool profile = false;
  std::string export_profile;  ///< file; empty: none
  std::string export_times;
  bool memory = false;
  bool json = false;

  GenerateOptions generate;  ///< a language model's text instead of a measurement
};

/// Fills `options`; `run` stays false when --help or --version was answered.
/// Errors: kInvalidArgument.
Status ParseRunOptions(const std::vector<std::string>& args, RunOptions* options, bool* run);

}  // namespace aicf::tools
