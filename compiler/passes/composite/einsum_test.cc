// Einsum against the sum over every assignment of its labels.
#include "compiler/passes/composite/einsum_equation.h"
#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;

// Extents by letter; the axes of an ellipsis are the last of `wide`, which broadcast.
struct LabelExtents {
  std::map<int, int64_t> of;
  int64_t operator[](int label) const { return of.at(label); }
};

Array Reference(const EinsumEquation& e, const std::vector<Array>& operands,
                const LabelExtents& extents) {
  std::vector<int> labels;
  Dims space, result;
  for (const auto& [label, extent] : extents.of) {
    labels.push_back(label);
    space.push_back(extent);
  }
  for (int label : e.result) result.push_back(extents[label]);
  Array out(result);
  const auto at = [&](const Dims& point, const Labels& own, const Dims& shape) {
    Dims index;
    for (size_t i = 0; i < own.size(); ++i) {
      const auto place = std::find(labels.begin(), labels.end(), own[i]) - labels.begin();
      const int64_t extent = shape[static_cast<int>(i)];
      index.push_back(extent == 1 ? 0 : point[static_cast<int>(place)]);
    }
    return index;
  };
  testing::ForEach(space, [&](const Dims& point) {
    double product = 1;
    for (size_t k = 0; k < operands.size(); ++k) {
      product *= operands[k][at(point, e.operands[k], operands[k].shape)];
    }
    out[at(point, e.result, result)] += product;
  });
  return out;
}

void Check(const std::string& equation, const std::vector<Dims>& shapes,
           DType dtype = DType::kF32) {
  std::vector<int> ranks;
  for (const Dims& s : shapes) ranks.push_back(s.rank());
  const auto e = ParseEinsum(equation, ranks);
  ASSERT_TRUE(e.ok()) << e.status().ToString();
  CompositeCase c("Einsum");
  const double low = KindOf(dtype) == DTypeKind::kUnsigned ? 0 : -3;
  std::vector<Array> operands;
  LabelExtents extents;
  for (size_t k = 0; k < shapes.size(); ++k) {
    const ir::Tensor t = testing::Random(dtype, shapes[k], static_cast<uint32_t>(k + 1), low, 3);
    operands.push_back(testing::ToArray(t));
    c.Input(StrCat("x", k), t);
    for (size_t i = 0; i < e->operands[k].size(); ++i) {
      int64_t& extent = extents.of.emplace(e->operands[k][i], 1).first->second;
      if (extent == 1) extent = shapes[k][static_cast<int>(i)];
    }
  }
  c.Attr("equation", StrCat("\"", equation, "\"")).Output("y");
  const auto run = c.Run();
  ASSERT_TRUE(run.ok()) << run.status().ToString() << equation;
  testing::ExpectClose(run->outputs[0], Reference(*e, operands, extents), 1e-5, 1e-5, equation);
}

TEST(Einsum, EveryKindOfTerm) {
  Check("ij->ji", {{3, 4}});
  Check("ij->", {{3, 4}});
  Check("ij->i", {{3, 4}});
  Check("ii->i", {{4, 4}});
  Check("ii", {{4, 4}});
  Check("iij->ji", {{3, 3, 2}});
  Check("iji->j", {{3, 2, 3}});
  Check("iiij->ij", {{2, 2, 2, 3}});
  Check("i,i", {{5}, {5}});
  Check("i,j->ij", {{3}, {4}});
  Check("i,j->ji", {{3}, {4}});
  Check("ij,jk", {{3, 4}, {4, 2}});
  Check("ij,jk->ki", {{3, 4}, {4, 2}});
  Check("bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}});
  Check("bhqd,bhkd->bhqk", {{2, 3, 4, 5}, {2, 3, 6, 5}});
  Check("ij,ij->ij", {{3, 4}, {3, 4}});
  Check("ij,kl->", {{2, 3}, {3, 2}});
  Check("ab,bc,cd->ad", {{2, 3}, {3, 4}, {4, 5}});
  Check("ab,ac,ad->bcd", {{2, 3}, {2, 4}, {2, 5}});
  Check("abc,cd,bde->ae", {{2, 3, 4}, {4, 5}, {3, 5, 2}});
  Check(" i j , j k -> i k ", {{2, 3}, {3, 2}});
  Check("iJ,Ji->iJ", {{2, 3}, {3, 2}});
}

TEST(Einsum, EllipsesAndBroadcasting) {
  Check("...ij,...jk->...ik", {{2, 3, 4}, {2, 4, 5}});
  Check("...ij,...jk->...ik", {{3, 4}, {2, 4, 5}});
  Check("...ij,...jk", {{2, 1, 3, 4}, {5, 4, 2}});
  Check("...ii->...i", {{2, 3, 3}});
  Check("i...->...", {{3, 2, 4}});
  Check("...,...->...", {{2, 1, 3}, {4, 1}});
  Check("i...j,j->...i", {{2, 3, 4}, {4}});
  Check("ij,ij->ij", {{3, 1}, {3, 4}});
  Check("ij,jk->ik", {{3, 1}, {4, 2}});
  Check("ij->ij", {{1, 1}});
}

TEST(Einsum, EmptyExtentsAndOtherTypes) {
  Check("ij,jk->ik", {{2, 0}, {0, 3}});
  Check("ij,jk->ik", {{0, 2}, {2, 3}});
  Check("ij,jk->ik", {{3, 4}, {4, 2}}, DType::kF64);
  for (DType dtype : {DType::kI32, DType::kI64, DType::kI16, DType::kU16, DType::kI8, DType::kU8}) {
    Check("ij,jk->ik", {{3, 4}, {4, 2}}, dtype);
  }
}

TEST(Einsum, RandomEquations) {
  std::mt19937 rng(7);
  for (int round = 0; round < 60; ++round) {
    const std::string letters = "abcde";
    const int64_t extents[] = {2, 3, 1, 4, 2};
    const int count = 1 + static_cast<int>(rng() % 3);
    std::string equation, used;
    std::vector<Dims> shapes;
    for (int k = 0; k < count; ++k) {
      Dims shape;
      if (k > 0) equation += ",";
      for (int i = 1 + static_cast<int>(rng() % 3); i > 0; --i) {
        const size_t letter = rng() % letters.size();
        equation += letters[letter];
        if (used.find(letters[letter]) == std::string::npos) used += letters[letter];
        shape.push_back(extents[letter]);
      }
      shapes.push_back(shape);
    }
    equation += "->";
    std::shuffle(used.begin(), used.end(), rng);
    equation += used.substr(0, rng() % (used.size() + 1));
    Check(equation, shapes);
  }
}

TEST(Einsum, MalformedEquationsAreRefused) {
  const std::pair<const char*, std::vector<int>> cases[] = {
      {"ij->k", {2}}, {"ij->ii", {2}}, {"ij,jk->ik", {2}},  {"ij", {2, 2}},   {"ijk->i", {2}},
      {"i1->i", {2}}, {"....ij", {3}}, {"...i...->i", {2}}, {"i->j->i", {1}}, {"i", {2}}};
  for (const auto& [text, ranks] : cases) {
    EXPECT_EQ(ParseEinsum(text, ranks).status().code(), Code::kBadModel) << text;
  }
  CompositeCase c("Einsum");
  c.Input("x", testing::Random(DType::kF32, {2, 3}, 1)).Attr("equation", "\"ii->i\"").Output("y");
  EXPECT_EQ(testing::Refusal(c).code(), Code::kBadModel);
}

}  // namespace
}  // namespace aicf
