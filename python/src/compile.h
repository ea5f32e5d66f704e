/// Compiling, as Python asks for it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "python/src/program.h"
#include "python/src/shapes.h"

namespace aicf::python {

using NamedShapes = std::map<std::string, Shape>;

using NamePairs = std::vector<std::pair<std::string, std::string>>;

/// What was asked for; unset members mean the default, or for a program its own options.
struct CompileRequest {
  std::optional<std::string> target, math, precision, kernel_cache, calibrate_method;
  std::vector<CalibrationSample> calibrate;  ///< for a precision of 8 bits
  std::optional<double> max_error;           ///< CalibrationOptions::max_error
  std::optional<NamedShapes> shapes;
  std::optional<std::vector<std::pair<std::string, NamedShapes>>> buckets;
  std::map<std::string, ir::Tensor, std::less<>> bind;
  std::optional<NamePairs> states;  ///< an input, and the output that is its next value
  std::optional<bool> auto_states;
  std::optional<std::vector<std::string>> metas;
  std::vector<std::string> policy, edits, disable_passes, disable_fusion;
  std::optional<std::string> decisions;
  std::string external_data_dir;
  std::optional<bool> policy_strict, deterministic, strip, images, nan_branches;
};

/// From a model's file. Errors: those of Compile, of ParseShape and of Policy::ParseClause;
/// kInvalidArgument for samples without a precision that needs them, and for a method or an error
/// without samples.
Result<LoadedProgram> CompileFile(const std::string& path, const CompileRequest& request);
/// From a model's bytes; it has no directory, so no external data.
Result<LoadedProgram> CompileBytes(std::span<const std::byte> model, const CompileRequest& request);
/// From the lowered program that an artifact carries. Errors: also kInvalidArgument for options
/// that are about the model.
Result<LoadedProgram> CompileProgram(const LoadedProgram& program, const CompileRequest& request);

}  // namespace aicf::python
