/// Whole models: the files that AICF_GPU_MODELS names (ONNX, separated by ':'), compiled for the
/// GPU and compared with the reference kernels' execution of the same artifact.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "compiler/compiler.h"
#include "runtime/trace/stats.h"
#include "tests/gpu/gpu_fixture.h"

namespace aicf::gpu {
namespace {

std::vector<std::string> Models() {
  std::vector<std::string> paths;
  const char* list = std::getenv("AICF_GPU_MODELS");
  std::istringstream in(list != nullptr ? list : "");
  for (std::string path; std::getline(in, path, ':');) paths.push_back(path);
  return paths;
}

Result<std::shared_ptr<const Program>> LoadModel(const std::string& path) {
  if (path.ends_with(".aicf")) return Program::Load(path);
  CompileOptions options;
  options.target = "cuda:sm_90a";
  AICF_ASSIGN_OR_RETURN(const CompileResult compiled, Compile(path, options));
  return Program::FromBytes(compiled.bytes);
}

std::vector<std::byte> RandomBytes(const TensorInfo& tensor, unsigned seed) {
  std::vector<std::byte> bytes(tensor.bytes);
  if (tensor.dtype != DType::kF32) return bytes;  // zeros are legal for every dtype and index
  const std::vector<float> values = RandomValues(static_cast<int64_t>(tensor.bytes / 4), seed);
  std::copy_n(reinterpret_cast<const std::byte*>(values.data()), bytes.size(), bytes.data());
  return bytes;
}

void SetInputs(Session& session, const Program& program) {
  unsigned seed = 1;
  for (const TensorInfo& tensor : program.inputs()) {
    const std::vector<std::byte> bytes = RandomBytes(tensor, seed++);
    const Status set =
        session.SetInput(tensor.name, {tensor.dtype, tensor.shape, bytes.data(), bytes.size()});
    ASSERT_TRUE(set.ok()) << set.ToString();
  }
}

std::vector<float> FloatOutput(Session& session, const TensorInfo& tensor) {
  std::vector<float> values(tensor.bytes / 4);
  EXPECT_TRUE(session.GetOutput(tensor.name, TensorInto(values, tensor.shape)).ok());
  return values;
}

class GpuModels : public GpuTest {};

TEST_F(GpuModels, AgreeWithTheReferenceAndTheProfileAddsUp) {
  if (Models().empty()) GTEST_SKIP() << "AICF_GPU_MODELS names no model";
  for (const std::string& path : Models()) {
    SCOPED_TRACE(path);
    const auto program = LoadModel(path);
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    SessionOptions on_gpu;
    on_gpu.transfers = false;
    SessionOptions on_cpu;
    on_cpu.device = "cpu";
    const auto start = std::chrono::steady_clock::now();
    const auto gpu = Session::Create(*program, on_gpu);
    const std::chrono::duration<double, std::milli> load = std::chrono::steady_clock::now() - start;
    const auto cpu = Session::Create(*program, on_cpu);
    ASSERT_TRUE(gpu.ok() && cpu.ok()) << gpu.status().ToString() << cpu.status().ToString();
    for (Session* session : {gpu->get(), cpu->get()}) {
      SetInputs(*session, **program);
      ASSERT_TRUE(session->Run().ok());
    }
    for (const TensorInfo& tensor : (*program)->outputs()) {
      if (tensor.dtype != DType::kF32) continue;
      EXPECT_LT(RelativeError(FloatOutput(**gpu, tensor), FloatOutput(**cpu, tensor)), 1e-4)
          << tensor.name;
    }
    ASSERT_TRUE((*gpu)->TimeReplays(50).ok());
    const auto times = (*gpu)->TimeReplays(200);
    const auto profile = (*gpu)->Profile(30);
    ASSERT_TRUE(times.ok() && profile.ok()) << profile.status().ToString();
    const double sum = std::accumulate(
        profile->begin(), profile->end(), 0.0,
        [](double total, const StepProfile& step) { return total + step.median_us; });
    const double replay = trace::Median(*times);
    EXPECT_NEAR(sum / replay, 1, 0.1);
    std::printf("%s: load %.0f ms, replay %.1f us, profile %.1f us, %zu steps\n", path.c_str(),
                load.count(), replay, sum, profile->size());
  }
}

}  // namespace
}  // namespace aicf::gpu
