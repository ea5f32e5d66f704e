/// One session on a real device: results, replay contract, synchronisation policies, callers'
/// streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/trace/stats.h"
#include "tests/gpu/allocation_counter.h"
#include "tests/gpu/gpu_fixture.h"

namespace aicf::gpu {
namespace {

class GpuSession : public GpuTest {
 protected:
  static constexpr int64_t kRows = 256, kCols = 384;

  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    auto program = CompileLowered(MixedProgram(kRows, kCols));
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
  }
  std::unique_ptr<Session> Create(const SessionOptions& options = {}) {
    auto session = Session::Create(program_, options);
    EXPECT_TRUE(session.ok()) << session.status().ToString();
    return session.ok() ? *std::move(session) : nullptr;
  }
  std::shared_ptr<const Program> program_;
};

TEST_F(GpuSession, EveryModeAgreesWithTheReferenceKernels) {
  const std::vector<float> x = RandomValues(kRows * kCols, 4);
  const std::vector<float> expected = Reference(program_, x);
  std::vector<float> first;
  for (const bool graph : {true, false}) {
    for (const bool transfers : {true, false}) {
      for (const SyncPolicy sync :
           {SyncPolicy::kFullSync, SyncPolicy::kEventRecord, SyncPolicy::kNoSync}) {
        SessionOptions options;
        options.cuda_graph = graph;
        options.transfers = transfers;
        options.sync = sync;
        const auto session = Create(options);
        ASSERT_NE(session, nullptr);
        const std::vector<float> y = RunOnce(*session, *program_, x);
        EXPECT_LT(RelativeError(y, expected), 1e-4);
        if (first.empty()) first = y;
        EXPECT_EQ(y, first) << "graph " << graph << " transfers " << transfers;
      }
    }
  }
}

TEST_F(GpuSession, AThousandRunsAreAThousandLaunchesAndNoAllocation) {
  const auto session = Create();
  ASSERT_NE(session, nullptr);
  RunOnce(*session, *program_, RandomValues(kRows * kCols, 5));
  const cuda::Counters& counters = driver().counters();
  const uint64_t launches = counters.graph_launches();
  const uint64_t kernels = counters.kernel_launches();
  const uint64_t allocations = counters.allocations();
  uint64_t heap = 0;
  {
    const AllocationCounter counter;
    for (int i = 0; i < 1000; ++i) {
      if (!session->Run().ok()) break;
    }
    heap = counter.count();
  }
  EXPECT_EQ(counters.graph_launches() - launches, 1000u);
  EXPECT_EQ(counters.kernel_launches() - kernels, 0u);
  EXPECT_EQ(counters.allocations() - allocations, 0u);
  EXPECT_EQ(heap, 0u) << "heap allocations in 1000 runs";
}

TEST_F(GpuSession, PlantedAllocationsAreCaught) {
  const auto session = Create();
  ASSERT_NE(session, nullptr);
  const cuda::Counters& counters = driver().counters();
  const uint64_t allocations = counters.allocations();
  uint64_t heap = 0;
  {
    const AllocationCounter counter;
    EXPECT_TRUE(session->Run().ok());
    delete new volatile int(1);
    heap = counter.count();
  }
  EXPECT_GE(heap, 1u);
  const auto other = Create();  // allocates on the device
  EXPECT_GT(counters.allocations() - allocations, 0u);
}

TEST_F(GpuSession, AThousandReplaysAreBitIdenticalAndLeaveMemoryAlone) {
  const auto session = Create();
  ASSERT_NE(session, nullptr);
  const std::vector<float> x = RandomValues(kRows * kCols, 6);
  const std::vector<float> first = RunOnce(*session, *program_, x);
  std::vector<float> y(first.size());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(session->Run().ok());
    ASSERT_TRUE(session->GetOutput("y", TensorInto(y, program_->outputs()[0].shape)).ok());
    ASSERT_EQ(y, first) << "replay " << i;
  }
}

TEST_F(GpuSession, ProfileAddsUpToTheReplayWithinTenPercent) {
  SessionOptions options;
  options.transfers = false;
  const auto session = Create(options);
  ASSERT_NE(session, nullptr);
  ASSERT_TRUE(session->TimeReplays(200).ok());  // warm
  const auto before = session->TimeReplays(500);
  const auto profile = session->Profile(200);
  const auto after = session->TimeReplays(500);
  ASSERT_TRUE(before.ok() && after.ok() && profile.ok()) << profile.status().ToString();
  ASSERT_EQ(profile->size(), program_->step_count());
  double sum = 0;
  for (const StepProfile& step : *profile) sum += step.median_us;
  const double replay = (trace::Median(*before) + trace::Median(*after)) / 2;
  EXPECT_NEAR(sum / replay, 1, 0.1) << "sum " << sum << " us, replay " << replay << " us";
  std::printf("profile: sum %.2f us, replay %.2f us\n", sum, replay);
}

TEST_F(GpuSession, AsynchronousPoliciesRefuseToTouchAReplayInFlight) {
  SessionOptions options;
  options.sync = SyncPolicy::kEventRecord;
  const auto session = Create(options);
  ASSERT_NE(session, nullptr);
  const std::vector<float> x = RandomValues(kRows * kCols, 7);
  const std::vector<float> expected = RunOnce(*session, *program_, x);
  std::vector<float> y(expected.size());
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(session->Run().ok());
  const Status early = session->GetOutput("y", TensorInto(y, program_->outputs()[0].shape));
  if (!early.ok()) {
    EXPECT_EQ(early.code(), Code::kInvalidArgument);
    EXPECT_NE(early.message().find("Wait()"), std::string::npos);
  }
  ASSERT_TRUE(session->Wait().ok());
  ASSERT_TRUE(session->GetOutput("y", TensorInto(y, program_->outputs()[0].shape)).ok());
  EXPECT_EQ(y, expected);
}

TEST_F(GpuSession, ACallersStreamAndItsCaptureStayIntact) {
  const auto anchor = Create();  // holds the primary context
  ASSERT_NE(anchor, nullptr);
  const auto device = cuda::Device::Retain(driver(), 0);
  ASSERT_TRUE(device.ok());
  const cuda::ContextScope scope(**device);
  const auto stream = cuda::CreateStream(*device);
  ASSERT_TRUE(stream.ok());
  SessionOptions options;
  options.stream = stream->get();
  const auto session = Create(options);
  ASSERT_NE(session, nullptr);
  const std::vector<float> x = RandomValues(kRows * kCols, 8);
  EXPECT_LT(RelativeError(RunOnce(*session, *program_, x), Reference(program_, x)), 1e-4);
  ASSERT_EQ(driver().StreamBeginCapture(stream->get(), cuda::kCaptureThreadLocal),
            cuda::kCudaSuccess);
  EXPECT_EQ(session->Run().code(), Code::kInvalidArgument);
  cuda::CUgraph graph = nullptr;
  EXPECT_EQ(driver().StreamEndCapture(stream->get(), &graph), cuda::kCudaSuccess);
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(driver().GraphDestroy(graph), cuda::kCudaSuccess);
  EXPECT_LT(RelativeError(RunOnce(*session, *program_, x), Reference(program_, x)), 1e-4);
}

TEST_F(GpuSession, TheCallersCurrentContextIsUntouched) {
  const auto session = Create();
  ASSERT_NE(session, nullptr);
  ASSERT_TRUE(session->Run().ok());
  cuda::CUcontext popped = nullptr;
  EXPECT_NE(driver().CtxPopCurrent(&popped), cuda::kCudaSuccess) << "a context was left current";
}

TEST_F(GpuSession, DevicePointersReplaceTheStaging) {
  SessionOptions options;
  options.transfers = false;
  const auto session = Create(options);
  ASSERT_NE(session, nullptr);
  const auto x = session->InputPointer("x");
  const auto y = session->OutputPointer("y");
  ASSERT_TRUE(x.ok() && y.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*x) % 256, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*y) % 256, 0u);
  EXPECT_EQ(session->memory().staging_bytes, 0u);
}

TEST_F(GpuSession, AFullDeviceIsAResourceErrorAndOlderSessionsLive) {
  const auto session = Create();
  ASSERT_NE(session, nullptr);
  const std::vector<float> x = RandomValues(kRows * kCols, 9);
  const std::vector<float> expected = RunOnce(*session, *program_, x);
  const auto device = cuda::Device::Retain(driver(), 0);
  ASSERT_TRUE(device.ok());
  {
    const cuda::ContextScope scope(**device);
    std::vector<cuda::DeviceMemory> hogs;
    for (uint64_t bytes = uint64_t{1} << 36; bytes >= 4096;) {
      auto hog = cuda::AllocateDevice(*device, "filling the device", bytes);
      if (hog.ok()) {
        hogs.push_back(*std::move(hog));
      } else {
        ASSERT_EQ(hog.status().code(), Code::kResource);
        bytes /= 2;
      }
    }
    const auto refused = Session::Create(program_, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), Code::kResource) << refused.status().ToString();
    EXPECT_EQ(RunOnce(*session, *program_, x), expected);
  }
  EXPECT_NE(Create(), nullptr);
}

}  // namespace
}  // namespace aicf::gpu
