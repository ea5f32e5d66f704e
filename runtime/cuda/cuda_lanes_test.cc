// Replays that are queued behind each other, on a device that runs them as late as it can.
#include <gtest/gtest.h>

#include "runtime/cuda/fake_device.h"
#include "runtime/cuda/late_driver.h"
#include "runtime/session_lanes.h"

namespace aicf::cuda {
namespace {

using namespace aicf::testing;  // NOLINT(google-build-using-namespace)

class CudaLanes : public ::testing::Test, protected testing::FakeDevice {
 protected:
  CudaLanes() : FakeDevice(testing::LateApi()) {}
  std::unique_ptr<SessionBase> Create(size_t lanes) {
    SessionOptions options;
    options.sync = SyncPolicy::kEventRecord;
    auto session = CreateCudaSession(program_, 0, options, &driver_, lanes);
    EXPECT_TRUE(session.ok()) << session.status().ToString();
    return std::unique_ptr<SessionBase>(static_cast<SessionBase*>(session->release()));
  }
  /// Queues z = x * scale + offset and h' = h * x.
  static void LaunchMul(SessionBase& s, size_t lane, float x, float scale, float offset) {
    ASSERT_TRUE(s.SelectLane(lane).ok());
    ASSERT_TRUE(s.SelectEntry("mul").ok());
    ASSERT_TRUE(s.SetInput("x", TensorOf(Filled(x))).ok());
    ASSERT_TRUE(s.SetMeta("scale", TensorOf(Filled(scale))).ok());
    ASSERT_TRUE(s.SetMeta("offset", TensorOf(Filled(offset))).ok());
    const Status ran = s.Run();
    ASSERT_TRUE(ran.ok()) << ran.ToString();
  }
  static void Collect(SessionBase& s, size_t lane, const char* output, float expected) {
    ASSERT_TRUE(s.SelectLane(lane).ok());
    ASSERT_TRUE(s.Wait().ok());
    std::vector<float> out = Filled(0);
    const Status got = s.GetOutput(output, TensorInto(out));
    ASSERT_TRUE(got.ok()) << got.ToString();
    EXPECT_EQ(out, Filled(expected));
  }
};

TEST_F(CudaLanes, EachHasInputsMetasAndOutputsOfItsOwn) {
  const auto s = Create(2);
  ASSERT_EQ(s->lanes(), 2u);
  ASSERT_TRUE(s->ImportState("h", TensorOf(Filled(1))).ok());
  LaunchMul(*s, 0, 2, 10, 1);
  LaunchMul(*s, 1, 3, 100, 5);
  EXPECT_EQ(testing::Late().finished, 0u);
  Collect(*s, 0, "z", 21);
  EXPECT_EQ(testing::Late().finished, 1u) << "it waits for its own replay alone";
  LaunchMul(*s, 0, 4, 1000, 7);
  Collect(*s, 1, "z", 305);
  Collect(*s, 0, "z", 4007);
  EXPECT_EQ(StateOf(*s), 24) << "each finds what the one before it has left";
}

TEST_F(CudaLanes, MetasAreCopiedBesideTheGraphAndSmallOutputsNotAtAll) {
  const auto count = [&](Fn fn) { return driver_.counters().calls(fn); };
  uint64_t down = count(Fn::kMemcpyDtoHAsync);
  const auto one = Create(1);
  EXPECT_EQ(count(Fn::kMemcpyDtoHAsync) - down, 2u) << "y and z, each in its graph";
  down = count(Fn::kMemcpyDtoHAsync);
  const auto two = Create(2);
  EXPECT_EQ(count(Fn::kMemcpyDtoHAsync) - down, 0u);
  const uint64_t up = count(Fn::kMemcpyHtoDAsync), waits = count(Fn::kStreamWaitEvent);
  LaunchMul(*two, 0, 2, 10, 1);
  EXPECT_EQ(count(Fn::kStreamWaitEvent) - waits, 2u)
      << "the copy for the lane's last replay, and the replay for the copy";
  EXPECT_EQ(count(Fn::kMemcpyHtoDAsync) - up, 1u) << "both metas, before the graph has run";
  EXPECT_EQ(testing::Late().finished, 0u);
  Collect(*two, 0, "z", 21);
  EXPECT_EQ(two->memory().total_device_bytes - one->memory().total_device_bytes, 2 * (512u + 384u))
      << "metas of two lanes: the first takes 384 bytes in multiples of 256";
}

TEST_F(CudaLanes, EachHasASelectionOfItsOwn) {
  const auto s = Create(2);
  ASSERT_TRUE(s->ImportState("h", TensorOf(Filled(5))).ok());
  LaunchMul(*s, 0, 2, 10, 1);
  EXPECT_EQ(s->selected_entry(), 1u);
  ASSERT_TRUE(s->SelectLane(1).ok());
  EXPECT_EQ(s->selected_entry(), 0u);
  ASSERT_TRUE(s->SetInput("x", TensorOf(Filled(3))).ok());
  ASSERT_TRUE(s->Run().ok());
  Collect(*s, 0, "z", 21);
  Collect(*s, 1, "y", -10);  // minus the state that the first has left
  EXPECT_EQ(StateOf(*s), 13);
}

TEST_F(CudaLanes, WhatIsInFlightIsRefusedInItsLaneAndStatesInAll) {
  const auto s = Create(2);
  LaunchMul(*s, 0, 2, 10, 1);
  std::vector<float> values = Filled(0);
  const auto refused = [](const Status& status) {
    return status.code() == Code::kInvalidArgument &&
           status.message().find("in flight") != std::string::npos;
  };
  EXPECT_TRUE(refused(s->SetMeta("scale", TensorOf(values))));
  EXPECT_TRUE(refused(s->SetInput("x", TensorOf(values))));
  EXPECT_TRUE(refused(s->GetOutput("z", TensorInto(values))));
  EXPECT_TRUE(refused(s->SelectEntry("add")));
  ASSERT_TRUE(s->SelectLane(1).ok());
  EXPECT_TRUE(s->SelectEntry("mul").ok());
  EXPECT_TRUE(s->SetMeta("scale", TensorOf(values)).ok());
  EXPECT_TRUE(refused(s->ExportState("h", TensorInto(values))));
  EXPECT_TRUE(refused(s->ResetStates()));
  EXPECT_TRUE(refused(s->Fork().status()));
  EXPECT_TRUE(refused(s->BindState("h", nullptr, 0)));
  EXPECT_TRUE(s->TimeReplays(1).ok()) << "it waits";
  EXPECT_TRUE(s->ResetStates().ok());
  EXPECT_EQ(s->SelectLane(2).code(), Code::kInvalidArgument);
}

TEST_F(CudaLanes, BindingsAndForksHaveAllLanes) {
  const auto s = Create(2);
  ASSERT_TRUE(s->ImportState("h", TensorOf(Filled(3))).ok());
  auto forked = s->Fork();
  ASSERT_TRUE(forked.ok()) << forked.status().ToString();
  auto& fork = static_cast<SessionBase&>(**forked);
  ASSERT_EQ(fork.lanes(), 2u);
  EXPECT_EQ(s->memory().staging_bytes, 2 * Create(1)->memory().staging_bytes);
  for (SessionBase* each : {s.get(), &fork}) {
    LaunchMul(*each, 1, 2, 10, 1);
    LaunchMul(*each, 0, 2, 20, 1);
    Collect(*each, 1, "z", 21);
    Collect(*each, 0, "z", 41);
    EXPECT_EQ(StateOf(*each), 12);
  }
}

TEST_F(CudaLanes, TenThousandQueuedReplaysAreOneLaunchEachAndAllocateNothing) {
  const auto s = Create(2);
  ASSERT_TRUE(s->ImportState("h", TensorOf(Filled(1))).ok());
  const uint64_t launches = driver_.counters().graph_launches();
  const uint64_t allocations = driver_.counters().allocations();
  const MemoryReport before = s->memory();
  LaunchMul(*s, 0, 1, 0, 1);
  for (int i = 1; i < 10000; ++i) {
    const auto n = static_cast<float>(i);
    LaunchMul(*s, static_cast<size_t>(i % 2), 1, n, 1);
    Collect(*s, static_cast<size_t>((i - 1) % 2), "z", n);
    if (HasFailure()) FAIL() << "replay " << i;
  }
  EXPECT_EQ(driver_.counters().graph_launches() - launches, 10000u);
  EXPECT_EQ(driver_.counters().allocations(), allocations);
  EXPECT_EQ(driver_.counters().calls(Fn::kStreamBeginCapture), 4u) << "two entry points, two lanes";
  EXPECT_EQ(s->memory().staging_bytes, before.staging_bytes);
}

TEST(Lanes, ACpuHasOne) {
  const auto s = CreateLanes(MakeProgram(StateContents("cpu:baseline")), {}, 2);
  ASSERT_TRUE(s.ok()) << s.status().ToString();
  EXPECT_EQ((*s)->lanes(), 1u);
  EXPECT_TRUE((*s)->SelectLane(0).ok());
  EXPECT_FALSE((*s)->SelectLane(1).ok());
}

}  // namespace
}  // namespace aicf::cuda
