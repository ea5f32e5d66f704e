// Every rule of the families that move elements by index, and of the recurrent one, broken once.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/abi/validate_faults.h"

namespace aicf::abi {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(ValidateProblem, GatherTakes) {
  using A = GatherAttrs;
  const auto p = ProblemOf(Family::kGather, A{1, GatherKind::kTake, 0}, 2,
                           {F32({2, 5, 3}), I64({4})}, {F32({2, 4, 3})});
  ExpectRefused(p, {
                       {"indices are not integers", Input(1, F32({4}))},
                       {"unknown kind", Edit<A>([](A& a) { a.kind = GatherKind::kCount; })},
                       {"axis -1 outside rank 3", Edit<A>([](A& a) { a.axis = -1; })},
                       {"axis 3 outside rank 3", Edit<A>([](A& a) { a.axis = 3; })},
                       {"the output has shape", Output(0, F32({2, 5, 3}))},
                       {"output rank above", Input(1, I64(Dims::Filled(kMaxRank - 1, 1)))},
                   });
}

TEST(ValidateProblem, GatherElements) {
  using A = GatherAttrs;
  const auto p = ProblemOf(Family::kGather, A{1, GatherKind::kElements, 0}, 2,
                           {F32({2, 5}), I64({2, 7})}, {F32({2, 7})});
  ExpectRefused(p, {
                       {"ranks of data and indices differ", Input(1, I64({14}))},
                       {"indices have 3 positions along axis 0", Input(1, I64({3, 7}))},
                       {"the output has shape", Output(0, F32({2, 5}))},
                   });
}

TEST(ValidateProblem, GatherPoints) {
  using A = GatherAttrs;
  const auto p = ProblemOf(Family::kGather, A{0, GatherKind::kPoints, 1}, 2,
                           {F32({2, 5, 3}), I64({2, 4, 1})}, {F32({2, 4, 3})});
  const Dims ones = Dims::Filled(kMaxRank, 1);
  ExpectRefused(p, {
                       {"no axis for the coordinates", Input(1, I64({}))},
                       {"-1 batch axes", Edit<A>([](A& a) { a.batch_axes = -1; })},
                       {"3 batch axes",
                        [](Problem& q) {
                          std::get<A>(q.attrs).batch_axes = 3;
                          q.inputs[0] = F32({2, 4, 1, 5, 3});
                        }},
                       {"1 batch axes and 3 coordinates", Input(1, I64({2, 4, 3}))},
                       {"batch axis 0 differs", Input(1, I64({3, 4, 1}))},
                       {"the output has shape", Output(0, F32({2, 4, 5}))},
                       {"rank above",
                        [&](Problem& q) {
                          std::get<A>(q.attrs).batch_axes = 0;
                          q.inputs = {F32(ones), I64(ones)};
                        }},
                   });
}

TEST(ValidateProblem, Scatter) {
  using A = ScatterAttrs;
  const auto elements =
      ProblemOf(Family::kScatter, A{ScatterKind::kElements, ScatterReduction::kNone, 1}, 3,
                {F32({2, 5}), I64({2, 7}), F32({2, 7})}, {F32({2, 5})});
  const View half = DenseView(DType::kF16, {2, 7});
  ExpectRefused(elements,
                {
                    {"unknown kind", Edit<A>([](A& a) { a.kind = ScatterKind::kCount; })},
                    {"unknown kind", Edit<A>([](A& a) { a.reduction = ScatterReduction::kCount; })},
                    {"indices are not integers", Input(1, F32({2, 7}))},
                    {"the output has shape", Output(0, F32({2, 6}))},
                    {"differ in dtype", Input(2, half)},
                    {"differ in dtype", Output(0, DenseView(DType::kF16, {2, 5}))},
                    {"axis 2 outside rank 2", Edit<A>([](A& a) { a.axis = 2; })},
                    {"ranks of data and indices differ", Input(1, I64({14}))},
                    {"updates has shape", Input(2, F32({2, 6}))},
                });
  const auto points =
      ProblemOf(Family::kScatter, A{ScatterKind::kPoints, ScatterReduction::kNone, 0}, 3,
                {F32({2, 5}), I64({4, 1}), F32({4, 5})}, {F32({2, 5})});
  ExpectRefused(points, {
                            {"0 batch axes and 3 coordinates", Input(1, I64({4, 3}))},
                            {"updates has shape", Input(2, F32({4, 4}))},
                        });
}

TEST(ValidateProblem, Scan) {
  using A = ScanAttrs;
  const auto p =
      ProblemOf(Family::kScan, A{ScanKind::kSum, 1, false, false}, 1, {F32({2, 3})}, {F32({2, 3})});
  ExpectRefused(p, {
                       {"unknown kind", Edit<A>([](A& a) { a.kind = ScanKind::kCount; })},
                       {"axis 2 outside rank 2", Edit<A>([](A& a) { a.axis = 2; })},
                       {"differ in dtype", Output(0, DenseView(DType::kF16, {2, 3}))},
                       {"the output has shape", Output(0, F32({2, 4}))},
                   });
}

TEST(ValidateProblem, Sample) {
  using A = SampleAttrs;
  const auto p = ProblemOf(Family::kSample, A{ResizeMode::kLinear, SamplePadding::kZeros, false}, 2,
                           {F32({2, 3, 4, 5}), F32({2, 6, 7, 2})}, {F32({2, 3, 6, 7})});
  const auto of_rank = [](int rank) {
    return [rank](Problem& q) {
      Dims shape = Dims::Filled(rank, 1);
      q.inputs[0] = F32(shape);
      q.outputs[0] = F32(shape);
      shape[rank - 1] = rank - 2;
      q.inputs[1] = F32(shape);
    };
  };
  ExpectRefused(p, {
                       {"unknown mode", Edit<A>([](A& a) { a.mode = ResizeMode::kCount; })},
                       {"unknown mode", Edit<A>([](A& a) { a.padding = SamplePadding::kCount; })},
                       {"spatial rank 0", of_rank(2)},
                       {"spatial rank 4", of_rank(6)},
                       {"cubic sampling of 3 axes",
                        [&](Problem& q) {
                          of_rank(5)(q);
                          std::get<A>(q.attrs).mode = ResizeMode::kCubic;
                        }},
                       {"the grid is no float", Input(1, I64({2, 6, 7, 2}))},
                       {"does not fit", Input(1, F32({2, 6, 7, 1, 2}))},
                       {"does not fit", Input(1, F32({3, 6, 7, 2}))},
                       {"does not fit", Input(1, F32({2, 6, 7, 3}))},
                       {"differ in dtype", Output(0, DenseView(DType::kF16, {2, 3, 6, 7}))},
                       {"the output has shape", Output(0, F32({2, 3, 6, 6}))},
                   });
}

TEST(ValidateProblem, Roi) {
  using A = RoiAttrs;
  const auto p = ProblemOf(Family::kRoi, A{RoiKind::kAlignAverage, 1, 0, true}, 3,
                           {F32({1, 2, 8, 8}), F32({3, 4}), I64({3})}, {F32({3, 2, 2, 2})});
  ExpectRefused(p, {
                       {"unknown kind", Edit<A>([](A& a) { a.kind = RoiKind::kCount; })},
                       {"sampling ratio -1", Edit<A>([](A& a) { a.sampling_ratio = -1; })},
                       {"expects x of rank 4", Input(0, F32({1, 2, 8, 8, 1}))},
                       {"expects x of rank 4", Output(0, F32({3, 2, 2, 2, 1}))},
                       {"expects x of rank 4", Input(1, F32({3, 4, 1}))},
                       {"expects x of rank 4", Input(1, F32({3, 5}))},
                       {"indices are not integers", Input(2, F32({3}))},
                       {"the batch index has shape", Input(2, I64({4}))},
                       {"must be floats",
                        [](Problem& q) { q.inputs[0].dtype = q.outputs[0].dtype = DType::kI32; }},
                       {"must be floats", Input(1, DenseView(DType::kI32, {3, 4}))},
                       {"differ in dtype", Output(0, DenseView(DType::kF16, {3, 2, 2, 2}))},
                       {"is not R x C x h x w", Output(0, F32({4, 2, 2, 2}))},
                       {"is not R x C x h x w", Output(0, F32({3, 3, 2, 2}))},
                   });
}

TEST(ValidateProblem, Nms) {
  const auto p = ProblemOf(Family::kNms, NmsAttrs{false}, 5,
                           {F32({1, 6, 4}), F32({1, 2, 6}), I64({1}), F32({1}), F32({1})},
                           {I64({9, 3}), I64({1})});
  std::vector<Fault> faults = {
      {"needs two outputs", [](Problem& q) { q.outputs.pop_back(); }},
      {"do not fit", Input(0, F32({1, 6, 4, 1}))},
      {"do not fit", Input(1, F32({1, 2, 6, 1}))},
      {"do not fit", Input(0, F32({2, 6, 4}))},
      {"do not fit", Input(0, F32({1, 6, 5}))},
      {"do not fit", Input(0, F32({1, 7, 4}))},
      {"a threshold has shape", Input(2, I64({2}))},
      {"outputs are not i64", Output(0, F32({9, 3}))},
      {"outputs are not i64", Output(1, F32({1}))},
      {"expected K x 3", Output(0, I64({9, 3, 1}))},
      {"expected K x 3", Output(0, I64({9, 4}))},
      {"the count has shape", Output(1, I64({2}))},
  };
  faults.push_back({"operand 2 has another dtype", Input(2, F32({1}))});
  ExpectRefused(p, faults);
}

using R = RecurrentAttrs;

// An LSTM with peepholes and lengths.
Problem Lstm() {
  R a;
  a.activations = {1, 0, 0};
  a.alpha = a.beta = {0, 0, 0};
  a.peepholes = a.lengths = true;
  const int64_t steps = 5, batch = 2, hidden = 3;
  return ProblemOf(
      Family::kRecurrent, a, 6,
      {F32({steps, 1, batch, 12}), F32({1, 12, hidden}), F32({1, batch, hidden}),
       F32({1, batch, hidden}), F32({1, 9}), DenseView(DType::kI32, {batch})},
      {F32({steps, 1, batch, hidden}), F32({1, batch, hidden}), F32({1, batch, hidden})});
}

TEST(ValidateProblem, Recurrent) {
  ExpectRefused(
      Lstm(),
      {
          {"unknown kind", Edit<R>([](R& a) { a.cell = CellKind::kCount; })},
          {"unknown kind", Edit<R>([](R& a) { a.direction = Direction::kCount; })},
          {"clip -1", Edit<R>([](R& a) { a.clip = -1; })},
          {"clip nan", Edit<R>([](R& a) { a.clip = std::nan(""); })},
          {"only an LSTM has peepholes", Edit<R>([](R& a) { a.cell = CellKind::kGru; })},
          {"expected 3 activations", Edit<R>([](R& a) {
             a.activations = {1, 0};
           })},
          {"expected 3 activations", Edit<R>([](R& a) {
             a.alpha = {0, 0};
           })},
          {"expected 3 activations", Edit<R>([](R& a) {
             a.beta = {0, 0};
           })},
          {"unknown activation -1", Edit<R>([](R& a) { a.activations[1] = -1; })},
          {"unknown activation 11", Edit<R>([](R& a) { a.activations[1] = 11; })},
          {"6 operands, expected 5", Edit<R>([](R& a) { a.lengths = false; })},
          {"6 operands, expected 6", [](Problem& q) { q.core_inputs = 5; }},
          {"7 operands, expected 6", [](Problem& q) { q.inputs.push_back(F32({1})); }},
          {"2 outputs", [](Problem& q) { q.outputs.pop_back(); }},
          {"gates of rank 4", Input(0, F32({5, 1, 2, 12, 1}))},
          {"R of rank 3", Input(1, F32({1, 12, 3, 1}))},
          {"do not fit 1 directions of 12", Input(0, F32({5, 2, 2, 12}))},
          {"do not fit 1 directions of 12", Input(0, F32({5, 1, 2, 13}))},
          {"R has shape", Input(1, F32({1, 13, 3}))},
          {"h0 has shape", Input(2, F32({1, 2, 4}))},
          {"c0 has shape", Input(3, F32({1, 2, 4}))},
          {"P has shape", Input(4, F32({1, 8}))},
          {"lengths are not i32", Input(5, I64({2}))},
          {"lengths has shape", Input(5, DenseView(DType::kI32, {3}))},
          {"operands differ in dtype", Input(2, DenseView(DType::kF16, {1, 2, 3}))},
          {"an output's dtype", Output(1, DenseView(DType::kF16, {1, 2, 3}))},
          {"the first output has shape", Output(0, F32({4, 1, 2, 3}))},
          {"a final state has shape", Output(2, F32({1, 2, 4}))},
          {"computes floats only", [](Problem& q) { q.inputs[0].dtype = DType::kI32; }},
          {"computes floats only", [](Problem& q) { q.inputs[0].dtype = DType::kF8E4M3FN; }},
      });
}

TEST(ValidateProblem, RecurrentGru) {
  R a;
  a.cell = CellKind::kGru;
  a.activations = {1, 0};
  a.alpha = a.beta = {0, 0};
  a.linear_before_reset = true;
  const auto p = ProblemOf(Family::kRecurrent, a, 4,
                           {F32({5, 1, 2, 9}), F32({1, 9, 3}), F32({1, 2, 3}), F32({1, 3})},
                           {F32({5, 1, 2, 3}), F32({1, 2, 3})});
  ExpectRefused(p, {
                       {"Rb_h has shape", Input(3, F32({1, 4}))},
                       {"only an LSTM has peepholes", Edit<R>([](R& r) { r.input_forget = true; })},
                       {"3 outputs", [](Problem& q) { q.outputs.push_back(q.outputs[1]); }},
                   });
}

}  // namespace
}  // namespace aicf::abi
