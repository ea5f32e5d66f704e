#include "aicf/aicf_c.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/log.h"
#include "runtime/test_program.h"

namespace aicf {
namespace {

using testing::ChainContents;
using testing::ChainOptions;

/// Of the chain's x and y.
constexpr int64_t kShape[] = {1000};

class CApi : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto bytes = schema::Serialize(ChainContents(chain_));
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    ASSERT_EQ(aicf_program_from_bytes(bytes->data(), bytes->size(), &program_), AICF_OK)
        << aicf_last_error();
  }
  void TearDown() override { EXPECT_EQ(aicf_program_destroy(program_), AICF_OK); }
  aicf_session CreateSession() {
    aicf_session session = 0;
    EXPECT_EQ(aicf_session_create(program_, nullptr, &session), AICF_OK) << aicf_last_error();
    return session;
  }
  ChainOptions chain_;
  aicf_program program_ = 0;
};

TEST_F(CApi, RunsAProgram) {
  const aicf_session session = CreateSession();
  const std::vector<float> x = testing::RandomInput(chain_.elements, 3);
  std::vector<float> y(x.size());
  ASSERT_EQ(aicf_session_set_input(session, "x", "f32", kShape, 1, x.data(), x.size() * 4),
            AICF_OK);
  ASSERT_EQ(aicf_session_run(session), AICF_OK);
  ASSERT_EQ(aicf_session_wait(session), AICF_OK);
  ASSERT_EQ(aicf_session_get_output(session, "y", "f32", kShape, 1, y.data(), y.size() * 4),
            AICF_OK);
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(y[i], testing::ChainExpected(chain_, static_cast<int64_t>(i), x[i]));
  }
  char name[64];
  EXPECT_EQ(aicf_session_device_name(session, name, sizeof(name)), AICF_OK);
  EXPECT_STREQ(name, "cpu");
  EXPECT_EQ(aicf_session_device_name(session, name, 3), AICF_OK);
  EXPECT_STREQ(name, "cp");
  aicf_memory_report memory;
  EXPECT_EQ(aicf_session_memory(session, &memory), AICF_OK);
  EXPECT_EQ(memory.weights_bytes, 4000u);
  EXPECT_EQ(memory.arena_bytes + memory.weights_bytes + memory.state_bytes,
            memory.total_device_bytes);
  double times[3] = {-1, -1, -1};
  EXPECT_EQ(aicf_session_time_replays(session, 3, times), AICF_OK);
  for (double t : times) EXPECT_GT(t, 0);
  void* pointer = nullptr;
  EXPECT_EQ(aicf_session_output_pointer(session, "y", &pointer), AICF_OK);
  EXPECT_EQ(static_cast<float*>(pointer)[0], y[0]);
  EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
}

TEST_F(CApi, DescribesTheProgram) {
  uint32_t count = 0;
  EXPECT_EQ(aicf_program_input_count(program_, &count), AICF_OK);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(aicf_program_output_count(program_, &count), AICF_OK);
  EXPECT_EQ(count, 1u);
  aicf_tensor_info info;
  ASSERT_EQ(aicf_program_input(program_, 0, &info), AICF_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_STREQ(info.dtype, "f32");
  EXPECT_EQ(info.rank, 1);
  EXPECT_EQ(info.shape[0], 1000);
  EXPECT_EQ(info.bytes, 4000u);
  EXPECT_EQ(aicf_program_output(program_, 1, &info), AICF_INVALID_ARGUMENT);
  EXPECT_STREQ(aicf_last_error(), "output: index 1: the program has 1");
  const char* target = nullptr;
  EXPECT_EQ(aicf_program_target(program_, &target), AICF_OK);
  EXPECT_STREQ(target, "cpu:baseline");
}

TEST_F(CApi, ProfilesEveryStep) {
  aicf_program_sizes sizes;
  ASSERT_EQ(aicf_program_get_sizes(program_, &sizes), AICF_OK);
  EXPECT_EQ(sizes.steps, 4u);
  EXPECT_EQ(sizes.weights_bytes, 4000u);
  const aicf_session session = CreateSession();
  aicf_step_profile steps[4];
  uint32_t count = 0;
  EXPECT_EQ(aicf_session_profile(session, 5, nullptr, 0, &count), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(count, 4u);
  EXPECT_STREQ(aicf_last_error(), "the program has 4 steps, the array has room for 0");
  count = 0;
  EXPECT_EQ(aicf_session_profile(session, 5, steps, 3, &count), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(count, 4u);
  EXPECT_EQ(aicf_session_profile(session, 5, nullptr, 4, &count), AICF_INVALID_ARGUMENT);
  EXPECT_STREQ(aicf_last_error(), "the steps' address is null");
  EXPECT_EQ(aicf_session_profile(session, 5, steps, 4, nullptr), AICF_INVALID_ARGUMENT);
  ASSERT_EQ(aicf_session_profile(session, 5, steps, 4, &count), AICF_OK) << aicf_last_error();
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(steps[i].step, i);
    EXPECT_GT(steps[i].median_us, 0);
  }
  EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
}

TEST_F(CApi, LogMessagesReachTheSink) {
  std::string heard;
  const auto sink = [](int level, const char* message, void* user) {
    *static_cast<std::string*>(user) += std::to_string(level) + message;
  };
  EXPECT_EQ(aicf_set_log_sink(sink, &heard), AICF_OK);
  Log(LogLevel::kWarning, "careful");
  EXPECT_EQ(aicf_set_log_sink(nullptr, nullptr), AICF_OK);
  EXPECT_EQ(aicf_device_health(), AICF_OK);
  Log(LogLevel::kWarning, "unheard");
  EXPECT_EQ(heard, "2careful");
}

TEST_F(CApi, StaleAndForeignHandlesAreErrors) {
  const aicf_session session = CreateSession();
  EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
  EXPECT_EQ(aicf_session_destroy(session), AICF_INVALID_ARGUMENT);
  EXPECT_NE(std::string(aicf_last_error()).find("destroyed"), std::string::npos);
  EXPECT_EQ(aicf_session_run(session), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_session_run(0), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_session_run(program_), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_program_destroy(session), AICF_INVALID_ARGUMENT);
  uint32_t count = 0;
  EXPECT_EQ(aicf_program_input_count(~uint64_t{0}, &count), AICF_INVALID_ARGUMENT);
}

TEST_F(CApi, NullPointersAreErrors) {
  const aicf_session session = CreateSession();
  aicf_program loaded = 7;
  EXPECT_EQ(aicf_program_load(nullptr, &loaded), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(loaded, 0u);
  EXPECT_EQ(aicf_program_load("x", nullptr), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_program_from_bytes(nullptr, 5, nullptr), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_session_create(program_, nullptr, nullptr), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_program_target(program_, nullptr), AICF_INVALID_ARGUMENT);
  const auto set = [&](const char* name, const char* dtype, const int64_t* shape,
                       const void* data) {
    return aicf_session_set_input(session, name, dtype, shape, 1, data, 4000);
  };
  const std::vector<float> x(1000);
  EXPECT_EQ(set(nullptr, "f32", kShape, x.data()), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(set("x", nullptr, kShape, x.data()), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(set("x", "f32", nullptr, x.data()), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(set("x", "f32", kShape, nullptr), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_session_get_output(session, "y", "f32", kShape, 1, nullptr, 4000),
            AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_session_input_pointer(session, "x", nullptr), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_session_memory(session, nullptr), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_session_time_replays(session, 1, nullptr), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_session_time_replays(session, 0, nullptr), AICF_INVALID_ARGUMENT);
  char name[4];
  EXPECT_EQ(aicf_session_device_name(session, name, 0), AICF_INVALID_ARGUMENT);
  aicf_session_options_init(nullptr);
  EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
}

TEST_F(CApi, WrongArgumentsNameExpectedAndFound) {
  const aicf_session session = CreateSession();
  const std::vector<float> data(1000);
  const int64_t folded[] = {10, 100};
  const auto refusal = [&](const char* name, const char* dtype, const int64_t* shape, int32_t rank,
                           uint64_t bytes) -> std::string {
    const aicf_code code =
        aicf_session_set_input(session, name, dtype, shape, rank, data.data(), bytes);
    EXPECT_EQ(code, AICF_INVALID_ARGUMENT);
    return aicf_last_error();
  };
  EXPECT_EQ(refusal("x", "f32", kShape, 1, 16),
            "input 'x': f32 1000 takes 4000 bytes, the memory has 16");
  EXPECT_EQ(refusal("x", "f32", folded, 2, 4000), "input 'x': expected f32 1000, got f32 10x100");
  EXPECT_EQ(refusal("x", "i32", kShape, 1, 4000), "input 'x': expected f32 1000, got i32 1000");
  EXPECT_EQ(refusal("x", "float", kShape, 1, 4000), "'x': 'float' is no dtype");
  EXPECT_EQ(refusal("x", "f32", kShape, 9, 4000), "'x': rank 9, expected 0 to 8");
  EXPECT_EQ(refusal("x", "f32", nullptr, 0, 4000), "input 'x': expected f32 1000, got f32 scalar");
  EXPECT_NE(refusal("z", "f32", kShape, 1, 4000).find("'x'"), std::string::npos);
  EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
}

TEST_F(CApi, OptionsAreCheckedAndGrowCompatibly) {
  aicf_session session = 0;
  aicf_session_options options;
  aicf_session_options_init(&options);
  options.sync = 9;
  EXPECT_EQ(aicf_session_create(program_, &options, &session), AICF_INVALID_ARGUMENT);
  aicf_session_options_init(&options);
  options.device = "toaster";
  EXPECT_EQ(aicf_session_create(program_, &options, &session), AICF_INVALID_ARGUMENT);
  // A caller of an older header has a shorter struct: what it lacks keeps its default.
  options.struct_bytes = offsetof(aicf_session_options, device);
  EXPECT_EQ(aicf_session_create(program_, &options, &session), AICF_OK) << aicf_last_error();
  EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
  options.struct_bytes = 0;
  EXPECT_EQ(aicf_session_create(program_, &options, &session), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(session, 0u);
}

TEST_F(CApi, TheLastErrorIsPerThread) {
  EXPECT_EQ(aicf_session_run(0), AICF_INVALID_ARGUMENT);
  std::thread([] { EXPECT_STREQ(aicf_last_error(), ""); }).join();
  EXPECT_STRNE(aicf_last_error(), "");
}

TEST_F(CApi, SessionsOutliveTheirProgramsHandle) {
  const aicf_session session = CreateSession();
  EXPECT_EQ(aicf_program_destroy(program_), AICF_OK);
  EXPECT_EQ(aicf_session_run(session), AICF_OK);
  EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
  SetUp();
}

TEST_F(CApi, DestroyWhileOtherThreadsRun) {
  for (int round = 0; round < 20; ++round) {
    const aicf_session session = CreateSession();
    std::atomic<int> stale{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        // Ends once the handle is gone; until then a call runs or finds the session busy.
        for (;;) {
          const aicf_code code = aicf_session_run(session);
          const std::string error = aicf_last_error();
          if (code == AICF_INVALID_ARGUMENT && error.find("busy") == std::string::npos) break;
        }
        ++stale;
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(stale, 3);
  }
}

TEST(CApiNames, CodeNames) {
  EXPECT_STREQ(aicf_code_name(AICF_OK), "ok");
  EXPECT_STREQ(aicf_code_name(AICF_BAD_ARTIFACT), "bad-artifact");
  EXPECT_STREQ(aicf_code_name(AICF_INTERNAL), "internal");
  EXPECT_STREQ(aicf_code_name(static_cast<aicf_code>(77)), "unknown");
}

}  // namespace
}  // namespace aicf
