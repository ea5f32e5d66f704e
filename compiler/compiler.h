/// The compiler's front door: model file in, verified artifact bytes out. Tools are thin over this.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/import/import_onnx.h"
#include "compiler/options/compile_options.h"
#include "compiler/plan/plan.h"
#include "compiler/stages/stages.h"
#include "schema/artifact.h"

namespace aicf {

struct CompileResult {
  std::string model_hash;
  /// What the bytes hold, but for sections of text, which are empty here.
  schema::Contents contents;
  std::vector<std::byte> bytes;  ///< the serialised, verified artifact
  /// Where CompileOptions::keep_lowered is set: the lowered program after its passes, by entry
  /// point; its name is empty without buckets.
  std::vector<std::pair<std::string, ir::Lowered>> optimised;
  /// All of them; the artifact's section may hold fewer (Budget::kDecisionBytes).
  DecisionLog decisions;
  std::vector<PassTiming> timings;
};

/// All of it, for every entry point (compiler/buckets/buckets.h) in turn. With edits it plans
/// without them first, since they speak of that plan's decisions. Errors name the bucket; those of
/// FindEdits, ParseSet and CheckHonoured.
Result<CompileResult> Compile(const std::string& model_path, const CompileOptions& options);

/// The same from the lowered program that an artifact carries: other options, another target, other
/// decisions, without the model. REQUIRES: what decides the lowered program (shapes, buckets, bound
/// values, passes on the graph) is as OptionsOf gives it.
/// Errors: those of Compile; kUnsupported for an artifact made with --strip.
Result<CompileResult> Recompile(const std::shared_ptr<const schema::Artifact>& artifact,
                                const CompileOptions& options);

/// The options that an artifact was made with, edits included, but for the values of bound inputs.
/// Errors: kBadArtifact.
Result<CompileOptions> OptionsOf(const schema::Artifact& artifact);

}  // namespace aicf
