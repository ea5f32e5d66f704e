// Calls of the C interface on different sessions run at the same time; nothing in the process
// serialises them.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "aicf/aicf_c.h"
#include "runtime/test_program.h"
#include "tests/threads/meeting.h"

namespace aicf::testing {
namespace {

class CApiThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    ChainOptions chain;
    chain.steps = 1;
    chain.elements = 8;  // one thread of a session has all of it
    const auto bytes = schema::Serialize(ChainContents(chain));
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    ASSERT_EQ(aicf_program_from_bytes(bytes->data(), bytes->size(), &program_), AICF_OK);
  }
  void TearDown() override {
    ExpectMeeting(0);
    EXPECT_EQ(aicf_program_destroy(program_), AICF_OK);
  }
  aicf_session Create() {
    aicf_session_options options;
    aicf_session_options_init(&options);
    options.threads = 1;
    aicf_session session = 0;
    EXPECT_EQ(aicf_session_create(program_, &options, &session), AICF_OK) << aicf_last_error();
    return session;
  }
  aicf_program program_ = 0;
};

TEST_F(CApiThreads, RunsOfDifferentSessionsOverlap) {
  constexpr int kSessions = 4;
  std::array<aicf_session, kSessions> sessions;
  for (aicf_session& s : sessions) s = Create();
  ExpectMeeting(kSessions);
  std::array<aicf_code, kSessions> codes{};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < sessions.size(); ++i) {
    threads.emplace_back([&, i] { codes[i] = aicf_session_run(sessions[i]); });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(Met()) << "a run waited for another session's";
  for (const aicf_code code : codes) EXPECT_EQ(code, AICF_OK);
  ExpectMeeting(0);
  for (const aicf_session s : sessions) EXPECT_EQ(aicf_session_destroy(s), AICF_OK);
}

TEST_F(CApiThreads, SessionsComeAndGoWhileOneRuns) {
  const aicf_session running = Create();
  ExpectMeeting(2);  // the run under way, and the one that ends it
  std::thread runner([&] { EXPECT_EQ(aicf_session_run(running), AICF_OK); });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(aicf_session_destroy(Create()), AICF_OK);
  const aicf_session second = Create();
  EXPECT_EQ(aicf_session_run(second), AICF_OK);
  runner.join();
  EXPECT_TRUE(Met());
  EXPECT_EQ(aicf_session_destroy(second), AICF_OK);
  EXPECT_EQ(aicf_session_destroy(running), AICF_OK);
}

TEST_F(CApiThreads, OneSessionTwiceNeverMeets) {
  const aicf_session session = Create();
  ExpectMeeting(2);
  std::thread runner([&] { EXPECT_EQ(aicf_session_run(session), AICF_OK); });
  while (Waiting() == 0) std::this_thread::yield();
  EXPECT_EQ(aicf_session_run(session), AICF_INVALID_ARGUMENT);
  EXPECT_NE(std::string(aicf_last_error()).find("busy"), std::string::npos);
  EXPECT_FALSE(Met());
  ExpectMeeting(0);
  runner.join();
  EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
}

}  // namespace
}  // namespace aicf::testing
