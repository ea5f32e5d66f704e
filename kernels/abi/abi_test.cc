#include <gtest/gtest.h>

#include <set>

#include "kernels/abi/instance_symbol.h"
#include "kernels/abi/kernel.h"

namespace aicf::abi {
namespace {

Expr SinAxPlusB() {
  ExprBuilder b;
  const uint16_t a = b.Input(0, DType::kF32), x = b.Input(1, DType::kF32);
  return b.Finish({b.Unary(ExprOp::kSin, b.Fma(a, x, b.Const(0.1, DType::kF32)))});
}

Problem SomeConv() {
  Problem p;
  p.family = Family::kConv;
  p.attrs = ConvAttrs{{2, 1}, {1, 1}, {1, 0}, {1, 0}, 2, false};
  p.inputs = {DenseView(DType::kF32, {1, 4, 9, 5}), DenseView(DType::kF32, {6, 2, 3, 1})};
  p.outputs = {DenseView(DType::kF32, {1, 6, 5, 5})};
  p.core_inputs = 2;
  return p;
}

TEST(Expr, BuilderSharesEqualNodesAndDropsUnusedOnes) {
  ExprBuilder b;
  const uint16_t x = b.Input(0, DType::kF32);
  b.Unary(ExprOp::kExp, x);
  EXPECT_EQ(b.Const(2, DType::kF32), b.Const(2, DType::kF32));
  const Expr e = b.Finish({b.Binary(ExprOp::kMul, x, x)});
  EXPECT_EQ(ToString(e), "(%0 = in 0 : f32; %1 = mul %0 %0 : f32) -> %1");
}

// The mean of as many inputs as once wrapped the number of a node.
TEST(Expr, ABuilderOfTooManyNodesGivesNoValidExpression) {
  ExprBuilder b;
  uint16_t sum = b.Input(0, DType::kF32);
  for (int i = 1; i < 65540; ++i) {
    sum = b.Binary(ExprOp::kAdd, sum, b.Input(i, DType::kF32));
  }
  const Expr e = b.Finish({sum});
  EXPECT_EQ(e.nodes.size(), 4096u);
  const Status status = ValidateExpr(e, {DType::kF32}, 1);
  EXPECT_EQ(status.code(), Code::kBadArtifact);
  EXPECT_NE(status.message().find("4096 nodes, limit 96"), std::string::npos) << status.message();
}

TEST(Expr, TextParsesBack) {
  ExprBuilder b;
  const uint16_t i = b.Input(1, DType::kI64);
  const uint16_t big = b.ConstInt(INT64_MIN, DType::kI64);
  const uint16_t sum = b.Binary(ExprOp::kAdd, i, big);
  const uint16_t f = b.Select(b.Binary(ExprOp::kLt, sum, b.Index(2)), b.Cast(sum, DType::kF32),
                              b.Const(-1.0 / 3, DType::kF32));
  for (const Expr& e : {b.Finish({f, sum}), SinAxPlusB(), Expr{}}) {
    const Result<Expr> back = ParseExpr(ToString(e));
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(*back, e);
  }
  EXPECT_FALSE(ParseExpr("(%0 = in 0 : f32; %2 = exp %0 : f32) -> %2").ok());
  EXPECT_FALSE(ParseExpr("(%0 = bogus 0 : f32) -> %0").ok());
}

TEST(Expr, InlineReplacesInputs) {
  ExprBuilder b;
  const uint16_t y = b.Unary(ExprOp::kNeg, b.Input(0, DType::kF32));
  const auto results = b.Inline(SinAxPlusB(), {y, y});
  const Expr e = b.Finish(results);
  EXPECT_EQ(InputCount(e), 1);
  EXPECT_TRUE(ValidateExpr(e, {DType::kF32}, 1).ok());
}

TEST(Expr, ValidationNamesTheBrokenRule) {
  const auto message = [](Expr e, std::vector<DType> inputs) {
    return ValidateExpr(e, inputs, 1).message();
  };
  Expr e = SinAxPlusB();
  EXPECT_EQ(message(e, {DType::kF32, DType::kF16}), "");
  EXPECT_NE(message(e, {DType::kF32}).find("does not exist"), std::string::npos);
  EXPECT_NE(message(e, {DType::kF32, DType::kI32}).find("dtype"), std::string::npos);
  e.nodes[3].args[0] = 4;
  EXPECT_NE(message(e, {DType::kF32, DType::kF32}).find("later node"), std::string::npos);
  e = SinAxPlusB();
  e.nodes[0].dtype = DType::kF16;
  EXPECT_NE(message(e, {DType::kF16, DType::kF32}).find("illegal dtype"), std::string::npos);
  e = SinAxPlusB();
  e.results = {9};
  EXPECT_NE(message(e, {DType::kF32, DType::kF32}).find("%9"), std::string::npos);
  e.nodes.resize(kMaxExprNodes + 1, e.nodes[0]);
  EXPECT_NE(message(e, {DType::kF32, DType::kF32}).find("limit"), std::string::npos);
}

TEST(View, ExtentCoversNegativeStridesAndRefusesOverflow) {
  View v{DType::kF32, {3, 4}, {-4, 1}, 8};
  const Result<Extent> e = ExtentOf(v);
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(e->begin, 0);
  EXPECT_EQ(e->end, 48);
  v.offset = 7;
  EXPECT_FALSE(ExtentOf(v).ok());
  EXPECT_FALSE(ExtentOf({DType::kF32, {3, 4}, {INT64_MAX / 2, 1}, 0}).ok());
  EXPECT_FALSE(ExtentOf({DType::kF32, {3}, {1, 1}, 0}).ok());
  EXPECT_EQ(ExtentOf({DType::kF32, {0, 4}, {int64_t{1} << 61, 1}, 0})->end, 0);
  // Elements that no number counts, though all of them are one; said before a range that is left.
  const View endless = {DType::kF32, {int64_t{1} << 40, int64_t{1} << 40}, {0, INT64_MAX}, 0};
  EXPECT_NE(ExtentOf(endless).status().message().find("illegal shape"), std::string::npos);
  EXPECT_FALSE(ExtentOf({DType::kF32, endless.shape, {0, 0}, 0}).ok());
  // Whoever takes the magnitude of a stride does not ask whether anything is walked.
  EXPECT_FALSE(ExtentOf({DType::kF32, {0, 4}, {INT64_MAX, 1}, 0}).ok());
  EXPECT_FALSE(ExtentOf({DType::kF32, {4, 0}, {INT64_MIN, 1}, 0}).ok());
  EXPECT_FALSE(ExtentOf({DType::kF32, {1, 4}, {INT64_MIN, 1}, 0}).ok());
  EXPECT_FALSE(ExtentOf({DType::kF32, {0}, {1}, INT64_MIN}).ok());
  EXPECT_FALSE(ExtentOf({DType::kF32, {int64_t{1} << 40, 0}, {int64_t{1} << 30, 1}, 0}).ok());
}

TEST(Problem, TextParsesBackAndNamesTheInstance) {
  Problem p = SomeConv();
  ExprBuilder b;
  p.inputs.push_back({DType::kF32, {1, 6, 5, 5}, {0, 1, 0, 0}, 3});
  p.epilogue = b.Finish({b.Binary(ExprOp::kAdd, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  ASSERT_TRUE(ValidateProblem(p).ok()) << ValidateProblem(p).ToString();
  const Result<Problem> back = ParseProblem(ToString(p));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(ToString(*back), ToString(p));
  const Variant v = {{{"threads", 128}, {"blocks", 4}}, {{4, 1, 1}, {128, 1, 1}}, 0, {}};
  const std::string symbol = InstanceSymbol("cuda.conv.direct", p, v);
  EXPECT_EQ(symbol, InstanceSymbol("cuda.conv.direct", *back, v));
  EXPECT_NE(symbol, InstanceSymbol("cuda.conv.other", p, v));
  Variant other = v;
  other.parameters = {{"threads", 128}, {"blocks", 5}};
  EXPECT_NE(symbol, InstanceSymbol("cuda.conv.direct", p, other));
  p.inputs[0].strides[3] = 2;
  EXPECT_NE(symbol, InstanceSymbol("cuda.conv.direct", p, v));
}

// [2, 3] x [3, 4 * halves], the halves multiplied.
Problem ProductOfHalves(int64_t halves) {
  Problem p;
  p.family = Family::kGemm;
  GemmAttrs attrs;
  attrs.halves = halves;
  p.attrs = attrs;
  p.core_inputs = 2;
  p.inputs = {DenseView(DType::kF32, {2, 3}), DenseView(DType::kF32, {3, 4 * halves})};
  p.outputs = {DenseView(DType::kF32, {2, 4})};
  if (halves == 1) return p;
  ExprBuilder b;
  p.epilogue = b.Finish({b.Binary(ExprOp::kMul, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  return p;
}

// Gives every field a value that is not its default, whatever the struct.
struct Fill {
  void operator()(const char*, int64_t& v) { v = -7; }
  template <int64_t kBefore>
  void operator()(const char*, AddedInt<kBefore>& v) {
    v = -7;
  }
  void operator()(const char*, AddedReal& v) { v = 1.0 / 3; }
  void operator()(const char*, double& v) { v = -1.0 / 3; }
  void operator()(const char*, bool& v) { v = !v; }
  void operator()(const char*, Dims& v) { v = {1, 2}; }
  void operator()(const char*, std::vector<Dims>& v) { v = {{1, 2}, {}}; }
  void operator()(const char*, std::vector<double>& v) { v = {1, 2.5}; }
  template <class E>
  void operator()(const char*, E& v) {
    static_assert(std::is_enum_v<E>);
    v = static_cast<E>(v == static_cast<E>(1) ? 0 : 1);
  }
};

TEST(Problem, EveryFamilysAttributesParseBack) {
  const std::vector<Attrs> all = {
#define AICF_FAMILY(id, text, attrs, core, slots) attrs{},
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  };
  ASSERT_EQ(all.size(), static_cast<size_t>(kFamilyCount));
  for (size_t f = 0; f < all.size(); ++f) {
    Problem p;
    p.family = static_cast<Family>(f);
    p.attrs = all[f];
    const std::string plain = ToString(p);
    bool has_fields = false;
    std::visit(
        [&](auto& attrs) {
          attrs.Visit([&](const char* name, auto& field) {
            has_fields = true;
            const std::string before = ToString(p);
            Fill()(name, field);
            EXPECT_NE(ToString(p), before) << name << " is not in the text";
          });
        },
        p.attrs);
    EXPECT_EQ(ToString(p) != plain, has_fields);
    const Result<Problem> back = ParseProblem(ToString(p));
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(ToString(*back), ToString(p));
  }
}

// Steps from before a product had halves keep their text, and with it the hashes made of it.
TEST(Problem, AnAddedAttributeIsLeftOutWhereItSaysNothingNew) {
  const Problem before = ProductOfHalves(1), halves = ProductOfHalves(2);
  EXPECT_EQ(ToString(before).find("halves"), std::string::npos);
  EXPECT_NE(ToString(halves).find("gemm math=fp32 halves=2 core=2"), std::string::npos);
  const Result<Problem> back = ParseProblem(ToString(halves));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->as<GemmAttrs>().halves, 2);
  EXPECT_EQ(RawInputs(*back), 2);
  EXPECT_EQ(RawInputs(before), 1);
  const Variant v = {{}, {{4, 1, 1}, {128, 1, 1}}, 0, {}};
  EXPECT_NE(InstanceSymbol("cuda.gemm.tiled", before, v),
            InstanceSymbol("cuda.gemm.tiled", halves, v));
}

TEST(Problem, BothHalvesOfAProductCount) {
  const Problem p = ProductOfHalves(2);
  ASSERT_EQ(ValidateProblem(p).message(), "");
  // 2 x 8 columns of the product from sums of 3, and one operation for each of 2 x 4 results.
  EXPECT_EQ(FlopCount(p), 2 * 2 * 8 * 3 + 2 * 4);
  EXPECT_EQ(ByteCount(p), 4 * (2 * 3 + 3 * 8 + 2 * 4));
}

TEST(Problem, ValidationNamesTheBrokenRule) {
  const auto broken = [](auto change) {
    Problem p = SomeConv();
    change(p);
    return ValidateProblem(p).message();
  };
  EXPECT_EQ(broken([](Problem&) {}), "");
  EXPECT_NE(
      broken([](Problem& p) { std::get<ConvAttrs>(p.attrs).strides[0] = 0; }).find("stride 0"),
      std::string::npos);
  EXPECT_NE(broken([](Problem& p) { std::get<ConvAttrs>(p.attrs).group = 3; }).find("channels"),
            std::string::npos);
  EXPECT_NE(broken([](Problem& p) {
              p.outputs[0] = DenseView(DType::kF32, {1, 6, 6, 5});
            }).find("leave the padded"),
            std::string::npos);
  EXPECT_NE(broken([](Problem& p) { p.outputs[0].strides[3] = 0; }).find("address twice"),
            std::string::npos);
  EXPECT_NE(broken([](Problem& p) { p.attrs = GemmAttrs{}; }).find("attributes"),
            std::string::npos);
  EXPECT_NE(broken([](Problem& p) { p.inputs.pop_back(); }).find("core inputs"), std::string::npos);
  EXPECT_NE(broken([](Problem& p) { p.outputs[0].dtype = DType::kI32; }).find("i32"),
            std::string::npos);
}

TEST(Problem, CopyPiecesMustCoverAndNotOverlap) {
  Problem p;
  p.family = Family::kCopy;
  p.inputs = {DenseView(DType::kF32, {2, 3}), DenseView(DType::kF32, {2, 2})};
  p.outputs = {DenseView(DType::kF32, {2, 5})};
  p.core_inputs = 2;
  p.attrs = CopyAttrs{{Dims{0, 0}, Dims{0, 3}}, false, 0};
  EXPECT_TRUE(ValidateProblem(p).ok());
  p.attrs = CopyAttrs{{Dims{0, 0}, Dims{0, 2}}, false, 0};
  EXPECT_NE(ValidateProblem(p).message().find("overlap"), std::string::npos);
  p.attrs = CopyAttrs{{Dims{0, 0}, Dims{0, 4}}, false, 0};
  EXPECT_NE(ValidateProblem(p).message().find("leaves the output"), std::string::npos);
  p.outputs = {DenseView(DType::kF32, {2, 6})};
  p.attrs = CopyAttrs{{Dims{0, 0}, Dims{0, 3}}, false, 0};
  EXPECT_NE(ValidateProblem(p).message().find("without a fill"), std::string::npos);
  p.attrs = CopyAttrs{{Dims{0, 0}, Dims{0, 3}}, true, 1};
  EXPECT_TRUE(ValidateProblem(p).ok());
}

TEST(Registry, KeysAreUniqueAndEachFamilyEndsInItsReference) {
  std::set<std::string_view> keys;
  for (int f = 0; f < kFamilyCount; ++f) {
    const Family family = static_cast<Family>(f);
    const auto kernels = KernelsOf(family);
    ASSERT_FALSE(kernels.empty()) << FamilyName(family);
    EXPECT_EQ(kernels.back().key, ReferenceKey(family));
    for (const KernelInfo& k : kernels) {
      EXPECT_TRUE(keys.insert(k.key).second) << k.key;
      EXPECT_EQ(k.family, family) << k.key;
      EXPECT_EQ(FindKernel(k.key), &k);
      EXPECT_NE(k.supports, nullptr) << k.key;
      EXPECT_NE(k.in_place, nullptr) << k.key;
      const bool device = k.backend == Backend::kCuda;
      EXPECT_EQ(k.workspace_bytes == nullptr, device) << k.key;
      EXPECT_EQ(k.derive != nullptr, device) << k.key;
      EXPECT_EQ(!k.parameters.empty(), device) << k.key;
      for (const ParameterRange& r : k.parameters) {
        EXPECT_TRUE(IsParameterName(r.name)) << k.key << " " << r.name;
        EXPECT_LE(r.least, r.most) << k.key << " " << r.name;
      }
      EXPECT_EQ(k.packed == nullptr, k.pack == nullptr) << k.key;
      EXPECT_EQ(k.packed == nullptr, k.unpack == nullptr) << k.key;
    }
  }
  EXPECT_EQ(FindKernel("cpu.nothing.ref"), nullptr);
}

constexpr std::string_view kFlatKey = "cuda.elementwise.flat";

Problem ScaledBy(double factor) {
  Problem p;
  p.family = Family::kElementwise;
  p.attrs = ElementwiseAttrs{};
  p.core_inputs = 1;
  p.inputs = {DenseView(DType::kF32, {4, 5})};
  p.outputs = p.inputs;
  ExprBuilder b;
  const uint16_t x = b.Input(0, DType::kF32);
  p.epilogue = b.Finish({b.Binary(ExprOp::kMul, x, b.Const(factor, DType::kF32))});
  return p;
}

TEST(InstanceSymbol, IsThatOfTheInstance) {
  std::vector<Problem> problems = {ScaledBy(2), ScaledBy(0.3), ScaledBy(2), ScaledBy(2),
                                   Problem(ScaledBy(3))};
  problems.back().epilogue = {};
  const Variant v = {{{"threads", 128}}, {{4, 1, 1}, {128, 1, 1}}, 0, {}};
  for (const Problem& p : problems) {
    for (const Problem& other : problems) {
      EXPECT_EQ(IsInstanceSymbol(InstanceSymbol(kFlatKey, p, v), kFlatKey, other, v),
                ToString(p) == ToString(other));
    }
  }
}

TEST(InstanceSymbol, EveryCharacterCounts) {
  const Problem p = ScaledBy(2);
  const std::string symbol = InstanceSymbol(kFlatKey, p, Variant{});
  EXPECT_TRUE(IsInstanceSymbol(symbol, kFlatKey, p, Variant{}));
  for (size_t i = 0; i < symbol.size(); ++i) {
    std::string wrong = symbol;
    wrong[i] ^= 1;
    EXPECT_FALSE(IsInstanceSymbol(wrong, kFlatKey, p, Variant{})) << wrong;
  }
  for (const std::string& wrong : {symbol + "0", symbol.substr(1), std::string(), "_" + symbol}) {
    EXPECT_FALSE(IsInstanceSymbol(wrong, kFlatKey, p, Variant{})) << wrong;
  }
}

}  // namespace
}  // namespace aicf::abi
