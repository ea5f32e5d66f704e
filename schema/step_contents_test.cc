#include "schema/step_contents.h"

#include <gtest/gtest.h>

#include "schema/testing.h"
#include "schema/testing_faults.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// y = -(-(-x)): three steps of one content.
Program Repeated() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {64, 33}), t = b.Temp({64, 33}), u = b.Temp({64, 33});
  const uint32_t y = b.Output("y", {64, 33});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {t});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {t}, {u});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {u}, {y});
  return b.Finish();
}

TEST(StepContents, EqualStepsAreFound) {
  for (const Program& p : {Repeated(), OnDevice(Repeated())}) {
    StepContents contents(p);
    EXPECT_EQ(contents.Find(0), 0u);
    EXPECT_EQ(contents.Find(1), 0u);
    EXPECT_EQ(contents.Find(2), 0u);
  }
  const Program different = DeviceProgram();
  StepContents contents(different);
  EXPECT_EQ(contents.Find(0), 0u);
  EXPECT_EQ(contents.Find(1), 1u);
}

// What a table cannot hold at once is looked at again, not taken for something else.
TEST(StepContents, OneHashHasOnePlace) {
  Program p = Repeated();
  p.steps[1].problem.inputs[0].strides[0] = 40;  // no part of the hash
  StepContents contents(p);
  EXPECT_EQ(contents.Find(0), 0u);
  EXPECT_EQ(contents.Find(1), 1u);
  EXPECT_EQ(contents.Find(2), 2u);
}

TEST(StepContents, EveryFieldOfTheContentCounts) {
  const Program p = OnDevice(Repeated());
  using Change = void (*)(Step&);
  const Change kChanges[] = {
      [](Step& s) { s.kernel += "x"; },
      [](Step& s) { s.symbol += "x"; },
      [](Step& s) { s.problem.inputs[0].offset = 1; },
      [](Step& s) { s.launch.grid[1] = 2; },
      [](Step& s) { s.launch.dynamic_shared_bytes = 1; },
      [](Step& s) { s.workspace_bytes = 1; },
      [](Step& s) { s.parameters = {}; },
      [](Step& s) { s.tensor_maps.emplace_back(); },
  };
  EXPECT_TRUE(SameContent(p.steps[0], p.steps[1]));
  for (const Change change : kChanges) {
    Step changed = p.steps[1];
    change(changed);
    EXPECT_FALSE(SameContent(p.steps[0], changed)) << &change - kChanges;
  }
  Step elsewhere = p.steps[1];
  elsewhere.inputs = {7};
  elsewhere.sources.clear();
  elsewhere.stream = 1;
  EXPECT_TRUE(SameContent(p.steps[0], elsewhere));
}

// The first of equal steps vouches for the others only in what they share.
TEST(StepContents, RepeatedStepsAreRefusedLikeFirstOnes) {
  const Fault kFaults[] = {
      {"launch", [](Program& p) { p.steps[1].launch.grid[0] += 1; },
       "step 1 (\"cuda.elementwise.map\"): the kernel does not run its problem so: launch of grid"},
      {"parameters", [](Program& p) { p.steps[1].parameters = {}; }, "takes 4 parameters"},
      {"a tensor map", [](Program& p) { p.steps[1].tensor_maps.emplace_back(); },
       "tensor maps do not follow"},
      {"no symbol", [](Program& p) { p.steps[1].symbol.clear(); }, "symbol \"\""},
      {"problem under its symbol",
       [](Program& p) { p.steps[1].problem.epilogue.nodes[1].op = abi::ExprOp::kAbs; },
       "is not the instance"},
      {"a view of too many elements",
       [](Program& p) { p.steps[1].problem.inputs[0].offset = int64_t{1} << 41; }, "passes"},
      {"an invalid problem", [](Program& p) { p.steps[1].problem.core_inputs = 2; },
       "2 core inputs of 1"},
      {"an unknown kernel", [](Program& p) { p.steps[1].kernel = "cuda.nothing"; },
       "unknown kernel"},
      {"image", [](Program& p) { p.steps[1].image = 1; }, "image 1 of 1"},
      {"operands", [](Program& p) { p.steps[1].inputs[0] = 99; }, "buffer 99 of 4"},
      {"an operand of another size",
       [](Program& p) {
         p.buffers[1].shape = {64, 32};
         p.buffers[1].bytes = 64 * 32 * 4;
       },
       "touches bytes up to"},
      {"packed", [](Program& p) { p.steps[1].packed_inputs = 1; }, "packed inputs 1"},
      {"workspace", [](Program& p) { p.steps[1].workspace_offset = 64; }, "workspace offset 64"},
      {"algorithm", [](Program& p) { p.steps[1].library_version = 1; }, "an algorithm on a kernel"},
      {"guard",
       [](Program& p) {
         p.steps[1].guards = {{0, true}};
       },
       "expected one bool"},
  };
  for (const Fault& fault : kFaults) {
    Program p = OnDevice(Repeated());
    fault.edit(p);
    const Status status = VerifyProgram(p);
    EXPECT_FALSE(status.ok()) << fault.name;
    EXPECT_NE(status.message().find(fault.sentence), std::string::npos)
        << fault.name << ": " << status.message();
  }
}

}  // namespace
}  // namespace aicf::schema
