// The runner on a session: metas and tokens of each run, also while another one is queued.
#include <gtest/gtest.h>

#include "runtime/cuda/cuda_session.h"
#include "runtime/cuda/fake_functions.h"
#include "runtime/cuda/late_driver.h"
#include "runtime/language/testing.h"
#include "runtime/session_lanes.h"
#include "runtime/test_program.h"

namespace aicf::language {
namespace {

/// Entry points decode_1 and decode_2 with a language model's metas, and token = -lengths.
schema::Contents LengthContents(const std::string& target, const Layout& layout) {
  schema::Contents contents;
  schema::Program& p = contents.program;
  p.target = target;
  for (const Bucket& bucket : layout.decode) {
    const int64_t b = bucket.requests;
    uint64_t end = 0;
    const auto add = [&](const std::string& name, schema::Role role, DType dtype, Dims shape) {
      schema::Buffer buffer;
      buffer.name = name;
      buffer.dtype = dtype;
      buffer.shape = shape;
      buffer.bytes = static_cast<uint64_t>(*ElementCount(shape) * DTypeBytes(dtype));
      buffer.role = role;
      buffer.offset = end;
      end += aicf::testing::Padded(buffer.bytes);
      p.buffers.push_back(buffer);
      return static_cast<uint32_t>(p.buffers.size() - 1);
    };
    const auto meta = [&](const std::string& name, DType dtype, Dims shape) {
      return add(name, schema::Role::kMeta, dtype, shape);
    };
    schema::EntryPoint entry;
    entry.name = "decode_" + std::to_string(b);
    entry.metas = {meta("tokens", DType::kI32, {b, 1}),
                   meta("slots", DType::kI32, {b}),
                   meta("origins", DType::kI32, {b}),
                   meta("lengths", DType::kI32, {b}),
                   meta("pages", DType::kI32, {b, layout.table_pages}),
                   meta("places", DType::kI32, {b, 1, 2}),
                   meta("temperature", DType::kF32, {b}),
                   meta("top_k", DType::kI32, {b}),
                   meta("top_p", DType::kF32, {b}),
                   meta("min_p", DType::kF32, {b}),
                   meta("seeds", DType::kI64, {b})};
    entry.outputs = {add("token", schema::Role::kOutput, DType::kI32, {b})};
    entry.first_step = static_cast<uint32_t>(p.steps.size());
    entry.step_count = 1;
    p.steps.push_back(
        aicf::testing::Negate(target, DType::kI32, {b}, entry.metas[3], entry.outputs[0]));
    p.entry_points.push_back(std::move(entry));
    p.arena_bytes = std::max(p.arena_bytes, end);
  }
  p.arena_lower_bound = p.arena_bytes;
  if (target.starts_with("cuda")) {
    contents.images = aicf::testing::EmptyCubin();
    p.images.push_back(
        {"sm_90a", "test compiler", HashBytes(contents.images), 0, contents.images.size()});
  }
  return contents;
}

Layout TwoDecodes() {
  Layout layout = SmallLayout();
  layout.decode = {{0, 1, 1}, {1, 2, 1}};
  return layout;
}

void Launch(Runner& runner, const Layout& layout, size_t bucket, int32_t length) {
  RunMetas metas;
  metas.Clear(layout, layout.decode[bucket]);
  std::ranges::fill(metas.lengths, length);
  const Status launched = runner.Launch(layout.decode[bucket], metas);
  ASSERT_TRUE(launched.ok()) << launched.ToString();
}

void ExpectTokens(Runner& runner, const std::vector<int32_t>& expected) {
  std::vector<int32_t> tokens(expected.size());
  const Status collected = runner.Collect(tokens);
  ASSERT_TRUE(collected.ok()) << collected.ToString();
  EXPECT_EQ(tokens, expected);
}

TEST(SessionRunner, RunsAreQueuedOnADevice) {
  const Layout layout = TwoDecodes();
  cuda::testing::FakeMachine machine;
  cuda::testing::Machine() = &machine;
  cuda::Driver driver(cuda::testing::LateApi());
  {
    const auto program = aicf::testing::MakeProgram(LengthContents("cuda:sm_90a", layout));
    cuda::testing::AddReferenceFunctions(machine, program->artifact().program());
    SessionOptions options;
    options.sync = SyncPolicy::kEventRecord;
    auto session = cuda::CreateCudaSession(program, 0, options, &driver, 2);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    const auto runner = MakeLaneRunner(
        program, std::unique_ptr<SessionBase>(static_cast<SessionBase*>(session->release())));
    EXPECT_EQ(runner->most_under_way(), 2u);
    const auto bucket_of = [](int32_t length) { return static_cast<size_t>(length / 3 % 2); };
    Launch(*runner, layout, bucket_of(3), 3);
    for (int32_t length = 4; length < 40; ++length) {
      Launch(*runner, layout, bucket_of(length), length);
      ExpectTokens(*runner, std::vector<int32_t>(1 + bucket_of(length - 1), 1 - length));
      if (::testing::Test::HasFailure()) FAIL() << "length " << length;
    }
    EXPECT_EQ(driver.counters().graph_launches(), 37u) << "one each";
  }
  EXPECT_EQ(machine.problem, "");
  cuda::testing::Machine() = nullptr;
}

TEST(SessionRunner, OnACpuOneRunIsCollectedBeforeTheNext) {
  const Layout layout = TwoDecodes();
  const auto runner =
      MakeSessionRunner(aicf::testing::MakeProgram(LengthContents("cpu:baseline", layout)), {});
  ASSERT_TRUE(runner.ok()) << runner.status().ToString();
  EXPECT_EQ((*runner)->most_under_way(), 1u);
  for (int32_t length = 3; length < 9; ++length) {
    Launch(**runner, layout, length % 2, length);
    ExpectTokens(**runner, std::vector<int32_t>(1 + length % 2, -length));
  }
}

}  // namespace
}  // namespace aicf::language
