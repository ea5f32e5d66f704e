// A stream of 100 chunks with its states in the session gives bit for bit the results of the same
// model whose states the caller carries, with forks, exports and imports on the way.
#include <gtest/gtest.h>

#include "schema/golden.h"
#include "tests/states/stream_model.h"

namespace aicf::states {
namespace {

constexpr int kChunks = 100;

class StreamTest : public ::testing::TestWithParam<const char*> {
 protected:
  Result<CompileResult> Compiled(bool with_states, bool position_as_meta = false) {
    CompileOptions options = OptionsFor(GetParam());
    if (with_states) options.states = StreamStates();
    if (position_as_meta) options.metas = {"position"};
    return CompileModel(StreamModel(), options);
  }
  std::unique_ptr<Session> Open(const Result<CompileResult>& compiled) {
    EXPECT_TRUE(compiled.ok()) << compiled.status().ToString();
    auto program = LoadProgram(*compiled);
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
    auto session = OpenSession(program_);
    EXPECT_TRUE(session.ok()) << session.status().ToString();
    return *std::move(session);
  }
  /// One chunk of the model with states; y.
  Bytes Step(Session& session, int index) {
    EXPECT_TRUE(SetChunk(session, index).ok());
    const Status ran = session.Run();
    EXPECT_TRUE(ran.ok()) << ran.ToString();
    auto outputs = ReadOutputs(session, *program_);
    EXPECT_TRUE(outputs.ok()) << outputs.status().ToString();
    return (*outputs)["y"];
  }
  std::shared_ptr<const Program> program_;
};

TEST_P(StreamTest, KeptStatesEqualCarriedOnes) {
  const auto carried_compiled = Compiled(false);
  ASSERT_TRUE(carried_compiled.ok()) << carried_compiled.status().ToString();
  auto carried_program = LoadProgram(*carried_compiled);
  ASSERT_TRUE(carried_program.ok());
  auto carried = OpenSession(*carried_program);
  ASSERT_TRUE(carried.ok());
  const auto kept = Open(Compiled(true));
  EXPECT_EQ(program_->states().size(), 4u);
  EXPECT_EQ(program_->inputs().size(), 2u);
  EXPECT_EQ(program_->outputs().size(), 1u);
  Outputs outputs;
  for (int i = 0; i < kChunks; ++i) {
    ASSERT_TRUE(SetChunk(**carried, i).ok());
    for (const StatePair& s : StreamStates()) {
      if (i == 0) continue;  // an input never set is zero, as a state
      const Bytes& present = outputs[s.present];
      const auto shape = (*carried)->InputShapeOf(s.past);
      ASSERT_TRUE(shape.ok());
      ASSERT_TRUE(
          (*carried)->SetInput(s.past, {DType::kF32, *shape, present.data(), present.size()}).ok());
    }
    ASSERT_TRUE((*carried)->Run().ok());
    auto read = ReadOutputs(**carried, **carried_program);
    ASSERT_TRUE(read.ok());
    outputs = *read;
    ASSERT_EQ(Step(*kept, i), outputs["y"]) << "chunk " << i;
  }
  const auto states = ExportStates(*kept);
  for (const StatePair& s : StreamStates())
    EXPECT_EQ(states.at(s.past), outputs[s.present]) << s.past;
  EXPECT_NE(outputs["hn"], Bytes(outputs["hn"].size())) << "the states stayed zero";
}

TEST_P(StreamTest, ForksGoOnIndependently) {
  const auto compiled = Compiled(true);
  const auto session = Open(compiled);
  for (int i = 0; i < 10; ++i) Step(*session, i);
  const auto before = ExportStates(*session);
  auto fork = session->Fork();
  ASSERT_TRUE(fork.ok()) << fork.status().ToString();
  EXPECT_EQ(ExportStates(**fork), before);
  const Bytes other = Step(**fork, 70);
  EXPECT_EQ(ExportStates(*session), before) << "the fork changed its origin";
  const Bytes y = Step(*session, 10);
  EXPECT_NE(y, other);
  // Back to where both were: the fork now gives what its origin gave.
  ASSERT_TRUE(ImportStates(**fork, before).ok());
  EXPECT_EQ(Step(**fork, 10), y);
  EXPECT_EQ(ExportStates(**fork), ExportStates(*session));
}

TEST_P(StreamTest, ExportedStatesGoOnInAnotherSession) {
  const auto compiled = Compiled(true);
  const auto first = Open(compiled);
  for (int i = 0; i < 20; ++i) Step(*first, i);
  const auto states = ExportStates(*first);
  const auto second = Open(compiled);
  ASSERT_TRUE(ImportStates(*second, states).ok());
  for (int i = 20; i < 40; ++i) ASSERT_EQ(Step(*first, i), Step(*second, i)) << "chunk " << i;
  ASSERT_TRUE(first->ResetStates().ok());
  const auto fresh = Open(compiled);
  EXPECT_EQ(Step(*first, 3), Step(*fresh, 3));
}

TEST_P(StreamTest, AMetaIsAnInputListedApart) {
  const auto compiled = Compiled(true);
  const auto plain = Open(compiled);
  std::vector<Bytes> expected;
  for (int i = 0; i < 12; ++i) expected.push_back(Step(*plain, i));
  const auto session = Open(Compiled(true, /*position_as_meta=*/true));
  ASSERT_EQ(program_->entries()[0].metas.size(), 1u);
  EXPECT_EQ(program_->entries()[0].metas[0].name, "position");
  for (int i = 0; i < 12; ++i) ASSERT_EQ(Step(*session, i), expected[i]) << "chunk " << i;
}

TEST_P(StreamTest, TheDecisionsSayWhatChangesInPlace) {
  const auto compiled = Compiled(true);
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  for (const char* state : {"h", "c_in", "ring"}) {
    const Decision* d = FindUpdate(compiled->decisions, state);
    ASSERT_NE(d, nullptr) << state;
    EXPECT_EQ(d->choice, "made in the state's place") << state;
    EXPECT_TRUE(d->alternatives.empty()) << state;
  }
  // A kernel's blocks run in any order, so a row may be overwritten before it has moved up.
  const Decision* window = FindUpdate(compiled->decisions, "window");
  ASSERT_NE(window, nullptr);
  EXPECT_EQ(window->choice, "copied at the end");
  ASSERT_EQ(window->alternatives.size(), 1u);
  EXPECT_NE(window->alternatives[0].refusal.find("reads other elements of it than it writes"),
            std::string::npos)
      << window->alternatives[0].refusal;
  EXPECT_EQ(compiled->contents.program.state_bytes, 256u + 256 + 256 + 256);
}

TEST_P(StreamTest, TravelsInTheLoweredProgram) {
  const auto compiled = Compiled(true, /*position_as_meta=*/true);
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  const auto artifact = schema::Artifact::Parse(compiled->bytes, true);
  ASSERT_TRUE(artifact.ok());
  auto options = OptionsOf(**artifact);
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_EQ(options->states, StreamStates());
  EXPECT_EQ(options->metas, std::vector<std::string>{"position"});
  const auto again = Recompile(*artifact, *options);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->bytes, compiled->bytes);
  options->target = GetParam() == std::string("cpu") ? "cuda:sm_90a" : "cpu:baseline";
  const auto elsewhere = Recompile(*artifact, *options);
  ASSERT_TRUE(elsewhere.ok()) << elsewhere.status().ToString();
  EXPECT_EQ(elsewhere->contents.program.state_bytes, compiled->contents.program.state_bytes);
}

TEST_P(StreamTest, GoldenSamplesBeginWithZeroStates) {
  CompileOptions options = OptionsFor(GetParam());
  options.states = StreamStates();
  GoldenSpec sample;
  std::vector<std::byte> x(32, std::byte{0x3e}), position(8);
  sample.tensors.emplace("x", ir::Tensor::Own(DType::kF32, {1, 8}, x));
  sample.tensors.emplace("position", ir::Tensor::Own(DType::kI64, {1, 1}, position));
  options.golden = {sample};
  const auto compiled = CompileModel(StreamModel(), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  const auto golden = schema::ParseGolden(compiled->contents.golden);
  ASSERT_TRUE(golden.ok());
  ASSERT_EQ(golden->samples.size(), 1u);
  ASSERT_EQ(golden->samples[0].inputs.size(), 2u);
  ASSERT_EQ(golden->samples[0].outputs.size(), 1u);
  const auto session = Open(compiled);
  ASSERT_TRUE(session->SetInput("x", {DType::kF32, {1, 8}, x.data(), x.size()}).ok());
  ASSERT_TRUE(session->Run().ok());
  auto outputs = ReadOutputs(*session, *program_);
  ASSERT_TRUE(outputs.ok());
  const auto* got = reinterpret_cast<const float*>((*outputs)["y"].data());
  const auto* want = reinterpret_cast<const float*>(golden->samples[0].outputs[0].data.data());
  for (int i = 0; i < 8; ++i) EXPECT_NEAR(got[i], want[i], 1e-5f);
}

INSTANTIATE_TEST_SUITE_P(Targets, StreamTest, ::testing::ValuesIn(kTargets), [](const auto& p) {
  return std::string(p.param == std::string("cpu") ? "Cpu" : "CudaPlan");
});

}  // namespace
}  // namespace aicf::states
