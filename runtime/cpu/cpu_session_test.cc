#include "runtime/cpu/cpu_session.h"
#include "kernels/abi/choice.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "runtime/cpu/workers.h"
#include "runtime/test_program.h"
#include "runtime/test_state.h"

namespace aicf {
namespace {

using testing::ChainContents;
using testing::ChainOptions;
using testing::ExpectChainOutput;
using testing::MakeProgram;
using testing::RandomInput;

std::unique_ptr<Session> MakeSession(const ChainOptions& chain,
                                     const SessionOptions& options = {}) {
  auto session = CreateCpuSession(MakeProgram(ChainContents(chain)), options);
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return session.ok() ? *std::move(session) : nullptr;
}

void RunAndCheck(Session& session, const ChainOptions& chain, unsigned seed) {
  const std::vector<float> x = RandomInput(chain.elements, seed);
  ASSERT_TRUE(session.SetInput("x", TensorOf(x)).ok());
  ASSERT_TRUE(session.Run().ok());
  ExpectChainOutput(session, chain, x);
}

TEST(CpuSession, RunsChainsOfEverySizeAndThreadCount) {
  for (const int64_t elements : {1, 7, 64, 1000, 100003}) {
    for (const int threads : {1, 2, 3}) {
      ChainOptions chain;
      chain.elements = elements;
      chain.steps = 5;
      SessionOptions options;
      options.threads = threads;
      const auto session = MakeSession(chain, options);
      ASSERT_NE(session, nullptr);
      for (unsigned seed = 0; seed < 3; ++seed) RunAndCheck(*session, chain, seed);
    }
  }
}

TEST(CpuSession, AnEmptyTensorRuns) {
  ChainOptions chain;
  chain.elements = 0;
  const auto session = MakeSession(chain);
  ASSERT_NE(session, nullptr);
  EXPECT_TRUE(session->SetInput("x", {DType::kF32, {0}, nullptr, 0}).ok());
  EXPECT_TRUE(session->Run().ok());
  EXPECT_TRUE(session->GetOutput("y", {DType::kF32, {0}, nullptr, 0}).ok());
}

/// Rewrites step `s` to overwrite its first operand, as the compiler's in-place decision does, and
/// closes the gap that its buffer leaves in the arena.
void MakeInPlace(schema::Contents& contents, size_t s) {
  schema::Program& p = contents.program;
  schema::Buffer& out = p.buffers[p.steps[s].outputs[0]];
  out.storage = schema::Storage::kAlias;
  out.alias_of = p.steps[s].inputs[0];
  out.offset = 0;
  p.arena_bytes = 0;
  for (schema::Buffer& buffer : p.buffers) {
    if (buffer.storage != schema::Storage::kArena) continue;
    buffer.offset = p.arena_bytes;
    p.arena_bytes += testing::Padded(buffer.bytes);
  }
  p.arena_lower_bound = p.arena_bytes;
}

TEST(CpuSession, StepsThatOverwriteTheirOperandGiveTheSameValues) {
  for (const char* target : {"cpu:baseline", "cuda:sm_90a"}) {
    ChainOptions chain;
    chain.target = target;
    chain.steps = 6;
    schema::Contents contents = ChainContents(chain);
    for (const size_t s : {2, 3, 4, 5})
      MakeInPlace(contents, s);  // temporaries die at their reader
    SessionOptions options;
    options.device = "cpu";
    auto session = CreateCpuSession(MakeProgram(contents), options);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    for (unsigned seed = 0; seed < 3; ++seed) RunAndCheck(**session, chain, seed);
  }
}

/// Turns step `s` of a CUDA chain into a copy of its first operand onto itself, which the device
/// kernel may do in place and the reference kernel may not.
void MakeCopyOntoItself(schema::Contents& contents, size_t s) {
  schema::Program& p = contents.program;
  schema::Step& step = p.steps[s];
  step.problem.family = abi::Family::kCopy;
  step.problem.attrs = abi::CopyAttrs{{Dims{0}}, false, 0};
  step.problem.inputs.pop_back();
  step.problem.core_inputs = 1;
  step.problem.epilogue = {};
  step.inputs.pop_back();
  const abi::DeviceSpec device = *abi::FindDevice(p.target);
  for (const abi::KernelInfo& kernel : abi::KernelsOf(abi::Family::kCopy)) {
    if (kernel.backend != abi::Backend::kCuda || !kernel.supports(step.problem, device).empty())
      continue;
    if (!kernel.in_place(step.problem, 0)) continue;
    step.kernel = kernel.key;
    schema::SetVariant(step, abi::BestCandidate(kernel, step.problem, device)->variant);
    step.symbol = abi::InstanceSymbol(kernel.key, step.problem, schema::VariantOf(step));
    break;
  }
  MakeInPlace(contents, s);
}

TEST(CpuSession, AnOperandThatTheReferenceMayNotOverwriteIsCopiedAside) {
  ChainOptions chain;
  chain.target = "cuda:sm_90a";
  schema::Contents contents = ChainContents(chain);
  MakeCopyOntoItself(contents, 1);
  const schema::Step& step = contents.program.steps[1];
  ASSERT_FALSE(abi::FindKernel(abi::ReferenceKey(abi::Family::kCopy))->in_place(step.problem, 0))
      << "choose another step for this test";
  SessionOptions options;
  options.device = "cpu";
  auto session = CreateCpuSession(MakeProgram(contents), options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  EXPECT_EQ((*session)->memory().arena_bytes, contents.program.arena_bytes + testing::Padded(4000));
  chain.steps = 3;  // a copy adds nothing
  for (unsigned seed = 0; seed < 3; ++seed) RunAndCheck(**session, chain, seed);
}

TEST(CpuSession, PointersReachTheTensorsThemselves) {
  const ChainOptions chain;
  const auto session = MakeSession(chain);
  const std::vector<float> x = RandomInput(chain.elements, 5);
  const auto in = session->InputPointer("x");
  const auto out = session->OutputPointer("y");
  ASSERT_TRUE(in.ok() && out.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*in) % schema::kBufferAlignment, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*out) % schema::kBufferAlignment, 0u);
  std::memcpy(*in, x.data(), x.size() * 4);
  ASSERT_TRUE(session->Run().ok());
  ExpectChainOutput(*session, chain, x);
  std::vector<float> y(x.size());
  ASSERT_TRUE(session->GetOutput("y", TensorInto(y)).ok());
  EXPECT_EQ(std::memcmp(*out, y.data(), y.size() * 4), 0);
  // The session's own memory as source and as destination.
  ASSERT_TRUE(session->SetInput("x", {DType::kF32, {chain.elements}, *in, x.size() * 4}).ok());
  ASSERT_TRUE(session->GetOutput("y", {DType::kF32, {chain.elements}, *out, y.size() * 4}).ok());
}

TEST(CpuSession, WrongCallsChangeNothing) {
  const ChainOptions chain;
  const auto session = MakeSession(chain);
  RunAndCheck(*session, chain, 1);
  const std::vector<float> x = RandomInput(chain.elements, 1);
  std::vector<float> other(x.size(), 99);
  const uint64_t bytes = x.size() * 4;
  const Dims shape = {chain.elements};
  const MutableTensor into = TensorInto(other);
  for (const Status& status :
       {session->SetInput("y", TensorOf(other)), session->SetInput("", TensorOf(other)),
        session->SetInput("x", {DType::kF32, shape, other.data(), bytes - 4}),
        session->SetInput("x", {DType::kF32, shape, nullptr, bytes}),
        session->SetInput("x", {DType::kF32, shape, other.data(), UINT64_MAX}),
        session->SetInput("x", {DType::kI32, shape, other.data(), bytes}),
        session->SetInput("x", {static_cast<DType>(200), shape, other.data(), bytes}),
        session->SetInput("x", TensorOf(other, {10, 100})), session->GetOutput("x", into),
        session->GetOutput("y", {DType::kF32, shape, nullptr, bytes}),
        session->GetOutput("y", {DType::kF32, shape, other.data(), bytes + 1}),
        session->GetOutput("y", {DType::kU32, shape, other.data(), bytes}),
        session->GetOutput("y", TensorInto(other, {1000, 1})), session->InputPointer("y").status(),
        session->OutputPointer("x").status(), session->Profile(0).status(),
        session->TimeReplays(-1).status()}) {
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
  }
  ASSERT_TRUE(session->Run().ok());
  ExpectChainOutput(*session, chain, x);
}

// More extents than a shape has room for are no shape, whatever they begin with.
TEST(CpuSession, RanksAboveTheLargestAreRefused) {
  const ChainOptions chain;
  const auto session = MakeSession(chain);
  std::vector<float> x(static_cast<size_t>(chain.elements));
  const Dims nine{chain.elements, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(nine.refused_rank(), 9);
  EXPECT_FALSE(ElementCount(nine).has_value());
  EXPECT_NE(nine, Dims{chain.elements});
  const auto expect = [](const Status& status, std::string_view message) {
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_EQ(status.message(), message);
  };
  expect(session->SetInput("x", TensorOf(x, nine)), "input 'x': rank 9, expected 0 to 8");
  expect(session->GetOutput("y", TensorInto(x, nine)), "output 'y': rank 9, expected 0 to 8");
  const InputShape shapes[] = {{"x", Dims(std::vector<int64_t>(300, 1))}};
  expect(session->SelectShapes(shapes), "input 'x': rank 300, expected 0 to 8");
}

TEST(CpuSession, ManySessionsShareAProgramAndGiveTheSameBits) {
  ChainOptions chain;
  chain.elements = 5000;
  const auto program = MakeProgram(ChainContents(chain));
  std::vector<std::thread> threads;
  threads.reserve(8);
  std::atomic<int> wrong{0};
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      SessionOptions options;
      options.threads = 2;
      auto session = CreateCpuSession(program, options);
      if (!session.ok()) return void(++wrong);
      const std::vector<float> x = RandomInput(chain.elements, t);
      std::vector<float> y(x.size());
      for (int run = 0; run < 50; ++run) {
        const bool ok = (*session)->SetInput("x", TensorOf(x)).ok() && (*session)->Run().ok() &&
                        (*session)->GetOutput("y", TensorInto(y)).ok();
        for (size_t i = 0; i < y.size(); ++i) {
          wrong += !ok || y[i] != testing::ChainExpected(chain, static_cast<int64_t>(i), x[i]);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(CpuSession, ASecondThreadIsBusyNeverTorn) {
  ChainOptions chain;
  chain.elements = 200000;
  const auto session = MakeSession(chain);
  const std::vector<float> x = RandomInput(chain.elements, 2);
  ASSERT_TRUE(session->SetInput("x", TensorOf(x)).ok());
  std::atomic<int> busy{0}, other{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int run = 0; run < 50; ++run) {
        const Status status = session->Run();
        if (status.ok()) continue;
        const bool expected = status.code() == Code::kInvalidArgument &&
                              status.message().find("busy") != std::string::npos;
        ++(expected ? busy : other);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(other.load(), 0);
  EXPECT_GT(busy.load(), 0) << "the test never met itself";
  ASSERT_TRUE(session->Run().ok());
  ExpectChainOutput(*session, chain, x);
}

TEST(CpuSession, ProfileNamesEveryStepAndTimesAreCounted) {
  ChainOptions chain;
  chain.steps = 3;
  const auto session = MakeSession(chain);
  const auto profile = session->Profile(5);
  ASSERT_TRUE(profile.ok());
  ASSERT_EQ(profile->size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*profile)[i].step, i);
    EXPECT_GT((*profile)[i].median_us, 0);
  }
  const auto times = session->TimeReplays(7);
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->size(), 7u);
}

TEST(CpuSession, ReportsItsMemory) {
  const ChainOptions chain;
  const auto session = MakeSession(chain);
  const MemoryReport report = session->memory();
  EXPECT_EQ(report.weights_bytes, 4000u);
  EXPECT_GE(report.arena_bytes, 5u * 4000u);
  EXPECT_EQ(report.total_device_bytes, report.arena_bytes + report.weights_bytes);
  EXPECT_EQ(session->device_name(), "cpu");
}

// Binding a state replaces the steps of every entry point, and what is read of them meanwhile is
// freed memory. A plan for a device needs scratch memory here, which the report counts.
TEST(CpuSession, MemoryIsReportedWhileAnotherThreadBinds) {
  for (const char* target : {"cpu:baseline", "cuda:sm_90a"}) {
    SessionOptions options;
    options.device = "cpu";
    options.threads = 1;
    auto created = Session::Create(MakeProgram(testing::StateContents(target)), options);
    ASSERT_TRUE(created.ok()) << created.status().ToString();
    Session& session = **created;
    testing::AlignedFloats own;
    ASSERT_TRUE(session.BindState("h", own.data(), own.bytes()).ok());
    const uint64_t bound = session.memory().total_device_bytes;
    ASSERT_TRUE(session.BindState("h", nullptr, 0).ok());
    const uint64_t unbound = session.memory().total_device_bytes;
    std::atomic<bool> stop = false;
    std::atomic<int> reports = 0, wrong = 0;
    std::thread watcher([&] {
      while (!stop) {
        const uint64_t bytes = session.memory().total_device_bytes;
        if (bytes != bound && bytes != unbound) ++wrong;
        ++reports;
      }
    });
    while (reports == 0) std::this_thread::yield();
    for (int i = 0; i < 15000; ++i) {
      ASSERT_TRUE(session.BindState("h", i % 2 == 0 ? own.data() : nullptr, own.bytes()).ok());
    }
    stop = true;
    watcher.join();
    EXPECT_EQ(wrong, 0) << target;
  }
}

TEST(CpuSession, AChildOfForkCanRunAndDestroyASession) {
  ChainOptions chain;
  SessionOptions options;
  options.threads = 3;
  auto session = MakeSession(chain, options);
  RunAndCheck(*session, chain, 1);
  const std::vector<float> x = RandomInput(chain.elements, 2);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang becomes a failure
    bool ok = session->SetInput("x", TensorOf(x)).ok() && session->Run().ok();
    std::vector<float> y(x.size());
    ok = ok && session->GetOutput("y", TensorInto(y)).ok();
    for (size_t i = 0; i < y.size(); ++i) {
      ok = ok && y[i] == testing::ChainExpected(chain, static_cast<int64_t>(i), x[i]);
    }
    session.reset();
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  RunAndCheck(*session, chain, 3);
}

TEST(CpuSession, ThreadCountsAreChecked) {
  const auto program = MakeProgram(ChainContents({}));
  for (const int threads : {-1, kMaxThreads + 1}) {
    SessionOptions options;
    options.threads = threads;
    EXPECT_EQ(CreateCpuSession(program, options).status().code(), Code::kInvalidArgument);
  }
}

TEST(CpuSession, InstructionSetsAreOrdered) {
  const char* const names[] = {"cpu:baseline", "cpu:avx2", "cpu:avx512"};
  for (int target = 0; target < 3; ++target) {
    for (int machine = 0; machine < 3; ++machine) {
      const Status status =
          CheckInstructionSet(*abi::FindDevice(names[target]), static_cast<abi::CpuIsa>(machine));
      EXPECT_EQ(status.ok(), target <= machine);
      if (status.ok()) continue;
      EXPECT_EQ(status.code(), Code::kDevice);
      EXPECT_NE(status.message().find(names[target]), std::string::npos);
      EXPECT_NE(status.message().find(std::string("--target=") + names[machine]),
                std::string::npos);
    }
  }
  EXPECT_TRUE(CheckInstructionSet(*abi::FindDevice("cuda:sm_90a"), abi::CpuIsa::kBaseline).ok());
}

}  // namespace
}  // namespace aicf
