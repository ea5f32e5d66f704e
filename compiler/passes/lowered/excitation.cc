#include "compiler/passes/lowered/excitation.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/views.h"

namespace aicf {
namespace {

using abi::Problem;
using abi::View;

/// The kept axes (images, channels), then the reduced ones (positions).
Dims ImageOrder(const Problem& mean) {
  const Dims& axes = mean.as<abi::ReduceAttrs>().axes;
  Dims order;
  for (int d = 0; d < mean.inputs[0].shape.rank(); ++d) {
    if (std::ranges::find(axes, d) == axes.end()) order.push_back(d);
  }
  for (int64_t axis : axes) order.push_back(axis);
  return order;
}

/// The view of the first two axes. The other axes have one element or repeat the same one.
View FirstTwo(const View& v) {
  return {v.dtype, {v.shape[0], v.shape[1]}, {v.strides[0], v.strides[1]}, v.offset};
}

bool RepeatsFrom(const View& v, int first_axis) {
  for (int d = first_axis; d < v.shape.rank(); ++d) {
    if (v.shape[d] != 1 && v.strides[d] != 0) return false;
  }
  return true;
}

/// B [batch.., k, n] as [n, k], where it is the same for all of the batch.
std::optional<View> WeightsOf(const View& b) {
  const int k = b.shape.rank() - 2, n = k + 1;
  for (int d = 0; d < k; ++d) {
    if (b.shape[d] != 1 && b.strides[d] != 0) return std::nullopt;
  }
  return View{b.dtype, {b.shape[n], b.shape[k]}, {b.strides[n], b.strides[k]}, b.offset};
}

/// Builds the excite step, or finds the condition that keeps it from being built.
class Excitation {
 public:
  Excitation(const ir::StepEditor& editor, const ExcitationSteps& steps)
      : mean_(editor.step(steps.mean)),
        squeeze_(editor.step(steps.squeeze)),
        excite_(editor.step(steps.excite)),
        scale_(editor.step(steps.scale)) {}

  Fusion Make() {
    std::string refusal = Check();
    if (refusal.empty()) refusal = AddWeights();
    if (refusal.empty()) refusal = AddMiddle(squeeze_, {images_, hidden_}, problem_.prologue);
    attrs_.hidden_operands = static_cast<int64_t>(problem_.inputs.size()) - 2;
    if (refusal.empty()) refusal = AddMiddle(excite_, {images_, channels_}, problem_.score);
    problem_.core_inputs = static_cast<int>(problem_.inputs.size());
    problem_.attrs = attrs_;
    if (refusal.empty()) refusal = AddScale();
    if (!refusal.empty()) return {std::move(refusal), {}};
    step_.problem = std::move(problem_);
    step_.outputs = scale_.outputs;
    step_.guards = scale_.guards;
    step_.loop = scale_.loop;
    return {"", std::move(step_)};
  }

 private:
  std::string Check() {
    const Problem& mean = mean_.problem;
    order_ = ImageOrder(mean);
    const int rank = mean.inputs[0].shape.rank();
    const int kept = rank - mean.as<abi::ReduceAttrs>().axes.rank();
    if (kept != 2) return StrCat("domain: the means have ", kept, " axes, not images and channels");
    if (!mean.prologue.empty() || !mean.epilogue.empty()) {
      return "pattern: more than a mean is made of the positions";
    }
    if (scale_.problem.outputs[0].shape != mean.inputs[0].shape) {
      return StrCat("domain: the means are of ", ToString(mean.inputs[0].shape),
                    ", the gates scale ", ToString(scale_.problem.outputs[0].shape));
    }
    images_ = mean.inputs[0].shape[static_cast<int>(order_[0])];
    channels_ = mean.inputs[0].shape[static_cast<int>(order_[1])];
    return "";
  }

  std::string AddWeights() {
    const std::optional<View> first = WeightsOf(squeeze_.problem.inputs[1]);
    const std::optional<View> second = WeightsOf(excite_.problem.inputs[1]);
    if (!first || !second) return "weights: they differ from image to image";
    hidden_ = first->shape[0];
    if (second->shape[0] != channels_) {
      return StrCat("domain: ", second->shape[0], " gates for ", channels_, " channels");
    }
    const View means = FirstTwo(ir::Permute(mean_.problem.outputs[0], order_));
    if (!Reads(squeeze_, means) || !Reads(excite_, Rows(squeeze_.problem.outputs[0], hidden_))) {
      return "view: a product reads its rows in another order";
    }
    problem_.family = abi::Family::kExcite;
    Add(squeeze_.inputs[1], *first);
    Add(excite_.inputs[1], *second);
    return "";
  }

  /// A product's operand as [images, columns]; nothing where it has other rows.
  std::optional<View> Rows(const View& v, int64_t columns) const {
    return ir::Reshape(v, {images_, columns});
  }
  bool Reads(const ir::LoweredStep& product, const std::optional<View>& made) const {
    const View& a = product.problem.inputs[0];
    if (!made || abi::ElementsOf(a) != abi::ElementsOf(*made)) return false;
    const std::optional<View> read = Rows(a, made->shape[1]);
    return read && ir::SameElements(*read, *made);
  }

  /// A product's epilogue and its operands, on rows [images, columns].
  std::string AddMiddle(const ir::LoweredStep& product, const Dims& domain, abi::Expr& expr) {
    const Problem& p = product.problem;
    if (ReadsCoordinates(p.epilogue)) return "domain: a product's epilogue uses coordinates";
    if (p.outputs.size() != 1) return StrCat("outputs: a product has ", p.outputs.size());
    for (size_t k = static_cast<size_t>(p.core_inputs); k < p.inputs.size(); ++k) {
      const std::optional<View> rows = Rows(p.inputs[k], domain[1]);
      if (!rows) return "view: an epilogue's operand has other rows than its product";
      Add(product.inputs[k], *rows);
    }
    expr = p.epilogue;
    return "";
  }

  /// The elementwise step as the epilogue: gates come from input 0, x is input 1.
  std::string AddScale() {
    const Problem& p = scale_.problem;
    if (ReadsCoordinates(p.epilogue) && !IsAscending(order_)) {
      return "domain: what is applied to the gates uses coordinates in another order";
    }
    const std::optional<View> gates = Rows(excite_.problem.outputs[0], channels_);
    const View x = ir::Permute(mean_.problem.inputs[0], order_);
    Add(mean_.inputs[0], x);
    abi::ExprBuilder b;
    const uint16_t gate = b.Input(0, DType::kF32);
    std::vector<uint16_t> inputs;
    for (size_t k = 0; k < p.inputs.size(); ++k) {
      const View v = ir::Permute(p.inputs[k], order_);
      if (scale_.inputs[k] == excite_.outputs[0]) {
        if (!gates || !RepeatsFrom(v, 2) || !ir::SameElements(FirstTwo(v), *gates)) {
          return "view: gates are read otherwise than one for each channel of an image";
        }
        inputs.push_back(gate);
      } else {
        inputs.push_back(b.Input(ExtraOf(scale_.inputs[k], v), abi::ComputeDType(v.dtype)));
      }
    }
    problem_.epilogue = b.Finish(b.Inline(p.epilogue, inputs));
    if (problem_.epilogue.nodes.size() > abi::kMaxExprNodes ||
        problem_.inputs.size() - static_cast<size_t>(problem_.core_inputs) >=
            static_cast<size_t>(abi::kMaxExprInputs)) {
      return "limits: an expression has too many nodes or inputs";
    }
    for (const View& out : p.outputs) problem_.outputs.push_back(ir::Permute(out, order_));
    for (const ir::LoweredStep* s : {&mean_, &squeeze_, &excite_, &scale_}) {
      for (const std::string& name : s->sources) {
        if (std::ranges::find(step_.sources, name) == step_.sources.end()) {
          step_.sources.push_back(name);
        }
      }
    }
    return "";
  }

  static bool IsAscending(const Dims& order) { return std::ranges::is_sorted(order); }

  /// The expression's input that reads the view of the buffer; a new one where none does.
  int ExtraOf(ir::BufferId buffer, const View& v) {
    for (size_t k = static_cast<size_t>(problem_.core_inputs); k < problem_.inputs.size(); ++k) {
      if (step_.inputs[k] == buffer && ir::SameElements(problem_.inputs[k], v)) {
        return static_cast<int>(k) - problem_.core_inputs + 1;
      }
    }
    Add(buffer, v);
    return problem_.extra_inputs();
  }
  void Add(ir::BufferId buffer, const View& v) {
    step_.inputs.push_back(buffer);
    problem_.inputs.push_back(v);
  }

  const ir::LoweredStep &mean_, &squeeze_, &excite_, &scale_;
  Dims order_;
  int64_t images_ = 0, channels_ = 0, hidden_ = 0;
  abi::ExciteAttrs attrs_;
  Problem problem_;
  ir::LoweredStep step_;
};

}  // namespace

Fusion ExcitationOf(const ir::StepEditor& editor, const ExcitationSteps& steps) {
  return Excitation(editor, steps).Make();
}

}  // namespace aicf
