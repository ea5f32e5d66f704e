/// aicf-compile's command line as checked values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "compiler/passes/pass.h"
#include "tools/common/files.h"

namespace aicf::tools {

struct CompileArgs {
  std::string model;
  std::string output;            ///< empty with --check, and with --stop-after to stdout
  std::string export_decisions;  ///< file; empty: none
  CompileOptions options;
  std::optional<Stage> stop_after;
  bool check = false;
  bool explain = false;
  bool timings = false;
  Existing existing = Existing::kRefuse;
};

/// Fills `args`; `run` stays false when --help or --version was answered.
/// Errors: kInvalidArgument; kIo for an unreadable policy file.
Status ParseCompileArgs(const std::vector<std::string>& argv, CompileArgs* args, bool* run);

}  // namespace aicf::tools
