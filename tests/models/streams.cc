#include "tests/models/streams.h"

#include <cmath>

#include "tools/common/npy.h"

namespace aicf::testing {

CompileOptions StreamOptions(const ModelCase& c, const StreamingModel& model,
                             const std::string& target, bool keep) {
  CompileOptions options;
  options.nan_branches = true;  // see ModelCase
  options.target = target;
  for (const CaseTensor& t : c.inputs) options.shapes[t.name] = t.shape;
  if (keep) options.states = {{model.past, model.present}};
  return options;
}

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

Tensors Step(Session& session, const Program& program, const Tensors& inputs) {
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

Bytes StateOf(Session& session) {
  const TensorInfo& info = session.states()[0];
  Bytes state(info.bytes);
  const Status exported =
      session.ExportState(info.name, {info.dtype, info.shape, state.data(), state.size()});
  EXPECT_TRUE(exported.ok()) << exported.ToString();
  return state;
}

Status SetState(Session& session, const Bytes& bytes) {
  const TensorInfo& info = session.states()[0];
  return session.ImportState(info.name, {info.dtype, info.shape, bytes.data(), bytes.size()});
}

}  // namespace aicf::testing
