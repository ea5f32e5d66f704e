// The streaming models with their states kept in the session, over 100 chunks: bit for bit what the
// caller gets who carries the states himself. Forks and exports on the way.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/models/run.h"
#include "tools/common/npy.h"

namespace aicf::testing {
namespace {

constexpr int kChunks = 100;

struct StreamingModel {
  const char* name;
  const char* past;
  const char* present;
};
constexpr StreamingModel kModels[] = {
    {"silero_op18_ifless", "state", "stateN"},    {"silero_v6", "state", "stateN"},
    {"silero_v6_512", "state", "stateN"},         {"dtln_1", "input_3", "tf_op_layer_stack_2"},
    {"dtln_2", "input_5", "tf_op_layer_stack_5"},
};

using Bytes = std::vector<std::byte>;
using Tensors = std::map<std::string, Bytes>;

/// A gliding tone whose loudness comes and goes; integers, such as a sampling rate, from the case.
Result<Tensors> ChunkAt(const ModelCase& c, int index, std::string_view without) {
  Tensors chunk;
  for (const CaseTensor& t : c.inputs) {
    if (t.name == without) continue;
    AICF_ASSIGN_OR_RETURN(tools::NpyArray array, tools::ReadNpy(t.file));
    if (array.dtype == DType::kF32) {
      auto* x = reinterpret_cast<float*>(array.data.data());
      const size_t count = array.data.size() / 4;
      const double loud = 0.5 * (1 + std::sin(index * 0.17));
      for (size_t i = 0; i < count; ++i) {
        const double at = static_cast<double>(index) * static_cast<double>(count) + i;
        x[i] = static_cast<float>(loud * std::sin(0.05 * at + 2 * std::sin(at * 0.0007)));
      }
    }
    chunk[t.name] = std::move(array.data);
  }
  return chunk;
}

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
    CompileOptions options;
    options.target = target;
    options.images = device != "cpu";
    options.nan_branches = true;  // see ModelCase
    for (const CaseTensor& t : c.inputs) options.shapes[t.name] = t.shape;
    for (const bool keep : {false, true}) {
      if (keep) options.states = {{GetParam().past, GetParam().present}};
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

  static Tensors Step(Session& session, const Program& program, const Tensors& inputs) {
    for (const TensorInfo& info : program.inputs()) {
      const auto given = inputs.find(info.name);
      if (given == inputs.end()) continue;
      const Bytes& data = given->second;
      const Status set =
          session.SetInput(info.name, {info.dtype, info.shape, data.data(), data.size()});
      EXPECT_TRUE(set.ok()) << set.ToString();
    }
    const Status ran = session.Run();
    EXPECT_TRUE(ran.ok()) << ran.ToString();
    Tensors outputs;
    for (const TensorInfo& info : program.outputs()) {
      Bytes& data = outputs[info.name];
      data.resize(info.bytes);
      EXPECT_TRUE(
          session.GetOutput(info.name, {info.dtype, info.shape, data.data(), data.size()}).ok());
    }
    return outputs;
  }
  static Bytes StateOf(Session& session) {
    Bytes state(session.states()[0].bytes);
    EXPECT_TRUE(session.ExportState(session.states()[0].name, state.data(), state.size()).ok());
    return state;
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
    ASSERT_TRUE(kept_->ImportState(GetParam().past, at_half.data(), at_half.size()).ok());
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

std::string NameOf(const ::testing::TestParamInfo<StreamingModel>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Real, StateTest, ::testing::ValuesIn(kModels), NameOf);
INSTANTIATE_TEST_SUITE_P(Real, GpuStateTest, ::testing::ValuesIn(kModels), NameOf);

}  // namespace
}  // namespace aicf::testing
