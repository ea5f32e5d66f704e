/// cuBLASLt steps with recorded algorithms against an fp64 reference written here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

#include "compiler/compiler.h"
#include "compiler/import/testing.h"
#include "kernels/cuda/gemm/library.h"
#include "kernels/cuda/gemm/matmul_layout.h"
#include "runtime/cuda/matmul.h"
#include "tests/gpu/gpu_fixture.h"
#include "tools/library/cublaslt_algorithms.h"
#include "tools/library/cublaslt_heuristic.h"

namespace aicf::gpu {
namespace {

using abi::ExprBuilder;
using abi::ExprOp;
using abi::Problem;
using abi::View;

constexpr uint64_t kWorkspaceBytes = cuda::kLibraryWorkspaceBytes;

/// One gemm step over one arena, which also exists on the host.
struct Case {
  schema::Program plan;
  schema::Step step;
  std::vector<float> arena;
};

int64_t Elements(const View& view) {
  const auto extent = abi::ExtentOf(view);
  return extent.ok() ? extent->end / 4 : 0;
}

class CaseBuilder {
 public:
  explicit CaseBuilder(unsigned seed) : random_(seed) {}

  Case Build() {
    Case c;
    Problem& p = c.step.problem;
    const int64_t batch = Upto(4), m = Upto(8) == 1 ? 1 : Upto(70), n = Upto(70), k = Upto(90);
    const bool batched = random_() % 2 == 0;
    p.family = abi::Family::kGemm;
    p.attrs = abi::GemmAttrs{};
    p.core_inputs = 2;
    p.inputs = {Matrix(batched, batch, m, k, true), Matrix(batched, batch, k, n, true)};
    p.outputs = {Matrix(batched, batch, m, n, false)};
    AddEpilogue(p);
    for (const View& view : p.inputs) c.step.inputs.push_back(AddBuffer(c, view));
    c.step.outputs.push_back(AddBuffer(c, p.outputs[0]));
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& value : c.arena) value = uniform(random_);
    c.step.workspace_offset = c.arena.size() * 4;
    c.step.workspace_bytes = kWorkspaceBytes;
    c.plan.arena_bytes = c.step.workspace_offset + kWorkspaceBytes;
    return c;
  }

 private:
  int64_t Upto(int n) { return 1 + static_cast<int64_t>(random_() % static_cast<unsigned>(n)); }

  View Matrix(bool batched, int64_t batch, int64_t rows, int64_t cols, bool any_layout) {
    const bool transposed = any_layout && random_() % 2 == 0;
    const int64_t ld = (transposed ? rows : cols) + static_cast<int64_t>(random_() % 3);
    View v;
    v.offset = static_cast<int64_t>(random_() % 3);
    v.shape = {rows, cols};
    v.strides = transposed ? Dims{1, ld} : Dims{ld, 1};
    if (!batched) return v;
    const bool repeated = any_layout && random_() % 3 == 0;
    v.shape.insert(0, batch);
    v.strides.insert(0, repeated ? 0 : ld * (transposed ? cols : rows));
    return v;
  }

  /// Nothing, bias, bias and relu, residual, or all of it with a scale.
  void AddEpilogue(Problem& p) {
    const unsigned kind = random_() % 5;
    if (kind == 0) return;
    ExprBuilder e;
    uint16_t value = e.Input(0, DType::kF32);
    if (kind == 4) value = e.Binary(ExprOp::kMul, value, e.Const(0.5, DType::kF32));
    const Dims& shape = p.outputs[0].shape;
    int next = 1;
    if (kind != 3) {
      View bias = {DType::kF32, shape, Dims::Filled(shape.rank(), 0), 4};
      bias.strides[shape.rank() - 1] = 1;
      p.inputs.push_back(bias);
      value = e.Binary(ExprOp::kAdd, value, e.Input(next++, DType::kF32));
    }
    if (kind >= 3) {
      View residual = p.outputs[0];
      residual.offset = 2;
      p.inputs.push_back(residual);
      value = e.Binary(ExprOp::kAdd, value, e.Input(next++, DType::kF32));
    }
    if (kind == 2 || kind == 4) value = e.Binary(ExprOp::kMax, value, e.Const(0, DType::kF32));
    p.epilogue = e.Finish({value});
  }

  static uint32_t AddBuffer(Case& c, const View& view) {
    schema::Buffer buffer;
    buffer.bytes = static_cast<uint64_t>(Elements(view)) * 4;
    buffer.offset = c.arena.size() * 4;
    c.arena.resize(c.arena.size() + static_cast<size_t>((Elements(view) + 63) / 64 * 64));
    c.plan.buffers.push_back(buffer);
    return static_cast<uint32_t>(c.plan.buffers.size() - 1);
  }

  std::mt19937 random_;
};

/// Calls f(batch, row, col) for every element of the output.
template <class F>
void ForEach(const Dims& shape, F&& f) {
  const int64_t batch = shape.rank() == 3 ? shape[0] : 1;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < shape[shape.rank() - 2]; ++i) {
      for (int64_t j = 0; j < shape[shape.rank() - 1]; ++j) f(b, i, j);
    }
  }
}

size_t Index(const Case& c, uint32_t buffer, const View& v, int64_t b, int64_t i, int64_t j) {
  const int rank = v.shape.rank();
  const int64_t at = v.offset + (rank == 3 ? b * v.strides[0] : 0) + i * v.strides[rank - 2] +
                     j * v.strides[rank - 1];
  return c.plan.buffers[buffer].offset / 4 + static_cast<size_t>(at);
}

double Expected(const Case& c, int64_t b, int64_t i, int64_t j) {
  const Problem& p = c.step.problem;
  const auto in = [&](int input, int64_t row, int64_t col) {
    return static_cast<double>(
        c.arena[Index(c, c.step.inputs[input], p.inputs[input], b, row, col)]);
  };
  double sum = 0;
  const int64_t depth = p.inputs[0].shape.back();
  for (int64_t k = 0; k < depth; ++k) sum += in(0, i, k) * in(1, k, j);
  const std::string text = abi::ToString(p.epilogue);
  if (text.find("mul") != std::string::npos) sum *= 0.5;
  for (int extra = 2; extra < static_cast<int>(p.inputs.size()); ++extra) sum += in(extra, i, j);
  if (text.find("max") != std::string::npos) sum = std::max(sum, 0.0);
  return sum;
}

/// What aicf-compile gives the compiler for this target.
tools::CublasLtAlgorithms AlgorithmsHere() {
  return tools::CublasLtAlgorithms(*abi::FindDevice("cuda:sm_90a"));
}

/// y = relu(x * v) * w as an ONNX file.
void WriteTwoLayers(const std::string& path, int64_t rows, int64_t depth, int64_t cols) {
  testing::ModelBuilder model;
  model.Input("x", {rows, depth});
  model.Floats("v", {depth, cols}, RandomValues(depth * cols, 71));
  model.Floats("w", {cols, cols}, RandomValues(cols * cols, 72));
  model.Node("MatMul", {"x", "v"}, {"first"});
  model.Node("Relu", {"first"}, {"positive"});
  model.Node("MatMul", {"positive", "w"}, {"y"});
  model.Output("y");
  std::ofstream out(path, std::ios::binary);
  ASSERT_TRUE(model.proto().SerializeToOstream(&out));
}

class GpuMatmul : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const auto device = cuda::Device::Retain(driver(), 0);
    ASSERT_TRUE(device.ok());
    device_ = *device;
    scope_ = std::make_unique<cuda::ContextScope>(*device_);
    auto lt = cuda::CublasLt::Open(device_);
    if (!lt.ok()) GTEST_SKIP() << lt.status().message();
    lt_ = *std::move(lt);
    auto stream = cuda::CreateStream(device_);
    ASSERT_TRUE(stream.ok());
    stream_ = *std::move(stream);
  }
  void TearDown() override {
    stream_ = {};
    lt_ = nullptr;
    scope_ = nullptr;
  }

  /// Records an algorithm for the case and runs it; the arena afterwards, or the error.
  Result<std::vector<float>> Run(Case& c) {
    AICF_ASSIGN_OR_RETURN(const cuda::DeviceMemory arena,
                          cuda::AllocateDevice(device_, "arena", c.plan.arena_bytes));
    const cuda::AddressMap addresses(c.plan, arena.get(), 0);
    AICF_ASSIGN_OR_RETURN(const cuda::MatmulLayout layout, cuda::DescribeMatmul(c.step.problem));
    AICF_ASSIGN_OR_RETURN(const LibraryAlgorithm chosen, tools::ChooseAlgorithm(*lt_, layout));
    c.step.algorithm = chosen.bytes;
    c.step.library_version = chosen.library_version;
    c.step.workspace_bytes = chosen.workspace_bytes;
    AICF_ASSIGN_OR_RETURN(const auto launch, cuda::MakeMatmulLaunch(*lt_, c.step, addresses));
    std::vector<float> result = c.arena;
    const uint64_t bytes = result.size() * 4;
    AICF_CUDA_CHECK(driver(), "in",
                    driver().MemcpyHtoDAsync(arena.get(), result.data(), bytes, stream_.get()));
    AICF_RETURN_IF_ERROR(launch->Enqueue(stream_.get()));
    AICF_CUDA_CHECK(driver(), "out",
                    driver().MemcpyDtoHAsync(result.data(), arena.get(), bytes, stream_.get()));
    AICF_CUDA_CHECK(driver(), "sync", driver().StreamSynchronize(stream_.get()));
    return result;
  }

  std::shared_ptr<const cuda::Device> device_;
  std::unique_ptr<cuda::ContextScope> scope_;
  std::unique_ptr<cuda::CublasLt> lt_;
  cuda::Stream stream_;
};

TEST_F(GpuMatmul, RandomProblemsMatchTheReference) {
  int epilogues = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    Case c = CaseBuilder(seed).Build();
    const auto result = Run(c);
    ASSERT_TRUE(result.ok()) << seed << ": " << result.status().ToString() << "\n"
                             << abi::ToString(c.step.problem);
    epilogues += !c.step.problem.epilogue.empty();
    const View& out = c.step.problem.outputs[0];
    std::vector<float> untouched = *result;
    ForEach(out.shape, [&](int64_t b, int64_t i, int64_t j) {
      const size_t at = Index(c, c.step.outputs[0], out, b, i, j);
      const double expected = Expected(c, b, i, j);
      ASSERT_NEAR((*result)[at], expected, 1e-4) << seed << ": " << b << " " << i << " " << j;
      untouched[at] = c.arena[at];
    });
    ASSERT_EQ(untouched, c.arena) << seed << ": bytes outside the output changed";
  }
  EXPECT_GT(epilogues, 50);
}

TEST_F(GpuMatmul, AnArtifactWithARecordedAlgorithmIsCapturedAndReplayed) {
  tools::CublasLtAlgorithms library = AlgorithmsHere();
  auto contents = CompileToContents(DenseLayer(48, 320, 200), &library);
  ASSERT_TRUE(contents.ok()) << contents.status().ToString();
  schema::Step& step = contents->program.steps[0];
  EXPECT_EQ(step.library_version, lt_->version());
  EXPECT_EQ(step.algorithm,
            CompileToContents(DenseLayer(48, 320, 200), &library)->program.steps[0].algorithm);
  const auto bytes = schema::Serialize(*contents);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const auto program = Program::FromBytes(*bytes);
  ASSERT_TRUE(program.ok());
  const auto session = Session::Create(*program, {});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const uint64_t allocations = driver().counters().allocations();
  for (unsigned seed = 50; seed < 60; ++seed) {
    const std::vector<float> x = RandomValues(48 * 320, seed);
    EXPECT_LT(RelativeError(RunOnce(**session, **program, x), Reference(*program, x)), 1e-5);
  }
  EXPECT_EQ(driver().counters().allocations(), allocations);
  step.library_version += 1;
  const auto other = schema::Serialize(*contents);
  ASSERT_TRUE(other.ok());
  const auto stale = Program::FromBytes(*other);
  ASSERT_TRUE(stale.ok());
  EXPECT_EQ(Session::Create(*stale, {}).status().code(), Code::kDevice);
}

TEST_F(GpuMatmul, AModelCompiledForTheLibraryRunsAndGivesEqualBits) {
  const std::string path = ::testing::TempDir() + "/library_model.onnx";
  WriteTwoLayers(path, 64, 2048, 96);
  tools::CublasLtAlgorithms library = AlgorithmsHere();
  CompileOptions options;
  options.target = "cuda:sm_90a";
  options.policy = *Policy::Parse("gemm=cublaslt");
  options.policy_strict = true;
  options.library_algorithms = &library;
  const auto compiled = Compile(path, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  const std::string version = std::to_string(lt_->version());
  EXPECT_NE(compiled->contents.provenance.find(version), std::string::npos);
  const auto again = Compile(path, options);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(compiled->bytes, again->bytes);
  const auto program = Program::FromBytes(compiled->bytes);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  const auto session = Session::Create(*program, {});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const std::vector<float> x = RandomValues(64 * 2048, 70);
  const std::vector<float> y = RunOnce(**session, **program, x);
  EXPECT_LT(RelativeError(y, Reference(*program, x)), 1e-4);
  for (int replay = 0; replay < 100; ++replay) ASSERT_EQ(RunOnce(**session, **program, x), y);
}

TEST_F(GpuMatmul, AnotherLibraryVersionAndBrokenAlgorithmsAreRefused) {
  Case c = CaseBuilder(1).Build();
  ASSERT_TRUE(Run(c).ok());
  const auto arena = cuda::AllocateDevice(device_, "arena", c.plan.arena_bytes);
  ASSERT_TRUE(arena.ok());
  const cuda::AddressMap addresses(c.plan, arena->get(), 0);
  schema::Step step = c.step;
  step.library_version += 1;
  const Status version = cuda::MakeMatmulLaunch(*lt_, step, addresses).status();
  EXPECT_EQ(version.code(), Code::kDevice);
  EXPECT_NE(version.message().find(std::to_string(lt_->version())), std::string::npos);
  step = c.step;
  step.algorithm.pop_back();
  EXPECT_EQ(cuda::MakeMatmulLaunch(*lt_, step, addresses).status().code(), Code::kBadArtifact);
  step = c.step;
  std::fill(step.algorithm.begin(), step.algorithm.end(), uint8_t{0xff});
  EXPECT_FALSE(cuda::MakeMatmulLaunch(*lt_, step, addresses).ok());
}

}  // namespace
}  // namespace aicf::gpu
