// States and metas: each rule of VerifyState, VerifyMetas and their storage against a program that
// breaks it alone.
#include <gtest/gtest.h>

#include "schema/artifact.h"
#include "schema/testing.h"
#include "schema/testing_faults.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using abi::ExprOp;

abi::View Part(int64_t first, int64_t count) { return {DType::kF32, {count}, {1}, first}; }

// y = exp(h), then h' = x + h in place. Buffers: 0 x, 1 h, 2 h', 3 y.
Program Counter() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {64});
  const uint32_t h = b.State("h", {64});
  const uint32_t next = b.Update("h.next", h);
  const uint32_t y = b.Output("y", {64});
  b.AddStep(Elementwise(ExprOp::kExp), {h}, {y});
  b.AddStep(Elementwise(ExprOp::kAdd), {x, h}, {next});
  return b.Finish();
}

TEST(StateTest, AStateIsReadFirstAndUpdatedInPlace) {
  const Fault kFaults[] = {
      {"the old value is read after the update",
       [](Program& p) { std::swap(p.steps[0], p.steps[1]); },
       "step 1 (\"cpu.elementwise.ref\") reads the old value of buffer 1 \"h\""},
      {"the kernel does not allow the views in place",
       [](Program& p) {
         p.steps[1].problem.inputs[1].strides = {-1};
         p.steps[1].problem.inputs[1].offset = 63;
       },
       "has overwritten with buffer 2 \"h.next\""},
      {"the new value is read before it is written", [](Program& p) { p.steps[0].inputs = {2}; },
       "reads buffer 2 \"h.next\" too early"},
      {"the old value is written", [](Program& p) { p.steps[1].outputs = {1}; },
       "a state's old value"},
      {"a temp in place of a state", [](Program& p) { p.buffers[2].role = Role::kTemp; },
       "a temp stored in the state block"},
      {"a state in place of a temp",
       [](Program& p) {
         p.buffers[1].storage = Storage::kArena;
         p.buffers[1].offset = 768;
         p.arena_bytes = 1024;
       },
       "a state stored in the arena"},
      {"an update of another shape",
       [](Program& p) {
         p.buffers[2].shape = {8, 8};
       },
       "f32 8x8 in place of state \"h\" of f32 64"},
      {"no name", [](Program& p) { p.buffers[1].name = ""; }, "empty or repeated state name"},
      {"outside the block", [](Program& p) { p.buffers[1].offset = 256; },
       "leave the state block of 256"},
      {"misaligned", [](Program& p) { p.buffers[1].offset = 4; }, "is not a multiple of 256"},
      {"a block that nothing uses", [](Program& p) { p.state_bytes = 512; },
       "state block of 512 bytes, only 256 are used"},
      {"listed as an input", [](Program& p) { p.entry_points[0].inputs.push_back(1); },
       "a state is listed as an input"},
      {"listed as an output", [](Program& p) { p.entry_points[0].outputs.push_back(2); },
       "a state is listed as an output"},
  };
  ExpectFaults(Counter(), kFaults);
}

TEST(StateTest, AnUpdateHasTheStatesDType) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {64}, DType::kI32);
  const uint32_t h = b.State("h", {64}, DType::kI32);
  b.AddStep(Elementwise(ExprOp::kNeg, DType::kI32), {x}, {b.Update("h.next", h)});
  Program p = b.Finish();
  ExpectAccepted(p);
  p.buffers[h].dtype = DType::kF32;
  ExpectRefused(p, "i32 64 in place of state \"h\" of f32 64");
}

// Two states, each updated by one step.
TEST(StateTest, StatesStayApartAndHaveNames) {
  const auto make = [] {
    ProgramBuilder b;
    const uint32_t x = b.Input("x", {64});
    const uint32_t one = b.State("one", {64});
    const uint32_t two = b.State("two", {64});
    b.AddStep(Elementwise(ExprOp::kAdd), {x, one}, {b.Update("one.next", one)});
    b.AddStep(Elementwise(ExprOp::kAdd), {x, two}, {b.Update("two.next", two)});
    return b.Finish();
  };
  const Fault kFaults[] = {
      {"they overlap",
       [](Program& p) {
         p.buffers[2].offset = 0;
         p.state_bytes = 256;
       },
       "states buffer 1 \"one\" and buffer 2 \"two\" overlap"},
      {"one name", [](Program& p) { p.buffers[2].name = "one"; }, "empty or repeated state name"},
  };
  ExpectFaults(make(), kFaults);
}

// A cache of 4 rows: rows 0 and 1 change in one step, rows 2 and 3 of the old value are read after
// it.
TEST(StateTest, PartsOfAStateMayChangeWhileOthersAreRead) {
  const auto make = [] {
    ProgramBuilder b;
    const uint32_t x = b.Input("x", {32});
    const uint32_t cache = b.State("cache", {64});
    const uint32_t next = b.Update("cache.next", cache);
    const uint32_t y = b.Output("y", {32});
    abi::Problem write = Elementwise(ExprOp::kNeg);
    write.outputs = {Part(0, 32)};
    b.AddStep(write, {x}, {next});
    abi::Problem read = Elementwise(ExprOp::kExp);
    read.inputs = {Part(32, 32)};
    b.AddStep(read, {cache}, {y});
    return b.Finish();
  };
  const Fault kFaults[] = {
      {"a row that was overwritten", [](Program& p) { p.steps[1].problem.inputs[0].offset = 31; },
       "reads the old value"},
      {"a write that reaches a row read later",
       [](Program& p) { p.steps[0].problem.outputs[0].offset = 1; }, "reads the old value"},
  };
  ExpectFaults(make(), kFaults);
}

// Rows chosen by data: cache' = cache with `rows` at `index`, then y = exp(cache').
TEST(StateTest, AScatterInPlaceMayReachEveryRow) {
  const auto make = [] {
    ProgramBuilder b;
    const uint32_t index = b.Input("index", {2, 1}, DType::kI64);
    const uint32_t rows = b.Input("rows", {2, 8});
    const uint32_t cache = b.State("cache", {6, 8});
    const uint32_t next = b.Update("cache.next", cache);
    const uint32_t y = b.Output("y", {6, 8});
    b.AddStep(
        Core(abi::Family::kScatter,
             abi::ScatterAttrs{abi::ScatterKind::kPoints, abi::ScatterReduction::kNone, 0}, 3),
        {cache, index, rows}, {next});
    b.AddStep(Elementwise(ExprOp::kExp), {next}, {y});
    return b.Finish();
  };
  const Fault kFaults[] = {
      {"a row of the old value afterwards", [](Program& p) { p.steps[1].inputs = {2}; },
       "step 1 (\"cpu.elementwise.ref\") reads the old value of buffer 2 \"cache\""},
      {"rows beyond the buffer",
       [](Program& p) {
         for (abi::View* v : {&p.steps[0].problem.inputs[0], &p.steps[0].problem.outputs[0]}) {
           v->shape = {7, 8};
         }
       },
       "touches bytes up to 224"},
  };
  ExpectFaults(make(), kFaults);
}

// Two caches that one step changes, each in place of its own operand; k and v go to page 1 of 2.
TEST(StateTest, AStepMayChangeTwoStatesInPlace) {
  const auto make = [] {
    ProgramBuilder b;
    const uint32_t k = b.Input("k", {1, 3, 2, 4});
    const uint32_t places = b.Input("places", {1, 3, 2}, DType::kI32);
    const uint32_t keys = b.State("keys", {2, 3, 2, 4});
    const uint32_t values = b.State("values", {2, 3, 2, 4});
    const uint32_t next_keys = b.Update("keys.next", keys);
    const uint32_t next_values = b.Update("values.next", values);
    const uint32_t y = b.Output("y", {2, 3, 2, 4});
    b.AddStep(Core(abi::Family::kAppend, abi::AppendAttrs{}, 5), {k, k, places, keys, values},
              {next_keys, next_values});
    b.AddStep(Elementwise(ExprOp::kAdd), {next_keys, next_values}, {y});
    return b.Finish();
  };
  const Fault kFaults[] = {
      {"each in place of the other",
       [](Program& p) { std::swap(p.steps[0].outputs[0], p.steps[0].outputs[1]); },
       "reads the old value"},
      {"one read as the other",
       [](Program& p) { std::swap(p.steps[0].inputs[3], p.steps[0].inputs[4]); },
       "reads the old value"},
      {"values of another view",
       [](Program& p) {
         for (abi::View* v : {&p.steps[0].problem.outputs[1], &p.steps[1].problem.inputs[1]}) {
           v->strides = {24, 8, -4, 1};
           v->offset = 4;
         }
       },
       "reads the old value"},
      {"the old values afterwards", [](Program& p) { p.steps[1].inputs[1] = 3; },
       "step 1 (\"cpu.elementwise.ref\") reads the old value of buffer 3 \"values\""},
  };
  ExpectFaults(make(), kFaults);
}

// Two updates one after the other: h' = x + h, h'' = x + h'.
TEST(StateTest, VersionsFollowEachOther) {
  const auto make = [] {
    ProgramBuilder b;
    const uint32_t x = b.Input("x", {64});
    const uint32_t h = b.State("h", {64});
    const uint32_t once = b.Update("h.1", h);
    const uint32_t twice = b.Update("h.2", once);
    b.AddStep(Elementwise(ExprOp::kAdd), {x, h}, {once});
    b.AddStep(Elementwise(ExprOp::kAdd), {x, once}, {twice});
    return b.Finish();
  };
  const Fault kFaults[] = {
      {"both update the first value", [](Program& p) { p.buffers[3].alias_of = 1; },
       "are both update 1 of one state"},
      {"the later value is written first",
       [](Program& p) {
         p.steps[0].inputs = p.steps[1].inputs = {0, 0};
         std::swap(p.steps[0].outputs, p.steps[1].outputs);
       },
       "the later value must be written last"},
      {"one value is written by two steps",
       [](Program& p) {
         p.steps[1].inputs = {0, 0};
         p.steps[1].outputs = {2};
       },
       "both write elements of buffer 2 \"h.1\""},
  };
  ExpectFaults(make(), kFaults);
}

TEST(StateTest, ALoopWouldReadWhatItsLastTripHasOverwritten) {
  ProgramBuilder b;
  const uint32_t go0 = b.Input("go", {1}, DType::kBool);
  const uint32_t x = b.Input("x", {64});
  const uint32_t h = b.State("h", {64});
  const uint32_t next = b.Update("h.next", h);
  const uint32_t go = b.Add(Role::kCarried, "%go", DType::kBool, {1});
  b.AddStep(Elementwise(ExprOp::kNot, DType::kBool), {go0}, {go});
  b.AddStep(Elementwise(ExprOp::kAdd), {x, h}, {next});
  b.AddStep(Elementwise(ExprOp::kNot, DType::kBool), {go}, {go});
  Program p = b.Finish();
  ExpectAccepted(p);
  p.entry_points[0].loops = {{1, 2, go}};
  ExpectRefused(p, "reads the old value of buffer 2 \"h\"");
  p.steps[1].inputs = {x, x};  // an update that needs no old value may repeat
  ExpectAccepted(p);
}

TEST(StateTest, AGuardReadsBeforeTheUpdate) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {1}, DType::kBool);
  const uint32_t h = b.State("h", {1}, DType::kBool);
  const uint32_t next = b.Update("h.next", h);
  const uint32_t y = b.Output("y", {1}, DType::kBool);
  b.AddStep(Elementwise(ExprOp::kNot, DType::kBool), {x}, {y}).guards = {{h, true}};
  b.AddStep(Elementwise(ExprOp::kNot, DType::kBool), {x}, {next});
  Program p = b.Finish();
  ExpectAccepted(p);
  std::swap(p.steps[0], p.steps[1]);
  ExpectRefused(p, "reads the old value of buffer 1 \"h\"");
}

TEST(StateTest, AccessesThatWouldTakeTooLongToCompareAreRefused) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {1});
  const uint32_t next = b.Update("h.next", b.State("h", {1}));
  for (int i = 0; i < 8200; ++i) b.AddStep(Elementwise(ExprOp::kNeg), {x}, {next});
  const Status status = VerifyProgram(b.Finish());
  EXPECT_EQ(status.code(), Code::kResource) << status.ToString();
}

// Every entry point updates the shared state in its own buffer.
TEST(StateTest, EntryPointsShareAStateAndEachHasItsOwnUpdate) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {64});
  const uint32_t h = b.State("h", {64});
  const uint32_t one = b.Update("h.1", h);
  const uint32_t two = b.Update("h.2", h);
  b.AddStep(Elementwise(ExprOp::kAdd), {x, h}, {one});
  b.AddStep(Elementwise(ExprOp::kMul), {x, h}, {two});
  Program p = b.Finish();
  ExpectRefused(p, "are both update 1 of one state");
  p.entry_points = {{"one", {x}, {}, 0, 1}, {"two", {x}, {}, 1, 1}};
  ExpectAccepted(p);
}

// y = x * scale + offset with two metas.
Program Metas() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {64});
  const uint32_t scale = b.Meta("scale", {64});
  const uint32_t offset = b.Meta("offset", {64});
  const uint32_t t = b.Temp({64});
  const uint32_t y = b.Output("y", {64});
  b.AddStep(Elementwise(ExprOp::kMul), {x, scale}, {t});
  b.AddStep(Elementwise(ExprOp::kAdd), {t, offset}, {y});
  return b.Finish();
}

TEST(StateTest, MetasAreListedApartAndLieTogether) {
  const Fault kFaults[] = {
      {"a gap between them",
       [](Program& p) {
         p.buffers[2].offset = 1280;
         p.arena_bytes = 1536;
       },
       "a meta at 1280, expected 512"},
      {"not in the list's order",
       [](Program& p) { std::swap(p.entry_points[0].metas[0], p.entry_points[0].metas[1]); },
       "right after the one before"},
      {"listed as an input", [](Program& p) { p.entry_points[0].inputs.push_back(1); },
       "a meta is listed as an input"},
      {"an input listed as one", [](Program& p) { p.entry_points[0].metas[0] = 0; },
       "an input is listed as a meta"},
      {"not listed", [](Program& p) { p.entry_points[0].metas = {2}; },
       "which is no input of this entry point"},
      {"an input's name", [](Program& p) { p.buffers[1].name = "x"; }, "repeated meta name"},
      {"written by a step", [](Program& p) { p.steps[0].outputs = {1}; }, "a meta"},
      {"in place of another buffer",
       [](Program& p) {
         p.buffers[1].storage = Storage::kAlias;
         p.buffers[1].offset = 0;
         p.buffers[1].alias_of = 0;
       },
       "a meta in place of another buffer"},
      {"overwritten by a temp", [](Program& p) { p.buffers[3].offset = p.buffers[1].offset; },
       "overlap while both are live"},
  };
  ExpectFaults(Metas(), kFaults);
}

TEST(StateTest, TravelsInAFileWithItsFeatureAndItsMemory) {
  for (const Program& p : {Counter(), Metas()}) {
    const auto file = Serialize(ContentsOf(p));
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    const auto read = Artifact::Parse(*file, true);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(ToString((*read)->program()), ToString(p));
    EXPECT_EQ((*read)->header().required_features, kFeatureRecords | kFeatureState);
    EXPECT_EQ((*read)->header().peak_device_bytes, p.arena_bytes + p.weights_bytes + p.state_bytes);
    std::vector<std::byte> without = *file;
    RawHeader h;
    std::memcpy(&h, without.data(), sizeof h);
    h.required_features = kFeatureRecords;
    std::memcpy(without.data(), &h, sizeof h);
    Reseal(without);
    EXPECT_EQ(Artifact::Parse(without, true).status().message(),
              "header: required features 512, the program needs 513");
  }
  EXPECT_EQ(FeaturesOf(ChainProgram()), kFeatureRecords);
}

}  // namespace
}  // namespace aicf::schema
