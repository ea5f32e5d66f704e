/// For tests: a problem with something in every part, and the smallest changes of it, one for every
/// field. Code that compares or hashes problems has to notice each of them.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/abi/problem.h"

namespace aicf::abi::testing {

/// Changes a field of attributes, whatever its type, by as little as there is.
struct Nudge {
  void operator()(int64_t& v) { ++v; }
  void operator()(bool& v) { v = !v; }
  void operator()(double& v) { v = v == 0 ? -0.0 : -v; }
  void operator()(Dims& v) { v.push_back(0); }
  void operator()(std::vector<Dims>& v) { v.push_back({}); }
  void operator()(std::vector<double>& v) { v.push_back(-0.0); }
  void operator()(AddedReal& v) { v.value = v.stored() ? -v.value : 0; }
  template <int64_t kBefore>
  void operator()(AddedInt<kBefore>& v) {
    ++v.value;
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(E& v) { v = static_cast<E>(static_cast<int>(v) ^ 1); }
};

/// Changes field number `wanted` of the attributes, if there is one, and returns the number of
/// fields.
inline int NudgeField(Attrs& attrs, int wanted) {
  int at = 0;
  std::visit(
      [&](auto& a) {
        a.Visit([&](std::string_view, auto& field) {
          if (at++ == wanted) Nudge()(field);
        });
      },
      attrs);
  return at;
}

/// Attributes of every family at their defaults, in the order of family.def.
inline std::vector<Attrs> AllAttrs() {
  return {
#define AICF_FAMILY(id, text, attrs, core, slots) attrs{},
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  };
}

/// A product with expressions in all places, also in those that its family does not have.
inline Problem SomeProblem() {
  Problem p;
  p.family = Family::kGemm;
  p.attrs = GemmAttrs{};
  p.core_inputs = 2;
  p.inputs = {DenseView(DType::kF32, {2, 3}), DenseView(DType::kF32, {3, 4})};
  p.outputs = {DenseView(DType::kF32, {2, 4})};
  ExprBuilder b;
  const uint16_t half = b.Const(0.5, DType::kF32);
  p.epilogue = b.Finish({b.Binary(ExprOp::kMul, b.Input(0, DType::kF32), half)});
  p.prologue = p.score = p.epilogue;
  return p;
}

/// Changes of SomeProblem: one of every field but those of the attributes.
inline std::vector<void (*)(Problem&)> ProblemChanges() {
  return {
      [](Problem& p) { p.family = Family::kBlockGemm; },
      [](Problem& p) { p.attrs = BlockGemmAttrs{}; },
      [](Problem& p) { p.math = MathMode::kTf32; },
      [](Problem& p) { p.core_inputs = 1; },
      [](Problem& p) { p.inputs.pop_back(); },
      [](Problem& p) { p.outputs.push_back(p.outputs[0]); },
      [](Problem& p) { p.inputs[0].dtype = DType::kF16; },
      [](Problem& p) { p.inputs[1].shape[1] = 5; },
      [](Problem& p) { p.inputs[1].strides[0] = 5; },
      [](Problem& p) { p.outputs[0].offset = 1; },
      [](Problem& p) { p.outputs[0].shape.push_back(1); },
      [](Problem& p) { p.prologue = {}; },
      [](Problem& p) { p.score.results.push_back(0); },
      [](Problem& p) { p.epilogue.nodes[0].imm ^= 1; },
      [](Problem& p) { p.epilogue.nodes[1].dtype = DType::kI32; },
      [](Problem& p) { p.epilogue.nodes[2].op = ExprOp::kAdd; },
      [](Problem& p) { std::swap(p.epilogue.nodes[2].args[0], p.epilogue.nodes[2].args[1]); },
  };
}

}  // namespace aicf::abi::testing
