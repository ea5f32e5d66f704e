/// Models with loops, written in a few lines, compiled for both backends and run on the CPU.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "compiler/compiler.h"
#include "compiler/import/testing.h"

namespace aicf::loops {

using testing::ModelBuilder;
using testing::Names;

onnx::NodeProto& AddNode(onnx::GraphProto& graph, const std::string& op, const Names& inputs,
                         const Names& outputs);
/// A subgraph attribute with these formal inputs and outputs.
onnx::GraphProto& AddBody(onnx::NodeProto& node, const std::string& attribute, const Names& inputs,
                          const Names& outputs);

ir::Tensor Floats(const Dims& shape, const std::vector<float>& values);
ir::Tensor Int(int64_t value);
ir::Tensor Flag(bool value);

struct Output {
  Dims shape;
  std::vector<double> values;
  friend bool operator==(const Output&, const Output&) = default;
};
using Outputs = std::vector<Output>;
using Feeds = std::map<std::string, ir::Tensor>;

/// The targets that tests compile for. Both programs run on the CPU, the second on the reference
/// kernels.
inline constexpr const char* kTargets[] = {"cpu", "cuda:sm_90a"};

struct Compiled {
  std::shared_ptr<const Program> program;
  std::unique_ptr<Session> session;
  const schema::Program& plan() const { return program->artifact().program(); }
  size_t loops() const { return plan().entry_points[0].loops.size(); }
};

/// Makes the plan. On the way it checks that the lowered program and the plan stay the same when
/// they are printed as text and parsed again.
Result<schema::Contents> Plan(const ModelBuilder& model, const std::string& target,
                              const RunnerOptions& passes = {});
Result<Compiled> Load(const schema::Contents& contents);
Result<Compiled> Compile(const ModelBuilder& model, const std::string& target,
                         const RunnerOptions& passes = {});
/// Runs the program on `feeds`. If a call fails, it records a test failure and returns no outputs.
Outputs Replay(Compiled& compiled, const Feeds& feeds);

}  // namespace aicf::loops
