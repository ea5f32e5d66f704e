/// The lowered section as the tools read it: which steps there were before fusion and which source
/// nodes they came from. Constants' values are skipped, so that a large model costs no memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"
#include "base/status.h"
#include "kernels/abi/problem.h"

namespace aicf::tools {

struct RecordedBuffer {
  std::string role;  ///< "input", "constant", "temp", ...
  std::string name;
  DType dtype = DType::kF32;
  Dims shape;
};

struct RecordedStep {
  std::vector<std::string> sources;
  std::vector<uint32_t> inputs, outputs;  ///< into RecordedProgram::buffers
  abi::Problem problem;
  int32_t loop = -1;     ///< the innermost loop that repeats it
  bool guarded = false;  ///< runs only under a condition
};

/// One entry point's lowered program.
struct RecordedProgram {
  std::string entry;  ///< "" in an artifact without buckets
  std::vector<RecordedBuffer> buffers;
  std::vector<RecordedStep> steps;
};

/// Empty for an empty text. Errors: kBadArtifact naming the line.
Result<std::vector<RecordedProgram>> ReadLowered(std::string_view text);

}  // namespace aicf::tools
