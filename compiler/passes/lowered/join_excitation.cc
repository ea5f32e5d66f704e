#include <optional>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/excitation.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

constexpr std::string_view kPass = "join-excitation";
constexpr std::string_view kOne = "one step", kFour = "mean, product, product, scaling";

bool IsProduct(const ir::StepEditor& editor, int s) {
  if (s < 0) return false;
  const abi::Problem& p = editor.step(s).problem;
  return p.family == abi::Family::kGemm && abi::RawInputs(p) == 1;
}
bool IsMean(const ir::StepEditor& editor, int s) {
  if (s < 0 || editor.step(s).problem.family != abi::Family::kReduce) return false;
  const abi::Problem& p = editor.step(s).problem;
  return p.as<abi::ReduceAttrs>().kind == abi::ReduceKind::kMean && p.core_inputs == 1;
}

// Whether the step reads elements of the buffer repeatedly, as a gate is read for all positions of
// its channel. The scores of a classifier, for example, are not read so.
bool Repeats(const ir::StepEditor& editor, int reader, ir::BufferId b) {
  const ir::LoweredStep& step = editor.step(reader);
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    const abi::View& v = step.problem.inputs[k];
    if (step.inputs[k] == b && ir::DistinctElements(v) < abi::ElementsOf(v)) return true;
  }
  return false;
}

// The chain whose second product is step `excite`; `scale` is the last step that reads its gates.
std::optional<ExcitationSteps> ChainOf(const ir::StepEditor& editor, int excite) {
  ExcitationSteps steps;
  steps.excite = excite;
  if (!IsProduct(editor, excite)) return std::nullopt;
  steps.squeeze = editor.OnlyWriter(editor.step(excite).inputs[0]);
  if (!IsProduct(editor, steps.squeeze)) return std::nullopt;
  steps.mean = editor.OnlyWriter(editor.step(steps.squeeze).inputs[0]);
  if (!IsMean(editor, steps.mean)) return std::nullopt;
  const ir::BufferId gates = editor.step(excite).outputs[0];
  if (editor.readers(gates).empty()) return std::nullopt;
  steps.scale = editor.readers(gates).back();
  if (!Repeats(editor, steps.scale, gates)) return std::nullopt;
  return steps;
}

std::string CheckEdges(const ir::StepEditor& editor, const PassContext& context,
                       const ExcitationSteps& s) {
  for (const auto& [producer, consumer] :
       {std::pair{s.mean, s.squeeze}, {s.squeeze, s.excite}, {s.excite, s.scale}}) {
    std::string refusal = CheckProducer(editor, context, producer, consumer);
    if (refusal.empty()) refusal = CheckSingleUse(editor, producer, consumer);
    if (!refusal.empty()) return refusal;
  }
  const ir::LoweredStep& scale = editor.step(s.scale);
  if (!IsElementwise(scale)) {
    return StrCat("family: the gates are applied inside of a ",
                  abi::FamilyName(scale.problem.family), " step");
  }
  // The joined step runs in the place of the last one. What the first three read must still have
  // the same value there.
  for (int early : {s.mean, s.squeeze, s.excite}) {
    for (ir::BufferId b : editor.step(early).inputs) {
      if (editor.ChangesBetween(b, early, s.scale)) {
        return StrCat("loop: '", editor.buffer(b).name, "' changes between them");
      }
    }
  }
  return "";
}

// A cluster of thread blocks uses few of the device's multiprocessors, while large images and many
// weights are best spread over all of them. So the predicted times decide.
std::string CheckKernels(const ir::StepEditor& editor, const ExcitationSteps& s,
                         const abi::Problem& joined, const abi::DeviceSpec& device) {
  std::string refusal;
  const std::optional<double> one = PredictedUs(joined, device, &refusal);
  if (!one) return refusal;
  double four = 0;
  for (int step : {s.mean, s.squeeze, s.excite, s.scale}) {
    std::string unused;
    const std::optional<double> us = PredictedUs(editor.step(step).problem, device, &unused);
    if (!us) return "";
    four += *us;
  }
  return *one < four ? "" : "cost: the four steps are predicted to be faster";
}

void RecordChain(PassContext& context, const ir::StepEditor& editor, const ExcitationSteps& s,
                 const std::string& refusal) {
  std::vector<std::string> names;
  for (int step : {s.mean, s.squeeze, s.excite, s.scale}) {
    const std::vector<std::string>& sources = editor.step(step).sources;
    names.insert(names.end(), sources.begin(), sources.end());
  }
  Decision d = context.About(DecisionKind::kFusion,
                             schema::Subject::Of(SubjectForm::kSources, std::move(names)), kPass);
  const bool joined = refusal.empty();
  d.choice = joined ? kOne : kFour;
  d.Because(Reason::kRule, joined
                               ? "an image is read once, and the values between them are neither "
                                 "stored nor rounded"
                               : "one step is not possible, or would be slower");
  d.alternatives = {{std::string(joined ? kFour : kOne), refusal, -1}};
  context.Record(std::move(d));
}

}  // namespace

// Squeeze and excitation is short work on little data: what it costs is that each step waits for
// the one before it.
Status JoinExcitation(ir::Lowered& lowered, PassContext& context) {
  if (context.device.name.empty()) return OkStatus();
  ir::StepEditor editor(lowered);
  for (int s = 0; s < editor.size(); ++s) {
    if (!editor.alive(s)) continue;
    const std::optional<ExcitationSteps> chain = ChainOf(editor, s);
    if (!chain) continue;
    Fusion made{CheckEdges(editor, context, *chain), {}};
    if (made.ok()) made = ExcitationOf(editor, *chain);
    if (made.ok()) {
      made.refusal = CheckKernels(editor, *chain, made.step.problem, context.device);
    }
    RecordChain(context, editor, *chain, made.refusal);
    if (!made.ok()) continue;
    for (int gone : {chain->mean, chain->squeeze, chain->excite}) editor.Erase(gone);
    editor.Replace(chain->scale, std::move(made.step));
  }
  editor.Finish();
  return OkStatus();
}

}  // namespace aicf
