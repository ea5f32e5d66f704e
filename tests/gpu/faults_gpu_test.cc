/// What happens to sessions when the device, the driver's state or the code in an artifact goes
/// bad.
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/hash.h"
#include "compiler/codegen/nvrtc.h"
#include "tests/gpu/gpu_fixture.h"

namespace aicf::gpu {
namespace {

constexpr int64_t kElements = 1000;

class GpuFaults : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    auto program = CompileLowered(TinyProgram(kElements));
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
    x_ = RandomValues(kElements, 30);
  }
  std::unique_ptr<Session> Create() {
    auto session = Session::Create(program_, {});
    EXPECT_TRUE(session.ok()) << session.status().ToString();
    return session.ok() ? *std::move(session) : nullptr;
  }
  void ExpectLost(Session& session) {
    std::vector<float> y(kElements);
    const Status first = session.Run();
    EXPECT_EQ(first.code(), Code::kDevice) << first.ToString();
    EXPECT_EQ(session.Run().code(), Code::kDevice);
    EXPECT_EQ(session.Wait().code(), Code::kDevice);
    EXPECT_EQ(session.GetOutput("y", TensorInto(y)).code(), Code::kDevice);
    EXPECT_EQ(session.TimeReplays(3).status().code(), Code::kDevice);
  }
  std::shared_ptr<const Program> program_;
  std::vector<float> x_;
};

/// Makes the device's context unusable, as a faulty kernel of another library would.
Status FaultTheContext(cuda::Driver& driver) {
  AICF_ASSIGN_OR_RETURN(const auto device, cuda::Device::Retain(driver, 0));
  AICF_ASSIGN_OR_RETURN(const auto nvrtc, Nvrtc::Open());
  AICF_ASSIGN_OR_RETURN(
      const auto cubin,
      nvrtc->Compile("extern \"C\" __global__ void fault(int* p) { *p = 1; }", "sm_90a"));
  const cuda::ContextScope scope(*device);
  cuda::CUmodule module = nullptr;
  AICF_CUDA_CHECK(
      driver, "loading",
      driver.ModuleLoadDataEx(&module, cubin.data(), 0u, static_cast<cuda::CUjit_option*>(nullptr),
                              static_cast<void**>(nullptr)));
  cuda::CUfunction function = nullptr;
  AICF_CUDA_CHECK(driver, "finding", driver.ModuleGetFunction(&function, module, "fault"));
  AICF_ASSIGN_OR_RETURN(const cuda::Stream stream, cuda::CreateStream(device));
  uint64_t address = 16;  // no memory there
  void* parameters[] = {&address};
  cuda::CUlaunchConfig config;
  config.stream = stream.get();
  for (int axis = 0; axis < 3; ++axis) config.grid[axis] = config.block[axis] = 1;
  AICF_CUDA_CHECK(
      driver, "launching",
      driver.LaunchKernelEx(&config, function, parameters, static_cast<void**>(nullptr)));
  EXPECT_EQ(driver.StreamSynchronize(stream.get()), cuda::kCudaIllegalAddress);
  return OkStatus();
}

/// Runs in a process of its own: after an illegal address CUDA serves nothing in the process any
/// more.
TEST_F(GpuFaults, DISABLED_AnIllegalAddressFailsEverySession) {
  const auto first = Create();
  const auto second = Create();
  const auto busy = Create();
  ASSERT_TRUE(first != nullptr && second != nullptr && busy != nullptr);
  RunOnce(*first, *program_, x_);
  EXPECT_TRUE(DeviceHealth().ok());
  std::atomic<int> runs{0};
  Status ended;
  std::thread worker([&] {
    while (ended.ok()) {
      ended = busy->Run();
      ++runs;
    }
  });
  while (runs < 10) std::this_thread::yield();
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(FaultTheContext(driver()).ok());
  worker.join();
  EXPECT_EQ(ended.code(), Code::kDevice) << ended.ToString();
  // The worker has met the fault, so the process knows of it before anybody else asks.
  const Status health = DeviceHealth();
  EXPECT_EQ(health.code(), Code::kDevice);
  EXPECT_NE(health.message().find("ILLEGAL_ADDRESS"), std::string::npos) << health.message();
  ExpectLost(*first);
  ExpectLost(*second);
  EXPECT_EQ(Session::Create(program_, {}).status().code(), Code::kDevice);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  // What needs no GPU goes on.
  SessionOptions on_cpu;
  on_cpu.device = "cpu";
  const auto reference = Session::Create(program_, on_cpu);
  ASSERT_TRUE(reference.ok()) << reference.status().ToString();
  EXPECT_TRUE((*reference)->Run().ok());
}

TEST_F(GpuFaults, AnIllegalAddressIsATypedErrorForEverySessionOfTheProcess) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      "'" + self + "' --gtest_also_run_disabled_tests --gtest_filter='GpuFaults.DISABLED_AnIll*'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(GpuFaults, ADeviceResetByAnotherLibraryIsADeviceErrorAndDestructorsReturn) {
  using ResetFn = int (*)(int);
  const auto reset = reinterpret_cast<ResetFn>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuDevicePrimaryCtxReset_v2"));
  ASSERT_NE(reset, nullptr);
  {
    const auto session = Create();
    ASSERT_NE(session, nullptr);
    RunOnce(*session, *program_, x_);
    ASSERT_EQ(reset(0), 0);
    ExpectLost(*session);
  }
  const auto fresh = Create();
  ASSERT_NE(fresh, nullptr);
  EXPECT_LT(RelativeError(RunOnce(*fresh, *program_, x_), Reference(program_, x_)), 1e-6);
}

TEST_F(GpuFaults, GarbageCodeWithAGoodHashIsABadArtifact) {
  const auto contents = CompileToContents(TinyProgram(kElements));
  ASSERT_TRUE(contents.ok());
  // Noise, nothing but an ELF magic, and a cubin cut in half.
  for (int kind = 0; kind < 3; ++kind) {
    schema::Contents bad = *contents;
    schema::Image& image = bad.program.images[0];
    if (kind == 2) {
      image.bytes /= 2;
      bad.images.resize(image.offset + image.bytes);
    }
    for (uint64_t i = kind == 1 ? 4 : 0; kind != 2 && i < image.bytes; ++i) {
      bad.images[image.offset + i] = static_cast<std::byte>(i * 37 + 11);
    }
    image.hash = HashBytes(std::span(bad.images).subspan(image.offset, image.bytes));
    const auto bytes = schema::Serialize(bad);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    const auto program = Program::FromBytes(*bytes);
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    const auto session = Session::Create(*program, {});
    ASSERT_FALSE(session.ok()) << kind;
    EXPECT_EQ(session.status().code(), Code::kBadArtifact) << session.status().ToString();
  }
  EXPECT_NE(Create(), nullptr);
}

}  // namespace
}  // namespace aicf::gpu
