/// aicf-inspect's command line as checked values.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "tools/aicf-inspect/html.h"
#include "tools/aicf-inspect/views.h"
#include "tools/common/keys.h"

namespace aicf::tools {

struct InspectOptions {
  std::string artifact;
  std::string step;  ///< --step as the user wrote it; empty: not given
  bool json = false, verify = false, summary = false;
  RequiredSignature signature;  ///< view.required points into it
  ViewOptions view;
  ReportFiles report;
};

/// Fills `options`; `run` stays false when --help or --version was answered.
/// Errors: kInvalidArgument; those of reading a key file.
Status ParseInspectOptions(const std::vector<std::string>& args, InspectOptions* options,
                           bool* run);

}  // namespace aicf::tools
