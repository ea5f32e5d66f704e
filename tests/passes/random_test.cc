// Random graphs: the lowered program must compute the same before and after each of its passes, and
// stay the same when it is printed as text and parsed again.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/text.h"
#include "compiler/passes/lower/lower.h"
#include "tests/passes/random_graph.h"

namespace aicf {
namespace {

constexpr int kGraphs = 400;

std::vector<ir::Tensor> Inputs(const ir::Lowered& lowered, uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<ir::Tensor> out;
  for (ir::BufferId b : lowered.inputs) {
    const Dims& shape = lowered.buffers[b].shape;
    std::vector<float> values(static_cast<size_t>(*ElementCount(shape)));
    for (float& v : values) v = uniform(rng);
    out.push_back(ir::Tensor::FromValues<float>(DType::kF32, shape, values));
  }
  return out;
}

// Values differ by the rounding of fma alone.
void ExpectSame(const std::vector<ir::Tensor>& want, const std::vector<ir::Tensor>& got) {
  ASSERT_EQ(want.size(), got.size());
  for (size_t k = 0; k < want.size(); ++k) {
    ASSERT_EQ(want[k].shape(), got[k].shape());
    double scale = 1e-3;
    for (int64_t i = 0; i < want[k].count(); ++i)
      scale = std::max(scale, std::abs(want[k].FloatAt(i)));
    for (int64_t i = 0; i < want[k].count(); ++i) {
      const double a = want[k].FloatAt(i), b = got[k].FloatAt(i);
      if (std::isnan(a) && std::isnan(b)) continue;
      ASSERT_LE(std::abs(a - b), 1e-4 * scale) << "output " << k << " element " << i;
    }
  }
}

void ExpectRoundTrip(const ir::Lowered& lowered) {
  const std::string text = ToString(lowered);
  const auto parsed = ir::ParseLowered(text, [&](DType, const Dims&, std::string_view hash) {
    for (const ir::LoweredBuffer& b : lowered.buffers) {
      if (b.constant.has_data() && ToHex(HashBytes(b.constant.bytes())) == hash) return b.constant;
    }
    return ir::Tensor();
  });
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  ASSERT_EQ(ToString(*parsed), text);
}

// Steps saved over all graphs by each pass, so that a pass that stopped working is noticed.
std::map<std::string_view, int> saved;

void RunGraph(uint32_t seed, const char* device) {
  const ir::Graph graph = RandomGraph(seed).Make(4 + static_cast<int>(seed % 20));
  DecisionLog log;
  PassContext context;
  context.device = *abi::FindDevice(device);
  context.decisions = &log;
  auto lowered = LowerGraph(graph, context);
  ASSERT_TRUE(lowered.ok()) << lowered.status().ToString();
  ASSERT_TRUE(Verify(*lowered).ok()) << Verify(*lowered).ToString() << ToString(*lowered);
  const std::vector<ir::Tensor> inputs = Inputs(*lowered, seed);
  const auto want = Interpret(*lowered, inputs);
  ASSERT_TRUE(want.ok());
  for (const PassInfo& pass : AllPasses()) {
    if (pass.run_lowered == nullptr) continue;
    SCOPED_TRACE(pass.name);
    const std::string before = ToString(*lowered);
    const size_t steps = lowered->steps.size();
    const Status status = pass.run_lowered(*lowered, context);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_TRUE(Verify(*lowered).ok()) << Verify(*lowered).ToString() << "\nbefore:\n" << before;
    saved[pass.name] += static_cast<int>(steps) - static_cast<int>(lowered->steps.size());
    const auto got = Interpret(*lowered, inputs);
    ASSERT_TRUE(got.ok());
    ASSERT_NO_FATAL_FAILURE(ExpectSame(*want, *got)) << before << "\nafter:\n"
                                                     << ToString(*lowered);
  }
  ExpectRoundTrip(*lowered);
}

TEST(RandomGraphs, EveryPassKeepsTheValues) {
  saved.clear();
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RunGraph(seed, seed % 2 == 0 ? "cpu:baseline" : "cuda:sm_90a");
    if (HasFatalFailure()) return;
  }
  for (std::string_view pass : {"forward-copies", "cse-steps", "fuse-elementwise", "fuse-epilogue",
                                "fuse-prologue", "eliminate-copies", "dead-steps"}) {
    EXPECT_GT(saved[pass], 2) << pass;
  }
}

}  // namespace
}  // namespace aicf
