/// aicf-compile --golden: samples that the artifact will carry.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "tools/common/flags.h"

namespace aicf::tools {

/// The flags as written.
struct GoldenFlags {
  std::vector<std::string> golden;  ///< one sample each
  std::string atol, rtol, rel;
};

void AddGoldenFlags(CommandLine& line, GoldenFlags& flags);

/// Reads the files. Errors: kInvalidArgument, kIo, naming flag and file.
Status ReadGolden(const GoldenFlags& flags, CompileOptions* options);

}  // namespace aicf::tools
