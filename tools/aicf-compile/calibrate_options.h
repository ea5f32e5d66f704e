/// aicf-compile --calibrate: samples for --precision=int8 and fp8.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/options/compile_options.h"
#include "tools/common/flags.h"

namespace aicf::tools {

/// The flags' values as the user wrote them.
struct CalibrateFlags {
  std::vector<std::string> samples;  ///< --calibrate; each is a folder or a single sample
  std::string method, max_error;
};

void AddCalibrateFlags(CommandLine& line, CalibrateFlags& flags);

/// Reads the samples' files into the options. REQUIRES: options->precision is set. Errors:
/// kInvalidArgument, kIo, naming flag and file.
Status ReadCalibrate(const CalibrateFlags& flags, CompileOptions* options);

}  // namespace aicf::tools
