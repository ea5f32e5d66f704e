// Outputs whose extent a run decides: round trips, and every way to describe them wrongly.
#include <gtest/gtest.h>

#include "schema/codec.h"
#include "schema/testing.h"
#include "schema/testing_faults.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// y [4, 3] and z [2, 5] end along one axis where n says.
Program CountedProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {4, 3});
  const uint32_t w = b.Input("w", {2, 5});
  const uint32_t n = b.Input("n", {1}, DType::kI64);
  const uint32_t y = b.Output("y", {4, 3});
  const uint32_t z = b.Output("z", {2, 5});
  const uint32_t count = b.Output("n.count", {1}, DType::kI64);
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {y});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {w}, {z});
  b.AddStep(Elementwise(abi::ExprOp::kNeg, DType::kI64), {n}, {count});
  Program p = b.Finish();
  p.entry_points[0].extents = {{0, 0, 2}, {1, 1, 2}};
  return p;
}

TEST(OutputExtents, AreAcceptedAndKnown) {
  const Program p = CountedProgram();
  EXPECT_TRUE(VerifyProgram(p).ok()) << VerifyProgram(p).ToString();
  const EntryPoint& e = p.entry_points[0];
  EXPECT_EQ(e.model_outputs(), 2u);
  ASSERT_NE(e.ExtentOf(1), nullptr);
  EXPECT_EQ(e.ExtentOf(1)->axis, 1u);
  EXPECT_EQ(e.ExtentOf(2), nullptr);
  EXPECT_EQ(AddProgram().entry_points[0].model_outputs(), 1u);
}

TEST(OutputExtents, RoundTrip) {
  const Program p = CountedProgram();
  const auto bytes = EncodeProgram(p);
  ASSERT_TRUE(bytes.ok());
  const auto decoded = DecodeProgram(*bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_EQ(decoded->entry_points[0].extents, p.entry_points[0].extents);
  const auto parsed = ParseProgram(ToString(p));
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->entry_points[0].extents, p.entry_points[0].extents);
  EXPECT_EQ(ToString(*parsed), ToString(p));
}

TEST(OutputExtents, FaultsAreRefused) {
  const auto extents = [](Program& p) -> std::vector<OutputExtent>& {
    return p.entry_points[0].extents;
  };
  const Fault kFaults[] = {
      {"an output twice", [&](Program& p) { extents(p)[1].output = 0; }, "at most once"},
      {"a count that is counted", [&](Program& p) { extents(p)[1].output = 2; }, "output 2 of 2"},
      {"axis", [&](Program& p) { extents(p)[0].axis = 2; }, "axis 2 outside rank 2"},
      {"count index", [&](Program& p) { extents(p)[0].count = 9; }, "count 9 of 3"},
      {"count among the outputs", [&](Program& p) { extents(p)[0].count = 1; }, "expected one i64"},
      {"count of another dtype",
       [&](Program& p) {
         p.buffers[5].dtype = DType::kF64;
         p.buffers[2].dtype = DType::kF64;
         p.steps[2].problem = Elementwise(abi::ExprOp::kNeg, DType::kF64);
       },
       "expected one i64"},
      {"count of two elements",
       [&](Program& p) {
         p.buffers[5].shape = {2};
         p.buffers[5].bytes = 16;
       },
       "a count of 16 bytes"},
      {"an output behind the counts",
       [&](Program& p) {
         extents(p)[0].count = 1;
         extents(p).pop_back();
       },
       "expected one i64"},
  };
  ExpectFaults(CountedProgram(), kFaults);
}

// Two counts, one of which no output names.
TEST(OutputExtents, ACountThatNothingNamesIsRefused) {
  Program p = CountedProgram();
  std::vector<OutputExtent>& extents = p.entry_points[0].extents;
  std::swap(p.entry_points[0].outputs[1], p.entry_points[0].outputs[2]);
  extents = {{0, 0, 1}};
  ExpectRefused(p, "behind the counts, but is none");
}

}  // namespace
}  // namespace aicf::schema
