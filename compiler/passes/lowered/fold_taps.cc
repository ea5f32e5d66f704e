#include <algorithm>
#include <optional>

#include "compiler/ir/lowered_edit.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lowered/folded_taps.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"
#include "kernels/cpu/expr/scalar_eval.h"

namespace aicf {
namespace {

// The copy engine moves at least this many bytes, and strides have to be multiples of it.
constexpr int64_t kPieceBytes = 16;

// The dtype that the product is going to multiply: choose-storage, which runs later, stores f32
// values in context.storage.
DType OperandType(DType dtype, const PassContext& context) {
  return dtype == DType::kF32 ? context.storage : dtype;
}

// Elements of the left operand in such a piece.
int64_t PieceOf(const abi::Problem& p, const PassContext& context) {
  return kPieceBytes / DTypeBytes(OperandType(p.inputs[0].dtype, context));
}

// Whether the tensor cores multiply the operands as the copy engine brings them. Where tf32 is
// asked for this convolution alone, and not for the whole program, the convolution stays as it is.
bool IsTensorProduct(const abi::Problem& p, const PassContext& context) {
  const DType x = OperandType(p.inputs[0].dtype, context);
  return p.inputs[0].dtype == p.inputs[1].dtype &&
         ((x == DType::kF16 && p.math == abi::MathMode::kFp16) ||
          (x == DType::kBF16 && p.math == abi::MathMode::kBf16) ||
          (x == DType::kF32 && p.math == abi::MathMode::kTf32 &&
           context.math == abi::MathMode::kTf32));
}

// Whether the step is a convolution with fewer channels than the copy engine moves at least, as the
// first convolution of many models is.
bool HasFewChannels(const ir::LoweredStep& step, const PassContext& context) {
  if (step.problem.family != abi::Family::kConv || !IsTensorProduct(step.problem, context)) {
    return false;
  }
  const abi::View& x = step.problem.inputs[0];
  return x.shape[1] < PieceOf(step.problem, context) && abi::ElementsOf(x) > 0;
}

std::string Refusal(const ir::Lowered& lowered, const ir::LoweredStep& step) {
  const abi::Problem& p = step.problem;
  const auto& a = p.as<abi::ConvAttrs>();
  const ir::LoweredBuffer& w = lowered.buffers[step.inputs[1]];
  if (!w.constant.has_data() || p.inputs[1] != abi::DenseView(w.dtype, w.shape)) {
    return "weights: they are no constant in the model's order";
  }
  if (a.transposed || a.group != 1 || a.strides.rank() > 2) {
    return "pattern: it is transposed, grouped, or has more than two spatial axes";
  }
  if (p.inputs[1].shape.back() == 1 || a.dilations.back() != 1) {
    return "pattern: the taps of the last axis are not neighbours";
  }
  if (a.pads_begin.back() < 0 || abi::ElementsOf(p.outputs[0]) == 0) {
    return "pattern: the padding is negative, or the output empty";
  }
  return {};
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
// into zeros. They may then run behind the copy that puts zeros around the input. There they join
// the step that stores what the product multiplies, and the copy moves the input in its own, often
// narrower, dtype.
Conversion ConversionBefore(const ir::StepEditor& editor, int conv) {
  Conversion c;
  c.read = editor.step(conv).problem.inputs[0];
  c.input = editor.step(conv).inputs[0];
  for (int reader = conv; c.read;) {
    const int s = ConversionOf(editor, c.input, reader);
    if (s < 0) break;
    const abi::Problem& p = editor.step(s).problem;
    c.read = ir::Remap(*c.read, p.outputs[0], p.inputs[0]);
    c.input = editor.step(s).inputs[0];
    c.steps.insert(c.steps.begin(), s);
    reader = s;
  }
  if (!c.read || editor.buffer(c.input).role != schema::Role::kInput) return {};
  cpu::Scalar zero = cpu::IntScalar(0);  // the same bits as 0.0
  for (const int s : c.steps) zero = ValueOf(editor.step(s).problem.epilogue, zero);
  return zero.f == 0 ? c : Conversion{};
}

// The copy that stores the input, of which the convolution reads `from`, with zeros around it.
ir::LoweredStep StoreInput(ir::Lowered& lowered, const ir::LoweredStep& conv, ir::BufferId input,
                           abi::View from, const Folded& f) {
  const int64_t pad = conv.problem.as<abi::ConvAttrs>().pads_begin.back();
  const Dims shape = StoredShape(from.shape, f);
  if (f.rows > 1) from = InGroups(from, f);
  const int last = from.shape.rank() - 1;
  from.shape[last] = std::clamp<int64_t>(f.width - pad, 0, from.shape[last]);
  ir::LoweredBuffer buffer = lowered.buffers[input];
  buffer.name += " for folded taps";
  buffer.role = schema::Role::kTemp;
  buffer.constant = {};
  buffer.dtype = from.dtype;
  buffer.shape = shape;
  const abi::View to = StoredView(buffer.dtype, buffer.shape, f);
  ir::LoweredStep copy = conv;
  abi::CopyAttrs attrs;
  attrs.has_fill = true;
  attrs.starts = {Dims::Filled(last + 1, 0)};
  attrs.starts[0][last] = std::min(pad, f.width);
  if (f.rows > 1) attrs.starts[0][2] = std::min(f.first_group, f.height);
  copy.problem = {};
  copy.problem.family = abi::Family::kCopy;
  copy.problem.attrs = attrs;
  copy.problem.inputs = {from};
  copy.problem.outputs = {to};
  copy.problem.core_inputs = 1;
  copy.inputs = {input};
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

// Tensor cores take weights of 16 bits in either order, wider ones only along the sum.
bool LieAlongSum(DType weights, const PassContext& context) {
  return DTypeBytes(OperandType(weights, context)) > 2;
}

// The convolution over the stored input. Along the last axis it has a single tap, whose channels
// are all taps of a window, and its positions are the windows, f.stride elements apart.
ir::LoweredStep FoldedConv(ir::Lowered& lowered, const ir::LoweredStep& conv, ir::BufferId stored,
                           const Folded& f, bool along_sum) {
  ir::LoweredStep out = conv;
  abi::Problem& p = out.problem;
  abi::ConvAttrs a = p.as<abi::ConvAttrs>();
  const int last = a.strides.rank() - 1;
  a.strides[last] = 1;
  a.pads_begin[last] = a.pads_end[last] = 0;
  const ir::LoweredBuffer& input = lowered.buffers[stored];
  abi::View x = StoredView(input.dtype, input.shape, f);
  if (f.rows > 1) {
    a.strides[0] = 1;
    a.pads_begin[0] = a.pads_end[0] = 0;
    x.shape = {x.shape[0], 0, x.shape[2], 0};
    x.strides = {x.strides[0], x.strides[1], x.strides[2], 0};
  }
  x.shape[1] = f.length;
  x.shape[last + 2] = p.outputs[0].shape.back();
  x.strides[last + 2] = f.stride;
  p.attrs = a;
  p.inputs[0] = x;
  p.inputs[1] = FoldedWeightsView(p.inputs[1], f, along_sum);
  ir::LoweredBuffer w = lowered.buffers[conv.inputs[1]];
  w.name += " with folded taps";
  w.constant = FoldedWeights(w.constant, f, along_sum);
  w.shape = w.constant.shape();
  out.inputs[0] = stored;
  out.inputs[1] = AddBuffer(lowered, std::move(w));
  return out;
}

// What is decided of the step's weights; `refusal`: why taps are not folded, if they are not.
void Record(PassContext& context, const ir::LoweredStep& step, const std::string& name,
            const std::string& refusal) {
  Decision d = context.About(DecisionKind::kLayout,
                             schema::Subject::ValueOf(SubjectForm::kWeights, name, step.sources),
                             "fold-taps");
  const bool folds = refusal.empty();
  const int64_t rows =
      folds ? FoldedOf(step.problem, PieceOf(step.problem, context)).rows : int64_t{1};
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

void RecordCopy(PassContext& context, const ir::LoweredStep& copy) {
  Decision d = context.About(DecisionKind::kCopy, SubjectOf(copy), "fold-taps");
  d.choice = "kept";
  d.Because(Reason::kRule, "it pads lines to whole pieces of 16 bytes, channels innermost")
      .alternatives = {
      {"removed", "view: no strides of the input make the taps of a window neighbours", -1}};
  context.Record(std::move(d));
}

void RecordConversion(PassContext& context, const ir::LoweredStep& step) {
  Decision d = context.About(DecisionKind::kCopy, SubjectOf(step), "fold-taps");
  d.choice = "behind the copy of its input";
  d.Because(Reason::kRule,
            "it turns the zeros around the input into zeros, and joins the step that stores what "
            "the product multiplies")
      .alternatives = {{"in front of it", "", -1}};
  context.Record(std::move(d));
}

// Whether a step's taps are folded, and what then moves behind the copy of its input.
struct FoldedStep {
  bool folds = false;
  Conversion conversion;
};

std::vector<FoldedStep> FoldedSteps(ir::Lowered& lowered, PassContext& context) {
  std::vector<FoldedStep> out(lowered.steps.size());
  const ir::StepEditor editor(lowered);
  for (size_t s = 0; s < out.size(); ++s) {
    const ir::LoweredStep& step = lowered.steps[s];
    if (!HasFewChannels(step, context)) continue;
    const std::string refusal = Refusal(lowered, step);
    Record(context, step, lowered.buffers[step.inputs[1]].name, refusal);
    if (refusal.empty()) out[s] = {true, ConversionBefore(editor, static_cast<int>(s))};
  }
  return out;
}

}  // namespace

// With three channels of 16 or 32 bits, no tap is 16 bytes wide, but a line of seven taps is.
Status FoldTaps(ir::Lowered& lowered, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  const std::vector<FoldedStep> folded = FoldedSteps(lowered, context);
  std::vector<bool> moved(folded.size());
  for (const FoldedStep& step : folded) {
    for (const int s : step.conversion.steps) moved[static_cast<size_t>(s)] = true;
  }
  std::vector<ir::LoweredStep> steps;
  for (size_t s = 0; s < folded.size(); ++s) {
    const ir::LoweredStep step = lowered.steps[s];
    if (moved[s]) continue;
    if (!folded[s].folds) {
      steps.push_back(step);
      continue;
    }
    const Folded f = FoldedOf(step.problem, PieceOf(step.problem, context));
    const Conversion& conversion = folded[s].conversion;
    const bool converts = !conversion.steps.empty();
    steps.push_back(StoreInput(lowered, step, converts ? conversion.input : step.inputs[0],
                               converts ? *conversion.read : step.problem.inputs[0], f));
    RecordCopy(context, steps.back());
    for (const int c : conversion.steps) {
      const ir::LoweredStep& before = lowered.steps[static_cast<size_t>(c)];
      steps.push_back(ConvertStored(lowered, before, steps.back()));
      RecordConversion(context, before);
    }
    steps.push_back(FoldedConv(lowered, step, steps.back().outputs[0], f,
                               LieAlongSum(step.problem.inputs[1].dtype, context)));
  }
  lowered.steps = std::move(steps);
  ir::DropUnusedBuffers(lowered);
  return OkStatus();
}

}  // namespace aicf
