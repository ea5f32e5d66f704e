// Rules of the CUDA kernels that walk over results in strides, each broken once: threads, blocks,
// vectors and how many of them a thread has under way.
#include <gtest/gtest.h>

#include "kernels/cuda/refusals_testing.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

const std::vector<ParameterFault>& PointFaults() {
  static const std::vector<ParameterFault> faults = {
      {"threads in multiples of 32, here is 100", {{"threads", 100}}},
      {"elements at once", {{"blocks", kMany}}}};
  return faults;
}

TEST(CudaRefusals, OfSingleResultsPerThread) {
  const Problem sample =
      ProblemOf(Family::kSample, SampleAttrs{ResizeMode::kLinear, SamplePadding::kZeros, false}, 2,
                {F32({2, 3, 4, 5}), F32({2, 6, 7, 2})}, {F32({2, 3, 6, 7})});
  ExpectParametersRefused("cuda.sample.taps", sample, PointFaults());
  const Problem roi = ProblemOf(Family::kRoi, RoiAttrs{RoiKind::kAlignAverage, 1, 0, true}, 3,
                                {F32({1, 2, 8, 8}), F32({3, 4}), I64({3})}, {F32({3, 2, 2, 2})});
  ExpectParametersRefused("cuda.roi.bins", roi, PointFaults());
}

TEST(CudaRefusals, OfVectorsPerThread) {
  const ParameterFault odd = {"vector as a power of two, here is 3", {{"vector", 3}}};
  const Problem pool =
      ProblemOf(Family::kPool, PoolAttrs{PoolKind::kMax, {2}, {2}, {1}, {0}, {0}, false, 2}, 1,
                {F32({1, 3, 8})}, {F32({1, 3, 4})});
  ExpectParametersRefused("cuda.pool.window", pool, PointFaults());
  ExpectParametersRefused("cuda.pool.window", pool, {odd});
  ResizeAttrs doubled;
  doubled.scales = {1, 2};
  const Problem resize = ProblemOf(Family::kResize, doubled, 1, {F32({2, 3})}, {F32({2, 6})});
  ExpectParametersRefused("cuda.resize.taps", resize, PointFaults());
  ExpectParametersRefused("cuda.resize.taps", resize, {odd});
}

TEST(CudaRefusals, OfVectorsUnderWay) {
  Problem map =
      ProblemOf(Family::kElementwise, ElementwiseAttrs{}, 1, {F32({4096})}, {F32({4096})});
  map.epilogue = *ParseExpr("(%0 = in 0 : f32) -> %0");
  const int64_t most = int64_t{1} << 28;  // elements of one stride of the grid
  ExpectParametersRefused(
      "cuda.elementwise.map", map,
      {{"unroll as a power of two, here is 3", {{"unroll", 3}}},
       {"elements at once",
        {{"vector", 1}, {"threads", 32}, {"blocks", most / 32}, {"unroll", 2}}}});
  const Problem fill =
      ProblemOf(Family::kCopy, CopyAttrs{{Dims{0}}, true, 0}, 1, {F32({16})}, {F32({64})});
  ExpectParametersRefused(
      "cuda.copy.fill", fill,
      {{"power of two up to 4, here is 3", {{"vector", 3}}},
       {"elements at once", {{"vector", 4}, {"threads", 32}, {"blocks", most / 32}}}});
  const Problem pieces =
      ProblemOf(Family::kCopy, CopyAttrs{{Dims{0}}, false, 0}, 1, {F32({64})}, {F32({64})});
  ExpectParametersRefused("cuda.copy.pieces", pieces,
                          {{"unroll as a power of two, here is 3", {{"unroll", 3}}}});
}

TEST(CudaRefusals, OfRowsInClusters) {
  const Problem softmax =
      ProblemOf(Family::kNormalize, NormalizeAttrs{NormalizeKind::kSoftmax, {1}, 0}, 1,
                {F32({64, 96})}, {F32({64, 96})});
  ExpectParametersRefused(
      "cuda.normalize.rows", softmax,
      {{"a cluster works on one row at a time",
        {{"lanes", 32}, {"rows_per_block", 2}, {"cluster", 2}, {"blocks", 4}}},
       {"5 blocks are no whole clusters of 2",
        {{"lanes", 32}, {"rows_per_block", 1}, {"cluster", 2}, {"blocks", 5}}}});
}

TEST(CudaRefusals, OfColumnsInVectors) {
  const Problem sum = ProblemOf(Family::kReduce, ReduceAttrs{ReduceKind::kSum, {0}, false}, 1,
                                {F32({64, 96})}, {F32({1, 96})});
  const Edits base = {{"lanes", 8}, {"cluster", 1}, {"blocks", 1}, {"neighbours", 32}};
  const auto with = [&](Edits edits) {
    edits.insert(edits.begin(), base.begin(), base.end());
    return edits;
  };
  EXPECT_EQ(Refused("cuda.reduce.columns", sum, with({{"vector", 4}})), "");
  ExpectParametersRefused("cuda.reduce.columns", sum,
                          {{"vector as a power of two, here is 3", with({{"vector", 3}})},
                           {"takes up to 24 lanes with vectors of 4 and 32 neighbours, here are 32",
                            with({{"vector", 4}, {"lanes", 32}})}});
  const Problem few = ProblemOf(Family::kReduce, ReduceAttrs{ReduceKind::kSum, {0}, false}, 1,
                                {F32({64, 98})}, {F32({1, 98})});
  ExpectParametersRefused("cuda.reduce.columns", few,
                          {{"98 results are no whole vectors of 4", with({{"vector", 4}})}});
}

}  // namespace
}  // namespace aicf
