// Padding from end to end: random models are compiled for five rows and run with fewer rows, and
// compared with the same models compiled for exactly that number; on the CPU, and as plans for a
// GPU on the reference kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "aicf/aicf.h"
#include "compiler/buckets/padding.h"
#include "compiler/buckets/testing.h"
#include "compiler/ir/prefix/random_model.h"

namespace aicf {
namespace {

constexpr int64_t kRows = 5;
constexpr int64_t kRowElements = 12;

ShapeMap Shape(int64_t rows) { return {{"x", {rows, 3, 4}}}; }

/// The model for five rows, with what is proven of it; without buckets for others, exactly those.
Result<std::unique_ptr<Session>> OpenSession(const ir::Graph& model, const std::string& target,
                                             int64_t rows, bool pads) {
  AICF_ASSIGN_OR_RETURN(schema::Contents contents, testing::PlanOf(model, Shape(rows), target));
  if (pads) {
    DecisionLog log;
    PassContext context;
    AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(target));
    context.decisions = &log;
    AICF_ASSIGN_OR_RETURN(const auto shapes, InputShapes(model, {{"rows", Shape(rows)}}));
    AICF_ASSIGN_OR_RETURN(contents.program.entry_points[0].paddings,
                          ProvePaddings(model, shapes, 0, context));
  }
  AICF_ASSIGN_OR_RETURN(const auto bytes, schema::Serialize(contents));
  AICF_ASSIGN_OR_RETURN(auto program, Program::FromBytes(bytes));
  SessionOptions options;
  options.device = "cpu";
  options.threads = 1;
  return Session::Create(std::move(program), options);
}

std::vector<float> RandomRows(int64_t rows, uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<float> x(static_cast<size_t>(rows * kRowElements));
  for (float& v : x) v = uniform(rng);
  return x;
}

Result<std::vector<float>> RunRows(Session& session, int64_t rows, uint32_t seed, bool poison) {
  const InputShape shape{"x", {rows, 3, 4}};
  AICF_RETURN_IF_ERROR(session.SelectShapes({&shape, 1}));
  const std::vector<float> x = RandomRows(rows, seed);
  AICF_RETURN_IF_ERROR(session.SetInput("x", TensorOf(x, shape.shape)));
  if (poison) {  // the proof is of any padding, not of zeros
    AICF_ASSIGN_OR_RETURN(void* const input, session.InputPointer("x"));
    auto* const all = static_cast<float*>(input);
    std::fill(all + rows * kRowElements, all + kRows * kRowElements,
              std::numeric_limits<float>::quiet_NaN());
  }
  AICF_RETURN_IF_ERROR(session.Run());
  AICF_ASSIGN_OR_RETURN(const Dims out, session.OutputShape("y"));
  std::vector<float> y(static_cast<size_t>(*ElementCount(out)));
  AICF_RETURN_IF_ERROR(session.GetOutput("y", TensorInto(y, out)));
  return y;
}

// The last positions of a tensor go through other loops than the first ones, so where they lie
// decides an ULP of theirs, which a normalisation of nearly equal values then magnifies.
void ExpectClose(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], 1e-5 * (1 + std::abs(want[i]))) << "element " << i;
  }
}

/// Row counts below five that were served; -1 on an error.
int CompareAllRows(const std::string& body, const std::string& target, uint32_t seed) {
  const ir::Graph model = testing::OpenModel(body);
  const auto padded = OpenSession(model, target, kRows, true);
  EXPECT_TRUE(padded.ok()) << padded.status().ToString();
  int served = 0;
  for (int64_t rows = 1; padded.ok() && rows < kRows; ++rows) {
    const InputShape shape{"x", {rows, 3, 4}};
    if (!(*padded)->SelectShapes({&shape, 1}).ok()) continue;
    ++served;
    const auto exact = OpenSession(model, target, rows, false);
    EXPECT_TRUE(exact.ok()) << exact.status().ToString();
    if (!exact.ok()) return -1;
    const auto want = RunRows(**exact, rows, seed, false);
    const auto zeros = RunRows(**padded, rows, seed, false);
    const auto poison = RunRows(**padded, rows, seed, true);
    EXPECT_TRUE(want.ok() && zeros.ok() && poison.ok());
    if (!want.ok() || !zeros.ok() || !poison.ok()) return -1;
    ExpectClose(*zeros, *want);
    // What the padding holds changes no bit.
    EXPECT_EQ(*poison, *zeros);
  }
  return served;
}

void CompareModels(const std::string& target, uint32_t seeds) {
  int served = 0, refused = 0;
  for (uint32_t seed = 1000; seed < 1000 + seeds; ++seed) {
    std::string body = testing::RandomModel(seed).Body(2 + static_cast<int>(seed % 6));
    for (size_t at = body.find('@'); at != std::string::npos; at = body.find('@')) body[at] = '?';
    const int rows = CompareAllRows(body, target, seed);
    (rows > 0 ? served : refused) += 1;
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed << "\n" << body;
      return;
    }
  }
  EXPECT_GT(served, static_cast<int>(seeds) / 4);
  EXPECT_GT(refused, static_cast<int>(seeds) / 10);
}

TEST(Padding, GivesWhatAnExactCompilationGivesOnTheCpu) { CompareModels("cpu:baseline", 80); }

TEST(Padding, GivesWhatAnExactCompilationGivesWithPlansForAGpu) {
  CompareModels("cuda:sm_90a", 40);
}

}  // namespace
}  // namespace aicf
