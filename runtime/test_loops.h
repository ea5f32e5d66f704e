/// A loop in a loop with a guarded step inside, for tests of whatever executes them. Tests only.
#pragma once

#include <cstring>

#include "runtime/test_program.h"
#include "schema/testing.h"

namespace aicf::testing {

inline abi::Problem CopyOne() {
  return schema::testing::Core(abi::Family::kCopy, abi::CopyAttrs{{{0}}, false, 0}, 1);
}

inline abi::Problem LessThan() {
  abi::ExprBuilder b;
  abi::Problem p = schema::testing::Elementwise(abi::ExprOp::kAdd);
  p.epilogue =
      b.Finish({b.Binary(abi::ExprOp::kLt, b.Input(0, DType::kF32), b.Input(1, DType::kF32))});
  return p;
}

/// for (c = 0; c < limit; ++c) for (d = 0; d < c; ++d) { ++total; if (flag) ++some; }
inline schema::Contents LoopContents(bool on_device) {
  using schema::testing::Elementwise;
  schema::testing::ProgramBuilder b;
  const auto state = [&](const char* name, DType dtype = DType::kF32) {
    return b.Add(schema::Role::kCarried, name, dtype, {1});
  };
  const uint32_t limit = b.Input("limit", {1}), flag = b.Input("flag", {1}, DType::kBool);
  const uint32_t zero = b.Constant("zero", {1}), one = b.Constant("one", {1});
  const uint32_t c = state("c"), d = state("d"), total = state("total"), some = state("some");
  const uint32_t outer = state("outer", DType::kBool), inner = state("inner", DType::kBool);
  const uint32_t y = b.Output("y", {1}), z = b.Output("z", {1});
  const auto add = [&](uint32_t to) -> schema::Step& {
    return b.AddStep(Elementwise(abi::ExprOp::kAdd), {to, one}, {to});
  };
  for (uint32_t s : {c, total, some}) b.AddStep(CopyOne(), {zero}, {s});
  b.AddStep(LessThan(), {c, limit}, {outer});
  b.AddStep(CopyOne(), {zero}, {d});  // 4: the outer loop
  b.AddStep(LessThan(), {d, c}, {inner});
  add(total);  // 6: the inner one
  add(some).guards = {{flag, true}};
  add(d);
  b.AddStep(LessThan(), {d, c}, {inner});
  add(c);  // 10
  b.AddStep(LessThan(), {c, limit}, {outer});
  b.AddStep(Elementwise(abi::ExprOp::kAdd), {total, zero}, {y});  // 12
  b.AddStep(Elementwise(abi::ExprOp::kAdd), {some, zero}, {z});
  schema::Contents contents;
  contents.program = on_device ? schema::testing::OnDevice(b.Finish()) : b.Finish();
  schema::Program& p = contents.program;
  p.entry_points[0].loops = {{4, 8, outer}, {6, 4, inner}};
  contents.weights.resize(p.weights_bytes);
  const float values[] = {0, 1};
  std::memcpy(contents.weights.data() + p.buffers[zero].offset, &values[0], 4);
  std::memcpy(contents.weights.data() + p.buffers[one].offset, &values[1], 4);
  if (!on_device) return contents;
  p.guard_image = 0;
  contents.images = EmptyCubin();
  p.images[0].hash = HashBytes(contents.images);
  p.images[0].bytes = contents.images.size();
  return contents;
}

}  // namespace aicf::testing
