// Windows, filter banks, determinants and n-grams.
#include <algorithm>
#include <numbers>

#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::ExpectRun;
using testing::Generate;
using testing::ListText;
using testing::Random;
using testing::ToArray;

TEST(Windows, AllThree) {
  const std::pair<const char*, std::array<double, 3>> kinds[] = {
      {"HannWindow", {0.5, 0.5, 0}},
      {"HammingWindow", {25.0 / 46, 21.0 / 46, 0}},
      {"BlackmanWindow", {0.42, 0.5, 0.08}}};
  for (const auto& [op, a] : kinds) {
    for (int64_t size : {1, 2, 7, 10}) {
      for (bool periodic : {false, true}) {
        CompositeCase c(op);
        c.Input("n", testing::Ints({size}), true)
            .Attr("periodic", periodic ? "1" : "0")
            .Output("y");
        const double period = static_cast<double>(periodic ? size : std::max<int64_t>(size - 1, 1));
        const auto& factors = a;
        ExpectRun(
            c,
            Generate({size},
                     [&](const Dims& at) {
                       const double x = 2 * std::numbers::pi * static_cast<double>(at[0]) / period;
                       return factors[0] - factors[1] * std::cos(x) + factors[2] * std::cos(2 * x);
                     }),
            0, 1e-6, 1e-6);
      }
    }
  }
}

double Determinant(const Array& m, int64_t batch, int64_t n) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i) order.push_back(i);
  double sum = 0;
  do {
    double product = 1;
    for (int64_t i = 0; i < n; ++i) {
      product *= m[{batch, i, order[static_cast<size_t>(i)]}];
      for (int64_t j = 0; j < i; ++j) {
        if (order[static_cast<size_t>(j)] > order[static_cast<size_t>(i)]) product = -product;
      }
    }
    sum += product;
  } while (std::next_permutation(order.begin(), order.end()));
  return sum;
}

TEST(Det, AgreesWithTheSumOverPermutations) {
  for (int64_t n = 0; n <= 6; ++n) {
    for (uint32_t seed = 1; seed <= 4; ++seed) {
      Array m = ToArray(Random(DType::kF32, {3, n, n}, seed));
      // A first pivot of zero, and a singular matrix.
      if (n > 0) m[{0, 0, 0}] = 0;
      for (int64_t i = 0; i < n; ++i) m[{1, n - 1, i}] = m[{1, 0, i}];
      CompositeCase c("Det");
      c.Input("x", testing::ToTensor(m, DType::kF32)).Output("y");
      ExpectRun(c, Generate({3}, [&](const Dims& at) { return Determinant(m, at[0], n); }), 0, 2e-5,
                2e-5);
    }
  }
}

TEST(Det, OfOneMatrixIsAScalar) {
  CompositeCase c("Det");
  c.Input("x", Random(DType::kF32, {2, 3}, 1)).Output("y");
  EXPECT_EQ(testing::Refusal(c).code(), Code::kBadModel);
  CompositeCase zero("Det");
  zero.Input("x", testing::ToTensor(Array({3, 3}), DType::kF32)).Output("y");
  ExpectRun(zero, Array());
}

struct Grams {
  std::vector<std::vector<int64_t>> pool;  // by rising length
  std::vector<int64_t> indexes;
  int64_t shortest, longest, skips;
};

double Count(const Grams& g, const std::vector<int64_t>& gram, const Array& x, int64_t row) {
  const auto n = static_cast<int64_t>(gram.size());
  if (n < g.shortest || n > g.longest) return 0;
  double count = 0;
  for (int64_t skip = 0; skip <= (n == 1 ? 0 : g.skips); ++skip) {
    for (int64_t at = 0; at + (n - 1) * (skip + 1) < x.shape[1]; ++at) {
      bool same = true;
      for (int64_t j = 0; j < n; ++j) {
        same = same &&
               x[{row, at + j * (skip + 1)}] == static_cast<double>(gram[static_cast<size_t>(j)]);
      }
      count += same ? 1 : 0;
    }
  }
  return count;
}

TEST(TfIdf, CountsGramsWithSkips) {
  const std::vector<std::vector<int64_t>> pool = {{2}, {0}, {1, 1}, {0, 2}, {2, 1}, {1, 0, 2}};
  const std::vector<int64_t> flat = {2, 0, 1, 1, 0, 2, 2, 1, 1, 0, 2};
  const char* modes[] = {"TF", "IDF", "TFIDF"};
  for (int i = 0; i < 24; ++i) {
    const Grams g{pool, {3, 0, 6, 1, 5, 2}, 1 + i % 2, 2 + i % 3 / 2, i % 4};
    const int64_t length = i % 5 == 0 ? 1 : 9;
    const ir::Tensor x =
        Random(i % 3 == 0 ? DType::kI64 : DType::kI32, {2, length}, static_cast<uint32_t>(i), 0, 3);
    const std::string mode = modes[i / 3 % 3];
    CompositeCase c("TfIdfVectorizer");
    c.Input("x", x).Attr("mode", StrCat("\"", mode, "\"")).Attr("ngram_counts", "[0, 2, 8]");
    c.Attr("ngram_indexes", ListText(g.indexes)).Attr("pool_int64s", ListText(flat));
    c.Attr("min_gram_length", StrCat(g.shortest)).Attr("max_gram_length", StrCat(g.longest));
    c.Attr("max_skip_count", StrCat(g.skips)).Attr("weights", "[0.5, 1.5, 2.0, 3.0, 0.25, 4.0]");
    c.Output("y");
    const double weights[] = {0.5, 1.5, 2, 3, 0.25, 4};
    const Array a = ToArray(x);
    Array want({2, 7});
    for (int64_t row = 0; row < 2; ++row) {
      for (size_t k = 0; k < pool.size(); ++k) {
        double count = Count(g, pool[k], a, row);
        if (mode == "IDF") count = std::min(count, 1.0);
        want[{row, g.indexes[k]}] = count * (mode == "TF" ? 1 : weights[k]);
      }
    }
    ExpectRun(c, want);
  }
}

TEST(TfIdf, APoolThatDoesNotDivideIsRefused) {
  CompositeCase c("TfIdfVectorizer");
  c.Input("x", testing::Ints({1, 2}))
      .Attr("ngram_counts", "[0, 1]")
      .Attr("ngram_indexes", "[0, 1]");
  c.Attr("pool_int64s", "[1, 2]").Attr("mode", "\"TF\"").Output("y");
  EXPECT_EQ(testing::Refusal(c).code(), Code::kBadModel);
}

}  // namespace
}  // namespace aicf
