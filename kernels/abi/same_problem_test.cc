#include "kernels/abi/same_problem.h"

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>
#include <vector>

namespace aicf::abi {
namespace {

// Changes a field, whatever its type, by as little as there is.
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

// Changes field `wanted` of the attributes; how many there are.
int NudgeField(Attrs& attrs, int wanted) {
  int at = 0;
  std::visit(
      [&](auto& a) {
        a.Visit([&](const char*, auto& field) {
          if (at++ == wanted) Nudge()(field);
        });
      },
      attrs);
  return at;
}

Problem SomeProblem() {
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

TEST(SameProblem, EveryAttributeCounts) {
  const std::vector<Attrs> all = {
#define AICF_FAMILY(id, text, attrs, core, slots) attrs{},
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  };
  for (size_t f = 0; f < all.size(); ++f) {
    Problem p = SomeProblem();
    p.family = static_cast<Family>(f);
    p.attrs = all[f];
    EXPECT_TRUE(SameProblem(p, Problem(p))) << FamilyName(p.family);
    const int fields = NudgeField(p.attrs, -1);
    for (int i = 0; i < fields; ++i) {
      Problem other = p;
      NudgeField(other.attrs, i);
      EXPECT_FALSE(SameProblem(p, other)) << FamilyName(p.family) << " field " << i;
      EXPECT_TRUE(SameProblem(other, Problem(other))) << FamilyName(p.family) << " field " << i;
    }
  }
}

TEST(SameProblem, EveryOtherFieldCounts) {
  using Change = void (*)(Problem&);
  const Change kChanges[] = {
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
  const Problem p = SomeProblem();
  EXPECT_TRUE(SameProblem(p, SomeProblem()));
  int i = 0;
  for (const Change change : kChanges) {
    Problem other = p;
    change(other);
    EXPECT_FALSE(SameProblem(p, other)) << "change " << i;
    EXPECT_FALSE(SameProblem(other, p)) << "change " << i;
    ++i;
  }
}

// Equal problems have equal texts, also where comparing numbers would say otherwise.
TEST(SameProblem, RealsAreComparedByTheirBits) {
  Problem zero = SomeProblem();
  zero.family = Family::kResize;
  ResizeAttrs attrs;
  attrs.scales = {0.0, std::numeric_limits<double>::quiet_NaN()};
  zero.attrs = attrs;
  EXPECT_TRUE(SameProblem(zero, Problem(zero)));
  Problem minus = zero;
  std::get<ResizeAttrs>(minus.attrs).scales[0] = -0.0;
  EXPECT_FALSE(SameProblem(zero, minus));
  EXPECT_NE(ToString(zero), ToString(minus));
}

}  // namespace
}  // namespace aicf::abi
