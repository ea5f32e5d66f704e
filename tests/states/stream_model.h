/// A small streaming model that tests build, with states of every kind. It is compiled with its
/// states kept in the session, or with all of them as inputs and outputs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "compiler/compiler.h"
#include "compiler/import/testing.h"

namespace aicf::states {

using testing::ModelBuilder;

/// The targets that tests compile for. Both programs run on the CPU, the second on the reference
/// kernels.
inline constexpr const char* kTargets[] = {"cpu", "cuda:sm_90a"};

/// One time step of a gated recurrent cell with three more states of the kinds that streaming
/// models have. From x [1, 8] and position [1, 1]:
///   hn = tanh(a) * sigmoid(b) with [a b] = [x h] W      a recurrent value [1, 16]
///   c_out = c_in / 2 + hn                               a decaying sum, changed where it is
///   window_next = the last 3 rows of window, then x     a shift, which reads what it overwrites
///   ring_new = ring [6, 8] with x in row `position`     a row that the data choose
///   y = hn V + the column sums of window_next and ring_new
ModelBuilder StreamModel();

/// The names of the input and the output of each state.
const std::vector<StatePair>& StreamStates();

/// Writes the model to a file of its own and compiles it. Errors: those of Compile.
Result<CompileResult> CompileModel(const ModelBuilder& model, const CompileOptions& options);
/// Options for a target, without device code.
CompileOptions OptionsFor(const std::string& target);

Result<std::shared_ptr<const Program>> LoadProgram(const CompileResult& result);
/// Opens a session on the CPU with one thread, where a CUDA artifact runs on the reference kernels,
/// or on another device such as "cuda:0".
Result<std::unique_ptr<Session>> OpenSession(const std::shared_ptr<const Program>& program,
                                             const std::string& device = "cpu");

/// The decision of the pass "update-states-in-place" about a state.
const Decision* FindUpdate(const DecisionLog& log, const std::string& state);

using Bytes = std::vector<std::byte>;
/// The bytes of a whole tensor, seen as the tensor that a state is exported to (Into) or imported
/// from (From).
inline MutableTensor Into(const TensorInfo& info, Bytes& data) {
  return {info.dtype, info.shape, data.data(), data.size()};
}
inline ConstTensor From(const TensorInfo& info, const Bytes& data) {
  return {info.dtype, info.shape, data.data(), data.size()};
}
/// Every state's bytes by name. Records test failures.
std::map<std::string, Bytes> ExportStates(Session& session);
/// Sets every state's bytes by name. Errors: those of ImportState.
Status ImportStates(Session& session, const std::map<std::string, Bytes>& states);

/// Every output by name.
using Outputs = std::map<std::string, Bytes>;

/// Sets the inputs x and position to chunk `index` of a stream.
Status SetChunk(Session& session, int index);
Result<Outputs> ReadOutputs(Session& session, const Program& program);

}  // namespace aicf::states
