/// Many sessions, many threads, and other users of the device beside them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "aicf/aicf_c.h"
#include "tests/gpu/gpu_fixture.h"

namespace aicf::gpu {
namespace {

class GpuConcurrency : public GpuTest {
 protected:
  static constexpr int64_t kRows = 64, kCols = 96;

  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    auto program = CompileLowered(MixedProgram(kRows, kCols));
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
    for (unsigned seed = 0; seed < 8; ++seed) {
      inputs_.push_back(RandomValues(kRows * kCols, 100 + seed));
    }
    auto session = Session::Create(program_, {});
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    for (const auto& x : inputs_) expected_.push_back(RunOnce(**session, *program_, x));
  }
  std::shared_ptr<const Program> program_;
  std::vector<std::vector<float>> inputs_;
  std::vector<std::vector<float>> expected_;
};

TEST_F(GpuConcurrency, SixteenSessionsOnSixteenThreadsGiveTheSingleThreadsBits) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      SessionOptions options;
      options.sync = static_cast<SyncPolicy>(t % 3);
      options.transfers = t % 2 == 0;
      auto session = Session::Create(program_, options);
      if (!session.ok()) {
        ++wrong;
        return;
      }
      for (int i = 0; i < 200; ++i) {
        const size_t pick = static_cast<size_t>(t * 7 + i) % inputs_.size();
        wrong += RunOnce(**session, *program_, inputs_[pick]) != expected_[pick];
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(GpuConcurrency, OneSessionFromManyThreadsIsBusyOrRightNeverTorn) {
  auto session = Session::Create(program_, {});
  ASSERT_TRUE(session.ok());
  std::atomic<int> ran{0};
  std::atomic<int> busy{0};
  std::atomic<int> other{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const Status status = (*session)->Run();
        const bool is_busy = status.code() == Code::kInvalidArgument &&
                             status.message().find("busy") != std::string::npos;
        (status.ok() ? ran : is_busy ? busy : other) += 1;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_GT(ran, 0);
  EXPECT_EQ(other, 0);
  EXPECT_EQ(ran + busy, 4000);
  EXPECT_EQ(RunOnce(**session, *program_, inputs_[0]), expected_[0]);
}

TEST_F(GpuConcurrency, SessionsComeAndGoWhileOthersAllocateAndCapture) {
  std::atomic<bool> stop{false};
  std::thread allocator([&] {
    const auto device = cuda::Device::Retain(driver(), 0);
    // As another library would: a ContextScope would not let it see that somebody captures.
    EXPECT_EQ(driver().CtxPushCurrent((*device)->context()), cuda::kCudaSuccess);
    while (!stop) {
      cuda::CUdeviceptr block = 0;
      EXPECT_EQ(driver().MemAlloc(&block, size_t{1} << 20), cuda::kCudaSuccess);
      EXPECT_EQ(driver().MemFree(block), cuda::kCudaSuccess);
    }
    cuda::CUcontext popped = nullptr;
    EXPECT_EQ(driver().CtxPopCurrent(&popped), cuda::kCudaSuccess);
  });
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        auto session = Session::Create(program_, {});
        wrong += !session.ok() || RunOnce(**session, *program_, inputs_[t]) != expected_[t];
      }
    });
  }
  for (std::thread& t : threads) t.join();
  stop = true;
  allocator.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(GpuConcurrency, DestroyingWaitsForReplaysInFlight) {
  for (int i = 0; i < 20; ++i) {
    SessionOptions options;
    options.sync = i % 2 == 0 ? SyncPolicy::kNoSync : SyncPolicy::kEventRecord;
    auto session = Session::Create(program_, options);
    ASSERT_TRUE(session.ok());
    for (int r = 0; r < 50; ++r) ASSERT_TRUE((*session)->Run().ok());
    *session = nullptr;  // with up to 50 replays queued
  }
  auto session = Session::Create(program_, {});
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(RunOnce(**session, *program_, inputs_[1]), expected_[1]);
}

TEST_F(GpuConcurrency, TheCInterfaceDestroysWhileOtherThreadsRun) {
  const auto bytes = CompileToBytes(TinyProgram(1 << 16));
  ASSERT_TRUE(bytes.ok());
  aicf_program program = 0;
  ASSERT_EQ(aicf_program_from_bytes(bytes->data(), bytes->size(), &program), AICF_OK);
  for (int round = 0; round < 20; ++round) {
    aicf_session session = 0;
    ASSERT_EQ(aicf_session_create(program, nullptr, &session), AICF_OK) << aicf_last_error();
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([session] {
        // Ends once the handle is gone; until then a call runs or finds the session busy.
        for (;;) {
          const aicf_code code = aicf_session_run(session);
          const std::string error = aicf_last_error();
          if (code != AICF_OK && error.find("busy") == std::string::npos) break;
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
    for (std::thread& t : threads) t.join();
  }
  EXPECT_EQ(aicf_program_destroy(program), AICF_OK);
}

}  // namespace
}  // namespace aicf::gpu
