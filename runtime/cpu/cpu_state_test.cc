/// States, metas and bound memory of CPU sessions, for CPU plans and for CUDA plans on the
/// reference kernels.
#include <gtest/gtest.h>

#include <algorithm>

#include "aicf/aicf_c.h"
#include "runtime/test_state.h"

namespace aicf {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

class CpuState : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    program_ = MakeProgram(StateContents(GetParam()));
    ASSERT_NE(program_, nullptr);
    SessionOptions options;
    options.device = "cpu";
    options.threads = 1;
    auto session = Session::Create(program_, options);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    session_ = *std::move(session);
  }

  std::shared_ptr<const Program> program_;
  std::unique_ptr<Session> session_;
};

TEST_P(CpuState, LivesAcrossRunsAndEntryPoints) { ExpectStates(*session_); }
TEST_P(CpuState, IsResetToItsSeed) { ExpectSeedsAndErrors(*session_); }
TEST_P(CpuState, Forks) { ExpectForks(*session_); }
TEST_P(CpuState, MetasAreListedAndSetApart) { ExpectMetas(*session_); }

TEST_P(CpuState, MemoryOfTheCallerTakesTheSessionsPlace) {
  AlignedFloats x, y, h;
  ExpectBindings(*session_, x, y, h);
}

TEST_P(CpuState, WrongBindingsChangeNothing) {
  AlignedFloats a, b;
  ExpectBindingsRefused(*session_, a, b);
}

TEST_P(CpuState, IsListedAndCounted) {
  EXPECT_EQ(program_->states().size(), 1u);
  EXPECT_EQ(program_->state_bytes(), 512u);
  EXPECT_EQ(session_->memory().state_bytes, 512u);
  ASSERT_EQ(program_->entries().size(), 2u);
  EXPECT_EQ(program_->entries()[0].metas.size(), 0u);
  ASSERT_EQ(program_->entries()[1].metas.size(), 2u);
  EXPECT_EQ(program_->entries()[1].metas[1].name, "offset");
  EXPECT_EQ(program_->entries()[1].inputs.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Targets, CpuState, ::testing::Values("cpu:baseline", "cuda:sm_90a"),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::ranges::replace_if(
                               name, [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

TEST(CStateTest, TheCInterfaceHasTheSame) {
  const auto bytes = schema::Serialize(StateContents("cpu:baseline"));
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  aicf_program program = 0;
  ASSERT_EQ(aicf_program_from_bytes(bytes->data(), bytes->size(), &program), AICF_OK);
  uint32_t states = 0, metas = 0;
  aicf_tensor_info info;
  ASSERT_EQ(aicf_program_state_count(program, &states), AICF_OK);
  EXPECT_EQ(states, 1u);
  ASSERT_EQ(aicf_program_state(program, 0, &info), AICF_OK);
  EXPECT_STREQ(info.name, "h");
  EXPECT_EQ(aicf_program_state(program, 1, &info), AICF_INVALID_ARGUMENT);
  ASSERT_EQ(aicf_program_entry_meta_count(program, 1, &metas), AICF_OK);
  EXPECT_EQ(metas, 2u);
  ASSERT_EQ(aicf_program_entry_meta(program, 1, 0, &info), AICF_OK);
  EXPECT_STREQ(info.name, "scale");

  aicf_session session = 0, fork = 0;
  ASSERT_EQ(aicf_session_create(program, nullptr, &session), AICF_OK);
  AlignedFloats x(2);
  const aicf_binding binding{"x", x.data(), x.bytes(), AICF_BIND_INPUT, 0};
  ASSERT_EQ(aicf_session_bind(session, &binding, 1), AICF_OK) << aicf_last_error();
  aicf_binding wrong = binding;
  wrong.kind = 3;
  EXPECT_EQ(aicf_session_bind(session, &wrong, 1), AICF_INVALID_ARGUMENT);
  const std::vector<float> seed = Filled(1);
  const int64_t shape[] = {kStateElements}, folded[] = {2, kStateElements / 2};
  ASSERT_EQ(aicf_session_seed_state(session, "h", "f32", shape, 1, seed.data(), ByteCount(seed)),
            AICF_OK);
  ASSERT_EQ(aicf_session_reset_states(session), AICF_OK);
  ASSERT_EQ(aicf_session_run(session), AICF_OK);
  ASSERT_EQ(aicf_session_fork(session, &fork), AICF_OK);
  ASSERT_EQ(aicf_session_import_state(session, "h", "f32", shape, 1, seed.data(), ByteCount(seed)),
            AICF_OK);
  std::vector<float> h = Filled(0);
  ASSERT_EQ(aicf_session_export_state(fork, "h", "f32", shape, 1, h.data(), ByteCount(h)), AICF_OK);
  EXPECT_EQ(h, Filled(3));
  ASSERT_EQ(aicf_session_export_state(session, "h", "f32", shape, 1, h.data(), ByteCount(h)),
            AICF_OK);
  EXPECT_EQ(h, Filled(1));
  EXPECT_EQ(aicf_session_import_state(session, "h", "f32", folded, 2, seed.data(), ByteCount(seed)),
            AICF_INVALID_ARGUMENT);
  EXPECT_STREQ(aicf_last_error(), "state 'h': expected f32 96, got f32 2x48");
  void* pointer = nullptr;
  ASSERT_EQ(aicf_session_state_pointer(session, "h", &pointer), AICF_OK);
  EXPECT_NE(pointer, nullptr);
  EXPECT_EQ(aicf_session_set_meta(session, "scale", "f32", shape, 1, h.data(), ByteCount(h)),
            AICF_INVALID_ARGUMENT);
  ASSERT_EQ(aicf_session_select_entry(session, "mul"), AICF_OK);
  EXPECT_EQ(aicf_session_set_meta(session, "scale", "f32", shape, 1, h.data(), ByteCount(h)),
            AICF_OK);
  ASSERT_EQ(aicf_session_destroy(fork), AICF_OK);
  ASSERT_EQ(aicf_session_destroy(session), AICF_OK);
  ASSERT_EQ(aicf_program_destroy(program), AICF_OK);
}

}  // namespace
}  // namespace aicf
