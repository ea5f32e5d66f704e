// Ops of com.microsoft against their definitions in f64. tests/exporters/contrib.py compares many
// more forms with ONNX Runtime.
#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::Generate;
using testing::Random;
using testing::ToArray;

void ExpectOutput(const CompositeCase& c, const Array& want, double tolerance = 1e-5,
                  size_t output = 0) {
  testing::ExpectRun(c, want, output, tolerance, tolerance);
}

double Gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

TEST(Contrib, Activations) {
  const ir::Tensor x = Random(DType::kF32, {2, 3, 8}, 1), b = Random(DType::kF32, {8}, 2);
  const Array a = ToArray(x), bias = ToArray(b);
  auto biased = [&](const Dims& i) { return a[i] + bias[{i[2]}]; };
  CompositeCase gelu("com.microsoft.Gelu"), bias_gelu("com.microsoft.BiasGelu"),
      fast("com.microsoft.FastGelu"), quick("com.microsoft.QuickGelu"),
      split("com.microsoft.BiasSplitGelu");
  ExpectOutput(gelu.Input("x", x).Output("y"),
               Generate(a.shape, [&](const Dims& i) { return Gelu(a[i]); }));
  ExpectOutput(bias_gelu.Input("x", x).Input("b", b).Output("y"),
               Generate(a.shape, [&](const Dims& i) { return Gelu(biased(i)); }));
  ExpectOutput(fast.Input("x", x).Input("b", b).Output("y"), Generate(a.shape, [&](const Dims& i) {
                 const double v = biased(i);
                 return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
               }));
  ExpectOutput(quick.Input("x", x).Output("y"), Generate(a.shape, [&](const Dims& i) {
                 return a[i] / (1 + std::exp(-1.702 * a[i]));
               }));
  ExpectOutput(split.Input("x", x).Input("b", b).Output("y"), Generate({2, 3, 4}, [&](Dims i) {
                 const double left = biased(i);
                 i[2] += 4;
                 return left * Gelu(biased(i));
               }));
}

TEST(Contrib, FusedMatMulUndoesItsTranspositions) {
  // [K, b, c, M] and [N, b, c, K] with the rows in front of the batch, and both transposed.
  const ir::Tensor a = Random(DType::kF32, {5, 2, 3, 4}, 1),
                   b = Random(DType::kF32, {6, 2, 3, 5}, 2);
  const Array x = ToArray(a), w = ToArray(b);
  CompositeCase c("com.microsoft.FusedMatMul");
  c.Input("a", a).Input("b", b).Attr("alpha", "0.5").Output("y");
  for (const char* flag : {"transA", "transB", "transBatchA", "transBatchB"}) c.Attr(flag, "1");
  ExpectOutput(c, Generate({2, 3, 4, 6}, [&](const Dims& i) {
                 double sum = 0;
                 for (int64_t k = 0; k < 5; ++k)
                   sum += x[{k, i[0], i[1], i[2]}] * w[{i[3], i[0], i[1], k}];
                 return sum / 2;
               }));
}

TEST(Contrib, FusedGemmAndItsActivations) {
  const ir::Tensor a = Random(DType::kF32, {3, 4}, 1), b = Random(DType::kF32, {4, 5}, 2),
                   bias = Random(DType::kF32, {5}, 3);
  const Array x = ToArray(a), w = ToArray(b), v = ToArray(bias);
  CompositeCase c("com.microsoft.FusedGemm");
  c.Input("a", a).Input("b", b).Input("c", bias).Attr("beta", "2.0").Output("y");
  c.Attr("activation", "\"LeakyRelu\"").Attr("activation_alpha", "0.25");
  ExpectOutput(c, Generate({3, 5}, [&](const Dims& i) {
                 double sum = 2 * v[{i[1]}];
                 for (int64_t k = 0; k < 4; ++k) sum += x[{i[0], k}] * w[{k, i[1]}];
                 return sum < 0 ? 0.25 * sum : sum;
               }));
  CompositeCase odd("com.microsoft.FusedGemm");
  odd.Input("a", a).Input("b", b).Attr("activation", "\"Mystery\"").Output("y");
  EXPECT_EQ(testing::Refusal(odd).code(), Code::kUnsupported);
}

TEST(Contrib, SkipLayerNormalizationGivesTheSumToo) {
  const ir::Tensor x = Random(DType::kF32, {2, 3, 8}, 1), skip = Random(DType::kF32, {3, 8}, 2),
                   gamma = Random(DType::kF32, {8}, 3), beta = Random(DType::kF32, {8}, 4),
                   bias = Random(DType::kF32, {8}, 5);
  const Array a = ToArray(x), s = ToArray(skip), g = ToArray(gamma), b = ToArray(beta),
              e = ToArray(bias);
  CompositeCase c("com.microsoft.SkipLayerNormalization");
  c.Input("x", x).Input("skip", skip).Input("g", gamma).Input("b", beta).Input("e", bias);
  c.Attr("epsilon", "0.001").Output("y").Output("_").Output("_").Output("sum");
  const Array sum = Generate(a.shape, [&](const Dims& i) {
    return a[i] + s[{i[1], i[2]}] + e[{i[2]}];
  });
  ExpectOutput(c, sum, 1e-6, 1);
  ExpectOutput(c, Generate(a.shape, [&](const Dims& i) {
                 double mean = 0, variance = 0;
                 for (int64_t k = 0; k < 8; ++k) mean += sum[{i[0], i[1], k}] / 8;
                 for (int64_t k = 0; k < 8; ++k)
                   variance += std::pow(sum[{i[0], i[1], k}] - mean, 2) / 8;
                 return (sum[i] - mean) / std::sqrt(variance + 0.001) * g[{i[2]}] + b[{i[2]}];
               }));
}

// One head, so that the reference stays plain: rows of q against rows of k.
Array AttentionOf(const Array& q, const Array& k, const Array& v,
                  const std::function<double(int64_t, int64_t, int64_t)>& bias) {
  const int64_t keys = k.shape[1], size = q.shape[2];
  Array y({q.shape[0], q.shape[1], v.shape[2]});
  for (int64_t b = 0; b < q.shape[0]; ++b) {
    for (int64_t r = 0; r < q.shape[1]; ++r) {
      std::vector<double> p(static_cast<size_t>(keys));
      double total = 0;
      for (int64_t s = 0; s < keys; ++s) {
        double sum = 0;
        for (int64_t d = 0; d < size; ++d) sum += q[{b, r, d}] * k[{b, s, d}];
        p[s] = std::exp(sum / std::sqrt(static_cast<double>(size)) + bias(b, r, s));
        total += p[s];
      }
      for (int64_t s = 0; s < keys; ++s) {
        for (int64_t d = 0; d < v.shape[2]; ++d) y[{b, r, d}] += p[s] / total * v[{b, s, d}];
      }
    }
  }
  return y;
}

TEST(Contrib, MultiHeadAttentionMasksKeys) {
  const ir::Tensor q = Random(DType::kF32, {2, 3, 4}, 1), k = Random(DType::kF32, {2, 5, 4}, 2),
                   v = Random(DType::kF32, {2, 5, 6}, 3);
  const std::vector<int32_t> marks = {1, 1, 0, 1, 0, 1, 1, 1, 1, 0};
  const ir::Tensor mask = ir::Tensor::FromValues<int32_t>(DType::kI32, {2, 5}, marks);
  CompositeCase c("com.microsoft.MultiHeadAttention");
  c.Input("q", q).Input("k", k).Input("v", v).Absent().Input("mask", mask);
  c.Attr("num_heads", "1").Output("y");
  ExpectOutput(c,
               AttentionOf(ToArray(q), ToArray(k), ToArray(v), [&](int64_t b, int64_t, int64_t s) {
                 return marks[static_cast<size_t>(b * 5 + s)] != 0 ? 0.0 : -10000.0;
               }));
}

TEST(Contrib, GroupQueryAttentionUpdatesItsCacheAtRunTimeLengths) {
  // A cache of 6 positions, of which 2 and 5 are filled; one new position each.
  const int64_t past = 6;
  const ir::Tensor q = Random(DType::kF32, {2, 1, 4}, 1), k = Random(DType::kF32, {2, 1, 4}, 2),
                   v = Random(DType::kF32, {2, 1, 4}, 3),
                   pk = Random(DType::kF32, {2, 1, past, 4}, 4),
                   pv = Random(DType::kF32, {2, 1, past, 4}, 5);
  const std::vector<int32_t> ends = {2, 5};
  const int32_t total = 6;
  CompositeCase c("com.microsoft.GroupQueryAttention");
  c.Input("q", q).Input("k", k).Input("v", v).Input("pk", pk).Input("pv", pv);
  c.Input("ends", ir::Tensor::FromValues<int32_t>(DType::kI32, {2}, ends));
  c.Input("total", ir::Tensor::FromValues<int32_t>(DType::kI32, {}, {{total}}), true);
  c.Attr("num_heads", "1").Attr("kv_num_heads", "1").Output("y").Output("nk").Output("nv");
  auto updated = [&](const ir::Tensor& cache, const ir::Tensor& now) {
    const Array old = ToArray(cache), row = ToArray(now);
    return Generate({2, past, 4}, [&](const Dims& i) {
      return i[1] == ends[i[0]] ? row[{i[0], 0, i[2]}] : old[{i[0], 0, i[1], i[2]}];
    });
  };
  const Array keys = updated(pk, k), values = updated(pv, v);
  ExpectOutput(c, AttentionOf(ToArray(q), keys, values, [&](int64_t b, int64_t, int64_t s) {
                 return s <= ends[b] ? 0.0 : -INFINITY;
               }));
  ExpectOutput(c,
               Generate({2, 1, past, 4},
                        [&](const Dims& i) {
                          return keys[{i[0], i[2], i[3]}];
                        }),
               0, 1);
}

TEST(Contrib, RefusalsNameTheAttributeOrInput) {
  CompositeCase c("com.microsoft.GroupQueryAttention");
  for (const char* name : {"q", "k", "v"}) c.Input(name, Random(DType::kF32, {1, 2, 4}, 1));
  c.Absent().Absent().Input("ends", Random(DType::kI32, {1}, 2, 1, 2));
  c.Input("total", ir::Tensor::FromValues<int32_t>(DType::kI32, {}, {{2}}), true);
  c.Attr("num_heads", "1").Attr("kv_num_heads", "1").Output("y");
  EXPECT_TRUE(c.Run().ok());
  CompositeCase quantised = c;
  quantised.Attr("k_quant_type", "\"PER_TENSOR\"");
  const Status status = testing::Refusal(quantised);
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.message().find("k_quant_type"), std::string::npos) << status.message();
  CompositeCase smooth = c;
  EXPECT_NE(testing::Refusal(smooth.Attr("smooth_softmax", "1")).message().find("smooth_softmax"),
            std::string::npos);
}

}  // namespace
}  // namespace aicf
