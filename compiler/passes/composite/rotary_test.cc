// Rotary embeddings against the pairs' rotation in f64.
#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::Random;
using testing::ToArray;

struct RotaryForm {
  int64_t batch, heads, rows, size, rotary;
  bool rank3, interleaved, positions;
};

// cos and sin at (batch, row, pair).
using Table = std::function<double(const Array&, int64_t, int64_t, int64_t)>;

Array Rotated(const RotaryForm& f, const Array& x, const Array& cos, const Array& sin,
              const Table& at) {
  const int64_t half = f.rotary / 2;
  return testing::Generate(x.shape, [&](const Dims& i) {
    if (i[3] >= f.rotary) return x[i];
    const int64_t pair = f.interleaved ? i[3] / 2 : i[3] % half;
    const bool second = f.interleaved ? i[3] % 2 != 0 : i[3] >= half;
    Dims a = i, b = i;
    a[3] = f.interleaved ? 2 * pair : pair;
    b[3] = f.interleaved ? 2 * pair + 1 : pair + half;
    const double c = at(cos, i[0], i[2], pair), s = at(sin, i[0], i[2], pair);
    return second ? x[b] * c + x[a] * s : x[a] * c - x[b] * s;
  });
}

TEST(RotaryEmbedding, EveryForm) {
  uint32_t seed = 1;
  for (int bits = 0; bits < 16; ++bits) {
    RotaryForm f{2, 3, 4, 8, 8, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    if ((bits & 8) != 0) f.rotary = 6;
    const Dims shape =
        f.rank3 ? Dims{f.batch, f.rows, f.heads * f.size} : Dims{f.batch, f.heads, f.rows, f.size};
    const ir::Tensor x = Random(DType::kF32, shape, seed++);
    const Dims table = f.positions ? Dims{10, f.rotary / 2} : Dims{f.batch, f.rows, f.rotary / 2};
    const ir::Tensor cos = Random(DType::kF32, table, seed++),
                     sin = Random(DType::kF32, table, seed++);
    const ir::Tensor ids = Random(DType::kI64, {f.batch, f.rows}, seed++, 0, 10);
    CompositeCase c("RotaryEmbedding");
    c.Input("x", x).Input("cos", cos).Input("sin", sin);
    if (f.positions) c.Input("ids", ids);
    if (f.rank3) c.Attr("num_heads", "3");
    if (f.interleaved) c.Attr("interleaved", "1");
    if (f.rotary != f.size) c.Attr("rotary_embedding_dim", StrCat(f.rotary));
    const auto run = c.Output("y").Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
    const Array want =
        Rotated(f, testing::HeadsOf(ToArray(x), f.heads), ToArray(cos), ToArray(sin),
                [&](const Array& t, int64_t b, int64_t r, int64_t p) {
                  return f.positions ? t[{ids.IntAt(b * f.rows + r), p}] : t[{b, r, p}];
                });
    testing::ExpectClose(run->outputs[0], f.rank3 ? testing::Merged(want) : want, 1e-6, 1e-6,
                         c.Text());
    if (HasFatalFailure()) return;
  }
}

TEST(RotaryEmbedding, WholeHeadsTakeNoCopy) {
  CompositeCase c("RotaryEmbedding");
  c.Input("x", Random(DType::kF32, {2, 3, 4, 8}, 1))
      .Input("cos", Random(DType::kF32, {2, 4, 4}, 2));
  const auto run = c.Input("sin", Random(DType::kF32, {2, 4, 4}, 3)).Output("y").Run();
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_EQ(testing::CountSteps(run->lowered, abi::Family::kCopy), 1)
      << "only the one that gives the output its buffer, which fusion removes";
}

TEST(RotaryEmbedding, RefusesTablesThatDoNotFit) {
  CompositeCase c("RotaryEmbedding");
  c.Input("x", Random(DType::kF32, {2, 3, 4, 8}, 1))
      .Input("cos", Random(DType::kF32, {2, 4, 3}, 2));
  c.Input("sin", Random(DType::kF32, {2, 4, 3}, 3)).Output("y");
  EXPECT_EQ(testing::Refusal(c).code(), Code::kBadModel);
}

}  // namespace
}  // namespace aicf
