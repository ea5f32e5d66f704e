/// States, metas and bound memory of the CUDA executor, on the fake driver.
#include <gtest/gtest.h>

#include "runtime/cuda/cuda_steps.h"
#include "runtime/cuda/fake_device.h"

namespace aicf::cuda {
namespace {

using namespace aicf::testing;  // NOLINT(google-build-using-namespace)

/// Graph or single launches; transfers in the replay or apart.
struct Mode {
  bool graph, transfers;
};

class CudaState : public ::testing::TestWithParam<Mode>, protected testing::FakeDevice {
 protected:
  CudaState() : FakeDevice(testing::FakeApi()) {}
  ~CudaState() override {
    for (const CUdeviceptr block : blocks_) {
      const InContext in(machine_);
      EXPECT_EQ(driver_.MemFree(block), kCudaSuccess);
    }
  }
  struct InContext {
    explicit InContext(testing::FakeMachine& m) : machine(m) { ++machine.context_depth; }
    ~InContext() { --machine.context_depth; }
    testing::FakeMachine& machine;
  };

  std::unique_ptr<Session> Create(const Mode& mode) {
    SessionOptions options;
    options.cuda_graph = mode.graph;
    options.transfers = mode.transfers;
    auto session = CreateCudaSession(program_, 0, options, &driver_);
    EXPECT_TRUE(session.ok()) << session.status().ToString();
    return session.ok() ? *std::move(session) : nullptr;
  }
  std::unique_ptr<Session> Create() { return Create(GetParam()); }
  /// Device memory of the caller.
  FloatMemory Allocate() {
    const InContext in(machine_);
    CUdeviceptr block = 0;
    EXPECT_EQ(driver_.MemAlloc(&block, kStateElements * 4), kCudaSuccess);
    blocks_.push_back(block);
    return {reinterpret_cast<float*>(block)};
  }
  uint64_t CallsOf(Fn fn) const { return driver_.counters().calls(fn); }

  std::vector<CUdeviceptr> blocks_;
};

TEST_P(CudaState, LivesAcrossRunsAndEntryPoints) { ExpectStates(*Create()); }
TEST_P(CudaState, IsResetToItsSeed) { ExpectSeedsAndErrors(*Create()); }
TEST_P(CudaState, MetasAreListedAndSetApart) { ExpectMetas(*Create()); }
TEST_P(CudaState, MemoryOfTheCallerTakesTheSessionsPlace) {
  ExpectBindings(*Create(), Allocate(), Allocate(), Allocate());
}
TEST_P(CudaState, WrongBindingsChangeNothing) {
  ExpectBindingsRefused(*Create(), Allocate(), Allocate());
}

TEST_P(CudaState, ForksFromDeviceToDevice) {
  const auto session = Create();
  ExpectForks(*session);
  EXPECT_EQ(CallsOf(Fn::kMemcpyDtoDAsync), 1u);
}

TEST_P(CudaState, ARunCopiesNoStateAndAllMetasAtOnce) {
  const auto session = Create(Mode{false, GetParam().transfers});  // a graph's copies are no calls
  ASSERT_TRUE(session->SelectEntry("mul").ok());
  const uint64_t up = CallsOf(Fn::kMemcpyHtoDAsync), down = CallsOf(Fn::kMemcpyDtoHAsync);
  ASSERT_TRUE(session->Run().ok());
  const uint64_t tensors = GetParam().transfers ? 1 : 0;  // x up, z down
  EXPECT_EQ(CallsOf(Fn::kMemcpyHtoDAsync) - up, tensors + 1);
  EXPECT_EQ(CallsOf(Fn::kMemcpyDtoHAsync) - down, tensors);
  EXPECT_EQ(CallsOf(Fn::kMemcpyDtoDAsync), 0u);
}

TEST_P(CudaState, BoundTensorsAreNotCopied) {
  const auto session = Create(Mode{false, GetParam().transfers});  // a graph's copies are no calls
  const FloatMemory x = Allocate(), y = Allocate();
  ASSERT_TRUE(session->BindInput("x", x.data(), x.bytes()).ok());
  ASSERT_TRUE(session->BindOutput("y", y.data(), y.bytes()).ok());
  const uint64_t up = CallsOf(Fn::kMemcpyHtoDAsync), down = CallsOf(Fn::kMemcpyDtoHAsync);
  ASSERT_TRUE(session->Run().ok());
  EXPECT_EQ(CallsOf(Fn::kMemcpyHtoDAsync), up);
  EXPECT_EQ(CallsOf(Fn::kMemcpyDtoHAsync), down);
}

TEST_P(CudaState, GraphsAreMadeAgainByBindAndNeverByRun) {
  const auto session = Create();
  const FloatMemory x = Allocate(), h = Allocate();
  const uint64_t per_graph = GetParam().graph ? 1 : 0;
  uint64_t made = CallsOf(Fn::kGraphInstantiate);
  EXPECT_EQ(made, 2 * per_graph);
  ASSERT_TRUE(session->BindInput("x", x.data(), x.bytes()).ok());
  EXPECT_EQ(CallsOf(Fn::kGraphInstantiate), made += per_graph);
  ASSERT_TRUE(session->BindInput("x", x.data(), x.bytes()).ok());  // nothing new
  EXPECT_EQ(CallsOf(Fn::kGraphInstantiate), made);
  ASSERT_TRUE(session->BindState("h", h.data(), h.bytes()).ok());  // of all entry points
  EXPECT_EQ(CallsOf(Fn::kGraphInstantiate), made += 2 * per_graph);
  const uint64_t launches = driver_.counters().graph_launches();
  const uint64_t allocations = driver_.counters().allocations();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(session->Run().ok());
  EXPECT_EQ(CallsOf(Fn::kGraphInstantiate), made);
  EXPECT_EQ(driver_.counters().graph_launches() - launches, 50 * per_graph);
  EXPECT_EQ(driver_.counters().allocations(), allocations);
}

TEST_P(CudaState, AFailingBindLeavesTheSessionAsItWas) {
  for (int n = 0;; ++n) {
    const auto session = Create();
    const FloatMemory x = Allocate(), h = Allocate();
    Add(*session, 2);
    const Binding both[] = {{Binding::Kind::kInput, "x", x.data(), x.bytes()},
                            {Binding::Kind::kState, "h", h.data(), h.bytes()}};
    machine_.fail_call = n;
    machine_.failed = false;
    const Status bound = session->Bind(both);
    machine_.fail_call = -1;
    if (!machine_.failed) {
      EXPECT_TRUE(bound.ok()) << bound.ToString();
      // Without a graph, binding calls no driver function that could fail.
      EXPECT_EQ(n > 0, GetParam().graph);
      break;
    }
    EXPECT_FALSE(bound.ok()) << "call " << n;
    EXPECT_NE(*session->InputPointer("x"), x.data());
    Add(*session, 3);
    EXPECT_EQ(StateOf(*session), 5) << "call " << n;
  }
}

TEST_P(CudaState, CountsInTheMemory) {
  const auto session = Create();
  EXPECT_EQ(session->memory().state_bytes, 512u);
  EXPECT_EQ(machine_.memory_used, program_->arena_bytes() + program_->state_bytes());
  const uint64_t one = machine_.memory_used;
  auto fork = session->Fork();
  ASSERT_TRUE(fork.ok());
  EXPECT_EQ(machine_.memory_used, 2 * one);
}

TEST_P(CudaState, StepByStepHasAStateOfItsOwn) {
  auto steps = CreateCudaSteps(program_, 0, 0, &driver_);
  ASSERT_TRUE(steps.ok()) << steps.status().ToString();
  std::vector<float> h = Filled(1), x = Filled(4), after = Filled(0);
  const auto bytes = [](std::vector<float>& v) { return reinterpret_cast<std::byte*>(v.data()); };
  ASSERT_TRUE((*steps)->Read(0, bytes(h)).ok());
  EXPECT_EQ(h, Filled(0));
  h = Filled(3);
  ASSERT_TRUE((*steps)->Write(0, bytes(h)).ok());
  ASSERT_TRUE((*steps)->Write(1, bytes(x)).ok());
  ASSERT_TRUE((*steps)->RunStep(1).ok());
  ASSERT_TRUE((*steps)->Read(3, bytes(after)).ok());
  EXPECT_EQ(after, Filled(7));
}

TEST_P(CudaState, AReplayInFlightKeepsItsState) {
  SessionOptions options;
  options.cuda_graph = GetParam().graph;
  options.transfers = GetParam().transfers;
  options.sync = SyncPolicy::kNoSync;
  DriverApi slow = testing::FakeApi();
  slow.StreamQuery = [](CUstream) { return kCudaNotReady; };
  Driver driver(slow);
  auto session = CreateCudaSession(program_, 0, options, &driver);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  std::vector<float> h = Filled(0);
  ASSERT_TRUE((*session)->ExportState("h", TensorInto(h)).ok());
  ASSERT_TRUE((*session)->Run().ok());
  ExpectRefused((*session)->ExportState("h", TensorInto(h)), "still in flight");
  ExpectRefused((*session)->ImportState("h", TensorOf(h)), "still in flight");
  ExpectRefused((*session)->ResetStates(), "still in flight");
  ExpectRefused((*session)->Fork().status(), "still in flight");
  const FloatMemory own = Allocate();
  ExpectRefused((*session)->BindState("h", own.data(), own.bytes()), "still in flight");
  ASSERT_TRUE((*session)->Wait().ok());
  EXPECT_TRUE((*session)->ResetStates().ok());
}

INSTANTIATE_TEST_SUITE_P(Modes, CudaState,
                         ::testing::Values(Mode{true, true}, Mode{true, false}, Mode{false, true},
                                           Mode{false, false}),
                         [](const auto& p) {
                           return std::string(p.param.graph ? "Graph" : "Launches") +
                                  (p.param.transfers ? "WithTransfers" : "Alone");
                         });

}  // namespace
}  // namespace aicf::cuda
