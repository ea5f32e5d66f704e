// Several entry points and what may be padded of them: round trips, and every way to describe them
// wrongly.
#include <gtest/gtest.h>

#include "schema/codec.h"
#include "schema/testing.h"
#include "schema/testing_faults.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(Entries, LieOverEachOtherInOneArena) {
  const Status status = VerifyProgram(EntriesProgram());
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(Entries, RoundTrip) {
  Program p = EntriesProgram();
  p.entry_points[1].paddings = {{1, {{0, 0}}, {}}, {1, {{1, 1}}, {{1, 0, 2}}}};
  const auto bytes = EncodeProgram(p);
  ASSERT_TRUE(bytes.ok());
  const auto decoded = DecodeProgram(*bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  const auto parsed = ParseProgram(ToString(p));
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(ToString(*parsed), ToString(p));
  for (size_t e = 0; e < 2; ++e) {
    EXPECT_EQ(decoded->entry_points[e].paddings, p.entry_points[e].paddings);
    EXPECT_EQ(parsed->entry_points[e].paddings, p.entry_points[e].paddings);
  }
}

TEST(Entries, RangesCutTheSteps) {
  const Fault kFaults[] = {
      {"overlap", [](Program& p) { p.entry_points[1].first_step = 1; }, "starts at 2"},
      {"gap", [](Program& p) { p.entry_points[0].step_count = 1; }, "starts at 1"},
      {"a step of none", [](Program& p) { p.entry_points[1].step_count = 1; },
       "1 steps belong to no entry point"},
      {"beyond the end", [](Program& p) { p.entry_points[1].step_count = 3; }, "within 4"},
      {"a name twice", [](Program& p) { p.entry_points[1].name = "large"; }, "repeated name"},
  };
  ExpectFaults(EntriesProgram(), kFaults);
}

TEST(Entries, EachIsProvenByItself) {
  const Fault kFaults[] = {
      {"another's input",
       [](Program& p) {
         p.steps[2].inputs[0] = 0;
         p.steps[2].problem.inputs[0].shape = {2, 4};
       },
       "no input of this entry point"},
      {"another's output",
       [](Program& p) {
         p.entry_points[1].outputs = {6, 3};
         p.steps[3].outputs = {7};
         p.buffers[7].role = Role::kTemp;
       },
       "output buffer 3"},
      {"two of its own share bytes", [](Program& p) { p.buffers[6].offset = 0; }, "overlap"},
  };
  ExpectFaults(EntriesProgram(), kFaults);
}

TEST(Paddings, FaultsAreRefused) {
  const auto padding = [](Program& p) -> Padding& { return p.entry_points[0].paddings[0]; };
  const Fault kFaults[] = {
      {"input", [&](Program& p) { padding(p).inputs[1].input = 2; }, "padding of input 2 of 2"},
      {"axis", [&](Program& p) { padding(p).inputs[0].axis = 2; }, "axis 2 outside rank 2"},
      {"extents apart", [&](Program& p) { padding(p).inputs[1].axis = 0; }, "of extent 6"},
      {"not ascending", [&](Program& p) { std::swap(padding(p).inputs[0], padding(p).inputs[1]); },
       "ascending"},
      {"an axis twice",
       [&](Program& p) {
         padding(p).inputs[1] = {0, 0};
       },
       "each axis once"},
      {"an axis in two paddings",
       [&](Program& p) {
         p.entry_points[0].paddings.push_back({2, {{0, 0}}, {}});
       },
       "each axis once"},
      {"no input", [&](Program& p) { padding(p).inputs.clear(); }, "of 0 inputs"},
      {"no position", [&](Program& p) { padding(p).min = 0; }, "from 0 to 6"},
      {"nothing to pad", [&](Program& p) { padding(p).min = 6; }, "from 6 to 6"},
      {"more than the whole", [&](Program& p) { padding(p).min = ~uint64_t{0}; }, "to 6 positions"},
      {"output", [&](Program& p) { padding(p).outputs[1].output = 2; }, "shrinks output 2 of 2"},
      {"output axis", [&](Program& p) { padding(p).outputs[1].axis = 1; }, "axis 1 of rank 1"},
      {"output twice",
       [&](Program& p) {
         padding(p).outputs[1] = {0, 0, 1};
       },
       "each axis once"},
      {"outputs not ascending",
       [&](Program& p) { std::swap(padding(p).outputs[0], padding(p).outputs[1]); }, "ascending"},
      {"an output's axis in two paddings",
       [&](Program& p) {
         p.entry_points[0].paddings.push_back({3, {{0, 1}}, {{0, 0, 1}}});
       },
       "each axis once"},
      {"no factor", [&](Program& p) { padding(p).outputs[0].factor = 0; }, "loses 0 for each"},
      {"more than there is", [&](Program& p) { padding(p).outputs[1].factor = 5; },
       "12 positions loses 5 for each of 3"},
      {"far more", [&](Program& p) { padding(p).outputs[1].factor = ~uint32_t{0}; }, "loses"},
  };
  ExpectFaults(EntriesProgram(), kFaults);
}

}  // namespace
}  // namespace aicf::schema
