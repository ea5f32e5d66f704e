/// Verification and reports of a loaded program.
#pragma once

#include <map>
#include <string>

#include "compiler/ir/tensor.h"
#include "python/src/program.h"

namespace aicf::python {

using NamedTensors = std::map<std::string, ir::Tensor, std::less<>>;

/// Compares every step with the reference kernels on these inputs, which have to include every
/// input of the entry point that serves their shapes. Returns the JSON text of
/// tools/verify/report_json.h. Errors: those of Program::Choose and VerifySteps; kInvalidArgument
/// for a missing input.
Result<std::string> VerifyProgram(const LoadedProgram& loaded, const NamedTensors& inputs,
                                  const SessionOptions& options);

/// The page that aicf-inspect --html writes. Errors: those of LoadedProgram::Stored.
Result<std::string> ReportPageOf(const LoadedProgram& loaded, const std::string& title);

/// All decisions, each as a line of JSON; empty for a stripped artifact. Errors: kBadArtifact
/// naming a line that cannot be read; those of reading the artifact's optional sections.
Result<std::string> DecisionsOf(const LoadedProgram& loaded);

/// The object that aicf-inspect --json prints, as text. Errors: as above.
Result<std::string> DescriptionOf(const LoadedProgram& loaded);

}  // namespace aicf::python
