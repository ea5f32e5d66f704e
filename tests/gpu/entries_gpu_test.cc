/// Several entry points in one session on a real device: each its own graph over one arena.
#include <gtest/gtest.h>

#include "compiler/emit/merge_plans.h"
#include "tests/gpu/allocation_counter.h"
#include "tests/gpu/gpu_fixture.h"

namespace aicf::gpu {
namespace {

constexpr int64_t kLayerDepth = 96;
constexpr int64_t kLayerCols = 160;

/// y = relu(x * w + b) for 64 rows, which may be padded, and for 16.
Result<std::shared_ptr<const Program>> TwoSizes() {
  std::vector<NamedPlan> plans;
  for (const int64_t rows : {64, 16}) {
    AICF_ASSIGN_OR_RETURN(schema::Contents contents,
                          CompileToContents(DenseLayer(rows, kLayerDepth, kLayerCols)));
    plans.push_back({StrCat("rows", rows), std::move(contents)});
  }
  plans[0].contents.program.entry_points[0].paddings = {{1, {{0, 0}}, {{0, 0, 1}}}};
  AICF_ASSIGN_OR_RETURN(const schema::Contents merged, MergePlans(std::move(plans)));
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, schema::Serialize(merged));
  return Program::FromBytes(bytes);
}

std::vector<float> RunRows(Session& session, int64_t rows, unsigned seed) {
  const InputShape shape{"x", {rows, kLayerDepth}};
  const Status selected = session.SelectShapes({&shape, 1});
  EXPECT_TRUE(selected.ok()) << selected.ToString();
  const std::vector<float> x = RandomValues(rows * kLayerDepth, seed);
  EXPECT_TRUE(session.SetInput("x", TensorOf(x, {rows, kLayerDepth})).ok());
  EXPECT_TRUE(session.Run().ok());
  EXPECT_TRUE(session.Wait().ok());
  std::vector<float> y(static_cast<size_t>(rows * kLayerCols));
  const Status got = session.GetOutput("y", TensorInto(y, {rows, kLayerCols}));
  EXPECT_TRUE(got.ok()) << got.ToString();
  return y;
}

class GpuEntries : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    auto program = TwoSizes();
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

TEST_F(GpuEntries, EverySelectionAgreesWithTheReferenceKernels) {
  SessionOptions on_cpu;
  on_cpu.device = "cpu";
  const auto reference = Create(on_cpu);
  ASSERT_NE(reference, nullptr);
  for (const bool graph : {true, false}) {
    for (const bool transfers : {true, false}) {
      SessionOptions options;
      options.cuda_graph = graph;
      options.transfers = transfers;
      const auto session = Create(options);
      ASSERT_NE(session, nullptr);
      unsigned seed = 1;
      for (const int64_t rows : {64, 16, 33, 1, 16, 64, 15}) {
        const std::vector<float> want = RunRows(*reference, rows, ++seed);
        EXPECT_LT(RelativeError(RunRows(*session, rows, seed), want), 1e-4)
            << rows << " rows, graph " << graph << ", transfers " << transfers;
      }
    }
  }
}

TEST_F(GpuEntries, ChangingTheEntryPointAllocatesNothing) {
  const auto session = Create();
  ASSERT_NE(session, nullptr);
  const InputShape shapes[] = {
      {"x", {64, kLayerDepth}}, {"x", {16, kLayerDepth}}, {"x", {7, kLayerDepth}}};
  for (const InputShape& shape : shapes) ASSERT_TRUE(session->SelectShapes({&shape, 1}).ok());
  const cuda::Counters& counters = driver().counters();
  const uint64_t launches = counters.graph_launches(), allocations = counters.allocations();
  uint64_t heap = 0;
  bool ok = true;
  {
    const AllocationCounter counter;
    for (int i = 0; i < 300; ++i) {
      ok = ok && session->SelectShapes({&shapes[i % 3], 1}).ok() && session->Run().ok();
    }
    heap = counter.count();
  }
  EXPECT_TRUE(ok);
  EXPECT_EQ(counters.graph_launches() - launches, 300u);
  EXPECT_EQ(counters.allocations() - allocations, 0u);
  EXPECT_EQ(heap, 0u);
}

}  // namespace
}  // namespace aicf::gpu
