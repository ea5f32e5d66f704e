/// The stages between a model file and its plan, each as one call.
#pragma once

#include "base/status.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/lowered.h"
#include "compiler/options/compile_options.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// What passes know about a compilation; `decisions` and `entry` are still to be set. It refers to
/// the options. Errors: kUnsupported for an unknown target.
Result<PassContext> ContextFor(const CompileOptions& options);

/// Binds input values and shapes, infers every shape and dtype, runs the graph passes.
/// Errors: kInvalidArgument for an unknown name or a shape that contradicts the model;
/// kUnsupported when an extent stays unknown, naming the input and the flag that binds it.
Result<ir::Graph> PrepareGraph(ir::Graph graph, const CompileOptions& options, PassRunner& runner,
                               PassContext& context);

/// From graph to lowered program, states and metas marked. The result is the same for every target
/// and math mode, and travels in the artifact. Errors: those of MarkStates and MarkMetas
/// (compiler/states/).
Result<ir::Lowered> LowerVerified(const ir::Graph& graph, const CompileOptions& options,
                                  PassContext& context);

/// LowerVerified, then the passes on the lowered program.
Result<ir::Lowered> Lower(const ir::Graph& graph, const CompileOptions& options, PassRunner& runner,
                          PassContext& context);

}  // namespace aicf
