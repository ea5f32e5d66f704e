// The streaming models with their states kept in the session, over 100 chunks. Results are bit for
// bit those of a caller who carries the states himself, also after forks and exports on the way.
#include <gtest/gtest.h>

#include "tests/models/streams.h"

namespace aicf::testing {
namespace {

class StateTest : public ::testing::TestWithParam<StreamingModel> {
 protected:
  void Check(const std::string& target, const std::string& device) {
    for (const ModelCase& c : LoadCases()) {
      if (c.name != GetParam().name) continue;
      Open(c, target, device);
      if (!HasFatalFailure()) Run(c);
      return;
    }
    GTEST_SKIP() << "AICF_TEST_MODELS names no folder with " << GetParam().name;
  }

 private:
  void Open(const ModelCase& c, const std::string& target, const std::string& device) {
    for (const bool keep : {false, true}) {
      CompileOptions options = StreamOptions(c, GetParam(), target, keep);
      options.images = device != "cpu";
      auto compiled = Compile(c.model, options);
      ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
      auto& program = keep ? kept_program_ : carried_program_;
      auto loaded = Program::FromBytes(compiled->bytes);
      ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
      program = *loaded;
      SessionOptions session;
      session.device = device;
      auto opened = Session::Create(program, session);
      ASSERT_TRUE(opened.ok()) << opened.status().ToString();
      (keep ? kept_ : carried_) = *std::move(opened);
    }
    ASSERT_EQ(kept_program_->states().size(), 1u);
    ASSERT_EQ(kept_program_->inputs().size() + 1, carried_program_->inputs().size());
    ASSERT_EQ(kept_program_->outputs().size() + 1, carried_program_->outputs().size());
  }

  void Run(const ModelCase& c) {
    Bytes state(kept_program_->states()[0].bytes), at_half;
    std::unique_ptr<Session> fork;
    for (int i = 0; i < kChunks; ++i) {
      auto chunk = ChunkAt(c, i, GetParam().past);
      ASSERT_TRUE(chunk.ok()) << chunk.status().ToString();
      const Tensors kept = Step(*kept_, *kept_program_, *chunk);
      if (i == kChunks / 2) {
        at_half = StateOf(*kept_);
        auto forked = kept_->Fork();
        ASSERT_TRUE(forked.ok()) << forked.status().ToString();
        fork = *std::move(forked);
      }
      chunk->emplace(GetParam().past, state);
      const Tensors carried = Step(*carried_, *carried_program_, *chunk);
      state = carried.at(GetParam().present);
      for (const auto& [name, data] : kept) ASSERT_EQ(data, carried.at(name)) << "chunk " << i;
    }
    EXPECT_EQ(StateOf(*kept_), state);
    EXPECT_NE(state, Bytes(state.size())) << "the state was not carried";
    // The fork still is where it was made, and goes on from there as its origin did.
    EXPECT_EQ(StateOf(*fork), at_half);
    EXPECT_NE(at_half, state);
    ASSERT_TRUE(SetState(*kept_, at_half).ok());
    for (int i = kChunks / 2 + 1; i < kChunks / 2 + 11; ++i) {
      const auto chunk = ChunkAt(c, i, GetParam().past);
      ASSERT_TRUE(chunk.ok());
      ASSERT_EQ(Step(*fork, *kept_program_, *chunk), Step(*kept_, *kept_program_, *chunk));
    }
  }

  std::shared_ptr<const Program> carried_program_, kept_program_;
  std::unique_ptr<Session> carried_, kept_;
};

class GpuStateTest : public StateTest {};

TEST_P(StateTest, KeptStatesEqualCarriedOnes) { Check("cpu", "cpu"); }
TEST_P(StateTest, KeptStatesEqualCarriedOnesInThePlanForCuda) { Check("cuda:sm_90a", "cpu"); }
TEST_P(GpuStateTest, KeptStatesEqualCarriedOnesOnTheDevice) {
  if (!HasGpu()) GTEST_SKIP() << "no CUDA device here";
  if (!HasNvrtc()) GTEST_SKIP() << "NVRTC is not here: no CUDA plan can be compiled";
  Check("cuda:sm_90a", "cuda:0");
}

INSTANTIATE_TEST_SUITE_P(Real, StateTest, ::testing::ValuesIn(kStreamingModels), StreamName);
INSTANTIATE_TEST_SUITE_P(Real, GpuStateTest, ::testing::ValuesIn(kStreamingModels), StreamName);

}  // namespace
}  // namespace aicf::testing
