/// The library beside other users of the device in the same process: the caller's own captures,
/// captures that fail, and other contexts.
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <thread>

#include "runtime/cuda/graph.h"
#include "tests/gpu/gpu_fixture.h"

namespace aicf::gpu {
namespace {

/// A committed artifact, so that no device code has to be compiled here.
std::string ArtifactPath() {
  const std::string in_sources = AICF_SOURCE_DIR "/tests/artifacts/packed.cuda.aicf";
  return std::filesystem::exists(in_sources) ? in_sources : "tests/artifacts/packed.cuda.aicf";
}

class GpuCaptures : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto found = cuda::Driver::Get();
    if (!found.ok()) GTEST_SKIP() << found.status().message();
    driver_ = *found;
    auto program = Program::Load(ArtifactPath());
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
    auto device = cuda::Device::Retain(driver(), 0);
    ASSERT_TRUE(device.ok()) << device.status().ToString();
    device_ = *device;
    if (device_->limits().capability != 90) GTEST_SKIP() << device_->name() << " is no Hopper GPU";
    auto anchor = Session::Create(program_, {});
    ASSERT_TRUE(anchor.ok()) << anchor.status().ToString();
    anchor_ = *std::move(anchor);
    x_ = RandomValues(static_cast<int64_t>(program_->inputs()[0].bytes / sizeof(float)), 60);
    expected_ = RunOnce(*anchor_, *program_, x_);
  }
  cuda::Driver& driver() { return *driver_; }
  std::string output() const { return program_->outputs()[0].name; }

  /// Everything that a caller does with a session, from its creation to its end.
  void LiveThrough(const SessionOptions& options) {
    auto session = Session::Create(program_, options);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    EXPECT_EQ(RunOnce(**session, *program_, x_), expected_);
    auto fork = (*session)->Fork();
    ASSERT_TRUE(fork.ok()) << fork.status().ToString();
    EXPECT_EQ(RunOnce(**fork, *program_, x_), expected_);
    EXPECT_TRUE((*session)->TimeReplays(2).ok());
    EXPECT_TRUE((*session)->Run().ok());
    std::vector<float> y(expected_.size());
    const Status early =
        (*session)->GetOutput(output(), TensorInto(y, program_->outputs()[0].shape));
    EXPECT_TRUE(early.ok() || early.code() == Code::kInvalidArgument) << early.ToString();
    EXPECT_TRUE((*session)->Wait().ok());
  }
  void LiveThroughAll() {
    for (int kind = 0; kind < 12; ++kind) {
      SessionOptions options;
      options.sync = static_cast<SyncPolicy>(kind % 3);
      options.transfers = kind % 2 == 0;
      options.cuda_graph = kind < 6;
      LiveThrough(options);
    }
  }

  cuda::Driver* driver_ = nullptr;
  std::shared_ptr<const Program> program_;
  std::shared_ptr<const cuda::Device> device_;
  std::unique_ptr<Session> anchor_;
  std::vector<float> x_, expected_;
};

/// A caller's capture on a stream of his own; the thread's calls are his, outside the library.
class CallersCapture {
 public:
  CallersCapture(const std::shared_ptr<const cuda::Device>& device, int mode)
      : driver_(device->driver()), device_(device) {
    EXPECT_EQ(driver_.CtxPushCurrent(device->context()), cuda::kCudaSuccess);
    EXPECT_EQ(driver_.StreamCreate(&stream_, cuda::kStreamNonBlocking), cuda::kCudaSuccess);
    EXPECT_EQ(driver_.MemAlloc(&memory_, size_t{64}), cuda::kCudaSuccess);
    EXPECT_EQ(driver_.StreamBeginCapture(stream_, static_cast<cuda::CUstreamCaptureMode>(mode)),
              cuda::kCudaSuccess);
    Enqueue(1);
  }
  ~CallersCapture() {
    (void)driver_.MemFree(memory_);
    (void)driver_.StreamDestroy(stream_);
    cuda::CUcontext popped = nullptr;
    EXPECT_EQ(driver_.CtxPopCurrent(&popped), cuda::kCudaSuccess);
    EXPECT_EQ(popped, device_->context());
  }
  /// The graph is whole, and replays.
  void End() {
    Enqueue(2);
    cuda::CUgraph graph = nullptr;
    ASSERT_EQ(driver_.StreamEndCapture(stream_, &graph), cuda::kCudaSuccess);
    ASSERT_NE(graph, nullptr);
    cuda::CUgraphExec exec = nullptr;
    ASSERT_EQ(driver_.GraphInstantiate(&exec, graph, 0ull), cuda::kCudaSuccess);
    EXPECT_EQ(driver_.GraphLaunch(exec, stream_), cuda::kCudaSuccess);
    std::array<unsigned char, 64> bytes{};
    EXPECT_EQ(driver_.MemcpyDtoHAsync(bytes.data(), memory_, bytes.size(), stream_),
              cuda::kCudaSuccess);
    EXPECT_EQ(driver_.StreamSynchronize(stream_), cuda::kCudaSuccess);
    EXPECT_EQ(bytes[63], 2);
    EXPECT_EQ(driver_.GraphExecDestroy(exec), cuda::kCudaSuccess);
    EXPECT_EQ(driver_.GraphDestroy(graph), cuda::kCudaSuccess);
  }
  cuda::CUstream stream() const { return stream_; }
  /// What an allocation ends in that nobody has prepared for captures.
  cuda::CUresult PlainAllocation() {
    cuda::CUdeviceptr address = 0;
    const cuda::CUresult result = driver_.MemAlloc(&address, size_t{64});
    if (result == cuda::kCudaSuccess) (void)driver_.MemFree(address);
    return result;
  }

 private:
  void Enqueue(unsigned char value) {
    EXPECT_EQ(driver_.MemsetD8Async(memory_, value, size_t{64}, stream_), cuda::kCudaSuccess);
  }

  const cuda::Driver& driver_;
  const std::shared_ptr<const cuda::Device> device_;
  cuda::CUstream stream_ = nullptr;
  cuda::CUdeviceptr memory_ = 0;
};

TEST_F(GpuCaptures, TheCallersSurvivesWhatHisThreadDoesWithSessions) {
  for (const int mode : {cuda::kCaptureGlobal, cuda::kCaptureThreadLocal, cuda::kCaptureRelaxed}) {
    CallersCapture capture(device_, mode);
    LiveThroughAll();
    capture.End();
    if (HasFailure()) FAIL() << "mode " << mode;
  }
}

TEST_F(GpuCaptures, OneInTheGlobalModeOnAnotherThreadSurvivesAndForbidsNothing) {
  std::atomic<bool> begun{false}, done{false};
  std::thread other([&] {
    CallersCapture capture(device_, cuda::kCaptureGlobal);
    begun = true;
    while (!done) std::this_thread::yield();
    capture.End();
  });
  while (!begun) std::this_thread::yield();
  LiveThroughAll();
  anchor_ = nullptr;  // the last session of the program: weights and code go, too
  LiveThroughAll();
  done = true;
  other.join();
}

// The control: without care an allocation beside such a capture fails.
TEST_F(GpuCaptures, APlainAllocationBesideAGlobalCaptureFails) {
  const auto capture = std::make_unique<CallersCapture>(device_, cuda::kCaptureGlobal);
  EXPECT_NE(capture->PlainAllocation(), cuda::kCudaSuccess);
  cuda::CUgraph graph = nullptr;
  (void)driver().StreamEndCapture(capture->stream(), &graph);
  if (graph != nullptr) (void)driver().GraphDestroy(graph);
  EXPECT_EQ(capture->PlainAllocation(), cuda::kCudaSuccess);
}

TEST_F(GpuCaptures, ASessionOnACapturedStreamIsRefusedInEveryCallAndTheCaptureStays) {
  CallersCapture capture(device_, cuda::kCaptureGlobal);
  SessionOptions options;
  options.stream = capture.stream();
  auto session = Session::Create(program_, options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  std::vector<float> y(expected_.size());
  for (const Status& status :
       {(*session)->Run(), (*session)->Wait(), (*session)->TimeReplays(1).status(),
        (*session)->Profile(1).status(), (*session)->Fork().status(),
        (*session)->GetOutput(output(), TensorInto(y, program_->outputs()[0].shape))}) {
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
    EXPECT_NE(status.message().find("being captured"), std::string::npos) << status.ToString();
  }
  capture.End();
  EXPECT_EQ(RunOnce(**session, *program_, x_), expected_);
}

TEST_F(GpuCaptures, OneThatFailsHalfWayLeavesTheStreamUsable) {
  const cuda::ContextScope scope(*device_);
  const auto stream = cuda::CreateStream(device_);
  const auto memory = cuda::AllocateDevice(device_, "a test", 64);
  ASSERT_TRUE(stream.ok() && memory.ok());
  const auto enqueue = [&](unsigned char value) {
    return driver().Check(driver().MemsetD8Async(memory->get(), value, size_t{64}, stream->get()),
                          "filling");
  };
  const std::function<Status()> failing[] = {
      [&]() -> Status {  // the second of two steps is refused
        AICF_RETURN_IF_ERROR(enqueue(1));
        return Error(Code::kDevice, "planted");
      },
      [&]() -> Status {  // the driver refuses a call, which ends the capture
        AICF_RETURN_IF_ERROR(enqueue(1));
        return driver().Check(driver().StreamSynchronize(stream->get()), "waiting in a capture");
      },
      [&]() -> Status {  // the same, and nobody has looked
        AICF_RETURN_IF_ERROR(enqueue(1));
        (void)driver().StreamSynchronize(stream->get());
        return OkStatus();
      },
  };
  for (const auto& fails : failing) {
    const auto captured = cuda::CaptureGraph(device_, stream->get(), fails);
    ASSERT_FALSE(captured.ok());
    EXPECT_EQ(captured.status().code(), Code::kDevice) << captured.status().ToString();
    EXPECT_TRUE(enqueue(3).ok());
    EXPECT_EQ(driver().StreamSynchronize(stream->get()), cuda::kCudaSuccess);
    const auto again = cuda::CaptureGraph(device_, stream->get(), [&] { return enqueue(4); });
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(driver().GraphLaunch(again->get(), stream->get()), cuda::kCudaSuccess);
    EXPECT_EQ(driver().StreamSynchronize(stream->get()), cuda::kCudaSuccess);
  }
  EXPECT_EQ(RunOnce(*anchor_, *program_, x_), expected_);
}

/// Functions of the driver that the runtime does not need.
template <class F>
F Find(const char* symbol) {
  return reinterpret_cast<F>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), symbol));
}

class GpuContexts : public GpuCaptures {
 protected:
  cuda::CUcontext Current() {
    cuda::CUcontext current = nullptr;
    EXPECT_EQ(Find<cuda::CUresult (*)(cuda::CUcontext*)>("cuCtxGetCurrent")(&current),
              cuda::kCudaSuccess);
    return current;
  }
};

TEST_F(GpuContexts, AnotherContextOfTheDeviceStaysCurrent) {
  cuda::CUcontext other = nullptr;
  const auto create =
      Find<cuda::CUresult (*)(cuda::CUcontext*, unsigned, cuda::CUdevice)>("cuCtxCreate_v2");
  ASSERT_NE(create, nullptr);
  ASSERT_EQ(create(&other, 0, 0), cuda::kCudaSuccess);
  cuda::CUstream foreign = nullptr;
  ASSERT_EQ(driver().StreamCreate(&foreign, cuda::kStreamNonBlocking), cuda::kCudaSuccess);
  LiveThroughAll();
  EXPECT_EQ(Current(), other);
  EXPECT_EQ(RunOnce(*anchor_, *program_, x_), expected_);
  EXPECT_EQ(Current(), other);
  SessionOptions options;
  options.stream = foreign;
  const Status refused = Session::Create(program_, options).status();
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.message().find("not of the primary context"), std::string::npos)
      << refused.ToString();
  anchor_ = nullptr;
  EXPECT_EQ(Current(), other);
  EXPECT_EQ(driver().StreamDestroy(foreign), cuda::kCudaSuccess);
  EXPECT_EQ(Find<cuda::CUresult (*)(cuda::CUcontext)>("cuCtxDestroy_v2")(other),
            cuda::kCudaSuccess);
}

TEST_F(GpuContexts, TwoDevicesAtOnceGiveTheSameBits) {
  const auto second = cuda::Device::Retain(driver(), 1);
  if (!second.ok()) GTEST_SKIP() << second.status().message();
  SessionOptions options;
  options.device = "cuda:1";
  ASSERT_EQ(driver().CtxPushCurrent(device_->context()), cuda::kCudaSuccess);
  LiveThrough(options);  // while the first one is current
  EXPECT_EQ(Current(), device_->context());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      // Each with the other device current.
      (void)driver().CtxPushCurrent((t % 2 == 0 ? *second : device_)->context());
      SessionOptions own;
      own.device = StrCat("cuda:", t % 2);
      auto session = Session::Create(program_, own);
      for (int i = 0; i < 100; ++i) {
        wrong += !session.ok() || RunOnce(**session, *program_, x_) != expected_;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  cuda::CUcontext popped = nullptr;
  EXPECT_EQ(driver().CtxPopCurrent(&popped), cuda::kCudaSuccess);
}

}  // namespace
}  // namespace aicf::gpu
