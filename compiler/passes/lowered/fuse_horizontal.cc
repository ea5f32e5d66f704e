#include <algorithm>
#include <map>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

constexpr std::string_view kFuseHorizontal = "fuse-horizontal";

// The one step has to take at most so much of what both take: the rest is the launch and the round
// trip to memory that it saves. Where steps move more, being one gains them little, and two can
// still run beside each other.
constexpr double kMostOfBoth = 0.75;
// A step is tried with so many of the latest ones of its shape.
constexpr size_t kTried = 4;

std::string CheckDomains(const abi::Problem& a, const abi::Problem& b) {
  if (a.outputs[0].shape == b.outputs[0].shape) return "";
  return StrCat("domain: one makes ", ToString(a.outputs[0].shape), ", the other ",
                ToString(b.outputs[0].shape));
}

// Results may be written earlier or later where nothing but steps, which are in order, reads them.
// Steps that write parts of one buffer write disjoint parts (compiler/ir/lowered.h).
std::string CheckResults(const ir::StepEditor& editor, int s) {
  for (const ir::BufferId b : editor.step(s).outputs) {
    const ir::LoweredBuffer& buffer = editor.buffer(b);
    if (buffer.role != schema::Role::kTemp && buffer.role != schema::Role::kOutput) {
      return StrCat("role: '", buffer.name, "' is more than a result");
    }
    if (editor.IsCondition(b)) return StrCat("loop: '", buffer.name, "' is a condition");
  }
  return "";
}

bool IsAnyBetween(const ir::StepList& steps, int first, int last) {
  const int* const next = std::upper_bound(steps.begin(), steps.end(), first);
  return next != steps.end() && *next < last;
}

// Whether what the step reads, or is guarded by, is written between two positions.
bool ReadsWhatChanges(const ir::StepEditor& editor, const ir::LoweredStep& step, int first,
                      int last) {
  const auto changes = [&](ir::BufferId b) { return IsAnyBetween(editor.writers(b), first, last); };
  return std::ranges::any_of(step.inputs, changes) ||
         std::ranges::any_of(step.guards, changes, &schema::Guard::buffer);
}

// Whether what step `later` reads, but for results of `earlier`, is there when that runs.
bool CanMoveUp(const ir::StepEditor& editor, int earlier, int later) {
  return !ReadsWhatChanges(editor, editor.step(later), earlier, later);
}

// Whether nobody needs results of step `earlier` before `later` runs.
bool CanMoveDown(const ir::StepEditor& editor, int earlier, int later) {
  const ir::LoweredStep& step = editor.step(earlier);
  const bool used = std::ranges::any_of(step.outputs, [&](ir::BufferId b) {
    return IsAnyBetween(editor.readers(b), earlier, later) ||
           IsAnyBetween(editor.writers(b), earlier, later);
  });
  return !used && !ReadsWhatChanges(editor, step, earlier, later);
}

// A state's new value is made in the place of the old one only by a step that has it as its first
// result, once nobody needs the old one.
std::string CheckStates(const ir::StepEditor& editor, int earlier, int s) {
  const bool stays = std::ranges::any_of(editor.step(s).outputs, [&](ir::BufferId b) {
    return editor.buffer(b).role == schema::Role::kOutput;
  });
  if (!stays) return "";  // new values of states are outputs
  for (const ir::LoweredState& state : editor.states()) {
    if (std::ranges::count(editor.step(s).outputs, state.present) == 0) continue;
    const ir::StepList& readers = editor.readers(state.past);
    if (readers.empty() || readers.back() < earlier) continue;
    return StrCat("state: '", editor.buffer(state.present).name,
                  "' could not take the place of the value before it");
  }
  return "";
}

// Where the one step of both can stand.
std::string CheckOrder(const ir::StepEditor& editor, int earlier, int later) {
  const bool reads = std::ranges::any_of(editor.step(earlier).inputs, [&](ir::BufferId b) {
    return std::ranges::count(editor.step(later).outputs, b) > 0;
  });
  if (reads) return "order: one reads a part of a buffer in which the other makes another part";
  if (CanMoveUp(editor, earlier, later) || CanMoveDown(editor, earlier, later)) return "";
  return "order: steps between them read what one makes, or make what the other reads";
}

// Loads the operands of the later step. `made` are the results of the earlier one, whose values it
// may read where they are stored as they are computed.
std::string LoadOperands(const ir::LoweredStep& earlier, const ir::LoweredStep& later,
                         const std::vector<uint16_t>& made, OperandExpr& expr,
                         std::vector<uint16_t>& inputs) {
  for (size_t k = 0; k < later.inputs.size(); ++k) {
    const abi::View& read = later.problem.inputs[k];
    const auto at = std::ranges::find(earlier.outputs, later.inputs[k]);
    if (at == earlier.outputs.end()) {
      inputs.push_back(expr.Load({later.inputs[k], read}));
      continue;
    }
    const auto result = static_cast<size_t>(at - earlier.outputs.begin());
    const abi::View& stored = earlier.problem.outputs[result];
    if (!ir::SameElements(read, stored)) return "domain: a result is read in another order";
    if (abi::ComputeDType(stored.dtype) != stored.dtype) {
      return StrCat("rounding: a result is read as it is stored, rounded to ",
                    DTypeName(stored.dtype));
    }
    inputs.push_back(made[result]);
  }
  return "";
}

// One step with the results of both.
Fusion WithBothResults(const ir::LoweredStep& earlier, const ir::LoweredStep& later) {
  const abi::Problem &a = earlier.problem, &b = later.problem;
  if (a.outputs.size() + b.outputs.size() > abi::kMaxExprResults) {
    return {StrCat("limits: more than ", abi::kMaxExprResults, " results"), {}};
  }
  OperandExpr expr(0);
  std::vector<uint16_t> inputs, more;
  for (size_t k = 0; k < a.inputs.size(); ++k) {
    inputs.push_back(expr.Load({earlier.inputs[k], a.inputs[k]}));
  }
  std::vector<uint16_t> results = expr.builder().Inline(a.epilogue, inputs);
  const std::string refusal = LoadOperands(earlier, later, results, expr, more);
  if (!refusal.empty()) return {refusal, {}};
  for (const uint16_t r : expr.builder().Inline(b.epilogue, more)) results.push_back(r);
  return FinishResults(earlier, later, b.outputs, expr, std::move(results));
}

void RecordJoined(PassContext& context, const ir::LoweredStep& earlier,
                  const ir::LoweredStep& later, const PairCosts& costs) {
  Decision d =
      context.About(DecisionKind::kFusion, schema::Subject::Edge(earlier.sources, later.sources),
                    kFuseHorizontal);
  d.choice = "one elementwise step, side by side";
  d.cost_us = costs.one_us;
  d.Because(Reason::kPredicted, "they do so little that a launch is most of what each takes");
  d.alternatives = {{std::string(kSeparate), "", costs.two_us}};
  context.Record(std::move(d));
}

std::string CheckGain(const PairCosts& costs) {
  if (costs.two_us < 0) return "cost: no kernel is predicted to take both";
  if (costs.one_us <= kMostOfBoth * costs.two_us) return "";
  return "cost: launches are a small part of what both take";
}

// The kTried latest elementwise steps of each shape, by their positions.
using Latest = std::map<std::string, std::vector<int>>;

// Joins step `later` with one of `tried`, from the latest on. Returns the position of the one step,
// or -1.
int JoinWithOne(ir::StepEditor& editor, PassContext& context, const std::vector<int>& tried,
                int later) {
  for (size_t i = tried.size(); i > 0; --i) {
    const int earlier = tried[i - 1];
    PairCosts costs;
    Fusion fused = TryHorizontal(editor, context, earlier, later, &costs);
    if (!fused.ok()) continue;
    RecordJoined(context, editor.step(earlier), editor.step(later), costs);
    const bool up = CanMoveUp(editor, earlier, later);
    editor.Erase(up ? later : earlier);
    editor.Replace(up ? earlier : later, std::move(fused.step));
    return up ? earlier : later;
  }
  return -1;
}

}  // namespace

bool CanBeHorizontal(const ir::LoweredStep& earlier, const ir::LoweredStep& later,
                     const abi::DeviceSpec& device) {
  const bool launches = device.name.empty() || device.backend == abi::Backend::kCuda;
  return launches && IsElementwise(earlier) && IsElementwise(later) &&
         !earlier.problem.epilogue.empty() && !later.problem.epilogue.empty();
}

Fusion TryHorizontal(const ir::StepEditor& editor, const PassContext& context, int earlier,
                     int later, PairCosts* costs) {
  const ir::LoweredStep &a = editor.step(earlier), &b = editor.step(later);
  std::string refusal = CheckDomains(a.problem, b.problem);
  if (refusal.empty()) refusal = CheckTogether(editor, context, earlier, later);
  if (refusal.empty() && a.loop != ir::kNoLoop) refusal = "loop: a loop repeats them";
  if (refusal.empty()) refusal = CheckResults(editor, earlier);
  if (refusal.empty()) refusal = CheckResults(editor, later);
  if (refusal.empty()) refusal = CheckStates(editor, earlier, earlier);
  if (refusal.empty()) refusal = CheckStates(editor, earlier, later);
  if (refusal.empty()) refusal = CheckOrder(editor, earlier, later);
  if (!refusal.empty()) return {refusal, {}};
  Fusion fused = WithBothResults(a, b);
  PairCosts known;
  if (fused.ok()) fused.refusal = RefuseSlower(a, b, fused.step, context.device, &known);
  if (fused.ok() && !context.device.name.empty()) fused.refusal = CheckGain(known);
  if (costs != nullptr) *costs = known;
  return fused;
}

Status FuseHorizontal(ir::Lowered& lowered, PassContext& context) {
  ir::StepEditor editor(lowered);
  Latest latest;
  for (int s = 0; s < editor.size(); ++s) {
    if (!CanBeHorizontal(editor.step(s), editor.step(s), context.device)) continue;
    std::vector<int>& tried = latest[ToString(editor.step(s).problem.outputs[0].shape)];
    const int joined = JoinWithOne(editor, context, tried, s);
    std::erase_if(tried, [&](int other) { return !editor.alive(other); });
    if (joined < 0 || joined == s) tried.push_back(s);
    if (tried.size() > kTried) tried.erase(tried.begin());
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
