// Losses against sums written out per element.
#include "compiler/passes/composite/testing.h"

namespace aicf {
namespace {

using testing::Array;
using testing::CompositeCase;
using testing::Random;
using testing::ToArray;

struct LossForm {
  Dims scores;
  std::string reduction;
  bool weights, ignores;
};

LossForm FormOf(int i) {
  const Dims shapes[] = {{3, 5}, {1, 1}, {2, 4, 3}, {2, 3, 2, 4}, {4, 2, 1, 3, 2}};
  const char* reductions[] = {"mean", "sum", "none"};
  return {shapes[i % 5], reductions[i / 5 % 3], i % 2 == 1, i / 3 % 2 == 1};
}

double LogSum(const Array& scores, Dims at) {
  double most = -INFINITY, sum = 0;
  for (at[1] = 0; at[1] < scores.shape[1]; ++at[1]) most = std::max(most, scores[at]);
  for (at[1] = 0; at[1] < scores.shape[1]; ++at[1]) sum += std::exp(scores[at] - most);
  return most + std::log(sum);
}

Array LogSoftmax(const Array& scores) {
  return testing::Generate(scores.shape,
                           [&](const Dims& at) { return scores[at] - LogSum(scores, at); });
}

Array Loss(const LossForm& f, const Array& logs, const Array& target, const Array& weights,
           double ignored) {
  Array each(target.shape);
  double sum = 0, total = 0;
  testing::ForEach(target.shape, [&](const Dims& at) {
    const double t = target[at];
    if (f.ignores && t == ignored) return;
    Dims from = at;
    from.insert(1, static_cast<int64_t>(t));
    const double weight = f.weights ? weights[{static_cast<int64_t>(t)}] : 1;
    each[at] = -weight * logs[from];
    sum += each[at];
    total += weight;
  });
  if (f.reduction == "none") return each;
  Array out;
  out.data[0] = f.reduction == "sum" ? sum : sum / total;
  return out;
}

void Check(const std::string& op, bool softmax) {
  for (int i = 0; i < 30; ++i) {
    const LossForm f = FormOf(i);
    const auto seed = static_cast<uint32_t>(100 * i);
    const ir::Tensor scores = Random(DType::kF32, f.scores, seed);
    Dims targets = f.scores;
    targets.erase(1);
    const auto classes = static_cast<double>(f.scores[1]);
    const ir::Tensor target =
        Random(i % 4 == 0 ? DType::kI32 : DType::kI64, targets, seed + 1, 0, classes);
    const ir::Tensor weights = Random(DType::kF32, {f.scores[1]}, seed + 2, 0.5, 2);
    // Class 0 is ignored only where other targets remain, or nothing is divided.
    const double ignored = f.reduction == "mean" ? -1 : 0;
    CompositeCase c(op);
    c.Input("x", scores).Input("t", target);
    if (f.weights) c.Input("w", weights);
    if (f.ignores) c.Attr("ignore_index", StrCat(static_cast<int64_t>(ignored)));
    c.Attr("reduction", StrCat("\"", f.reduction, "\"")).Output("loss");
    if (softmax) c.Output("logs");
    const auto run = c.Run();
    ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
    const Array logs = softmax ? LogSoftmax(ToArray(scores)) : ToArray(scores);
    const Array want = Loss(f, logs, ToArray(target), ToArray(weights), ignored);
    testing::ExpectClose(run->outputs[0], want, 1e-5, 1e-6, c.Text());
    if (softmax) testing::ExpectClose(run->outputs[1], logs, 1e-5, 1e-6, c.Text());
  }
}

TEST(Losses, NegativeLogLikelihood) { Check("NegativeLogLikelihoodLoss", false); }
TEST(Losses, SoftmaxCrossEntropy) { Check("SoftmaxCrossEntropyLoss", true); }

TEST(Losses, TargetsMustFitTheScores) {
  CompositeCase c("NegativeLogLikelihoodLoss");
  c.Input("x", Random(DType::kF32, {3, 5, 2}, 1)).Input("t", Random(DType::kI64, {3, 3}, 2, 0, 5));
  c.Output("loss");
  EXPECT_EQ(testing::Refusal(c).code(), Code::kBadModel);
}

}  // namespace
}  // namespace aicf
