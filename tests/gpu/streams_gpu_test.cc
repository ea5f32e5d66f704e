/// Plans with several streams or programmatic launches give, in every replay, bit for bit the
/// results of the same steps run one after the other. Where there is no GPU, the reference executes
/// such plans.
#include <cstring>
#include <random>

#include "compiler/codegen/nvrtc.h"
#include "compiler/compiler.h"
#include "tests/gpu/gpu_fixture.h"

namespace aicf::gpu {
namespace {

constexpr int64_t kSize = 96;

/// How a program is to be run.
struct Order {
  bool programmatic = true;
  uint32_t streams = 1;  ///< every step on a random one of these
  unsigned seed = 0;
};

/// A random graph of products, softmaxes and sums over values of [kSize, kSize], from x to y, in
/// which short and long steps alternate and memory is used again at once.
ir::Lowered RandomGraph(unsigned seed) {
  std::mt19937 random(seed);
  LoweredBuilder b;
  const Dims shape = {kSize, kSize};
  std::vector<ir::BufferId> values = {b.Input("x", shape)};
  const ir::BufferId y = b.Output("y", shape);
  const auto pick = [&] {
    const size_t recent = std::min<size_t>(values.size(), 4);
    return values[values.size() - 1 - random() % recent];
  };
  constexpr int kSteps = 40;
  for (int s = 0; s < kSteps; ++s) {
    const ir::BufferId out = s + 1 == kSteps ? y : b.Temp(shape);
    switch (random() % 4) {
      case 0: {
        const ir::BufferId product = b.Temp(shape);
        b.Gemm(pick(), b.Constant(shape, seed + s), product);
        b.Softmax(product, 1, out);  // keeps magnitudes bounded
        break;
      }
      case 1:
        b.Unary(abi::ExprOp::kSin, pick(), out);
        break;
      case 2:
        b.Elementwise(abi::ExprOp::kAdd, pick(), b.Constant({kSize}, seed + s), out);
        break;
      default:
        b.Elementwise(abi::ExprOp::kMin, pick(), pick(), out);
    }
    values.push_back(out);
  }
  return b.Finish();
}

Wishes StreamWishes(const ir::Lowered& lowered, const Order& order) {
  std::mt19937 random(order.seed);
  Wishes wishes;
  for (size_t s = 0; s < lowered.steps.size(); ++s) {
    Decision d;
    d.kind = DecisionKind::kStream;
    d.subject = schema::Subject::Step(static_cast<int>(s), lowered.steps[s].sources);
    d.choice = std::to_string(random() % order.streams);
    wishes.Add({d, 0, "the test"});
  }
  return wishes;
}

Result<std::shared_ptr<const Program>> CompileInOrder(const ir::Lowered& lowered,
                                                      const Order& order, bool images = true) {
  CompileOptions options;
  options.target = "cuda:sm_90a";
  options.images = images;
  if (!order.programmatic) options.passes.disabled.insert("choose-launches");
  if (order.streams == 1) options.passes.disabled.insert("choose-streams");
  const Wishes wishes = StreamWishes(lowered, order);
  DecisionLog decisions;
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(options.target));
  context.decisions = &decisions;
  if (order.streams > 1) context.wishes = &wishes;
  AICF_ASSIGN_OR_RETURN(schema::Contents contents, MakePlan(lowered, options, context));
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, schema::Serialize(contents));
  return Program::FromBytes(bytes);
}

int CountSteps(const Program& program, bool (*what)(const schema::Step&)) {
  int count = 0;
  for (const schema::Step& s : program.artifact().program().steps) count += what(s) ? 1 : 0;
  return count;
}
bool IsProgrammatic(const schema::Step& s) { return s.programmatic; }
bool IsForked(const schema::Step& s) { return s.stream != 0; }

TEST(StreamPlans, TheReferenceGivesTheSameForEveryOrder) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    const ir::Lowered lowered = RandomGraph(seed);
    const std::vector<float> x = RandomValues(kSize * kSize, seed);
    const auto serial = CompileInOrder(lowered, {false, 1, 0}, /*images=*/false);
    ASSERT_TRUE(serial.ok()) << serial.status().ToString();
    EXPECT_EQ(CountSteps(**serial, IsProgrammatic), 0);
    const std::vector<float> expected = Reference(*serial, x);
    for (uint32_t streams : {1u, 2u, 4u}) {
      const auto other = CompileInOrder(lowered, {true, streams, seed}, /*images=*/false);
      ASSERT_TRUE(other.ok()) << other.status().ToString();
      EXPECT_GT(CountSteps(**other, IsProgrammatic), 0);
      EXPECT_EQ(CountSteps(**other, IsForked) > 0, streams > 1);
      const std::vector<float> got = Reference(*other, x);
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), 4 * got.size()), 0);
    }
  }
}

class GpuStreams : public GpuTest {};

TEST_F(GpuStreams, AThousandReplaysGiveTheBitsOfTheSerialPlan) {
  constexpr int kGraphs = 5, kInputs = 10, kRepeats = 20;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    const ir::Lowered lowered = RandomGraph(seed);
    const auto serial = CompileInOrder(lowered, {false, 1, 0});
    ASSERT_TRUE(serial.ok()) << serial.status().ToString();
    const auto session = Session::Create(*serial, {});
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    std::vector<std::vector<float>> inputs, expected;
    for (unsigned i = 0; i < kInputs; ++i) {
      inputs.push_back(RandomValues(kSize * kSize, 100 * seed + i));
      expected.push_back(RunOnce(**session, **serial, inputs.back()));
      EXPECT_LT(RelativeError(expected.back(), Reference(*serial, inputs.back())), 1e-3);
    }
    for (const Order& order :
         {Order{true, 1, 0}, Order{false, 3, seed}, Order{true, 4, seed + 9}}) {
      SCOPED_TRACE(StrCat("graph ", seed, ", ", order.streams, " streams",
                          order.programmatic ? ", programmatic" : ""));
      const auto program = CompileInOrder(lowered, order);
      ASSERT_TRUE(program.ok()) << program.status().ToString();
      const auto other = Session::Create(*program, {});
      ASSERT_TRUE(other.ok()) << other.status().ToString();
      int wrong = 0;
      for (int r = 0; r < kRepeats; ++r) {
        for (unsigned i = 0; i < kInputs; ++i) {
          const std::vector<float> got = RunOnce(**other, **program, inputs[i]);
          wrong += std::memcmp(got.data(), expected[i].data(), 4 * got.size()) != 0;
        }
      }
      EXPECT_EQ(wrong, 0) << "of " << kRepeats * kInputs << " replays";
    }
  }
}

// Many short steps: what a programmatic launch saves is the gap between two of them.
TEST_F(GpuStreams, ProgrammaticLaunchesShortenAChain) {
  LoweredBuilder b;
  ir::BufferId last = b.Input("x", {1024});
  for (int s = 0; s < 200; ++s) {
    const ir::BufferId next = s == 199 ? b.Output("y", {1024}) : b.Temp({1024});
    b.Unary(abi::ExprOp::kSin, last, next);
    last = next;
  }
  const ir::Lowered lowered = b.Finish();
  double us[2];
  for (const bool programmatic : {false, true}) {
    const auto program = CompileInOrder(lowered, {programmatic, 1, 0});
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    const auto session = Session::Create(*program, {});
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    auto times = (*session)->TimeReplays(200);
    ASSERT_TRUE(times.ok()) << times.status().ToString();
    std::ranges::sort(*times);
    us[programmatic] = (*times)[times->size() / 2];
  }
  std::printf("200 short steps: %.1f us with full launches, %.1f us with programmatic ones\n",
              us[0], us[1]);
  EXPECT_LT(us[1], us[0]);
}

}  // namespace
}  // namespace aicf::gpu
