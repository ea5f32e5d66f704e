// The streaming models on a GPU, or on a fake driver that works in host memory. Over 100 chunks
// only the chunks and the results are copied between host and device; states are copied only when
// the caller asks for them.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/cuda/cuda_session.h"
#include "runtime/cuda/fake_driver.h"
#include "runtime/cuda/fake_functions.h"
#include "runtime/test_program.h"
#include "tests/models/streams.h"

namespace aicf::testing {
namespace {

/// Copies that a driver was asked for, captured ones included, and graph launches.
struct Calls {
  uint64_t up = 0, down = 0, across = 0, launches = 0;
  Calls operator-(const Calls& o) const {
    return {up - o.up, down - o.down, across - o.across, launches - o.launches};
  }
  bool operator==(const Calls&) const = default;
};

Calls CallsOf(const cuda::Driver& driver) {
  using cuda::Fn;
  const cuda::Counters& c = driver.counters();
  return {c.calls(Fn::kMemcpyHtoDAsync), c.calls(Fn::kMemcpyDtoHAsync),
          c.calls(Fn::kMemcpyDtoDAsync), c.graph_launches()};
}

class StateCopiesTest : public ::testing::TestWithParam<StreamingModel> {
 protected:
  /// Compiles the model with its state kept. `images`: for a real device, else with an empty image,
  /// which is enough for a driver that runs the reference kernels.
  void Compile(bool images) {
    cases_ = LoadCases();
    for (const ModelCase& c : cases_) {
      if (c.name == GetParam().name) case_ = &c;
    }
    if (case_ == nullptr) GTEST_SKIP() << "AICF_TEST_MODELS names no folder with its files";
    CompileOptions options = StreamOptions(*case_, GetParam(), "cuda:sm_90a", /*keep=*/true);
    options.images = images;
    auto compiled = aicf::Compile(case_->model, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
    schema::Contents& contents = compiled->contents;
    if (!images) AddEmptyImage(contents);
    const auto bytes = schema::Serialize(contents);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    auto program = Program::FromBytes(*bytes);
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
  }

  Tensors StepAt(Session& session, int index) {
    auto chunk = ChunkAt(*case_, index, GetParam().past);
    EXPECT_TRUE(chunk.ok()) << chunk.status().ToString();
    return Step(session, *program_, *chunk);
  }

  /// `open` makes sessions on `driver`.
  template <class Open>
  void Check(const cuda::Driver& driver, const Open& open) {
    auto first = open();  // uploads the weights, which all sessions share
    const Calls before = CallsOf(driver);
    std::unique_ptr<Session> session = open();
    const Calls made = CallsOf(driver);
    const uint64_t inputs = program_->inputs().size(), outputs = program_->outputs().size();
    EXPECT_EQ(made - before, (Calls{inputs, outputs, 0, 0})) << "the graph's own copies";
    ASSERT_EQ(session->states().size(), 1u);
    for (int i = 0; i < kChunks; ++i) StepAt(*session, i);
    EXPECT_EQ(CallsOf(driver) - made, (Calls{0, 0, 0, kChunks})) << "a run is one launch";
    CheckForks(driver, *session, *first);
  }

 private:
  static void AddEmptyImage(schema::Contents& contents) {
    contents.images = EmptyCubin();
    contents.program.images.push_back(
        {"sm_90a", "test compiler", HashBytes(contents.images), 0, contents.images.size()});
    for (schema::Step& s : contents.program.steps) s.image = 0;
    const auto guarded = [](const schema::Step& s) { return !s.guards.empty(); };
    if (std::ranges::any_of(contents.program.steps, guarded)) contents.program.guard_image = 0;
  }

  /// A fork copies the state on the device, an export and an import once each; all of them go on
  /// from it, bit for bit, and apart.
  void CheckForks(const cuda::Driver& driver, Session& session, Session& other) {
    const Bytes state = StateOf(session);
    EXPECT_NE(state, Bytes(state.size())) << "the state was not carried";
    Calls before = CallsOf(driver);
    auto fork = session.Fork();
    ASSERT_TRUE(fork.ok()) << fork.status().ToString();
    const uint64_t inputs = program_->inputs().size(), outputs = program_->outputs().size();
    EXPECT_EQ(CallsOf(driver) - before, (Calls{inputs, outputs, 1, 0}));
    before = CallsOf(driver);
    ASSERT_TRUE(SetState(other, state).ok());
    EXPECT_EQ(StateOf(other), state);
    EXPECT_EQ(CallsOf(driver) - before, (Calls{1, 1, 0, 0}));
    StepAt(**fork, 7);
    EXPECT_NE(StateOf(**fork), state);
    EXPECT_EQ(StateOf(session), state) << "the fork changed its origin";
    ASSERT_TRUE(SetState(**fork, state).ok());
    for (int i = kChunks; i < kChunks + 10; ++i) {
      const Tensors expected = StepAt(session, i);
      EXPECT_EQ(StepAt(**fork, i), expected) << "chunk " << i;
      EXPECT_EQ(StepAt(other, i), expected) << "chunk " << i;
    }
    EXPECT_EQ(StateOf(**fork), StateOf(session));
    EXPECT_EQ(StateOf(other), StateOf(session));
  }

 protected:
  std::vector<ModelCase> cases_;
  const ModelCase* case_ = nullptr;
  std::shared_ptr<const Program> program_;
};

TEST_P(StateCopiesTest, OnlyInputsAndOutputsCrossTheHost) {
  Compile(/*images=*/false);
  if (program_ == nullptr) return;
  cuda::testing::FakeMachine machine;
  cuda::testing::Machine() = &machine;
  {
    machine.functions[abi::kGuardSymbol] = cuda::testing::GuardFunction();
    cuda::testing::AddReferenceFunctions(machine, program_->artifact().program());
    cuda::Driver driver(cuda::testing::FakeApi());
    Check(driver, [&] {
      auto session = cuda::CreateCudaSession(program_, 0, {}, &driver);
      EXPECT_TRUE(session.ok()) << session.status().ToString();
      return session.ok() ? *std::move(session) : nullptr;
    });
    program_ = nullptr;
  }
  EXPECT_EQ(machine.problem, "");
  cuda::testing::Machine() = nullptr;
}

class GpuStateCopiesTest : public StateCopiesTest {};
TEST_P(GpuStateCopiesTest, OnlyInputsAndOutputsCrossTheHost) {
  if (!HasGpu()) GTEST_SKIP() << "no CUDA device here";
  if (!HasNvrtc()) GTEST_SKIP() << "NVRTC is not here: no CUDA plan can be compiled";
  Compile(/*images=*/true);
  if (program_ == nullptr) return;
  Check(**cuda::Driver::Get(), [&] {
    SessionOptions options;
    options.device = "cuda:0";
    auto session = Session::Create(program_, options);
    EXPECT_TRUE(session.ok()) << session.status().ToString();
    return session.ok() ? *std::move(session) : nullptr;
  });
}

INSTANTIATE_TEST_SUITE_P(Real, StateCopiesTest, ::testing::ValuesIn(kStreamingModels), StreamName);
INSTANTIATE_TEST_SUITE_P(Real, GpuStateCopiesTest, ::testing::ValuesIn(kStreamingModels),
                         StreamName);

}  // namespace
}  // namespace aicf::testing
