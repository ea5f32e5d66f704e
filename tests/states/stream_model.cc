#include "tests/states/stream_model.h"
#include "runtime/test_tensors.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

namespace aicf::states {
namespace {

std::vector<float> Weights(int64_t count, int seed) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(std::sin(0.7 * static_cast<double>(i * seed + 3)) * 0.4));
  }
  return values;
}

/// The model's file, removed with the object.
class ModelFile {
 public:
  explicit ModelFile(const ModelBuilder& model) {
    char name[] = "/tmp/aicf_states_XXXXXX";
    const int descriptor = mkstemp(name);
    path_ = name;
    close(descriptor);
    std::ofstream(path_, std::ios::binary)
        << const_cast<ModelBuilder&>(model).proto().SerializeAsString();
  }
  ~ModelFile() { unlink(path_.c_str()); }
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

ModelBuilder StreamModel() {
  ModelBuilder m;
  m.Input("x", {1, 8});
  m.Input("position", {1, 1}, onnx::TensorProto::INT64);
  m.Input("h", {1, 16});
  m.Input("c_in", {1, 16});
  m.Input("window", {4, 8});
  m.Input("ring", {6, 8});
  m.Floats("W", {24, 32}, Weights(24 * 32, 1));
  m.Floats("V", {16, 8}, Weights(16 * 8, 5));
  m.Floats("half", {1}, {0.5f});
  m.Ints("axis0", {1}, {0});
  m.Ints("axis1", {1}, {1});
  m.Ints("zero", {1}, {0});
  m.Ints("one", {1}, {1});
  m.Ints("four", {1}, {4});
  m.Ints("sixteen", {1}, {16});
  m.Ints("end", {1}, {32});
  testing::SetInt(m.Node("Concat", {"x", "h"}, {"xh"}, "join"), "axis", 1);
  m.Node("MatMul", {"xh", "W"}, {"gates"}, "gates");
  m.Node("Slice", {"gates", "zero", "sixteen", "axis1"}, {"a"}, "slice_a");
  m.Node("Slice", {"gates", "sixteen", "end", "axis1"}, {"b"}, "slice_b");
  m.Node("Tanh", {"a"}, {"ta"}, "tanh");
  m.Node("Sigmoid", {"b"}, {"sb"}, "sigmoid");
  m.Node("Mul", {"ta", "sb"}, {"hn"}, "cell");
  m.Node("Mul", {"c_in", "half"}, {"decayed"}, "decay");
  m.Node("Add", {"decayed", "hn"}, {"c_out"}, "sum");
  m.Node("Slice", {"window", "one", "four", "axis0"}, {"kept"}, "kept");
  testing::SetInt(m.Node("Concat", {"kept", "x"}, {"window_next"}, "shift"), "axis", 0);
  m.Node("ScatterND", {"ring", "position", "x"}, {"ring_new"}, "write_row");
  m.Node("MatMul", {"hn", "V"}, {"product"}, "out");
  for (const auto& [from, to] :
       {std::pair("window_next", "window_sum"), {"ring_new", "ring_sum"}}) {
    m.Node("ReduceSum", {from, "axis0"}, {to}, to);
  }
  m.Node("Add", {"product", "window_sum"}, {"partial"}, "add_window");
  m.Node("Add", {"partial", "ring_sum"}, {"y"}, "add_ring");
  for (const char* output : {"y", "hn", "c_out", "window_next", "ring_new"}) m.Output(output);
  return m;
}

const std::vector<StatePair>& StreamStates() {
  static const std::vector<StatePair> states = {
      {"h", "hn"}, {"c_in", "c_out"}, {"window", "window_next"}, {"ring", "ring_new"}};
  return states;
}

CompileOptions OptionsFor(const std::string& target) {
  CompileOptions options;
  options.target = target;
  options.images = false;
  return options;
}

Result<CompileResult> CompileModel(const ModelBuilder& model, const CompileOptions& options) {
  const ModelFile file(model);
  return Compile(file.path(), options);
}

Result<std::shared_ptr<const Program>> LoadProgram(const CompileResult& result) {
  return Program::FromBytes(result.bytes);
}

Result<std::unique_ptr<Session>> OpenSession(const std::shared_ptr<const Program>& program,
                                             const std::string& device) {
  SessionOptions options;
  options.device = device;
  options.threads = 1;
  return Session::Create(program, options);
}

const Decision* FindUpdate(const DecisionLog& log, const std::string& state) {
  for (const Decision& d : log.decisions()) {
    if (d.pass != "update-states-in-place") continue;
    if (d.subject.form == SubjectForm::kStateUpdate && d.subject.value == state) return &d;
  }
  return nullptr;
}

std::map<std::string, Bytes> ExportStates(Session& session) {
  std::map<std::string, Bytes> states;
  for (const TensorInfo& info : session.states()) {
    Bytes& data = states[info.name];
    data.resize(info.bytes);
    const Status exported = session.ExportState(info.name, Into(info, data));
    EXPECT_TRUE(exported.ok()) << exported.ToString();
  }
  return states;
}

Status ImportStates(Session& session, const std::map<std::string, Bytes>& states) {
  for (const TensorInfo& info : session.states()) {
    AICF_RETURN_IF_ERROR(session.ImportState(info.name, From(info, states.at(info.name))));
  }
  return OkStatus();
}

Status SetChunk(Session& session, int index) {
  std::vector<float> x;
  for (int i = 0; i < 8; ++i) x.push_back(static_cast<float>(std::sin(0.3 * index + 0.9 * i)));
  const int64_t position = index % 6;
  AICF_RETURN_IF_ERROR(testing::SetValues(session, "x", x));
  const Status as_input = testing::SetValues(session, "position", std::vector<int64_t>{position});
  return as_input.ok() ? as_input
                       : session.SetMeta("position", TensorOf(std::span(&position, 1), {1, 1}));
}

Result<Outputs> ReadOutputs(Session& session, const Program& program) {
  Outputs outputs;
  for (const TensorInfo& info : program.outputs()) {
    Bytes& data = outputs[info.name];
    data.resize(info.bytes);
    AICF_RETURN_IF_ERROR(
        session.GetOutput(info.name, {info.dtype, info.shape, data.data(), data.size()}));
  }
  return outputs;
}

}  // namespace aicf::states
