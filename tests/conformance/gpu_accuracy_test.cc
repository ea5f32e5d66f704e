// Accuracy and size on the GPU: units in the last place of every function, long products, and
// tensors of more than 2^31 elements.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/conformance/gpu_jobs.h"

namespace aicf::conformance {
namespace {

using abi::DeviceSpec;
using abi::ExprOp;
using abi::Family;
using abi::KernelInfo;
using abi::Problem;

class GpuAccuracy : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<JobRunner>> made = JobRunner::Make();
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    runner_ = *std::move(made);
  }

  // Compiles and runs one instance on buffers that are already on the GPU.
  Status Launch(std::string_view key, const Problem& p, std::vector<uint64_t> addresses) {
    const KernelInfo* k = abi::FindKernel(key);
    const DeviceSpec& d = runner_->device();
    const abi::Variant variant = abi::BestCandidate(*k, p, d)->variant;
    const ImageRequest request{k, &p, variant};
    AICF_ASSIGN_OR_RETURN(const CompiledImages images,
                          CompileImages({&request, 1}, d, ImageOptions{"none", 0, {}}));
    AICF_ASSIGN_OR_RETURN(const uint64_t workspace,
                          runner_->gpu().Allocate(variant.workspace_bytes));
    addresses.push_back(workspace);
    return runner_->gpu().Run(images.images[0].cubin, images.images[0].symbol, variant.launch,
                              addresses);
  }

  std::unique_ptr<JobRunner> runner_;
};

void PutFloat(std::vector<std::byte>& buffer, size_t i, float v) {
  std::memcpy(&buffer[i * 4], &v, 4);
}

// Random floats of every magnitude, a dense set near 0 and 1, and the special values.
float Argument(Random& random, size_t i) {
  constexpr float kSpecial[] = {0.0f, -0.0f,  1.0f,    -1.0f,         INFINITY,  -INFINITY,
                                NAN,  1e-45f, -1e-40f, 3.4028235e38f, 88.72284f, -103.97f,
                                0.5f, -0.5f,  2.0f,    1.5707964f};
  if (i < std::size(kSpecial)) return kSpecial[i];
  if (i % 3 == 0) {
    const auto bits = static_cast<uint32_t>(random.Next());
    float v;
    std::memcpy(&v, &bits, 4);
    return v;
  }
  return static_cast<float>(i % 3 == 1 ? random.Real(-3, 3) : random.Real(-100, 100));
}

Case FunctionCase(ExprOp op, uint64_t seed, DType store) {
  constexpr int64_t kCount = 1 << 16;
  Case c;
  Problem& p = c.problem;
  p.family = Family::kElementwise;
  p.attrs = abi::ElementwiseAttrs{};
  const bool binary = abi::ExprOpArity(op) == 2;
  for (int k = 0; k < (binary ? 2 : 1); ++k)
    p.inputs.push_back(abi::DenseView(DType::kF32, {kCount}));
  p.outputs = {abi::DenseView(store, {kCount})};
  p.core_inputs = static_cast<int>(p.inputs.size());
  abi::ExprBuilder b;
  const uint16_t x = b.Input(0, DType::kF32);
  p.epilogue = b.Finish({binary ? b.Binary(op, x, b.Input(1, DType::kF32)) : b.Unary(op, x)});
  Random random(seed);
  FillBuffers(random, c, false);
  for (size_t k = 0; k < p.inputs.size(); ++k) {
    for (int64_t i = 0; i < kCount; ++i) {
      const auto at = static_cast<size_t>(i);
      PutFloat(c.buffers[k], at, Argument(random, k == 0 ? at : at / 16));
    }
  }
  c.tolerance = {2, 0};
  c.name = StrCat(abi::ExprOpName(op), " to ", DTypeName(store));
  return c;
}

constexpr ExprOp kFunctions[] = {
    ExprOp::kExp,   ExprOp::kLog,   ExprOp::kSqrt, ExprOp::kRsqrt,   ExprOp::kRecip,
    ExprOp::kSin,   ExprOp::kCos,   ExprOp::kTan,  ExprOp::kAsin,    ExprOp::kAcos,
    ExprOp::kAtan,  ExprOp::kSinh,  ExprOp::kCosh, ExprOp::kTanh,    ExprOp::kAsinh,
    ExprOp::kAcosh, ExprOp::kAtanh, ExprOp::kErf,  ExprOp::kSigmoid, ExprOp::kSoftplus,
    ExprOp::kPow,   ExprOp::kDiv,   ExprOp::kFmod, ExprOp::kMod,     ExprOp::kRound};

TEST_F(GpuAccuracy, FunctionsStayWithinTwoUnitsInTheLastPlace) {
  std::vector<Job> jobs;
  for (ExprOp op : kFunctions) {
    Job job;
    job.item =
        std::make_shared<const Case>(FunctionCase(op, static_cast<uint64_t>(op), DType::kF32));
    job.option = runner_->Variants(*job.item, 1, 0).front();
    jobs.push_back(std::move(job));
  }
  runner_->Run(jobs, {});
  for (const Job& job : jobs) EXPECT_EQ(job.failure, "") << job.item->name;
}

TEST_F(GpuAccuracy, FunctionsOf16BitsStayWithinOneUnitInTheLastPlace) {
  std::vector<Job> jobs;
  for (ExprOp op : {ExprOp::kExp, ExprOp::kSigmoid, ExprOp::kTanh, ExprOp::kErf}) {
    for (DType dtype : {DType::kF16, DType::kBF16}) {
      Job job;
      job.item = std::make_shared<const Case>(Function16Case(op, dtype));
      job.option = runner_->Variants(*job.item, 1, 0).front();
      jobs.push_back(std::move(job));
    }
  }
  runner_->Run(jobs, {});
  for (const Job& job : jobs) EXPECT_EQ(job.failure, "") << job.item->name;
}

// Results of 16 bits come from faster functions: right but for the rounding of the result, and 0
// below the normal range of f32.
TEST_F(GpuAccuracy, FunctionsOfShortResultsStayWithinOneUnitInTheLastPlace) {
  std::vector<Job> jobs;
  for (ExprOp op : kFunctions) {
    for (DType store : {DType::kF16, DType::kBF16}) {
      Case c = FunctionCase(op, static_cast<uint64_t>(op), store);
      c.tolerance = {1, 0x1p-126};
      Job job;
      job.item = std::make_shared<const Case>(std::move(c));
      job.option = runner_->Variants(*job.item, 1, 0).front();
      jobs.push_back(std::move(job));
    }
  }
  runner_->Run(jobs, {});
  for (const Job& job : jobs) EXPECT_EQ(job.failure, "") << job.item->name;
}

TEST_F(GpuAccuracy, ProductsOfLength4096StayBelowAThousandth) {
  std::vector<Job> jobs;
  for (int64_t rows : {1, 3, 128}) {
    auto c = std::make_shared<Case>();
    Problem& p = c->problem;
    p.family = Family::kGemm;
    p.attrs = abi::GemmAttrs{};
    p.inputs = {abi::DenseView(DType::kF32, {rows, 4096}), abi::DenseView(DType::kF32, {4096, 96})};
    p.outputs = {abi::DenseView(DType::kF32, {rows, 96})};
    p.core_inputs = 2;
    Random random(static_cast<uint64_t>(rows));
    FillBuffers(random, *c, false);
    c->tolerance = {0, 1e-3};
    for (KernelOption& option : runner_->Variants(*c, 100, 0)) {
      Job job;
      job.item = c;
      job.option = std::move(option);
      jobs.push_back(std::move(job));
    }
  }
  ASSERT_GE(jobs.size(), 20u);
  runner_->Run(jobs, {});
  for (const Job& job : jobs) EXPECT_EQ(job.failure, "") << job.option.Name();
}

constexpr int64_t kHuge = (int64_t{1} << 31) + 12345;

Problem SumOf(DType dtype, int64_t count, abi::ReduceKind kind) {
  Problem p;
  p.family = Family::kReduce;
  abi::ReduceAttrs a;
  a.kind = kind;
  a.axes = {0};
  p.attrs = a;
  p.inputs = {abi::DenseView(dtype, {count})};
  const bool arg = kind == abi::ReduceKind::kArgMax;
  p.outputs = {abi::DenseView(arg ? DType::kI64 : dtype, {1})};
  p.core_inputs = 1;
  return p;
}

TEST_F(GpuAccuracy, SumsAndFindsInMoreThanTwoToThe31Elements) {
  Gpu& gpu = runner_->gpu();
  const auto data = gpu.Allocate(static_cast<size_t>(kHuge) * 4);
  const auto out = gpu.Allocate(256);
  if (!data.ok()) GTEST_SKIP() << "needs 9 GB of device memory: " << data.status().message();
  ASSERT_TRUE(gpu.Fill(*data, 0, static_cast<size_t>(kHuge) * 4).ok());
  // Whole numbers that add up exactly, at the places where an index that wraps would miss them.
  float expected = 0, value = 1;
  for (int64_t at :
       {int64_t{0}, (int64_t{1} << 31) - 1, int64_t{1} << 31, (int64_t{1} << 30) + 3, kHuge - 1}) {
    ASSERT_TRUE(gpu.Upload(*data + static_cast<uint64_t>(at) * 4, &value, 4).ok());
    expected += value;
    value *= 2;
  }
  float sum = 0;
  ASSERT_EQ(
      Launch("cuda.reduce.rows", SumOf(DType::kF32, kHuge, abi::ReduceKind::kSum), {*data, *out})
          .ToString(),
      "ok");
  ASSERT_TRUE(gpu.Download(&sum, *out, 4).ok());
  EXPECT_EQ(sum, expected);
  int64_t index = -1;
  ASSERT_EQ(
      Launch("cuda.reduce.rows", SumOf(DType::kF32, kHuge, abi::ReduceKind::kArgMax), {*data, *out})
          .ToString(),
      "ok");
  ASSERT_TRUE(gpu.Download(&index, *out, 8).ok());
  EXPECT_EQ(index, kHuge - 1);
}

TEST_F(GpuAccuracy, LongSumsOfReals) {
  // 2^24 equal values: a running f32 sum would stop growing.
  Gpu& gpu = runner_->gpu();
  constexpr int64_t kCount = int64_t{1} << 26;
  const auto data = gpu.Allocate(static_cast<size_t>(kCount) * 4);
  const auto out = gpu.Allocate(256);
  ASSERT_TRUE(data.ok() && out.ok());
  ASSERT_TRUE(gpu.Fill(*data, 0x3d, static_cast<size_t>(kCount) * 4).ok());
  const uint32_t bits = 0x3d3d3d3d;
  float value, sum = 0;
  std::memcpy(&value, &bits, 4);
  const double expected = static_cast<double>(value) * static_cast<double>(kCount);
  for (std::string_view key : {"cuda.reduce.rows", "cuda.reduce.columns"}) {
    ASSERT_EQ(
        Launch(key, SumOf(DType::kF32, kCount, abi::ReduceKind::kSum), {*data, *out}).ToString(),
        "ok");
    ASSERT_TRUE(gpu.Download(&sum, *out, 4).ok());
    EXPECT_NEAR(static_cast<double>(sum), expected, expected * 0x1p-23) << key;
  }
}

TEST_F(GpuAccuracy, MapsMoreThanTwoToThe31Elements) {
  Gpu& gpu = runner_->gpu();
  const auto in = gpu.Allocate(static_cast<size_t>(kHuge));
  const auto out = gpu.Allocate(static_cast<size_t>(kHuge));
  if (!in.ok() || !out.ok()) GTEST_SKIP() << "needs 5 GB of device memory";
  Problem p;
  p.family = Family::kElementwise;
  p.attrs = abi::ElementwiseAttrs{};
  p.inputs = p.outputs = {abi::DenseView(DType::kU8, {kHuge})};
  p.core_inputs = 1;
  abi::ExprBuilder b;
  p.epilogue =
      b.Finish({b.Binary(ExprOp::kAdd, b.Input(0, DType::kU8), b.ConstInt(7, DType::kU8))});
  ASSERT_TRUE(gpu.Fill(*in, 5, static_cast<size_t>(kHuge)).ok());
  ASSERT_TRUE(gpu.Fill(*out, 0, static_cast<size_t>(kHuge)).ok());
  ASSERT_EQ(Launch("cuda.elementwise.map", p, {*in, *out}).ToString(), "ok");
  for (int64_t at : {int64_t{0}, (int64_t{1} << 31) - 8, int64_t{1} << 31, kHuge - 8}) {
    uint8_t got[8] = {};
    ASSERT_TRUE(gpu.Download(got, *out + static_cast<uint64_t>(at), 8).ok());
    for (uint8_t v : got) EXPECT_EQ(v, 12) << at;
  }
}

}  // namespace
}  // namespace aicf::conformance
