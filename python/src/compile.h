/// Compiling for the Python package.
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

/// What the caller asked for. An unset member stands for the default or, when a program is compiled
/// again, for the option that it was made with.
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
  std::optional<int64_t> context, page, cache;  ///< language::LanguageOptions, and so on:
  std::optional<std::vector<int64_t>> prefill, decode;
  std::optional<std::string> cache_precision;
  std::optional<bool> logits;
  std::vector<std::string> policy, edits, disable_passes, disable_fusion;
  std::optional<std::string> decisions;
  std::string external_data_dir;
  std::optional<bool> policy_strict, deterministic, strip, images, nan_branches;
};

/// Compiles a model from its file. Errors: those of Compile, of ParseShape and of
/// Policy::ParseClause; kInvalidArgument for samples without a precision that needs them, and for a
/// method or an error without samples.
Result<LoadedProgram> CompileFile(const std::string& path, const CompileRequest& request);
/// Compiles a model from its bytes. It has no directory, so it cannot have external data.
Result<LoadedProgram> CompileBytes(std::span<const std::byte> model, const CompileRequest& request);
/// Compiles the lowered program that an artifact carries. Errors: as CompileFile; kInvalidArgument
/// also for options that are about the model.
Result<LoadedProgram> CompileProgram(const LoadedProgram& program, const CompileRequest& request);

}  // namespace aicf::python
