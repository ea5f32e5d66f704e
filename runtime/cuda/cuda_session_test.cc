/// The CUDA executor on the fake driver: everything but the device itself.
#include "runtime/cuda/cuda_session.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "runtime/cuda/fake_driver.h"
#include "runtime/cuda/fake_functions.h"
#include "runtime/test_program.h"

namespace aicf::cuda {
namespace {

using aicf::testing::ChainContents;
using aicf::testing::ChainOptions;
using aicf::testing::ExpectChainOutput;
using aicf::testing::RandomInput;

class CudaSessionTest : public ::testing::Test {
 protected:
  CudaSessionTest() : driver_(testing::FakeApi()) {
    testing::Machine() = &machine_;
    chain_.target = "cuda:sm_90a";
    program_ = aicf::testing::MakeProgram(ChainContents(chain_));
    testing::AddReferenceFunctions(machine_, program_->artifact().program());
  }
  ~CudaSessionTest() override {
    program_ = nullptr;
    ExpectNothingLeft();
    testing::Machine() = nullptr;
  }
  /// What the driver does with the objects of a context that is reset.
  void ForgetLostObjects() {
    for (const auto& [address, bytes] : machine_.device_blocks) {
      std::free(reinterpret_cast<void*>(address));
    }
    for (void* block : machine_.host_blocks) std::free(block);
    machine_.device_blocks.clear();
    machine_.host_blocks.clear();
    machine_.memory_used = 0;
    machine_.alive.clear();
  }
  void ExpectNothingLeft() {
    EXPECT_EQ(machine_.problem, "");
    EXPECT_TRUE(machine_.alive.empty());
    EXPECT_EQ(machine_.contexts, 0);
    EXPECT_EQ(machine_.memory_used, 0u);
    EXPECT_TRUE(machine_.host_blocks.empty());
    EXPECT_EQ(machine_.context_depth, 0);
  }
  Result<std::unique_ptr<Session>> Create(const SessionOptions& options = {}) {
    return CreateCudaSession(program_, 0, options, &driver_);
  }
  void RunAndCheck(Session& session, unsigned seed) {
    const std::vector<float> x = RandomInput(chain_.elements, seed);
    const Status set = session.SetInput("x", TensorOf(x));
    ASSERT_TRUE(set.ok()) << set.ToString();
    const Status ran = session.Run();
    ASSERT_TRUE(ran.ok()) << ran.ToString();
    ASSERT_TRUE(session.Wait().ok());
    ExpectChainOutput(session, chain_, x);
  }

  testing::FakeMachine machine_;
  Driver driver_;
  ChainOptions chain_;
  std::shared_ptr<const Program> program_;
};

TEST_F(CudaSessionTest, EveryModeComputesTheProgram) {
  for (const bool graph : {true, false}) {
    for (const bool transfers : {true, false}) {
      for (const SyncPolicy sync :
           {SyncPolicy::kFullSync, SyncPolicy::kEventRecord, SyncPolicy::kNoSync}) {
        SessionOptions options;
        options.cuda_graph = graph;
        options.transfers = transfers;
        options.sync = sync;
        auto session = Create(options);
        ASSERT_TRUE(session.ok()) << session.status().ToString();
        for (unsigned seed = 1; seed < 4; ++seed) RunAndCheck(**session, seed);
        EXPECT_EQ((*session)->device_name(), "Fake GPU");
      }
    }
  }
}

TEST_F(CudaSessionTest, AReplayIsOneGraphLaunchAndNothingElseAllocates) {
  auto session = Create();
  ASSERT_TRUE(session.ok());
  const Counters& counters = driver_.counters();
  const uint64_t launches = counters.graph_launches();
  const uint64_t allocations = counters.allocations();
  const uint64_t kernels = counters.kernel_launches();
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ(counters.graph_launches() - launches, 1000u);
  EXPECT_EQ(counters.allocations() - allocations, 0u);
  EXPECT_EQ(counters.kernel_launches() - kernels, 0u);
  CUdeviceptr planted = 0;  // the count would see one
  {
    const std::lock_guard<std::mutex> lock(machine_.mutex);
    machine_.context_depth = 1;
  }
  ASSERT_EQ(driver_.MemAlloc(&planted, 16), kCudaSuccess);
  EXPECT_EQ(counters.allocations() - allocations, 1u);
  ASSERT_EQ(driver_.MemFree(planted), kCudaSuccess);
  machine_.context_depth = 0;
}

TEST_F(CudaSessionTest, SessionsShareWeightsAndFreeThemWithTheLast) {
  auto first = Create();
  const uint64_t one = machine_.memory_used;
  auto second = Create();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(machine_.memory_used, one + program_->arena_bytes());
  EXPECT_EQ((*first)->memory().total_device_bytes, one);
  *first = nullptr;
  RunAndCheck(**second, 9);
  *second = nullptr;
  EXPECT_EQ(machine_.memory_used, 0u);
}

TEST_F(CudaSessionTest, InputsStartAsZeroAndTheArenaIsCleanAfterTheDryRun) {
  auto session = Create();
  ASSERT_TRUE(session.ok());
  const auto arena = machine_.device_blocks;
  bool found = false;
  for (const auto& [address, bytes] : arena) {
    if (bytes != program_->arena_bytes()) continue;
    found = true;
    const auto* data = reinterpret_cast<const char*>(address);
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(data[i], 0) << i;
  }
  EXPECT_TRUE(found);
  ASSERT_TRUE((*session)->Run().ok());
  ExpectChainOutput(**session, chain_, std::vector<float>(1000, 0.0f));
}

TEST_F(CudaSessionTest, PointersAreTheSessionsOwnAndAligned) {
  SessionOptions options;
  options.transfers = false;
  auto session = Create(options);
  ASSERT_TRUE(session.ok());
  const auto x = (*session)->InputPointer("x");
  const auto y = (*session)->OutputPointer("y");
  ASSERT_TRUE(x.ok() && y.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*x) % 256, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*y) % 256, 0u);
  static_cast<float*>(*x)[5] = 3;  // the fake device's memory is host memory
  ASSERT_TRUE((*session)->Run().ok());
  EXPECT_EQ(static_cast<float*>(*y)[5], aicf::testing::ChainExpected(chain_, 5, 3));
  EXPECT_EQ((*session)->InputPointer("y").status().code(), Code::kInvalidArgument);
}

TEST_F(CudaSessionTest, WrongArgumentsChangeNothing) {
  auto session = Create();
  ASSERT_TRUE(session.ok());
  const std::vector<float> x = RandomInput(chain_.elements, 2);
  ASSERT_TRUE((*session)->SetInput("x", TensorOf(x)).ok());
  const uint64_t launches = driver_.counters().graph_launches();
  EXPECT_EQ((*session)->SetInput("x", {DType::kF32, {1000}, x.data(), 3999}).code(),
            Code::kInvalidArgument);
  EXPECT_EQ((*session)->SetInput("x", {DType::kF32, {1000}, nullptr, 4000}).code(),
            Code::kInvalidArgument);
  EXPECT_EQ((*session)->SetInput("q", TensorOf(x)).code(), Code::kInvalidArgument);
  EXPECT_EQ((*session)->Profile(0).status().code(), Code::kInvalidArgument);
  EXPECT_EQ((*session)->TimeReplays(-1).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(driver_.counters().graph_launches(), launches);
  ASSERT_TRUE((*session)->Run().ok());
  ExpectChainOutput(**session, chain_, x);
}

TEST_F(CudaSessionTest, ADeviceFaultFailsEverySessionOfTheProcess) {
  auto session = Create();
  auto other = Create();
  ASSERT_TRUE(session.ok() && other.ok());
  machine_.fail_call = 0;
  machine_.fail_code = kCudaIllegalAddress;
  const Status first = (*session)->Run();
  EXPECT_EQ(first.code(), Code::kDevice);
  std::vector<float> y(1000);
  EXPECT_EQ((*session)->Run().message(), first.message());
  EXPECT_EQ((*session)->Wait().message(), first.message());
  EXPECT_EQ((*session)->SetInput("x", TensorOf(y)).code(), Code::kDevice);
  EXPECT_EQ((*session)->GetOutput("y", TensorInto(y)).code(), Code::kDevice);
  EXPECT_EQ((*session)->Profile(1).status().code(), Code::kDevice);
  // The fake device works; only the runtime knows what such an error means.
  const uint64_t launches = driver_.counters().graph_launches();
  EXPECT_EQ((*other)->Run().message(), driver_.health().message());
  EXPECT_EQ((*other)->SetInput("x", TensorOf(y)).code(), Code::kDevice);
  EXPECT_EQ(Create().status().message(), driver_.health().message());
  EXPECT_EQ(driver_.counters().graph_launches(), launches);
}

TEST_F(CudaSessionTest, AnErrorThatIsNoFaultEndsItsSessionOnly) {
  auto session = Create();
  ASSERT_TRUE(session.ok());
  machine_.fail_call = 0;
  machine_.fail_code = kCudaInvalidValue;
  const Status first = (*session)->Run();
  EXPECT_EQ(first.code(), Code::kDevice);
  EXPECT_EQ((*session)->Run().message(), first.message());
  EXPECT_TRUE(driver_.health().ok());
  auto other = Create();
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  RunAndCheck(**other, 4);
}

/// Fails every call of creation, run and profile in turn, as a passing and as a lasting fault.
TEST_F(CudaSessionTest, EveryFailingCallIsATypedErrorAndLeaksNothing) {
  for (const CUresult code : {kCudaOutOfMemory, kCudaIllegalAddress}) {
    for (const bool sticky : {false, true}) {
      int failures = 0;
      for (int call = 0;; ++call) {
        machine_.fail_call = call;
        machine_.fail_sticky = sticky;
        machine_.fail_code = code;
        machine_.failed = false;
        Status status;
        bool failed = false;                // before the end, whose calls have nobody to tell
        Driver driver(testing::FakeApi());  // one that has met no fault
        {
          auto session = CreateCudaSession(program_, 0, {}, &driver);
          status = session.status();
          if (session.ok()) status = (*session)->Run();
          if (session.ok() && status.ok()) status = (*session)->Profile(2).status();
          failed = machine_.failed;
        }
        const bool reached = machine_.failed;
        machine_.failed = false;
        machine_.fail_call = -1;
        ExpectNothingLeft();
        if (!reached) break;
        ++failures;
        ASSERT_EQ(status.ok(), !failed) << "call " << call << ": " << status.ToString();
        if (!failed) continue;
        ASSERT_TRUE(status.code() == Code::kDevice || status.code() == Code::kResource)
            << status.ToString();
        ASSERT_LT(call, 1000);
      }
      EXPECT_GT(failures, 20);
    }
  }
  auto session = Create();
  ASSERT_TRUE(session.ok());
  RunAndCheck(**session, 5);
}

TEST_F(CudaSessionTest, TooLittleMemoryNamesNeededAndFree) {
  machine_.memory = 6000;  // the weights fit, the arena does not
  const auto session = Create();
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().code(), Code::kResource);
  EXPECT_NE(session.status().message().find(StrCat("needs ", program_->arena_bytes())),
            std::string::npos)
      << session.status().message();
  EXPECT_NE(session.status().message().find("2000 of 6000"), std::string::npos);
}

TEST_F(CudaSessionTest, WrongDevicesAndCodeAreRefused) {
  machine_.capability_major = 8;
  auto status = Create().status();
  EXPECT_EQ(status.code(), Code::kDevice);
  EXPECT_NE(status.message().find("sm_90a"), std::string::npos);
  EXPECT_NE(status.message().find("8.0"), std::string::npos);
  machine_.capability_major = 9;

  auto& function = machine_.functions.begin()->second;
  function.parameters = 2;
  EXPECT_EQ(Create().status().code(), Code::kBadArtifact);
  function.parameters = 5;
  EXPECT_EQ(Create().status().code(), Code::kBadArtifact);
  function.parameters = 3;  // without the workspace
  EXPECT_EQ(Create().status().code(), Code::kBadArtifact);
  function.parameters = 4;
  EXPECT_TRUE(Create().ok());
  function.max_threads = 1;
  EXPECT_EQ(Create().status().code(), Code::kBadArtifact);
  function.max_threads = 1024;
  function.static_shared = 300000;
  EXPECT_EQ(Create().status().code(), Code::kDevice);
  machine_.functions.clear();
  status = Create().status();
  EXPECT_EQ(status.code(), Code::kBadArtifact);
  EXPECT_NE(status.message().find("has no function"), std::string::npos) << status.message();
  EXPECT_EQ(CreateCudaSession(program_, 3, {}, &driver_).status().code(), Code::kDevice);
}

TEST_F(CudaSessionTest, CodeThatTheDriverRefusesNamesItsCompiler) {
  for (const auto& [result, code] : {std::pair(kCudaInvalidImage, Code::kBadArtifact),
                                     std::pair(kCudaNoBinaryForGpu, Code::kDevice),
                                     std::pair(kCudaUnsupportedPtx, Code::kDevice)}) {
    machine_.fail_call = 1;  // after the context: the image
    machine_.fail_code = result;
    const Status status = Create().status();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.message().find("image 0"), std::string::npos);
    EXPECT_NE(status.message().find("test compiler, the driver is for CUDA 13.0"),
              std::string::npos)
        << status.message();
  }
}

TEST_F(CudaSessionTest, ACallersStreamCarriesTheReplaysAndIsRefusedWhileCaptured) {
  testing::FakeStream stream;
  SessionOptions options;
  options.stream = &stream;
  auto session = Create(options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  RunAndCheck(**session, 6);
  stream.capturing = true;
  const Status refused = (*session)->Run();
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.message().find("captured"), std::string::npos);
  EXPECT_EQ(stream.at.graph, nullptr);
  stream.capturing = false;
  RunAndCheck(**session, 7);
}

// A caller who captures in the global mode forbids every thread what may disturb a capture; that
// would fail, and end his capture, too.
TEST_F(CudaSessionTest, NothingDisturbsTheCapturesOfOthers) {
  machine_.foreign_capture = true;
  for (const SyncPolicy sync :
       {SyncPolicy::kFullSync, SyncPolicy::kEventRecord, SyncPolicy::kNoSync}) {
    for (const bool transfers : {true, false}) {
      SessionOptions options;
      options.sync = sync;
      options.transfers = transfers;
      auto session = Create(options);
      ASSERT_TRUE(session.ok()) << session.status().ToString();
      const std::vector<float> x = RandomInput(chain_.elements, 9);
      std::vector<float> y(x.size());
      ASSERT_TRUE((*session)->SetInput("x", TensorOf(x)).ok());
      ASSERT_TRUE((*session)->Run().ok());
      (void)(*session)->GetOutput("y", TensorInto(y));  // asks whether the replay is in flight
      ASSERT_TRUE((*session)->Wait().ok());
      ASSERT_TRUE((*session)->GetOutput("y", TensorInto(y)).ok());
      ASSERT_TRUE((*session)->Fork().ok());
      ASSERT_TRUE((*session)->Profile(1).ok());
      ASSERT_TRUE((*session)->TimeReplays(1).ok());
    }
  }
  EXPECT_EQ(machine_.problem, "");
  EXPECT_EQ(testing::internal::ThreadMode(), kCaptureGlobal);
  // The fake finds who does not care.
  ASSERT_TRUE(Create().ok());
  (void)driver_.CtxPushCurrent(reinterpret_cast<CUcontext>(&machine_));
  CUdeviceptr address = 0;
  (void)driver_.MemAlloc(&address, size_t{16});
  EXPECT_NE(machine_.problem.find("another library captures"), std::string::npos);
  machine_.foreign_capture = false;
  (void)driver_.MemFree(address);
  CUcontext popped = nullptr;
  (void)driver_.CtxPopCurrent(&popped);
  machine_.problem.clear();
}

TEST_F(CudaSessionTest, ProfileHasAllStepsAndAddsUpToTheReplay) {
  auto session = Create();
  ASSERT_TRUE(session.ok());
  const auto times = (*session)->TimeReplays(300);
  ASSERT_TRUE(times.ok());
  ASSERT_EQ(times->size(), 300u);
  const auto profile = (*session)->Profile(5);
  ASSERT_TRUE(profile.ok()) << profile.status().ToString();
  ASSERT_EQ(profile->size(), 4u);
  double sum = 0;
  for (size_t i = 0; i < profile->size(); ++i) {
    EXPECT_EQ((*profile)[i].step, i);
    EXPECT_GE((*profile)[i].median_us, 0);
    sum += (*profile)[i].median_us;
  }
  EXPECT_NEAR(sum, (*times)[0], 1e-3);
  RunAndCheck(**session, 8);
}

TEST_F(CudaSessionTest, ManySessionsOnManyThreads) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 10; ++i) {
        auto session = Create();
        const std::vector<float> x = RandomInput(chain_.elements, t * 100 + i);
        std::vector<float> y(x.size());
        const bool ok = session.ok() && (*session)->SetInput("x", TensorOf(x)).ok() &&
                        (*session)->Run().ok() && (*session)->GetOutput("y", TensorInto(y)).ok();
        wrong += !ok || y[77] != aicf::testing::ChainExpected(chain_, 77, x[77]);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaSessionTest, ASecondThreadIsBusyAndTheDestructorWaits) {
  auto session = Create();
  ASSERT_TRUE(session.ok());
  std::atomic<bool> entered{false};
  std::atomic<bool> release{false};
  // The graph's next launch stops inside its first kernel.
  for (auto& [symbol, function] : machine_.functions) {
    function.run = [&, run = function.run](void** parameters) {
      entered = true;
      while (!release) std::this_thread::yield();
      run(parameters);
    };
  }
  Status first;
  std::thread runner([&] { first = (*session)->Run(); });
  while (!entered) std::this_thread::yield();
  for (const Status& second :
       {(*session)->Run(), (*session)->Wait(), (*session)->SetInput("x", {}),
        (*session)->GetOutput("y", {}), (*session)->TimeReplays(1).status()}) {
    EXPECT_EQ(second.code(), Code::kInvalidArgument);
    EXPECT_NE(second.message().find("busy"), std::string::npos);
  }
  std::atomic<bool> destroyed{false};
  std::thread destroyer([&, owned = *std::move(session)]() mutable {
    owned = nullptr;
    destroyed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(destroyed);
  release = true;
  runner.join();
  destroyer.join();
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(destroyed);
}

TEST_F(CudaSessionTest, AResetContextIsNeverTouchedAgain) {
  auto session = Create();
  ASSERT_TRUE(session.ok());
  const auto blocks = machine_.device_blocks;
  const size_t objects = machine_.alive.size();
  machine_.context_id = 2;
  const Status lost = (*session)->Run();
  EXPECT_EQ(lost.code(), Code::kDevice);
  machine_.context_id = 1;  // what was lost stays lost
  EXPECT_EQ((*session)->Run().message(), lost.message());
  machine_.context_id = 2;
  *session = nullptr;
  EXPECT_EQ(machine_.device_blocks, blocks) << "freed in a context that is gone";
  EXPECT_EQ(machine_.alive.size(), objects);
  EXPECT_EQ(machine_.contexts, 0) << "the retained context is given back";
  auto fresh = Create();
  ASSERT_TRUE(fresh.ok()) << fresh.status().ToString();
  RunAndCheck(**fresh, 3);
  *fresh = nullptr;
  EXPECT_EQ(machine_.device_blocks, blocks);
  ForgetLostObjects();
}

TEST_F(CudaSessionTest, AForkedChildIsToldSo) {
  auto session = Create();
  ASSERT_TRUE(session.ok());
  const pid_t child = fork();
  if (child == 0) {
    const Status status = (*session)->Run();
    *session = nullptr;  // must not touch the driver
    _exit(status.code() == Code::kDevice && machine_.memory_used > 0 ? 0 : 1);
  }
  int result = -1;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
  RunAndCheck(**session, 3);
}

}  // namespace
}  // namespace aicf::cuda
