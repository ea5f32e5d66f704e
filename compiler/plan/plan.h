/// From a lowered program to a plan: kernels chosen, device code compiled, in-place and memory
/// decided. Nothing is left to decide afterwards.
#pragma once

#include "base/status.h"
#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"
#include "compiler/select/options.h"
#include "schema/artifact.h"

namespace aicf {

/// Fills program, weights and images of the result. `runner` runs the plan's passes. Errors: those
/// of ChooseKernels (compiler/select/choose.h) and CompileImages (compiler/codegen/images.h);
/// kResource when sizes overflow.
Result<schema::Contents> MakePlan(ir::Lowered lowered, const PlanOptions& options,
                                  PassContext& context, PassRunner& runner);
/// The same with a runner of its own for `options.passes`.
Result<schema::Contents> MakePlan(ir::Lowered lowered, const PlanOptions& options,
                                  PassContext& context);

}  // namespace aicf
