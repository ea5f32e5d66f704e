// Products whose blocks have scales, on a GPU. Device code fetches the scales of a tile's rows with
// every step along the sum: in one copy where they are neighbours in memory, otherwise one by one,
// which takes a tenth of a large product's time. Models have the scales of a row next to each other
// instead, so a large product reads a copy of them that is turned.
#include "compiler/ir/lowered_edit.h"
#include "compiler/passes/lowered/copy_pieces.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

constexpr std::string_view kTurnScales = "turn-scales";
constexpr size_t kScales = 2;  ///< the operand of a product that has the scales of its rows

struct Costs {
  double as_it_is_us = 0, copy_us = 0, turned_us = 0;
};

class ScaleTurner {
 public:
  ScaleTurner(ir::Lowered& lowered, PassContext& context) : editor_(lowered), context_(context) {}

  void Run() {
    for (int s = 0; s < editor_.size(); ++s) {
      if (abi::HasBlockScales(editor_.step(s).problem)) Turn(s);
    }
    editor_.Finish();
  }

 private:
  // The scales with those of rows next to each other.
  static abi::View Turned(abi::View v) {
    const int last = v.shape.rank() - 1;
    abi::View turned = abi::DenseView(v.dtype, v.shape);
    turned.strides[last - 1] = 1;
    turned.strides[last] = v.shape[last - 1];
    return turned;
  }

  // The copy into that order, or why there is none.
  static std::string Split(const abi::Problem& p, abi::Problem* copy, abi::Problem* product) {
    const abi::View& scales = p.inputs[kScales];
    const abi::View turned = Turned(scales);
    const int last = scales.shape.rank() - 1;
    if (scales.strides[last - 1] == 1) return "view: the scales of rows are neighbours as they are";
    for (int d = 0; d + 1 < last; ++d) {
      if (scales.shape[d] > 1) return "view: a batch";
    }
    *copy = CopyProblemOf(scales, turned);
    *product = p;
    product->inputs[kScales] = turned;
    return {};
  }

  std::string Compare(const abi::Problem& p, const abi::Problem& copy, const abi::Problem& product,
                      Costs* costs) const {
    if (context_.device.name.empty()) return {};
    std::string refusal;
    const auto as_it_is = PredictedUs(p, context_.device, &refusal);
    const auto copy_us = PredictedUs(copy, context_.device, &refusal);
    const auto turned = PredictedUs(product, context_.device, &refusal);
    if (!as_it_is || !copy_us || !turned) return refusal;
    *costs = {*as_it_is, *copy_us, *turned};
    return *copy_us + *turned < *as_it_is ? "" : "cost: the copy takes longer than it saves";
  }

  void Turn(int s) {
    const ir::LoweredStep& step = editor_.step(s);
    const std::string name = editor_.buffer(step.inputs[kScales]).name;
    abi::Problem copy, product;
    Costs costs;
    std::string refusal = Split(step.problem, &copy, &product);
    if (refusal.empty()) refusal = Compare(step.problem, copy, product, &costs);
    Record(name, step, refusal, costs);
    if (!refusal.empty()) return;
    Dims shape = copy.outputs[0].shape;
    const int last = shape.rank() - 1;
    std::swap(shape[last - 1], shape[last]);
    const ir::BufferId turned = editor_.AddBuffer(
        {StrCat(name, " turned"), copy.outputs[0].dtype, shape, schema::Role::kTemp, {}});
    ir::LoweredStep before = step, after = step;
    before.problem = std::move(copy);
    before.inputs = {step.inputs[kScales]};
    before.outputs = {turned};
    after.problem = std::move(product);
    after.inputs[kScales] = turned;
    editor_.ReplaceWithMany(s, {std::move(before), std::move(after)});
  }

  void Record(const std::string& name, const ir::LoweredStep& step, const std::string& refusal,
              const Costs& costs) {
    Decision d = context_.About(DecisionKind::kLayout,
                                schema::Subject::ValueOf(SubjectForm::kValue, name, step.sources),
                                kTurnScales);
    const std::string_view turned = "a copy along the rows", same = "the model's order";
    d.choice = refusal.empty() ? turned : same;
    if (refusal.empty()) {
      d.cost_us = costs.copy_us + costs.turned_us;
      d.Because(Reason::kPredicted,
                StrCat("the copy takes ", costs.copy_us, " us and the product after it ",
                       costs.turned_us, " us"));
      d.alternatives = {{std::string(same), "", costs.as_it_is_us}};
    } else {
      d.Because(Reason::kRule, "the product reads its scales where they are");
      d.alternatives = {{std::string(turned), refusal,
                         costs.as_it_is_us > 0 ? costs.copy_us + costs.turned_us : -1}};
    }
    context_.Record(std::move(d));
  }

  ir::StepEditor editor_;
  PassContext& context_;
};

}  // namespace

Status TurnScales(ir::Lowered& lowered, PassContext& context) {
  // A device without a name has no kernels that could be asked for times.
  const bool gpu = context.device.backend == abi::Backend::kCuda;
  if (!gpu && !context.device.name.empty()) return OkStatus();
  ScaleTurner(lowered, context).Run();
  return OkStatus();
}

}  // namespace aicf
