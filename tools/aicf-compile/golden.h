/// aicf-compile --golden: samples that the artifact will carry.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "tools/common/flags.h"

namespace aicf::tools {

/// The flags' values as the user wrote them.
struct GoldenFlags {
  std::vector<std::string> golden;  ///< --golden, one sample each
  std::string atol, rtol, rel;
};

void AddGoldenFlags(CommandLine& line, GoldenFlags& flags);

/// Reads the samples' files into the options. Errors: kInvalidArgument, kIo, naming flag and file.
Status ReadGolden(const GoldenFlags& flags, CompileOptions* options);

}  // namespace aicf::tools
