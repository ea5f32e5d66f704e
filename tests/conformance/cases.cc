// What all families share: operands, epilogues, and the choice of the builder.
#include "tests/conformance/case_maker.h"

namespace aicf::conformance {

using abi::Family;
using abi::Problem;
using abi::View;

View CaseMaker::In(DType dtype, const Dims& shape, bool repeat) {
  return RandomView(random_, dtype, shape, repeat);
}

View CaseMaker::Out(DType dtype, const Dims& shape) {
  return RandomView(random_, dtype, shape, false);
}

// Adds extras, an epilogue and outputs for a raw result of dtype `raw`.
void CaseMaker::Finish(DType raw, DType store, const Dims& shape) {
  const bool plain = random_.OneIn(3);
  if (plain && abi::RawInputs(p_) == 1) {
    p_.outputs = {Out(store, shape)};
  } else if (random_.OneIn(2)) {
    AddEpilogue(raw, shape);
  } else {
    AddBias(raw, store, shape);
  }
  Fill();
}

// The epilogue relu(raw + extra), as real models have it. In a product of two halves the extra is
// added to the first half, and the larger half is taken. No error grows, so that the epilogue suits
// any tolerance.
void CaseMaker::AddBias(DType raw, DType store, const Dims& shape) {
  const DType dtype = abi::ComputeDType(raw) == abi::ComputeDType(store) ? store : raw;
  p_.inputs.push_back(In(dtype, shape));
  abi::ExprBuilder b;
  uint16_t v = b.Input(0, raw);
  const int raws = abi::RawInputs(p_);
  const uint16_t extra = b.Input(raws, abi::ComputeDType(dtype));
  v = b.Binary(raw == DType::kBool ? abi::ExprOp::kMax : abi::ExprOp::kAdd, v, extra);
  if (raws > 1) v = b.Binary(abi::ExprOp::kMax, v, b.Input(1, raw));
  if (raw != DType::kBool) v = b.Binary(abi::ExprOp::kMax, v, b.Const(0, raw));
  p_.epilogue = b.Finish({v});
  p_.outputs = {Out(store, shape)};
}

void CaseMaker::AddEpilogue(DType raw, const Dims& shape) {
  const int raws = abi::RawInputs(p_);
  std::vector<DType> inputs(static_cast<size_t>(raws), raw);
  const int64_t extras = random_.Int(0, 2);
  for (int64_t k = 0; k < extras; ++k) {
    const DType dtype = options_.whole_numbers ? random_.Pick(kAnyDType) : DType::kF32;
    p_.inputs.push_back(In(dtype, shape));
    inputs.push_back(dtype);
  }
  std::vector<DType> results;
  const int64_t outputs = random_.OneIn(3) ? 2 : 1;
  for (int64_t r = 0; r < outputs; ++r) {
    results.push_back(options_.whole_numbers ? random_.Pick(kAnyDType) : DType::kF32);
    p_.outputs.push_back(Out(results.back(), shape));
  }
  // On reals, a discontinuous operator would make any tolerance meaningless.
  if (options_.whole_numbers) {
    p_.epilogue =
        RandomExpr(random_, inputs, results, shape.rank(), static_cast<int>(random_.Int(0, 6)));
  } else {
    abi::ExprBuilder b;
    uint16_t v = b.Cast(b.Input(0, raw), DType::kF32);
    if (raws > 1) v = b.Binary(abi::ExprOp::kMax, v, b.Cast(b.Input(1, raw), DType::kF32));
    for (int k = 0; k < extras; ++k) {
      v = b.Binary(abi::ExprOp::kAdd, v, b.Input(raws + k, DType::kF32));
    }
    p_.epilogue = b.Finish(std::vector<uint16_t>(results.size(), v));
  }
}

void CaseMaker::Fill() { FillBuffers(random_, case_, options_.whole_numbers); }

Case CaseMaker::Make(Family family) {
  p_.family = family;
  switch (family) {
#define AICF_FAMILY(id, text, attrs, core, slots) \
  case Family::id:                                \
    Fresh<Family::id>();                          \
    break;
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  }
  return std::move(case_);
}

Case RandomCase(Family family, uint64_t seed, const CaseOptions& options) {
  Random random(seed * 64 + static_cast<uint64_t>(family));
  Case c = CaseMaker(random, options).Make(family);
  c.name = StrCat(abi::FamilyName(family), " seed ", seed, ": ", ToString(c.problem));
  return c;
}

Case SinCase(uint64_t seed) {
  Random random(seed + 0x5151);
  Case c;
  Problem& p = c.problem;
  p.family = Family::kElementwise;
  p.attrs = abi::ElementwiseAttrs{};
  const Dims shape = RandomShape(random, 1, 4, 20000);
  for (int k = 0; k < 3; ++k) p.inputs.push_back(RandomView(random, DType::kF32, shape, true));
  p.core_inputs = 3;
  p.outputs = {RandomView(random, DType::kF32, shape, false)};
  abi::ExprBuilder b;
  const uint16_t ax = b.Binary(abi::ExprOp::kMul, b.Input(0, DType::kF32), b.Input(1, DType::kF32));
  const uint16_t sum = b.Binary(abi::ExprOp::kAdd, ax, b.Input(2, DType::kF32));
  p.epilogue = b.Finish({b.Unary(abi::ExprOp::kSin, sum)});
  FillBuffers(random, c, false, random.Pick(std::vector<double>{1, 20, 3000}));
  c.tolerance = {2, 0};
  c.name = StrCat("sin seed ", seed, ": ", ToString(p));
  return c;
}

Case Function16Case(abi::ExprOp op, DType dtype) {
  constexpr int64_t kPatterns = 1 << 16;
  Case c;
  Problem& p = c.problem;
  p.family = Family::kElementwise;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = p.outputs = {abi::DenseView(dtype, {kPatterns})};
  p.core_inputs = 1;
  abi::ExprBuilder b;
  p.epilogue = b.Finish({b.Unary(op, b.Input(0, DType::kF32))});
  std::vector<uint16_t> patterns(kPatterns);
  for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
  const auto bytes = std::as_bytes(std::span(patterns));
  c.buffers = {{bytes.begin(), bytes.end()}, std::vector<std::byte>(bytes.size())};
  c.tolerance = {1, 0x1p-126};
  c.name = StrCat(abi::ExprOpName(op), " of all ", DTypeName(dtype));
  return c;
}

}  // namespace aicf::conformance
