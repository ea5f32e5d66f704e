// The order of a plan's steps on the fake driver, which runs of all nodes that could run the one
// captured last: what an edge is missing between runs in the wrong order.
#include <gtest/gtest.h>

#include "runtime/cuda/cuda_session.h"
#include "runtime/cuda/cuda_steps.h"
#include "runtime/cuda/fake_driver.h"
#include "runtime/cuda/fake_functions.h"
#include "runtime/test_program.h"
#include "schema/testing.h"

namespace aicf::cuda {
namespace {

using abi::ExprOp;
using schema::testing::Elementwise;

constexpr int64_t kElements = 64;

// 0: a = -x; 1: b = a + x; 2: c = b + a; 3 (stream 1): d = a + a; 4 (stream 2): e = x + x;
// 5 (stream 2): f = e + d; 6: y = c + f; 7: z = -y. So y = (x - x - x) + (2x - 2x) = -x, z = x.
schema::Contents Streams() {
  schema::testing::ProgramBuilder b;
  const Dims shape = {kElements};
  const uint32_t x = b.Input("x", shape);
  uint32_t t[6];
  for (uint32_t& temp : t) temp = b.Temp(shape);
  const uint32_t y = b.Output("y", shape), z = b.Output("z", shape);
  b.AddStep(Elementwise(ExprOp::kNeg), {x}, {t[0]});
  b.AddStep(Elementwise(ExprOp::kAdd), {t[0], x}, {t[1]});
  b.AddStep(Elementwise(ExprOp::kAdd), {t[1], t[0]}, {t[2]});
  b.AddStep(Elementwise(ExprOp::kAdd), {t[0], t[0]}, {t[3]});
  b.AddStep(Elementwise(ExprOp::kAdd), {x, x}, {t[4]});
  b.AddStep(Elementwise(ExprOp::kAdd), {t[4], t[3]}, {t[5]});
  b.AddStep(Elementwise(ExprOp::kAdd), {t[2], t[5]}, {y});
  b.AddStep(Elementwise(ExprOp::kNeg), {y}, {z});
  schema::Contents contents;
  schema::Program p = schema::testing::OnDevice(b.Finish());
  p.steps[1].programmatic = p.steps[2].programmatic = p.steps[7].programmatic = true;
  p.steps[3].stream = 1;
  p.steps[3].waits = {0};
  p.steps[4].stream = p.steps[5].stream = 2;
  p.steps[5].waits = {3};
  p.steps[6].waits = {5};
  contents.images = aicf::testing::EmptyCubin();
  p.images = {{"sm_90a", "test compiler", HashBytes(contents.images), 0, contents.images.size()}};
  contents.program = std::move(p);
  return contents;
}

class CudaStreams : public ::testing::Test {
 protected:
  CudaStreams() : driver_(testing::FakeApi()) {
    testing::Machine() = &machine_;
    program_ = aicf::testing::MakeProgram(Streams());
    testing::AddReferenceFunctions(machine_, program_->artifact().program());
  }
  ~CudaStreams() override {
    program_ = nullptr;
    EXPECT_EQ(machine_.problem, "");
    EXPECT_TRUE(machine_.alive.empty());
    EXPECT_EQ(machine_.memory_used, 0u);
    testing::Machine() = nullptr;
  }
  std::unique_ptr<Session> Create(bool graph) {
    SessionOptions options;
    options.cuda_graph = graph;
    auto session = CreateCudaSession(program_, 0, options, &driver_);
    EXPECT_TRUE(session.ok()) << session.status().ToString();
    return session.ok() ? *std::move(session) : nullptr;
  }
  void RunAndCheck(Session& session, unsigned seed) {
    const std::vector<float> x = aicf::testing::RandomInput(kElements, seed);
    std::vector<float> y(x.size()), z(x.size());
    ASSERT_TRUE(session.SetInput("x", TensorOf(x)).ok());
    ASSERT_TRUE(session.Run().ok());
    ASSERT_TRUE(session.GetOutput("y", TensorInto(y)).ok());
    ASSERT_TRUE(session.GetOutput("z", TensorInto(z)).ok());
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(y[i], -x[i]) << i;
      ASSERT_EQ(z[i], x[i]) << i;
    }
  }

  testing::FakeMachine machine_;
  Driver driver_;
  std::shared_ptr<const Program> program_;
};

TEST_F(CudaStreams, AGraphHasTheEdgesOfThePlan) {
  const auto session = Create(true);
  EXPECT_EQ(machine_.programmatic_launches, 3);
  for (unsigned seed = 1; seed < 5; ++seed) RunAndCheck(*session, seed);
  EXPECT_EQ(driver_.counters().graph_launches(), 4u);
}

TEST_F(CudaStreams, WithoutAGraphStepsRunOneAfterTheOther) {
  const auto session = Create(false);
  for (unsigned seed = 1; seed < 5; ++seed) RunAndCheck(*session, seed);
  EXPECT_EQ(machine_.programmatic_launches, 0);
}

TEST_F(CudaStreams, StepByStepAndProfilesAreSerial) {
  const auto session = Create(true);
  const int captured = machine_.programmatic_launches;
  ASSERT_TRUE(session->Profile(1).ok());
  auto steps = CreateCudaSteps(program_, 0, 0, &driver_);
  ASSERT_TRUE(steps.ok()) << steps.status().ToString();
  for (uint32_t s = 0; s < 8; ++s) EXPECT_TRUE((*steps)->RunStep(s).ok()) << s;
  EXPECT_EQ(machine_.programmatic_launches, captured);
}

TEST_F(CudaStreams, EveryFailingCallLeaksNothing) {
  bool failed = true;
  for (int n = 0; failed; ++n) {
    machine_.failed = false;
    machine_.fail_call = n;
    SessionOptions options;
    auto session = CreateCudaSession(program_, 0, options, &driver_);
    failed = machine_.failed;
    machine_.fail_call = -1;
    EXPECT_EQ(session.ok(), !failed) << n;
  }
}

// The CPU takes the steps in the program's order, which the edges allow.
TEST_F(CudaStreams, TheReferenceTakesThemInOrder) {
  SessionOptions options;
  options.device = "cpu";
  auto session = Session::Create(program_, options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  RunAndCheck(**session, 3);
}

// The fake driver itself: a missing edge is seen, and a stream that is not joined.
TEST(FakeGraphs, RunTheLastNodeThatCould) {
  std::vector<int> order;
  const auto node = [&](int i) { return [&order, i] { return order.push_back(i), kCudaSuccess; }; };
  testing::FakeGraph graph;
  graph.nodes = {{node(0), {}}, {node(1), {0}}, {node(2), {}}, {node(3), {1}}};
  ASSERT_EQ(graph.Run(), kCudaSuccess);
  EXPECT_EQ(order, (std::vector<int>{2, 0, 1, 3}));
  testing::FakePosition end{std::make_shared<testing::FakeGraph>(graph), {3}};
  EXPECT_FALSE(testing::internal::AllJoined(end));
  end.tail.push_back(2);
  EXPECT_TRUE(testing::internal::AllJoined(end));
}

}  // namespace
}  // namespace aicf::cuda
