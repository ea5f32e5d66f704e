#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/ir/lowered_edit.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lowered/folded_cost.h"
#include "compiler/passes/lowered/folded_taps.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/padded_conv.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/lowered/weight_order.h"
#include "compiler/passes/storage/narrow_tensor.h"
#include "kernels/cpu/expr/scalar_eval.h"

namespace aicf {
namespace {

// Empty, or why the copy of the input costs more than the folded convolution gains. It always pays
// for floats, which the tensor cores would not multiply without it in the precision asked for.
std::string RefuseSlowerCodes(const abi::Problem& p, const PassContext& context) {
  if (!IsByteInteger(p.inputs[0].dtype) || context.device.name.empty()) return {};
  std::string refusal;
  const std::optional<double> folded = FoldedUs(p, context, &refusal);
  if (!folded) return refusal;
  const abi::Problem plain = WithStoredWeights(p, context);
  const std::optional<double> as_it_is = CorrectedUs(plain, context, &refusal);
  return as_it_is && *as_it_is < *folded ? "cost: the copy takes more than the product gains" : "";
}

std::string Refusal(const ir::Lowered& lowered, const ir::LoweredStep& step,
                    const PassContext& context) {
  const abi::Problem& p = step.problem;
  const ir::LoweredBuffer& w = lowered.buffers[step.inputs[1]];
  if (!w.constant.has_data() || p.inputs[1] != abi::DenseView(w.dtype, w.shape)) {
    return "weights: they are no constant in the model's order";
  }
  const std::string refusal = RefuseFolding(p);
  return refusal.empty() ? RefuseSlowerCodes(p, context) : refusal;
}

// Empty, or why padding with such a value would spread. Pixels beside a window, and channels that a
// picture does not have, are multiplied with weights of 0, and infinity times 0 is NaN.
std::string RefusePadding(double fill, DType dtype) {
  const double most =
      dtype == DType::kF32 ? std::numeric_limits<float>::max() : storage::LargestOf(dtype);
  if (!IsFloat(dtype) || std::abs(fill) <= most) return {};
  return StrCat("padding: it is not finite in ", DTypeName(dtype),
                ", and weights of 0 would make NaN of it");
}

ir::BufferId AddBuffer(ir::Lowered& lowered, ir::LoweredBuffer buffer) {
  lowered.buffers.push_back(std::move(buffer));
  return static_cast<ir::BufferId>(lowered.buffers.size() - 1);
}

// Steps in front of the convolution that convert an input of the graph, one element at a time.
struct Conversion {
  std::vector<int> steps;         // in their order; none: the convolution's operand is copied
  ir::BufferId input = 0;         // of the graph
  std::optional<abi::View> read;  // what the convolution multiplies, as a view of that input
};

// What the expression makes of a value.
cpu::Scalar ValueOf(const abi::Expr& expr, const cpu::Scalar& value) {
  const int64_t coords[kMaxRank] = {};
  cpu::Scalar result;
  cpu::EvalScalar(expr, &value, coords, &result);
  return result;
}

// The one step that converts, for step `reader` alone, what it reads as `buffer`; -1: none does.
int ConversionOf(const ir::StepEditor& editor, ir::BufferId buffer, int reader) {
  const int s = editor.OnlyWriter(buffer);
  if (s < 0 || editor.OnlyReader(buffer) != reader) return -1;
  if (editor.buffer(buffer).role != schema::Role::kTemp) return -1;
  const ir::LoweredStep &step = editor.step(s), &r = editor.step(reader);
  if (!IsElementwise(step) || step.inputs.size() != 1 || step.outputs.size() != 1) return -1;
  if (step.loop != r.loop || step.guards != r.guards) return -1;
  return ReadsCoordinates(step.problem.epilogue) ? -1 : s;
}

// The conversions between an input of the graph and the convolution, if together they turn zeros
// into what its padding is. They may then run behind the copy that puts zeros around the input.
// There they join the step that stores what the product multiplies, and the copy moves the input in
// its own dtype.
Conversion ConversionBefore(const ir::StepEditor& editor, const PaddedConv& conv, int reader) {
  Conversion c;
  c.read = conv.problem.inputs[0];
  c.input = conv.input;
  if (conv.copy >= 0) reader = conv.copy;
  while (c.read) {
    const int s = ConversionOf(editor, c.input, reader);
    if (s < 0) break;
    const abi::Problem& p = editor.step(s).problem;
    c.read = ir::Remap(*c.read, p.outputs[0], p.inputs[0]);
    c.input = editor.step(s).inputs[0];
    c.steps.insert(c.steps.begin(), s);
    reader = s;
  }
  if (!c.read || editor.buffer(c.input).role != schema::Role::kInput) return {};
  cpu::Scalar value = cpu::IntScalar(0);  // the same bits as 0.0
  for (const int s : c.steps) value = ValueOf(editor.step(s).problem.epilogue, value);
  const bool is_float = IsFloat(conv.problem.inputs[0].dtype);
  const double padding = is_float ? value.f : static_cast<double>(value.i);
  return padding == conv.fill ? c : Conversion{};
}

// The copy that stores the input of `conv` as `p` reads it, with padding around it.
ir::LoweredStep StoreInput(ir::Lowered& lowered, const ir::LoweredStep& conv, ir::BufferId input,
                           const abi::Problem& p, const Folded& f, double fill) {
  ir::LoweredStep copy = conv;
  copy.problem = StoringCopy(p, f, fill);
  copy.inputs.assign(copy.problem.inputs.size(), input);
  ir::LoweredBuffer buffer = lowered.buffers[input];
  buffer.name += " for folded taps";
  buffer.role = schema::Role::kTemp;
  buffer.constant = {};
  buffer.dtype = p.inputs[0].dtype;
  buffer.shape = StoredShape(p.inputs[0].shape, f);
  copy.outputs = {AddBuffer(lowered, std::move(buffer))};
  return copy;
}

// The conversion, on the stored shape, of what `stored`, the step before it, has made.
ir::LoweredStep ConvertStored(ir::Lowered& lowered, const ir::LoweredStep& conversion,
                              const ir::LoweredStep& stored) {
  ir::LoweredStep step = conversion;
  ir::LoweredBuffer buffer = lowered.buffers[conversion.outputs[0]];
  buffer.name += " for folded taps";
  buffer.shape = lowered.buffers[stored.outputs[0]].shape;
  step.problem.inputs = {abi::DenseView(stored.problem.outputs[0].dtype, buffer.shape)};
  step.problem.outputs = {abi::DenseView(buffer.dtype, buffer.shape)};
  step.inputs = stored.outputs;
  step.outputs = {AddBuffer(lowered, std::move(buffer))};
  return step;
}

// The convolution `before`, whose problem with its own padding is `p`, over the stored input.
ir::LoweredStep FoldedConv(ir::Lowered& lowered, const ir::LoweredStep& before,
                           const abi::Problem& p, ir::BufferId stored, const Folded& f,
                           bool along_sum) {
  ir::LoweredStep out = before;
  out.problem = FoldedProblem(p, f, along_sum);
  ir::LoweredBuffer w = lowered.buffers[before.inputs[1]];
  w.name += " with folded taps";
  w.constant = FoldedWeights(w.constant, f, along_sum);
  w.shape = w.constant.shape();
  out.inputs[0] = stored;
  out.inputs[1] = AddBuffer(lowered, std::move(w));
  return out;
}

// What is decided of the step's weights; `refusal`: why taps are not folded, if they are not.
void Record(PassContext& context, const ir::LoweredStep& step, const std::string& name,
            const std::string& refusal, int64_t rows) {
  Decision d = context.About(DecisionKind::kLayout,
                             schema::Subject::ValueOf(SubjectForm::kWeights, name, step.sources),
                             "fold-taps");
  const bool folds = refusal.empty();
  d.choice = !folds     ? "few channels"
             : rows > 1 ? StrCat("taps of the last axis and of ", rows, " rows as channels")
                        : "taps of the last axis as channels";
  d.Because(Reason::kRule,
            !folds     ? "the taps cannot be folded"
            : rows > 1 ? "the copy engine moves 16 bytes of channels and more, and takes as long "
                         "for short lines as for those of 128 bytes"
                       : "the copy engine moves 16 bytes of channels and more");
  d.alternatives = {
      folds ? schema::Alternative{"few channels", "cost: every tap would be fetched by itself", -1}
            : schema::Alternative{"taps of the last axis as channels", refusal, -1}};
  context.Record(std::move(d));
}

void RecordCopy(PassContext& context, const ir::LoweredStep& step, std::string choice,
                std::string because, schema::Alternative other) {
  Decision d = context.About(DecisionKind::kCopy, SubjectOf(step), "fold-taps");
  d.choice = std::move(choice);
  d.Because(Reason::kRule, std::move(because)).alternatives = {std::move(other)};
  context.Record(std::move(d));
}

// How a step's taps are folded, and what that makes of the steps in front of it.
struct FoldedStep {
  Folded how;
  PaddedConv conv;
  Conversion conversion;
};

class TapFolder {
 public:
  TapFolder(ir::Lowered& lowered, PassContext& context) : lowered_(lowered), context_(context) {}

  void Run() {
    Choose();
    std::vector<ir::LoweredStep> steps;
    for (size_t s = 0; s < folded_.size(); ++s) {
      if (gone_[s]) continue;
      const ir::LoweredStep step = lowered_.steps[s];
      if (folded_[s])
        Fold(step, *folded_[s], steps);
      else
        steps.push_back(step);
    }
    lowered_.steps = std::move(steps);
    ir::DropUnusedBuffers(lowered_);
  }

 private:
  void Choose() {
    folded_.resize(lowered_.steps.size());
    gone_.resize(lowered_.steps.size());
    const ir::StepEditor editor(lowered_);
    for (size_t s = 0; s < folded_.size(); ++s) {
      const ir::LoweredStep& step = lowered_.steps[s];
      if (!MayFold(step.problem, context_)) continue;
      std::string refusal = Refusal(lowered_, step, context_);
      FoldedStep f;
      if (refusal.empty()) {
        f.conv = PaddedConvOf(editor, static_cast<int>(s));
        refusal = RefusePadding(f.conv.fill, OperandType(step.problem.inputs[0].dtype, context_));
      }
      if (refusal.empty()) {
        f.how = FoldedOf(f.conv.problem, PieceOf(f.conv.problem, context_), f.conv.fill == 0);
      }
      Record(context_, step, lowered_.buffers[step.inputs[1]].name, refusal, f.how.rows);
      if (!refusal.empty()) continue;
      f.conversion = ConversionBefore(editor, f.conv, static_cast<int>(s));
      if (f.conv.copy >= 0) gone_[static_cast<size_t>(f.conv.copy)] = true;
      for (const int c : f.conversion.steps) gone_[static_cast<size_t>(c)] = true;
      folded_[s] = std::move(f);
    }
  }

  void Fold(const ir::LoweredStep& step, const FoldedStep& f, std::vector<ir::LoweredStep>& steps) {
    const abi::Problem& p = f.conv.problem;
    abi::Problem stored = p;
    const bool converts = !f.conversion.steps.empty();
    if (converts) stored.inputs[0] = *f.conversion.read;
    if (f.conv.copy >= 0) {
      RecordCopy(context_, lowered_.steps[static_cast<size_t>(f.conv.copy)], "removed",
                 "the copy that pads lines to whole pieces of 16 bytes pads with its value, too",
                 {"kept", "cost: the input would be copied twice", -1});
    }
    steps.push_back(StoreInput(lowered_, step, converts ? f.conversion.input : f.conv.input, stored,
                               f.how, converts ? 0 : f.conv.fill));
    RecordCopy(
        context_, steps.back(), "kept",
        "it pads lines to whole pieces of 16 bytes, channels innermost",
        {"removed", "view: no strides of the input make the taps of a window neighbours", -1});
    for (const int c : f.conversion.steps) {
      const ir::LoweredStep& before = lowered_.steps[static_cast<size_t>(c)];
      steps.push_back(ConvertStored(lowered_, before, steps.back()));
      RecordCopy(context_, before, "behind the copy of its input",
                 "it turns the zeros around the input into the convolution's padding, and joins "
                 "the step that stores what the product multiplies",
                 {"in front of it", "", -1});
    }
    const bool along_sum = FoldedAlongSum(OperandType(p.inputs[1].dtype, context_));
    steps.push_back(FoldedConv(lowered_, step, p, steps.back().outputs[0], f.how, along_sum));
  }

  ir::Lowered& lowered_;
  PassContext& context_;
  std::vector<std::optional<FoldedStep>> folded_;
  std::vector<bool> gone_;  // steps that are part of what is stored for a folded one
};

}  // namespace

// With three channels of 8, 16 or 32 bits, no tap is 16 bytes wide, but a line of seven taps is.
Status FoldTaps(ir::Lowered& lowered, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  TapFolder(lowered, context).Run();
  return OkStatus();
}

}  // namespace aicf
