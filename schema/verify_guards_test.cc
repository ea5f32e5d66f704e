// Guards and library steps, and every way to describe them wrongly.
#include <gtest/gtest.h>

#include "schema/testing.h"
#include "schema/testing_faults.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// going = !flag; y = -x where flag is true and going is false.
// Buffers: 0 flag, 1 x, 2 fixed, 3 going, 4 y.
Program GuardedProgram() {
  ProgramBuilder b;
  const uint32_t flag = b.Input("flag", {1}, DType::kBool);
  const uint32_t x = b.Input("x", {8});
  b.Constant("fixed", {1}, DType::kBool);
  const uint32_t going = b.Temp({1}, DType::kBool);
  const uint32_t y = b.Output("y", {8});
  b.AddStep(Elementwise(abi::ExprOp::kNot, DType::kBool), {flag}, {going});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {y}).guards = {{flag, true}, {going, false}};
  return b.Finish();
}

TEST(VerifyGuards, FaultsAreRefused) {
  const Fault kFaults[] = {
      {"no buffer", [](Program& p) { p.steps[1].guards[0].buffer = 99; }, "guard 99 of 5"},
      {"no bool", [](Program& p) { p.steps[1].guards[0].buffer = 1; }, "expected one bool"},
      {"a constant", [](Program& p) { p.steps[1].guards[0].buffer = 2; },
       "expected one bool that is no constant"},
      {"too many",
       [](Program& p) {
         p.steps[1].guards.assign(kMaxGuards + 1, {0, true});
       },
       "33 guards, limit 32"},
      {"not known yet", [](Program& p) { std::swap(p.steps[0], p.steps[1]); },
       "reads buffer 3 \"%3\" too early"},
  };
  ExpectFaults(GuardedProgram(), kFaults);
}

// Two bools, and a byte that is none.
TEST(VerifyGuards, AGuardIsOneBool) {
  ProgramBuilder b;
  const uint32_t pair = b.Input("pair", {2}, DType::kBool);
  const uint32_t byte = b.Input("byte", {1}, DType::kU8);
  const uint32_t flag = b.Input("flag", {1}, DType::kBool);
  const uint32_t x = b.Input("x", {8});
  const uint32_t y = b.Output("y", {8});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {y}).guards = {{flag, true}};
  const Fault kFaults[] = {
      {"two bools", [&](Program& p) { p.steps[0].guards[0].buffer = pair; }, "of 2 bytes"},
      {"a byte", [&](Program& p) { p.steps[0].guards[0].buffer = byte; }, "of u8"},
  };
  ExpectFaults(b.Finish(), kFaults);
}

TEST(VerifyLibrary, AStepRecordsItsAlgorithm) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {4, 8});
  const uint32_t w = b.Constant("w", {8, 6});
  const uint32_t y = b.Output("y", {4, 6});
  b.AddStep(Core(abi::Family::kGemm, abi::GemmAttrs{}, 2), {x, w}, {y});
  Program p = OnDevice(b.Finish());
  Step& s = p.steps[0];
  s.kernel = "cublaslt.matmul";
  SetVariant(s, {});
  s.workspace_offset = 0;
  s.symbol.clear();
  s.image = -1;
  s.algorithm = {1, 2, 3};
  s.library_version = 130000;
  p.arena_bytes = 0;
  for (const Buffer& buffer : p.buffers) {
    if (buffer.storage != Storage::kArena) continue;
    p.arena_bytes =
        std::max(p.arena_bytes, RoundUp(buffer.offset + buffer.bytes, kBufferAlignment));
  }
  const Fault kFaults[] = {
      {"no algorithm", [](Program& q) { q.steps[0].algorithm.clear(); }, "without algorithm"},
      {"no version", [](Program& q) { q.steps[0].library_version = 0; }, "without algorithm"},
  };
  ExpectFaults(p, kFaults);
}

}  // namespace
}  // namespace aicf::schema
