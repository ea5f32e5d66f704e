#include "compiler/passes/lowered/padded_conv.h"

#include <optional>

namespace aicf {
namespace {

// The copy that alone writes what the convolution alone reads; -1: there is none.
int PaddingCopyBefore(const ir::StepEditor& editor, int conv) {
  const ir::LoweredStep& step = editor.step(conv);
  const ir::BufferId padded = step.inputs[0];
  const int s = editor.OnlyWriter(padded);
  if (s < 0 || editor.OnlyReader(padded) != conv) return -1;
  const ir::LoweredStep& copy = editor.step(s);
  const bool copies = copy.problem.family == abi::Family::kCopy && copy.inputs.size() == 1 &&
                      copy.problem.prologue.empty() && copy.problem.epilogue.empty();
  if (!copies || editor.buffer(padded).role != schema::Role::kTemp) return -1;
  if (copy.loop != step.loop || copy.guards != step.guards) return -1;
  return copy.problem.as<abi::CopyAttrs>().has_fill ? s : -1;
}

// The convolution of the copy's input, if all that the copy adds to it lies along spatial axes.
std::optional<abi::Problem> WithPadding(const abi::Problem& conv, const abi::Problem& copy) {
  abi::Problem p = conv;
  auto a = p.as<abi::ConvAttrs>();
  const Dims& start = copy.as<abi::CopyAttrs>().starts[0];
  const abi::View &image = copy.inputs[0], &padded = copy.outputs[0];
  if (padded != conv.inputs[0]) return std::nullopt;
  for (int d = 0; d < padded.shape.rank(); ++d) {
    const int64_t behind = padded.shape[d] - image.shape[d] - start[d];
    if (d < 2 && (start[d] != 0 || behind != 0)) return std::nullopt;
    if (d < 2) continue;
    if (a.pads_begin[d - 2] != 0 || a.pads_end[d - 2] != 0) return std::nullopt;
    a.pads_begin[d - 2] = start[d];
    a.pads_end[d - 2] = behind;
  }
  p.attrs = a;
  p.inputs[0] = image;
  return p;
}

}  // namespace

PaddedConv PaddedConvOf(const ir::StepEditor& editor, int conv) {
  const ir::LoweredStep& step = editor.step(conv);
  const int s = PaddingCopyBefore(editor, conv);
  if (s >= 0) {
    const ir::LoweredStep& copy = editor.step(s);
    if (const auto problem = WithPadding(step.problem, copy.problem))
      return {*problem, copy.inputs[0], s, copy.problem.as<abi::CopyAttrs>().fill};
  }
  return {step.problem, step.inputs[0]};
}

}  // namespace aicf
