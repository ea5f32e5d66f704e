/// The compiler's front door: model file in, verified artifact bytes out. Tools are thin over this.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/buckets/buckets.h"
#include "compiler/decisions.h"
#include "compiler/edit/policy.h"
#include "compiler/edit/wishes.h"
#include "compiler/emit/golden.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"
#include "compiler/select/costs.h"
#include "compiler/select/library_algorithms.h"
#include "compiler/states/state_pair.h"
#include "schema/artifact.h"

namespace aicf {

struct CompileOptions {
  std::string target = "cpu";
  ShapeMap shapes;  ///< by input name; overrides the model's
  /// More entry points, or instead of the one without a name where `shapes` is empty. With buckets,
  /// what may be padded is proven of every entry point (compiler/buckets/padding.h).
  std::vector<Bucket> buckets;
  /// By input name: the input becomes this constant and is no input of the artifact any more.
  std::map<std::string, ir::Tensor, std::less<>> values;
  /// Carried inputs and outputs that become states (compiler/states/pair_states.h), and whether
  /// pairs found by their names do so too instead of being proposed.
  std::vector<StatePair> states;
  bool auto_states = false;
  std::vector<std::string> metas;  ///< inputs that the host rewrites in one copy; role kMeta
  abi::MathMode math = abi::MathMode::kFp32;
  Policy policy;
  bool policy_strict = false;
  bool deterministic = false;  ///< only kernels that declare it
  bool strip = false;          ///< leave out decisions and lowered sections
  /// An If whose branch cannot run with the bound shapes gives NaN where a run takes it; false:
  /// such a model is refused.
  bool nan_branches = false;
  RunnerOptions passes;
  std::set<std::string, std::less<>> no_fusion;
  /// Edits by decision, from an artifact that was made with some; those below are added.
  Wishes wishes;
  std::vector<std::string> sets;         ///< --set: "step.12.kernel=KEY", see ParseSet
  std::optional<DecisionLog> decisions;  ///< --decisions: what differs from it is wished for
  /// Asked for library kernels that the policy names; not owned. nullptr: they are refused.
  LibraryAlgorithms* library_algorithms = nullptr;
  /// Measured and predicted costs (compiler/tune/costs.h, tuner.h); not owned. nullptr:
  /// predictions.
  CostSource* costs = nullptr;
  /// CUDA: false plans without device code, which needs no NVRTC. Such an artifact is verified like
  /// any other and executes on the CPU reference (--device=cpu); a GPU refuses it.
  bool images = true;
  std::vector<GoldenSpec> golden;         ///< samples for the artifact's golden section
  std::vector<std::byte> golden_section;  ///< without them: a section as it is
  std::string kernel_cache_dir;  ///< "" : $XDG_CACHE_HOME/aicf or ~/.cache/aicf; "none": off
  std::function<void(std::string_view phase, int done, int total)> progress;
};

struct CompileResult {
  std::string model_hash;
  schema::Contents contents;
  std::vector<std::byte> bytes;  ///< the serialised, verified artifact
  /// The lowered program behind its passes, by entry point; its name is empty without buckets.
  std::vector<std::pair<std::string, ir::Lowered>> optimised;
  DecisionLog decisions;
  std::vector<PassTiming> timings;
};

/// Arrow 1. Reads and checks an ONNX file; external data is confined to the model's directory.
/// Infers nothing. Errors: kIo, kBadModel, kUnsupported (all unsupported nodes at once).
Result<ir::Graph> ImportOnnx(const std::string& path);

/// Binds input values and shapes, infers every shape and dtype, runs the graph passes (arrows 1-2).
/// Errors: kInvalidArgument for an unknown name or a shape that contradicts the model;
/// kUnsupported when an extent stays unknown, naming the input and the flag that binds it.
Result<ir::Graph> PrepareGraph(ir::Graph graph, const CompileOptions& options, PassRunner& runner,
                               PassContext& context);

/// Arrow 3, states and metas marked. The result is the same for every target and math mode, and
/// travels in the artifact. Errors: those of MarkStates and MarkMetas (compiler/states/).
Result<ir::Lowered> LowerVerified(const ir::Graph& graph, const CompileOptions& options,
                                  PassContext& context);

/// Arrow 3, then the passes on the lowered program.
Result<ir::Lowered> Lower(const ir::Graph& graph, const CompileOptions& options, PassRunner& runner,
                          PassContext& context);

/// What passes know about a compilation; `decisions` and `entry` are still to be set. It refers to
/// the options. Errors: kUnsupported for an unknown target.
Result<PassContext> ContextFor(const CompileOptions& options);

/// Arrows 4-5: kernels chosen, images compiled, in-place and memory decided.
/// Fills program, weights and images of the result.
Result<schema::Contents> MakePlan(const ir::Lowered& lowered, const CompileOptions& options,
                                  PassContext& context);

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
