/// The streaming models among the cases: their states, chunks of a made-up signal for them, and
/// running one chunk.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/models/run.h"

namespace aicf::testing {

/// A case's name and the two ends of its state.
struct StreamingModel {
  const char* name;
  const char* past;
  const char* present;
};
inline constexpr StreamingModel kStreamingModels[] = {
    {"silero_op18_ifless", "state", "stateN"},    {"silero_v6", "state", "stateN"},
    {"silero_v6_512", "state", "stateN"},         {"dtln_1", "input_3", "tf_op_layer_stack_2"},
    {"dtln_2", "input_5", "tf_op_layer_stack_5"},
};
inline std::string StreamName(const ::testing::TestParamInfo<StreamingModel>& info) {
  return info.param.name;
}

/// How many chunks a test feeds to a stream.
inline constexpr int kChunks = 100;

using Bytes = std::vector<std::byte>;
using Tensors = std::map<std::string, Bytes>;  ///< by name

/// Compile options. With `keep` the session keeps the model's state; otherwise the state is an
/// input and an output.
CompileOptions StreamOptions(const ModelCase& c, const StreamingModel& model,
                             const std::string& target, bool keep);

/// The inputs of chunk `index`, except the input `without`: a gliding tone whose loudness comes and
/// goes, and integers, such as a sampling rate, as in the case. Errors: those of reading the case's
/// files.
Result<Tensors> ChunkAt(const ModelCase& c, int index, std::string_view without);

/// Sets the inputs, runs and reads every output. Records test failures.
Tensors Step(Session& session, const Program& program, const Tensors& inputs);

/// The bytes of the session's only state. Records test failures.
Bytes StateOf(Session& session);
/// Sets the bytes of the session's only state. Errors: those of ImportState.
Status SetState(Session& session, const Bytes& bytes);

}  // namespace aicf::testing
