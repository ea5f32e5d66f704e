// Rules of the CUDA attention kernels, each broken once.
#include <gtest/gtest.h>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

Problem Attention(const Dims& q, int64_t keys, int64_t value, DType dtype, MathMode math) {
  const Dims k = {q[0], q[1], keys, q[3]}, v = {q[0], q[1], keys, value};
  const Dims out = {q[0], q[1], q[2], value};
  Problem p = ProblemOf(Family::kAttention, AttentionAttrs{}, 3,
                        {DenseView(dtype, q), DenseView(dtype, k), DenseView(dtype, v)},
                        {DenseView(dtype, out)});
  p.math = math;
  return p;
}

TEST(CudaRefusals, OfAttention) {
  using enum MathMode;
  const auto f16 = [](const Dims& q, int64_t value) {
    return Attention(q, 5, value, DType::kF16, kFp16);
  };
  for (const char* key : {"cuda.attention.general", "cuda.attention.tensor"}) {
    ExpectUnsupported(key, f16({1, 1, 4, 0}, 8), "at least one element");
    ExpectUnsupported(key, f16({1, 1, 4, 8}, 0), "at least one element");
    ExpectUnsupported(key, f16({1, 1, 4, 264}, 8), "at most 256");
    ExpectUnsupported(key, f16({1, 1, 4, 8}, 264), "at most 256");
  }
  const char* tensor = "cuda.attention.tensor";
  const Dims q = {1, 1, 4, 8};
  ExpectUnsupported(tensor, Attention(q, 5, 8, DType::kF32, kFp32), "the math mode is fp32");
  ExpectUnsupported(tensor, Attention(q, 5, 8, DType::kF64, kTf32), "would narrow f64");
  ExpectUnsupported(tensor, Attention(q, 5, 8, DType::kBF16, kFp16), "would narrow bf16");
  ExpectUnsupported(tensor, Attention(q, 5, 8, DType::kF16, kBf16), "would narrow f16");
  const Problem wide = Attention({1, 1, 99, 256}, 5, 256, DType::kF32, kTf32);
  ExpectParametersRefused(
      tensor, Attention({1, 1, 99, 16}, 5, 16, DType::kF32, kTf32),
      {{"needs 20 warps, a block has at most 16", {{"warps", 5}, {"key_warps", 4}}}});
  ExpectParametersRefused("cuda.attention.general", wide,
                          {{"tile_rows in multiples of 8", {{"tile_rows", 12}}}});
  const Problem doubles = Attention({1, 1, 99, 256}, 5, 256, DType::kF64, kFp32);
  ExpectParametersRefused("cuda.attention.general", doubles,
                          {{"bytes of shared memory", {{"tile_rows", 64}}}});
  Problem many = f16({1, 1, 4, 8}, 8);
  const Dims heads = {int64_t{1} << 16, int64_t{1} << 16, 4, 8};
  for (View& v : many.inputs) v = Repeated(heads, DType::kF16);
  many.outputs = {DenseView(DType::kF16, heads)};
  ASSERT_EQ(ValidateProblem(many).message(), "");
  EXPECT_NE(FindKernel(tensor)->refuse(many, {{"warps", 1}}, Device()).find("more blocks"),
            std::string::npos);
  const Parameters rows = {{"tile_rows", 8}};
  EXPECT_NE(FindKernel("cuda.attention.general")->refuse(many, rows, Device()).find("more blocks"),
            std::string::npos);
}

TEST(CudaRefusals, OfTheDecodeAttention) {
  const char* key = "cuda.attention.decode";
  using enum MathMode;
  const auto f16 = [](const Dims& q, int64_t value) {
    return Attention(q, 500, value, DType::kF16, kFp16);
  };
  const Dims q = {2, 6, 4, 64};
  const Problem p = f16(q, 64);
  const Edits base = {{"split", 4}, {"warps", 4}, {"stages", 3}, {"tile_keys", 16}};
  EXPECT_EQ(Refused(key, p, base), "");
  ExpectParametersRefused(
      key, p,
      {{"split as a power of two, here is 3", {{"split", 3}}},
       {"tile_keys in multiples of 16, here is 24", {{"tile_keys", 24}}},
       {"bytes of shared memory", {{"warps", 8}, {"stages", 8}, {"tile_keys", 32}, {"split", 1}}}});
  // 232,192 bytes for the launch and 272 of the kernel's own.
  ExpectParametersRefused(key, f16({2, 6, 4, 80}, 16),
                          {{"needs 232464 bytes of shared memory, there are 232448",
                            {{"warps", 8}, {"stages", 8}, {"tile_keys", 16}, {"split", 1}}}});
  for (const Problem& wrong :
       {Attention(q, 5, 64, DType::kF32, kBf16), Attention(q, 5, 64, DType::kF16, kBf16),
        Attention(q, 5, 64, DType::kBF16, kTf32), Attention(q, 5, 64, DType::kF16, kFp32)}) {
    ExpectUnsupported(key, wrong, "bf16 in math mode bf16 and f16 in fp16 only");
  }
  ExpectUnsupported(key, f16({1, 1, 4, 0}, 8), "at least one element");
  ExpectUnsupported(key, f16({1, 1, 4, 8}, 264), "at most 256");
  ExpectUnsupported(key, f16({1, 1, 65, 8}, 8), "at most 64 rows of the queries that read one key");
  ExpectUnsupported(key, f16({1, 1, 4, 12}, 8), "k has heads of 12 elements, no multiple of 8");
  ExpectUnsupported(key, f16({1, 1, 4, 8}, 12), "v has heads of 12 elements, no multiple of 8");
  const auto with_v = [&](const Dims& strides, int64_t offset) {
    Problem other = p;
    other.inputs[2] = {DType::kF16, {2, 6, 500, 64}, strides, offset};
    return other;
  };
  ExpectUnsupported(key, with_v({6 * 500 * 64, 500 * 64, 1, 500}, 0), "v is not contiguous");
  ExpectUnsupported(key, with_v({6 * 500 * 64, 500 * 64, 64, 1}, 4), "v begins at element 4");
  ExpectUnsupported(key, with_v({6 * 500 * 68, 500 * 68, 68, 1}, 0), "v has a stride of 68");
  Problem keys = f16({1, 1, 4, 8}, 8);
  for (size_t k : {1, 2}) keys.inputs[k] = Repeated({1, 1, (int64_t{1} << 30) + 8, 8}, DType::kF16);
  for (size_t k : {1, 2}) keys.inputs[k].strides[3] = 1;
  ExpectUnsupported(key, keys, "at most 1073741824 keys, here are 1073741832");
  Problem many = f16({1, 1, 4, 8}, 8);
  const Dims heads = {int64_t{1} << 14, int64_t{1} << 14, 4, 8};
  for (View& v : many.inputs) v = Repeated(heads, DType::kF16);
  many.outputs = {DenseView(DType::kF16, heads)};
  ASSERT_EQ(ValidateProblem(many).message(), "");
  const Parameters split = {{"split", 8}, {"warps", 2}, {"stages", 2}, {"tile_keys", 16}};
  EXPECT_NE(FindKernel(key)->refuse(many, split, Device()).find("more blocks"), std::string::npos);
}

// A row of 2 requests with 6 query heads over 2 key heads of 64 elements goes to pages of 16 rows.
Problem AppendingTo16Rows(int64_t pairs = 32) {
  const auto f16 = [](const Dims& shape) { return DenseView(DType::kF16, shape); };
  const auto i32 = [](const Dims& shape) { return DenseView(DType::kI32, shape); };
  AttentionAttrs a;
  a.lengths = a.pages = true;
  a.rows = RowOrigin::kLastKeys;
  a.append_pairs = pairs;
  const View pool = f16({40, 2, 16, 64}), row = f16({2, 1, 2, 64});
  const View angles = DenseView(DType::kF32, {2, 1, pairs});
  Problem p = ProblemOf(Family::kAttention, a, 10,
                        {f16({2, 6, 1, 64}), pool, pool, i32({2}), i32({2, 20}), row, row,
                         i32({2, 1, 2}), angles, angles},
                        {f16({2, 6, 1, 64}), pool, pool});
  p.math = MathMode::kFp16;
  return p;
}

TEST(CudaRefusals, OfTheDecodeAttentionThatAppends) {
  const char* key = "cuda.attention.decode";
  for (int64_t pairs : {8, 24, 32}) EXPECT_EQ(Unsupported(key, AppendingTo16Rows(pairs)), "");
  ExpectUnsupported(key, AppendingTo16Rows(1), "turns 1 pairs, no multiple of 8");
  ExpectUnsupported(key, AppendingTo16Rows(12), "turns 12 pairs, no multiple of 8");
  const Problem p = AppendingTo16Rows();
  const struct {
    const char* name;
    View* (*of)(Problem&);
  } kViews[] = {{"q", [](Problem& other) { return &other.inputs[0]; }},
                {"new k", [](Problem& other) { return &other.inputs[5]; }},
                {"new v", [](Problem& other) { return &other.inputs[6]; }},
                {"next k", [](Problem& other) { return &other.outputs[1]; }},
                {"next v", [](Problem& other) { return &other.outputs[2]; }}};
  for (const auto& [name, of] : kViews) {
    Problem late = p;
    of(late)->offset = 4;
    ExpectUnsupported(key, late, StrCat(name, " begins at element 4, no multiple of 8"));
    Problem apart = p;
    for (int64_t& stride : of(apart)->strides) stride *= 2;
    ExpectUnsupported(key, apart, StrCat(name, " is not contiguous along a head"));
    Problem padded = p;
    Dims heads = of(padded)->shape;
    heads[3] = 68;
    of(padded)->strides = DenseView(DType::kF16, heads).strides;
    ExpectUnsupported(key, padded, StrCat(name, " has a stride of 68 elements, no multiple of 8"));
  }
}

TEST(CudaRefusals, OfOtherAttentionThatWouldAppend) {
  for (const char* key :
       {"cuda.attention.hopper", "cuda.attention.tensor", "cuda.attention.general"}) {
    ExpectUnsupported(key, AppendingTo16Rows(), "does not append to its keys and values");
  }
}

// Without queries there is nothing to attend, but rows to append.
TEST(CudaRefusals, OfDecodeAttentionThatOnlyAppends) {
  Problem p = AppendingTo16Rows();
  const View none = DenseView(DType::kF16, {2, 0, 1, 64});
  p.inputs[0] = p.outputs[0] = none;
  ExpectUnsupported("cuda.attention.decode", p, "appends only beside queries");
}

// Pools that are appended to are the only operands in whose place there are results, and they are
// read ahead, as the operands are that say where keys lie. New rows and their places are not.
TEST(CudaDecodeAttention, AppendsInPlaceAndAhead) {
  const KernelInfo& kernel = *FindKernel("cuda.attention.decode");
  Problem p = AppendingTo16Rows();
  for (int input = 0; input < 10; ++input) {
    const bool pool = input == 1 || input == 2;
    EXPECT_EQ(kernel.in_place(p, input), pool) << input;
    const bool lengths_or_table = input == 3 || input == 4;
    EXPECT_EQ(kernel.reads_ahead(p, static_cast<size_t>(input)), pool || lengths_or_table) << input;
  }
  p.outputs[2].offset = 8;
  EXPECT_TRUE(kernel.in_place(p, 1));
  EXPECT_FALSE(kernel.in_place(p, 2)) << "other elements";
  // Attention to one key, whose operands all have the shape of the result.
  const Problem other = Attention({2, 6, 1, 64}, 1, 64, DType::kF16, MathMode::kFp16);
  for (int input = 0; input < 3; ++input) {
    EXPECT_FALSE(kernel.in_place(other, input)) << input;
    EXPECT_FALSE(kernel.reads_ahead(other, static_cast<size_t>(input))) << input;
  }
}

TEST(CudaRefusals, OfTheHopperAttention) {
  const char* key = "cuda.attention.hopper";
  using enum MathMode;
  const Dims q = {2, 6, 100, 64};
  const Edits base = {{"consumers", 2}, {"tile_keys", 128}, {"stages", 2}, {"producer", 1},
                      {"turns", 1},     {"fold", 0},        {"pack", 0},   {"section", 4},
                      {"per_sm", 1},    {"blocks", 3}};
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  const Problem p = Attention(q, 300, 64, DType::kF16, kFp16);
  EXPECT_EQ(Refused(key, p, base), "");
  EXPECT_EQ(Refused(key, p, with({{"consumers", 4}, {"tile_keys", 64}})), "");
  ExpectParametersRefused(
      key, p,
      {{"values of a thread are above 80", with({{"consumers", 4}, {"tile_keys", 96}})},
       {"72 keys are none", with({{"tile_keys", 72}})},
       {"184 keys are none", with({{"tile_keys", 184}})},
       {"shares no multiprocessor", with({{"per_sm", 2}})},
       {"all 3 blocks of keys at once, not 2", with({{"producer", 0}, {"blocks", 12}})},
       {"a block for each of 12 tiles, not 3", with({{"producer", 0}, {"stages", 3}})},
       {"values of a thread are above", with({{"consumers", 3}, {"tile_keys", 144}})},
       {"values of a thread are above",
        with({{"producer", 0}, {"stages", 3}, {"blocks", 12}, {"per_sm", 2}})},
       {"takes one tile",
        with({{"producer", 0}, {"stages", 3}, {"blocks", 12}, {"fold", 1}, {"turns", 0}})},
       {"takes one tile", with({{"producer", 0}, {"stages", 3}, {"query_stages", 2}})},
       {"bytes of shared memory", with({{"stages", 9}})}});
  const int64_t most = (int64_t{1} << 31) - 1;
  const auto refused = [&](const Problem& large) {  // with parameters that no candidate has
    return FindKernel(key)->refuse(large, Parameters(base), Device());
  };
  EXPECT_NE(refused(Attention({1, 1, most, 64}, 300, 64, DType::kF16, kFp16)).find("too many rows"),
            std::string::npos);
  Problem many = p;
  const Dims heads = {int64_t{1} << 16, int64_t{1} << 16, 4, 64};
  for (View& v : many.inputs) v = Repeated(heads, DType::kF16);
  many.outputs = {DenseView(DType::kF16, heads)};
  EXPECT_NE(refused(many).find("more blocks"), std::string::npos);
  Problem groups = p;
  for (size_t k : {1, 2}) groups.inputs[k] = DenseView(DType::kF16, {2, 2, 300, 64});
  ExpectParametersRefused(key, groups, {{"packs no 3 heads into 128 rows", with({{"pack", 1}})}});
  const Edits packed = with({{"pack", 1}, {"consumers", 3}, {"tile_keys", 64}});
  EXPECT_EQ(Refused(key, groups, packed), "");
  groups.inputs[0].strides[1] = 0;
  ExpectParametersRefused(key, groups, {{"packs no repeated heads", packed}});
  for (const Problem& wrong :
       {Attention(q, 5, 64, DType::kF32, kBf16), Attention(q, 5, 64, DType::kF16, kBf16),
        Attention(q, 5, 64, DType::kBF16, kTf32), Attention(q, 5, 64, DType::kF16, kFp32)}) {
    ExpectUnsupported(key, wrong, "bf16 in math mode bf16 and f16 in fp16 only");
  }
  ExpectUnsupported(key, Attention(q, 0, 64, DType::kF16, kFp16), "the problem is empty");
  ExpectUnsupported(key, Attention({2, 6, 0, 64}, 5, 64, DType::kF16, kFp16), "is empty");
  for (const Dims& empty : {Dims{0, 6, 9, 64}, Dims{2, 6, 9, 0}}) {
    ExpectUnsupported(key, Attention(empty, 5, 64, DType::kF16, kFp16), "is empty");
  }
  ExpectUnsupported(key, Attention(q, 5, 0, DType::kF16, kFp16), "is empty");
  Problem no_query = Attention({2, 0, 9, 64}, 5, 64, DType::kF16, kFp16);
  for (size_t k : {1, 2}) no_query.inputs[k] = DenseView(DType::kF16, {2, 6, 5, 64});
  ExpectUnsupported(key, no_query, "is empty");
  ExpectUnsupported(key, Attention({2, 6, 9, 264}, 5, 64, DType::kF16, kFp16), "at most 256");
  ExpectUnsupported(key, Attention(q, 5, 264, DType::kF16, kFp16), "at most 256");
}

TEST(CudaRefusals, OfTheHopperAttentionsPages) {
  const char* key = "cuda.attention.hopper";
  const auto paged = [](int64_t pool, int64_t page) {
    Problem p = Attention({2, 6, 100, 64}, 300, 64, DType::kF16, MathMode::kFp16);
    AttentionAttrs a;
    a.pages = true;
    p.attrs = a;
    for (size_t k : {1, 2}) p.inputs[k] = DenseView(DType::kF16, {pool, 6, page, 64});
    p.inputs.push_back(DenseView(DType::kI32, {2, 3}));
    p.core_inputs = 4;
    return p;
  };
  const auto in_tiles_of = [](int64_t keys) -> Edits {
    return {{"consumers", 2}, {"tile_keys", keys}, {"stages", 2},  {"producer", 1}, {"turns", 1},
            {"fold", 0},      {"pack", 0},         {"section", 4}, {"per_sm", 1},   {"blocks", 3}};
  };
  for (int64_t page : {8, 32, 64, 128})
    EXPECT_EQ(Refused(key, paged(7, page), in_tiles_of(64)), "");
  EXPECT_EQ(Refused(key, paged(7, 40), in_tiles_of(80)), "");
  ExpectParametersRefused(key, paged(7, 32),
                          {{"takes no blocks of 80 keys from pages of 32", in_tiles_of(80)}});
  // No candidate takes these.
  const auto refused = [&](int64_t page) {
    return FindKernel(key)->refuse(paged(7, page), Parameters(in_tiles_of(80)), Device());
  };
  EXPECT_EQ(refused(96), "takes no blocks of 80 keys from pages of 96");
  EXPECT_EQ(refused(20), "takes pages of a multiple of 8 keys, not of 20");
  ExpectUnsupported(key, paged(0, 64), "is empty");
}

TEST(CudaRefusals, OfTheHopperAttentionsOperands) {
  const char* key = "cuda.attention.hopper";
  const auto with_k = [](const Dims& strides, int64_t offset) {
    Problem p = Attention({2, 6, 100, 64}, 300, 64, DType::kF16, MathMode::kFp16);
    p.inputs[1] = {DType::kF16, {2, 6, 300, 64}, strides, offset};
    return p;
  };
  ExpectUnsupported(key, with_k({6 * 300 * 64, 300 * 64, 1, 300}, 0), "k is not contiguous");
  ExpectUnsupported(key, with_k({6 * 300 * 64, 300 * 64, 64, 1}, 4), "k begins at element 4");
  ExpectUnsupported(key, with_k({6 * 300 * 68, 300 * 68, 68, 1}, 0), "k has a stride of 68");
  ExpectUnsupported(key, with_k({6 * 300 * 64, 300 * 64, -64, 1}, 299 * 64),
                    "k has a stride of -64");
  ExpectUnsupported(key, with_k({6 * 64, 64, 0, 1}, 0), "k repeats one row");
}

}  // namespace
}  // namespace aicf
