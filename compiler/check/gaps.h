/// Everything that keeps a model from being compiled, found at once (aicf-compile --check).
///
/// Compile stops at the first refusal of a stage. This goes on after it: what depends on a refused
/// input or node is set aside, unless the model declares its type, and the rest is examined as far
/// as the choice of kernels. Nothing that is set aside is a gap of its own.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/import/onnx.h"
#include "compiler/options/compile_options.h"

namespace aicf {

struct Gap {
  std::string subject;             ///< input "x", op com.foo.Bar, output "y", the model
  std::vector<std::string> nodes;  ///< nodes of the model that it is about, in order
  std::string problem;
  std::string help;  ///< what to change: a flag, an option of the exporter, another op
};

struct GapReport {
  std::vector<Gap> gaps;  ///< inputs, initializers, nodes, outputs; each in the model's order
  size_t unexamined = 0;  ///< nodes that depend on gaps and were set aside
};

/// For a model that Compile refused with kUnsupported and the same options; `refusal` is what it
/// said, and the one gap where nothing else is found. Reads the model again; writes nothing.
/// Errors: those of Compile but for kUnsupported.
Result<GapReport> FindGaps(const std::string& model_path, const CompileOptions& options,
                           const Status& refusal);

/// The same for a model that is imported.
Result<GapReport> FindGaps(PartialModel model, const CompileOptions& options,
                           const Status& refusal);

}  // namespace aicf
