// Random programs of steps and copies (concatenations that grow or nest, rolls, windows and back):
// with all passes and with none the same values come out, and both plans are verified.
#include <gtest/gtest.h>

#include <random>

#include "compiler/compiler.h"
#include "compiler/passes/lower/lower.h"
#include "compiler/passes/lower/operand_expr.h"
#include "compiler/plan/plan.h"
#include "schema/artifact.h"

namespace aicf {
namespace {

constexpr int64_t kSide = 4;  // images of 4 x 4, in windows of 2 x 2

// Values are f32 [4, 4, channels], row by row.
class RandomCopies {
 public:
  explicit RandomCopies(uint32_t seed) : rng_(seed) {
    program_.name = "random";
    values_ = {Add(4, schema::Role::kInput), Add(8, schema::Role::kInput)};
    program_.inputs = values_;
  }

  ir::Lowered Make(int steps) {
    for (int i = 0; i < steps; ++i) AddStep();
    Emit(values_.back());
    Emit(values_[values_.size() / 2]);
    return std::move(program_);
  }

 private:
  int Draw(int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng_); }
  int64_t ChannelsOf(ir::BufferId b) const { return program_.buffers[b].shape[2]; }
  abi::View ViewOf(ir::BufferId b) const {
    return abi::DenseView(DType::kF32, program_.buffers[b].shape);
  }

  ir::BufferId Add(int64_t channels, schema::Role role = schema::Role::kTemp) {
    const auto id = static_cast<ir::BufferId>(program_.buffers.size());
    program_.buffers.push_back({StrCat("v", id), DType::kF32, {kSide, kSide, channels}, role, {}});
    return id;
  }

  // Mostly one of the last values, so that chains grow.
  ir::BufferId Pick() {
    const int count = static_cast<int>(values_.size());
    return values_[static_cast<size_t>(Draw(2) == 0 ? count - 1 - Draw(std::min(count, 3))
                                                    : Draw(count))];
  }

  void Push(abi::Problem problem, std::vector<ir::BufferId> inputs, ir::BufferId output) {
    problem.core_inputs = static_cast<int>(inputs.size());
    program_.steps.push_back(
        {{StrCat("n", program_.steps.size())}, std::move(problem), std::move(inputs), {output}});
  }

  void Elementwise(abi::ExprOp op, const std::vector<ir::BufferId>& inputs, ir::BufferId output) {
    abi::Problem p;
    p.family = abi::Family::kElementwise;
    p.attrs = abi::ElementwiseAttrs{};
    OperandExpr expr(0);
    std::vector<uint16_t> args;
    for (ir::BufferId b : inputs) args.push_back(expr.Load({b, ViewOf(b)}));
    const uint16_t result = args.size() == 1 ? expr.builder().Unary(op, args[0])
                                             : expr.builder().Binary(op, args[0], args[1]);
    p.epilogue = expr.Finish({result});
    std::vector<ir::BufferId> operands;
    AppendOperands(expr.operands(), p, operands);
    p.outputs = {ViewOf(output)};
    Push(std::move(p), operands, output);
  }

  void Copy(const std::vector<ir::BufferId>& inputs, std::vector<abi::View> pieces,
            std::vector<Dims> starts, const abi::View& out, ir::BufferId output) {
    abi::Problem p;
    p.family = abi::Family::kCopy;
    p.attrs = abi::CopyAttrs{std::move(starts), false, 0};
    p.inputs = std::move(pieces);
    p.outputs = {out};
    Push(std::move(p), inputs, output);
  }

  ir::BufferId Concat(const std::vector<ir::BufferId>& parts) {
    int64_t channels = 0;
    std::vector<abi::View> pieces;
    std::vector<Dims> starts;
    for (ir::BufferId b : parts) {
      pieces.push_back(ViewOf(b));
      starts.push_back({0, 0, channels});
      channels += ChannelsOf(b);
    }
    const ir::BufferId out = Add(channels);
    Copy(parts, std::move(pieces), std::move(starts), ViewOf(out), out);
    return out;
  }

  // Like a dense block: what was joined so far, and one more.
  ir::BufferId Grow() {
    if (joined_.empty() || Draw(4) == 0) joined_ = {Pick()};
    joined_.push_back(Pick());
    if (joined_.size() > 5) joined_.erase(joined_.begin());
    return Concat(joined_);
  }

  ir::BufferId Roll(ir::BufferId x) {
    const int axis = Draw(2);
    const int64_t by = 1 + Draw(kSide - 1);
    abi::View first = ViewOf(x), second = first;
    first.shape[axis] = by;
    first.offset = (kSide - by) * first.strides[axis];
    second.shape[axis] = kSide - by;
    Dims start = {0, 0, 0};
    start[axis] = by;
    const ir::BufferId out = Add(ChannelsOf(x));
    Copy({x, x}, {first, second}, {{0, 0, 0}, start}, ViewOf(out), out);
    return out;
  }

  // Rows, columns and their two digits change places: windows, and the way back.
  ir::BufferId Windows(ir::BufferId x) {
    const int64_t c = ChannelsOf(x);
    const Dims shape = {2, 2, 2, 2, c};
    const ir::BufferId out = Add(c);
    Copy({x}, {{DType::kF32, shape, {8 * c, 2 * c, 4 * c, c, 1}, 0}}, {{0, 0, 0, 0, 0}},
         abi::DenseView(DType::kF32, shape), out);
    return out;
  }

  ir::BufferId Softmax(ir::BufferId x) {
    abi::Problem p;
    p.family = abi::Family::kNormalize;
    p.attrs = abi::NormalizeAttrs{abi::NormalizeKind::kSoftmax, {2}, 0};
    p.inputs = {ViewOf(x)};
    const ir::BufferId out = Add(ChannelsOf(x));
    p.outputs = {ViewOf(out)};
    Push(std::move(p), {x}, out);
    return out;
  }

  void AddStep() {
    const ir::BufferId x = Pick();
    if (ChannelsOf(x) > 64) return Keep(Softmax(values_[0]));
    switch (Draw(8)) {
      case 0:
        return Keep(Unary(x));
      case 1:
        return Keep(Grow());
      case 2:
        return Keep(Concat({x, Pick()}));
      case 3:
        return Keep(Roll(Draw(2) == 0 ? Roll(x) : x));
      case 4:
        return Keep(Windows(Roll(Roll(x))));
      case 5:
        return Keep(Sum(x, Windows(x)));
      case 6:
        return Keep(Softmax(x));
      default:
        return Keep(Sum(x, Unary(x)));
    }
  }

  ir::BufferId Unary(ir::BufferId x) {
    const ir::BufferId out = Add(ChannelsOf(x));
    Elementwise(Draw(2) == 0 ? abi::ExprOp::kNeg : abi::ExprOp::kAbs, {x}, out);
    return out;
  }
  ir::BufferId Sum(ir::BufferId x, ir::BufferId y) {
    const ir::BufferId out = Add(ChannelsOf(x));
    Elementwise(abi::ExprOp::kAdd, {x, y}, out);
    return out;
  }

  void Keep(ir::BufferId b) { values_.push_back(b); }

  // An output of its own; sometimes a copy is what the model returns.
  void Emit(ir::BufferId x) {
    const ir::BufferId out = Add(ChannelsOf(x), schema::Role::kOutput);
    program_.outputs.push_back(out);
    if (Draw(2) == 0) return Elementwise(abi::ExprOp::kNeg, {x}, out);
    Copy({x}, {ViewOf(x)}, {{0, 0, 0}}, ViewOf(out), out);
  }

  std::mt19937 rng_;
  ir::Lowered program_;
  std::vector<ir::BufferId> values_, joined_;
};

std::vector<ir::Tensor> InputsOf(const ir::Lowered& program, uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<ir::Tensor> inputs;
  for (ir::BufferId b : program.inputs) {
    std::vector<float> values(ir::BytesOf(program.buffers[b]) / sizeof(float));
    for (float& v : values) v = uniform(rng);
    inputs.push_back(ir::Tensor::FromValues<float>(DType::kF32, program.buffers[b].shape,
                                                   std::span<const float>(values)));
  }
  return inputs;
}

void ExpectSame(const ir::Lowered& before, const ir::Lowered& after, uint32_t seed) {
  const auto inputs = InputsOf(before, seed);
  const auto want = Interpret(before, inputs), got = Interpret(after, inputs);
  ASSERT_TRUE(want.ok() && got.ok()) << got.status().ToString();
  for (size_t k = 0; k < want->size(); ++k) {
    for (int64_t i = 0; i < (*want)[k].count(); ++i) {
      ASSERT_EQ((*want)[k].FloatAt(i), (*got)[k].FloatAt(i)) << "output " << k << " element " << i;
    }
  }
}

// All passes for the device, "" for none, and its plan; the steps that are left.
size_t Check(const ir::Lowered& before, const std::string& target, uint32_t seed) {
  DecisionLog log;
  PassContext context;
  context.decisions = &log;
  context.device.name = "";
  if (!target.empty()) context.device = *abi::FindDevice(target);
  ir::Lowered after = before;
  const Status status = PassRunner({}).Run(after, context);
  EXPECT_TRUE(status.ok()) << status.ToString();
  if (!status.ok()) return 0;
  ExpectSame(before, after, seed);
  if (target.empty()) return after.steps.size();
  CompileOptions options;
  options.target = target;
  options.images = false;
  const auto plan = MakePlan(after, options, context);
  EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  if (plan.ok()) {
    const auto bytes = schema::Serialize(*plan);  // verifies
    EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  }
  return after.steps.size();
}

TEST(LoweredPasses, RandomCopiesKeepTheirValues) {
  size_t shorter = 0;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    const ir::Lowered before = RandomCopies(seed).Make(4 + static_cast<int>(seed % 10));
    SCOPED_TRACE(StrCat("seed ", seed, "\n", ir::ToString(before)));
    ASSERT_TRUE(ir::Verify(before).ok()) << ir::Verify(before).ToString();
    for (const char* target : {"", "cpu", "cuda:sm_90a"}) {
      shorter += Check(before, target, seed) + 1 < before.steps.size() ? 1 : 0;
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(shorter, 300u);  // most programs lost two steps or more, or this proves nothing
}

}  // namespace
}  // namespace aicf
