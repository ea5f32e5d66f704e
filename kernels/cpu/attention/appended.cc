#include "kernels/cpu/attention/appended.h"

#include <utility>
#include <vector>

#include "kernels/abi/append.h"
#include "kernels/cpu/append/append.h"
#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {
namespace {

// The append family has tokens before heads, attention has heads before tokens.
abi::TensorArg Swapped(abi::TensorArg t) {
  std::swap(t.shape[1], t.shape[2]);
  std::swap(t.strides[1], t.strides[2]);
  return t;
}

// Queries [B, 1, H, D], dense.
abi::TensorArg TurnedQueries(const abi::ArgBlock& args) {
  abi::TensorArg t = Swapped(Input(args, 0));
  t.data = args.workspace;
  t.offset = 0;
  int64_t stride = 1;
  for (int axis = 3; axis >= 0; --axis) {
    t.strides[axis] = stride;
    stride *= t.shape[axis];
  }
  return t;
}

void Append(const abi::ArgBlock& args, const abi::AttentionShape& s, const abi::TensorArg& turned) {
  abi::Problem problem;
  problem.family = abi::Family::kAppend;
  problem.attrs = abi::AppendAttrs{args.problem->as<abi::AttentionAttrs>().append_pairs};
  const abi::TensorArg tensors[] = {Input(args, s.new_keys),
                                    Input(args, s.new_values),
                                    Input(args, s.places),
                                    Swapped(Input(args, 1)),
                                    Swapped(Input(args, 2)),
                                    Swapped(Input(args, 0)),
                                    Input(args, s.cosine),
                                    Input(args, s.sine),
                                    Swapped(Output(args, abi::kAttentionNextKeys)),
                                    Swapped(Output(args, abi::kAttentionNextValues)),
                                    turned};
  abi::ArgBlock append = args;
  append.input_count = abi::kAppendSine + 1;
  append.output_count = abi::kTurnedQueries + 1;
  append.tensors = tensors;
  append.problem = &problem;
  AppendRef(append);
}

}  // namespace

void AppendThenAttend(const abi::ArgBlock& args, void (*attention)(const abi::ArgBlock&)) {
  const abi::AttentionShape s = abi::AttentionShapeOf(*args.problem);
  const abi::TensorArg turned = TurnedQueries(args);
  Append(args, s, turned);
  // The operands that append are removed, so those of the score move up.
  abi::Problem problem = *args.problem;
  std::get<abi::AttentionAttrs>(problem.attrs).append_pairs = 0;
  const auto first = problem.inputs.begin() + s.new_keys;
  problem.inputs.erase(first, first + (s.core_inputs - s.new_keys));
  problem.core_inputs = s.new_keys;
  problem.outputs.resize(1);
  std::vector<abi::TensorArg> tensors = {Swapped(turned), Output(args, abi::kAttentionNextKeys),
                                         Output(args, abi::kAttentionNextValues)};
  for (int k = 3; k < static_cast<int>(args.input_count); ++k) {
    if (k < s.new_keys || k >= s.core_inputs) tensors.push_back(Input(args, k));
  }
  tensors.push_back(Output(args, 0));
  abi::ArgBlock attend = args;
  attend.input_count = static_cast<uint32_t>(tensors.size() - 1);
  attend.output_count = 1;
  attend.tensors = tensors.data();
  attend.problem = &problem;
  attention(attend);
}

}  // namespace aicf::cpu
