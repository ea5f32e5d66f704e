/// The pass table and its one runner. A pass is one source file, one row in pass_list.def and one
/// golden test in tests/passes/<name>.test; it does not time, dump, gate or verify itself.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/decisions/decisions.h"
#include "compiler/edit/policy.h"
#include "compiler/edit/wishes.h"
#include "compiler/ir/budgets.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/lowered.h"
#include "compiler/passes/quantize/calibration.h"
#include "kernels/abi/choice.h"
#include "schema/program.h"

namespace aicf {

/// A candidate's predicted cost, corrected by what was measured on devices of that target.
using CorrectedCost = double (*)(const abi::Candidate& candidate, abi::MathMode math,
                                 const abi::DeviceSpec& device);

using NamedTensors = std::map<std::string, ir::Tensor, std::less<>>;

enum class Stage : uint8_t { kGraph, kLowered, kPlan };

struct PassContext {
  abi::DeviceSpec device;
  abi::MathMode math = abi::MathMode::kFp32;
  DType storage = DType::kF32;  ///< kF16, kBF16: what choose-storage stores f32 values in
  /// Inputs by name, each a sample from which choose-storage learns how large values become.
  std::vector<NamedTensors> samples = {};
  /// What quantize-products decides by; nullptr: nothing is quantised.
  const Calibration* calibration = nullptr;
  bool nan_branches = false;                     ///< CompileOptions::nan_branches
  Budgets budgets = {};                          ///< CompileOptions::budgets
  DecisionLog* decisions = nullptr;              ///< never null while a pass runs
  std::set<std::string, std::less<>> no_fusion;  ///< source node names given to --disable-fusion
  std::string entry;                       ///< of several entry points, the one that is compiled
  bool policy_strict = false;              ///< a preference that cannot be honoured is an error
  const Policy* policy = nullptr;          ///< nullptr: no preference
  const Wishes* wishes = nullptr;          ///< nullptr: none
  CorrectedCost corrected_cost = nullptr;  ///< nullptr: predictions stand as they are

  /// A decision about `subject` of the entry point that is compiled, without choice and reason.
  Decision About(DecisionKind kind, schema::Subject subject, std::string_view pass) const;
  /// Records a decision. Passes record decisions in no other way.
  void Record(const Decision& decision);
};

struct PassInfo {
  std::string_view name;  ///< kebab-case, as in --disable-pass
  Stage stage;
  std::string_view why_here;                      ///< reason for its place in the order
  bool required;                                  ///< cannot be disabled (later stages rely on it)
  Status (*run_graph)(ir::Graph&, PassContext&);  ///< set for kGraph
  Status (*run_lowered)(ir::Lowered&, PassContext&);   ///< set for kLowered
  Status (*run_plan)(schema::Program&, PassContext&);  ///< set for kPlan
};

/// All passes in order.
const std::vector<PassInfo>& AllPasses();

struct PassTiming {
  std::string_view name;
  double milliseconds;
};

struct RunnerOptions {
  std::set<std::string, std::less<>> disabled;
  /// `dump` is called after each pass named here (after every pass for "all"), with the name of the
  /// pass, the name of the entry point where there are several, and the text of the IR.
  std::set<std::string, std::less<>> dump_after;
  std::function<void(std::string_view pass, std::string_view entry, const std::string& text)> dump;
};

/// Runs the passes of one stage in table order; verifies the IR after each. A plan is not verified,
/// because its passes run before its memory is placed.
/// Errors: a pass's own; kInternal naming the pass when verification fails after it;
/// kInvalidArgument for an unknown or required name in `disabled`.
class PassRunner {
 public:
  explicit PassRunner(RunnerOptions options) : options_(std::move(options)) {}
  Status CheckNames() const;
  Status Run(ir::Graph& graph, PassContext& context);
  Status Run(ir::Lowered& lowered, PassContext& context);
  Status Run(schema::Program& program, PassContext& context);
  const std::vector<PassTiming>& timings() const { return timings_; }

 private:
  RunnerOptions options_;
  std::vector<PassTiming> timings_;
};

}  // namespace aicf
