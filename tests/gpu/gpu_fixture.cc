#include "tests/gpu/gpu_fixture.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "compiler/codegen/nvrtc.h"
#include "compiler/compiler.h"

namespace aicf::gpu {

void GpuTest::SetUp() {
  const auto driver = cuda::Driver::Get();
  if (!driver.ok()) GTEST_SKIP() << driver.status().message();
  driver_ = *driver;
  const auto nvrtc = Nvrtc::Open();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status().message();
}

ir::BufferId LoweredBuilder::Add(const std::string& name, const Dims& shape, schema::Role role) {
  ir::LoweredBuffer buffer;
  buffer.name = name;
  buffer.shape = shape;
  buffer.role = role;
  lowered_.buffers.push_back(buffer);
  return static_cast<ir::BufferId>(lowered_.buffers.size() - 1);
}

ir::BufferId LoweredBuilder::Input(const std::string& name, const Dims& shape) {
  lowered_.inputs.push_back(Add(name, shape, schema::Role::kInput));
  return lowered_.inputs.back();
}

ir::BufferId LoweredBuilder::Output(const std::string& name, const Dims& shape) {
  lowered_.outputs.push_back(Add(name, shape, schema::Role::kOutput));
  return lowered_.outputs.back();
}

ir::BufferId LoweredBuilder::Temp(const Dims& shape) {
  return Add(StrCat("%", lowered_.buffers.size()), shape, schema::Role::kTemp);
}

ir::BufferId LoweredBuilder::Constant(const Dims& shape, unsigned seed) {
  const ir::BufferId id = Add(StrCat("w", lowered_.buffers.size()), shape, schema::Role::kConstant);
  const std::vector<float> values = RandomValues(*ElementCount(shape), seed);
  lowered_.buffers[id].constant =
      ir::Tensor::FromValues<float>(DType::kF32, shape, std::span<const float>(values));
  return id;
}

abi::View LoweredBuilder::ViewOf(ir::BufferId buffer, const Dims& shape) const {
  const Dims& own = lowered_.buffers[buffer].shape;
  abi::View view = abi::DenseView(DType::kF32, own);
  const int extra = shape.rank() - own.rank();
  Dims strides = Dims::Filled(shape.rank(), 0);
  for (int axis = 0; axis < own.rank(); ++axis) {
    if (own[axis] != 1) strides[axis + extra] = view.strides[axis];
  }
  view.shape = shape;
  view.strides = strides;
  return view;
}

void LoweredBuilder::Emit(abi::Problem problem, std::vector<ir::BufferId> inputs,
                          ir::BufferId output) {
  problem.outputs = {abi::DenseView(DType::kF32, lowered_.buffers[output].shape)};
  ir::LoweredStep step;
  step.sources = {StrCat("step", lowered_.steps.size())};
  step.problem = std::move(problem);
  step.inputs = std::move(inputs);
  step.outputs = {output};
  lowered_.steps.push_back(std::move(step));
}

void LoweredBuilder::Elementwise(abi::ExprOp op, ir::BufferId a, ir::BufferId b, ir::BufferId out) {
  const Dims& shape = lowered_.buffers[out].shape;
  abi::Problem p;
  p.family = abi::Family::kElementwise;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = {ViewOf(a, shape), ViewOf(b, shape)};
  p.core_inputs = 2;
  abi::ExprBuilder e;
  p.epilogue = e.Finish({e.Binary(op, e.Input(0, DType::kF32), e.Input(1, DType::kF32))});
  Emit(std::move(p), {a, b}, out);
}

void LoweredBuilder::Unary(abi::ExprOp op, ir::BufferId a, ir::BufferId out) {
  abi::Problem p;
  p.family = abi::Family::kElementwise;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = {ViewOf(a, lowered_.buffers[out].shape)};
  p.core_inputs = 1;
  abi::ExprBuilder e;
  p.epilogue = e.Finish({e.Unary(op, e.Input(0, DType::kF32))});
  Emit(std::move(p), {a}, out);
}

void LoweredBuilder::Sum(ir::BufferId a, int axis, ir::BufferId out) {
  abi::Problem p;
  p.family = abi::Family::kReduce;
  abi::ReduceAttrs attrs;
  attrs.axes = {axis};
  p.attrs = attrs;
  p.inputs = {abi::DenseView(DType::kF32, lowered_.buffers[a].shape)};
  p.core_inputs = 1;
  Emit(std::move(p), {a}, out);
}

void LoweredBuilder::Softmax(ir::BufferId a, int axis, ir::BufferId out) {
  abi::Problem p;
  p.family = abi::Family::kNormalize;
  abi::NormalizeAttrs attrs;
  attrs.kind = abi::NormalizeKind::kSoftmax;
  attrs.axes = {axis};
  p.attrs = attrs;
  p.inputs = {abi::DenseView(DType::kF32, lowered_.buffers[a].shape)};
  p.core_inputs = 1;
  Emit(std::move(p), {a}, out);
}

void LoweredBuilder::Gemm(ir::BufferId a, ir::BufferId b, ir::BufferId out) {
  abi::Problem p;
  p.family = abi::Family::kGemm;
  p.attrs = abi::GemmAttrs{};
  p.inputs = {abi::DenseView(DType::kF32, lowered_.buffers[a].shape),
              abi::DenseView(DType::kF32, lowered_.buffers[b].shape)};
  p.core_inputs = 2;
  Emit(std::move(p), {a, b}, out);
}

ir::Lowered LoweredBuilder::Finish() {
  lowered_.name = "test";
  return std::move(lowered_);
}

ir::Lowered MixedProgram(int64_t rows, int64_t cols) {
  LoweredBuilder b;
  const ir::BufferId x = b.Input("x", {rows, cols});
  const ir::BufferId y = b.Output("y", {rows, cols});
  const ir::BufferId shifted = b.Temp({rows, cols});
  const ir::BufferId sine = b.Temp({rows, cols});
  const ir::BufferId product = b.Temp({rows, cols});
  const ir::BufferId shares = b.Temp({rows, cols});
  const ir::BufferId sums = b.Temp({rows, 1});
  b.Elementwise(abi::ExprOp::kAdd, x, b.Constant({cols}, 1), shifted);
  b.Unary(abi::ExprOp::kSin, shifted, sine);
  b.Gemm(sine, b.Constant({cols, cols}, 2), product);
  b.Softmax(product, 1, shares);
  b.Sum(product, 1, sums);
  b.Elementwise(abi::ExprOp::kMul, shares, sums, y);
  return b.Finish();
}

ir::Lowered TinyProgram(int64_t elements) {
  LoweredBuilder b;
  const ir::BufferId x = b.Input("x", {elements});
  const ir::BufferId y = b.Output("y", {elements});
  b.Elementwise(abi::ExprOp::kMul, x, b.Constant({elements}, 3), y);
  return b.Finish();
}

ir::Lowered DenseLayer(int64_t rows, int64_t depth, int64_t cols) {
  LoweredBuilder b;
  const ir::BufferId x = b.Input("x", {rows, depth});
  const ir::BufferId y = b.Output("y", {rows, cols});
  const ir::BufferId w = b.Constant({depth, cols}, 40);
  const ir::BufferId bias = b.Constant({cols}, 41);
  b.Gemm(x, w, y);
  ir::Lowered lowered = b.Finish();
  ir::LoweredStep& step = lowered.steps[0];
  step.inputs.push_back(bias);
  step.problem.inputs.push_back({DType::kF32, {rows, cols}, {0, 1}, 0});
  abi::ExprBuilder e;
  const uint16_t sum =
      e.Binary(abi::ExprOp::kAdd, e.Input(0, DType::kF32), e.Input(1, DType::kF32));
  step.problem.epilogue = e.Finish({e.Binary(abi::ExprOp::kMax, sum, e.Const(0, DType::kF32))});
  return lowered;
}

Result<LibraryAlgorithm> FixedAlgorithm::For(const abi::Problem& problem) {
  asked_.push_back(abi::ToString(problem));
  return algorithm_;
}

Result<schema::Contents> CompileToContents(const ir::Lowered& lowered,
                                           LibraryAlgorithms* algorithms) {
  CompileOptions options;
  options.target = "cuda:sm_90a";
  options.kernel_cache_dir = "none";
  options.library_algorithms = algorithms;
  if (algorithms != nullptr) options.policy = *Policy::Parse("gemm=cublaslt");
  options.policy_strict = true;
  DecisionLog decisions;
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(options.target));
  context.decisions = &decisions;
  AICF_RETURN_IF_ERROR(ir::Verify(lowered));
  AICF_ASSIGN_OR_RETURN(schema::Contents contents, MakePlan(lowered, options, context));
  contents.decisions = decisions.ToJsonLines();
  return contents;
}

Result<std::vector<std::byte>> CompileToBytes(const ir::Lowered& lowered) {
  AICF_ASSIGN_OR_RETURN(const schema::Contents contents, CompileToContents(lowered));
  return schema::Serialize(contents);
}

Result<std::shared_ptr<const Program>> CompileLowered(const ir::Lowered& lowered) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, CompileToBytes(lowered));
  return Program::FromBytes(bytes);
}

std::vector<float> RandomValues(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = uniform(random);
  return values;
}

std::vector<float> RunOnce(Session& session, const Program& program, const std::vector<float>& x) {
  std::vector<float> y(program.outputs()[0].bytes / 4);
  const TensorInfo &in = program.inputs()[0], &out = program.outputs()[0];
  const Status set = session.SetInput(in.name, TensorOf(x, in.shape));
  EXPECT_TRUE(set.ok()) << set.ToString();
  const Status ran = session.Run();
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  EXPECT_TRUE(session.Wait().ok());
  const Status got = session.GetOutput(out.name, TensorInto(y, out.shape));
  EXPECT_TRUE(got.ok()) << got.ToString();
  return y;
}

std::vector<float> Reference(const std::shared_ptr<const Program>& program,
                             const std::vector<float>& x) {
  SessionOptions options;
  options.device = "cpu";
  auto session = Session::Create(program, options);
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  if (!session.ok()) return {};
  return RunOnce(**session, *program, x);
}

double RelativeError(const std::vector<float>& actual, const std::vector<float>& expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double worst = 0;
  double largest = 0;
  for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
    if (std::isnan(difference)) return INFINITY;
    worst = std::max(worst, difference);
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return largest > 0 ? worst / largest : worst;
}

}  // namespace aicf::gpu
