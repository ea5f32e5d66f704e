#include "kernels/abi/instance_hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <set>
#include <string>

#include "kernels/abi/instance_symbol.h"
#include "kernels/abi/small_changes.h"

namespace aicf::abi {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr std::string_view kSomeKey = "cuda.gemm.tiled";
// Symbols of PinnedProblem with SomeVariant. Artifacts hold such: whoever changes what is hashed
// has broken every artifact.
constexpr std::string_view kSymbol = "aicf2_cuda_gemm_tiled_fb5911367c23af6d9b47ceba2a2dd9cc";
constexpr std::string_view kOldSymbol = "aicf_cuda_gemm_tiled_949ac07a6bc16b442f76dcba488fd7f2";

Variant SomeVariant() {
  Variant v;
  v.parameters = {{"tile_m", 64}, {"split", 2}};
  v.launch = {{4, 2, 1}, {128, 1, 1}, {1, 1, 1}, 1024};
  v.tensor_maps = {{1, {3, 4}, {1, 4}, {2, 2}, {1, 1}, 16, Swizzle::k64, BoxFill::kNan, true}};
  v.workspace_bytes = 512;
  return v;
}

std::string HashOf(const Problem& p, const Parameters& parameters,
                   std::string_view key = kSomeKey) {
  return ToHex(InstanceHash(key, p, parameters));
}

// Counts hashes, of which no two may be equal.
class Distinct {
 public:
  void Add(const std::string& hash, std::string_view what, int number = 0) {
    EXPECT_TRUE(seen_.insert(hash).second) << what << " " << number << " changes nothing";
  }
  size_t size() const { return seen_.size(); }

 private:
  std::set<std::string> seen_;
};

TEST(InstanceHash, EveryAttributeCounts) {
  const std::vector<Attrs> all = AllAttrs();
  Distinct hashes;
  for (size_t f = 0; f < all.size(); ++f) {
    Problem p = SomeProblem();
    p.family = static_cast<Family>(f);
    p.attrs = all[f];
    hashes.Add(HashOf(p, {}), FamilyName(p.family));
    EXPECT_EQ(HashOf(p, {}), HashOf(Problem(p), {}));
    const int fields = NudgeField(p.attrs, -1);
    for (int i = 0; i < fields; ++i) {
      Problem other = p;
      NudgeField(other.attrs, i);
      hashes.Add(HashOf(other, {}), FamilyName(p.family), i);
    }
  }
  EXPECT_GT(hashes.size(), 100u);
}

TEST(InstanceHash, EveryOtherFieldOfAProblemCounts) {
  Distinct hashes;
  hashes.Add(HashOf(SomeProblem(), {}), "no change");
  int i = 0;
  for (const auto change : ProblemChanges()) {
    Problem p = SomeProblem();
    change(p);
    hashes.Add(HashOf(p, {}), "change", i++);
  }
}

TEST(InstanceHash, KernelAndValuesOfParametersCount) {
  const Problem p = SomeProblem();
  Distinct hashes;
  const Parameters kAll[] = {{},
                             {{"tile_m", 64}},
                             {{"tile_m", 64}, {"split", 2}},
                             {{"tile_m", 65}, {"split", 2}},
                             {{"tile_m", 64}, {"split", -2}},
                             {{"split", 2}, {"tile_m", 64}},
                             {{"tile_m", 64}, {"split", 2}, {"stages", 0}}};
  int i = 0;
  for (const Parameters& parameters : kAll) hashes.Add(HashOf(p, parameters), "parameters", i++);
  hashes.Add(HashOf(p, kAll[2], "cuda.gemm.tiles"), "the key");
}

// CheckVariant proves that they follow from what counts; a workspace is an address to the function.
TEST(InstanceHash, WhatFollowsFromTheRestDoesNotCount) {
  const Problem p = SomeProblem();
  const std::string symbol = InstanceSymbol(kSomeKey, p, SomeVariant());
  Variant v = SomeVariant();
  v.launch.grid[0] += 7;
  v.tensor_maps.clear();
  v.workspace_bytes = 0;
  EXPECT_EQ(InstanceSymbol(kSomeKey, p, v), symbol);
  EXPECT_EQ(HashOf(p, {{"a", 64}, {"b", 2}}), HashOf(p, {{"tile_m", 64}, {"split", 2}}));
}

// What belongs to one piece is not taken for a part of the next one.
TEST(InstanceHash, EveryPieceSaysWhereItEnds) {
  Distinct hashes;
  const Problem p = SomeProblem();
  hashes.Add(HashOf(p, {}, "cuda.gemm"), "a key");
  hashes.Add(HashOf(p, {}, ""), "no key");
  hashes.Add(HashOf(p, {{"a", 0}}), "a parameter");
  hashes.Add(HashOf(p, {{"a", 0}, {"b", 0}}), "two parameters");
  hashes.Add(HashOf(p, {}, std::string_view("cuda.gemm\0\0\0\0\1\0\0\0", 17)), "a key like a list");
  for (size_t at = 0; at < 3; ++at) {
    Problem moved;
    std::array<Expr*, 3> places = {&moved.prologue, &moved.epilogue, &moved.score};
    *places[at] = p.epilogue;
    hashes.Add(HashOf(moved, {}), "an expression at", static_cast<int>(at));
  }
  for (int rank = 0; rank <= 4; ++rank) {
    Problem split;
    View v;
    for (int d = 0; d < 4; ++d) (d < rank ? v.shape : v.strides).push_back(0);
    split.inputs = {v};
    hashes.Add(HashOf(split, {}), "a view that has extents", rank);
    std::swap(split.inputs, split.outputs);
    hashes.Add(HashOf(split, {}), "an output that has extents", rank);
  }
  for (size_t first = 0; first <= 2; ++first) {
    Problem copy;
    CopyAttrs attrs;
    for (size_t i = 0; i < 2; ++i) attrs.starts.push_back(Dims::Filled(i < first ? 1 : 2, 0));
    copy.attrs = attrs;
    hashes.Add(HashOf(copy, {}), "starts of which are short", static_cast<int>(first));
  }
}

TEST(InstanceHash, RealsCountByTheirBits) {
  Problem p = SomeProblem();
  ResizeAttrs attrs;
  attrs.scales = {0.0};
  p.attrs = attrs;
  const std::string zero = HashOf(p, {});
  std::get<ResizeAttrs>(p.attrs).scales[0] = -0.0;
  EXPECT_NE(HashOf(p, {}), zero);
}

// One that says something is told from the next one that says the same.
TEST(InstanceHash, AddedFieldsAreToldApart) {
  Distinct hashes;
  const auto add = [&](const GemmAttrs& attrs) {
    Problem p = SomeProblem();
    p.attrs = attrs;
    hashes.Add(HashOf(p, {}), "an added field", static_cast<int>(hashes.size()));
  };
  GemmAttrs none, terms, part_terms, part_columns, both;
  terms.scale_terms = 4;
  part_terms.part_terms = 4;
  part_columns.part_columns = 4;
  both.scale_terms = 4;
  both.part_columns = 4;
  for (const GemmAttrs& a : {none, terms, part_terms, part_columns, both}) add(a);
}

// The bytes of instance_hash.h, piece by piece, from that text alone.
class ListedBytes {
 public:
  ListedBytes& U8(uint64_t v) { return Number(v, 1); }
  ListedBytes& U16(uint64_t v) { return Number(v, 2); }
  ListedBytes& U32(uint64_t v) { return Number(v, 4); }
  ListedBytes& I64(int64_t v) { return Number(static_cast<uint64_t>(v), 8); }
  ListedBytes& Real(double v) { return Number(std::bit_cast<uint64_t>(v), 8); }
  ListedBytes& Text(std::string_view text) {
    U32(text.size());
    for (char c : text) U8(static_cast<unsigned char>(c));
    return *this;
  }
  ListedBytes& List(std::initializer_list<int64_t> dims) {
    U8(dims.size());
    for (int64_t d : dims) I64(d);
    return *this;
  }
  std::string Hash() const { return ToHex(HashText(bytes_)); }

 private:
  ListedBytes& Number(uint64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i, v >>= 8) bytes_.push_back(static_cast<char>(v & 0xff));
    return *this;
  }
  std::string bytes_;
};

// A pool with something in every part, its window of the largest rank.
Problem PinnedProblem() {
  Problem p;
  p.family = Family::kPool;
  PoolAttrs attrs;
  attrs.kind = PoolKind::kLp;
  attrs.kernel = {2, 2, 2, 2, 2, 2, 2, 2};
  attrs.strides = {1};
  attrs.pads_begin = {-1};
  attrs.count_include_pad = true;
  attrs.p = 3;
  p.attrs = attrs;
  p.math = MathMode::kBf16;
  p.core_inputs = 1;
  p.inputs = {{DType::kF16, {2, 3}, {3, -1}, 2}, {DType::kI64, {}, {}, 0}};
  p.outputs = {{DType::kF32, {2, 3}, {3, 1}, 0}};
  p.epilogue.nodes = {{ExprOp::kInput, DType::kF32, {}, 1},
                      {ExprOp::kConst, DType::kF32, {}, FloatBits(-0.5)},
                      {ExprOp::kSelect, DType::kF32, {1, 258, 0}, 0}};
  p.epilogue.results = {2, 513};
  return p;
}

TEST(InstanceHash, IsOfTheBytesThatTheHeaderNames) {
  ListedBytes bytes;
  bytes.U32(2).Text("cuda.gemm.tiled");
  bytes.U32(2).I64(64).I64(2);
  bytes.U8(5).U8(5).U8(3).U32(0);
  bytes.U8(2).List({2, 2, 2, 2, 2, 2, 2, 2}).List({1}).List({}).List({-1}).List({}).U8(1).I64(3);
  bytes.U32(1);
  bytes.U32(2).U8(static_cast<uint64_t>(DType::kF16)).List({2, 3}).List({3, -1}).I64(2);
  bytes.U8(static_cast<uint64_t>(DType::kI64)).List({}).List({}).I64(0);
  bytes.U32(1).U8(static_cast<uint64_t>(DType::kF32)).List({2, 3}).List({3, 1}).I64(0);
  bytes.U32(0).U32(0);
  bytes.U32(3);
  const auto node = [&](ExprOp op, std::initializer_list<int> args) -> ListedBytes& {
    bytes.U8(static_cast<uint64_t>(op)).U8(static_cast<uint64_t>(DType::kF32));
    for (int a : args) bytes.U16(static_cast<uint64_t>(a));
    return bytes;
  };
  node(ExprOp::kInput, {0, 0, 0}).I64(1);
  node(ExprOp::kConst, {0, 0, 0}).Real(-0.5);
  node(ExprOp::kSelect, {1, 258, 0}).I64(0);
  bytes.U32(2).U16(2).U16(513);
  bytes.U32(0).U32(0);
  EXPECT_EQ(HashOf(PinnedProblem(), SomeVariant().parameters), bytes.Hash());
}

TEST(InstanceHash, HasListsAndAddedFieldsWhereTheHeaderNamesThem) {
  Problem p;
  const auto expect = [&](const Attrs& attrs, ListedBytes fields) {
    p.family = static_cast<Family>(attrs.index());
    p.attrs = attrs;
    fields.U32(0).U32(0).U32(0);
    for (int e = 0; e < 3; ++e) fields.U32(0).U32(0);
    EXPECT_EQ(HashOf(p, {}, ""), fields.Hash()) << FamilyName(p.family);
  };
  const auto before = [](uint64_t family) {
    ListedBytes b;
    b.U32(2).Text("").U32(0);
    return b.U8(family).U8(family).U8(0);
  };
  expect(CopyAttrs{{{1}, {}}, true, 0.5},
         before(1).U32(0).U32(2).List({1}).List({}).U8(1).Real(0.5));
  GemmAttrs product;
  product.rms_epsilon = 0;
  product.scale_columns = 9;
  expect(product, before(3).U32(0b1010).Real(0).I64(9));
  ResizeAttrs resize;
  resize.scales = {1, -0.0};
  expect(resize, before(8).U32(0).U8(0).U8(0).U8(0).Real(-0.75).U8(0).U32(2).Real(1).Real(-0.0));
}

TEST(InstanceSymbol, ThatOfAnInstanceStaysForEver) {
  EXPECT_EQ(InstanceSymbol(kSomeKey, PinnedProblem(), SomeVariant()), kSymbol);
  EXPECT_TRUE(IsInstanceSymbol(kSymbol, kSomeKey, PinnedProblem(), SomeVariant()));
  EXPECT_TRUE(IsInstanceSymbol(kOldSymbol, kSomeKey, PinnedProblem(), SomeVariant()));
}

// A hash of one generation says nothing under the prefix of the other.
TEST(InstanceSymbol, ThePrefixSaysWhichHashItHas) {
  const auto is = [&](const std::string& symbol) {
    return IsInstanceSymbol(symbol, kSomeKey, PinnedProblem(), SomeVariant());
  };
  EXPECT_FALSE(is(StrCat("aicf_", kSymbol.substr(6))));
  EXPECT_FALSE(is(StrCat("aicf2_", kOldSymbol.substr(5))));
  EXPECT_FALSE(is(StrCat("aicf3_", kSymbol.substr(6))));
}

TEST(InstanceSymbol, AnOldOneIsThatOfItsInstanceAlone) {
  for (size_t i = 0; i < kOldSymbol.size(); ++i) {
    std::string wrong(kOldSymbol);
    wrong[i] ^= 1;
    EXPECT_FALSE(IsInstanceSymbol(wrong, kSomeKey, PinnedProblem(), SomeVariant())) << wrong;
  }
  Variant launched = SomeVariant(), mapped = SomeVariant(), named = SomeVariant();
  launched.launch.grid[0] += 7;
  mapped.tensor_maps[0].offset = 32;
  named.parameters = {{"tile_n", 64}, {"split", 2}};
  for (const Variant& v : {launched, mapped, named}) {
    EXPECT_FALSE(IsInstanceSymbol(kOldSymbol, kSomeKey, PinnedProblem(), v));
  }
  Problem other = PinnedProblem();
  other.core_inputs = 0;
  EXPECT_FALSE(IsInstanceSymbol(kOldSymbol, kSomeKey, other, SomeVariant()));
}

}  // namespace
}  // namespace aicf::abi
