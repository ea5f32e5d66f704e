#include "tests/loops/loop_model.h"

#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "schema/artifact.h"
#include "tests/models/audit.h"

namespace aicf::loops {

onnx::NodeProto& AddNode(onnx::GraphProto& graph, const std::string& op, const Names& inputs,
                         const Names& outputs) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string& s : inputs) node.add_input(s);
  for (const std::string& s : outputs) node.add_output(s);
  return node;
}

onnx::GraphProto& AddBody(onnx::NodeProto& node, const std::string& attribute, const Names& inputs,
                          const Names& outputs) {
  onnx::GraphProto& body =
      *testing::AddAttribute(node, attribute, onnx::AttributeProto::GRAPH).mutable_g();
  for (const std::string& s : inputs) body.add_input()->set_name(s);
  for (const std::string& s : outputs) body.add_output()->set_name(s);
  return body;
}

ir::Tensor Floats(const Dims& shape, const std::vector<float>& values) {
  return ir::Tensor::FromValues<float>(DType::kF32, shape, std::span<const float>(values));
}
ir::Tensor Int(int64_t value) {
  return ir::Tensor::FromValues<int64_t>(DType::kI64, {}, std::span(&value, 1));
}
ir::Tensor Flag(bool value) {
  const uint8_t byte = value ? 1 : 0;
  return ir::Tensor::FromValues<uint8_t>(DType::kBool, {}, std::span(&byte, 1));
}

namespace {

void ExpectRoundTrips(const ir::Lowered& lowered, const schema::Program& plan) {
  const std::string text = ToString(lowered);
  const auto resolve = [&](DType, const Dims&, std::string_view hash) {
    for (const ir::LoweredBuffer& b : lowered.buffers) {
      if (b.constant.has_data() && ToHex(HashBytes(b.constant.bytes())) == hash) return b.constant;
    }
    return ir::Tensor();
  };
  const auto parsed = ir::ParseLowered(text, resolve);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString() << text;
  EXPECT_EQ(ToString(*parsed), text);
  const auto again = schema::ParseProgram(ToString(plan));
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(ToString(*again), ToString(plan));
}

// Of a plan whose steps moved when copies of states were dropped, too.
void ExpectAnswers(const schema::Program& program, const DecisionLog& log) {
  const auto read = schema::ParseDecisionLines(log.ToJsonLines());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(testing::ToText(testing::Audit(program, *read)), "");
}

}  // namespace

Result<schema::Contents> Plan(const ModelBuilder& model, const std::string& target,
                              const RunnerOptions& passes) {
  CompileOptions options;
  options.target = target;
  options.images = false;
  DecisionLog decisions;
  PassContext context;
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(target));
  context.decisions = &decisions;
  PassRunner runner(passes);
  AICF_ASSIGN_OR_RETURN(ir::Graph graph, model.Import());
  AICF_ASSIGN_OR_RETURN(graph, PrepareGraph(std::move(graph), options, runner, context));
  AICF_ASSIGN_OR_RETURN(const ir::Lowered lowered, Lower(graph, options, runner, context));
  AICF_ASSIGN_OR_RETURN(schema::Contents contents, MakePlan(lowered, options, context));
  ExpectRoundTrips(lowered, contents.program);
  if (passes.disabled.empty()) ExpectAnswers(contents.program, decisions);
  return contents;
}

Result<Compiled> Load(const schema::Contents& contents) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, schema::Serialize(contents));
  Compiled compiled;
  AICF_ASSIGN_OR_RETURN(compiled.program, Program::FromBytes(bytes));
  SessionOptions session;
  session.device = "cpu";
  session.threads = 1;
  AICF_ASSIGN_OR_RETURN(compiled.session, Session::Create(compiled.program, session));
  return compiled;
}

Result<Compiled> Compile(const ModelBuilder& model, const std::string& target,
                         const RunnerOptions& passes) {
  AICF_ASSIGN_OR_RETURN(const schema::Contents contents, Plan(model, target, passes));
  return Load(contents);
}

Outputs Replay(Compiled& compiled, const Feeds& feeds) {
  for (const auto& [name, tensor] : feeds) {
    const Status set = compiled.session->SetInput(
        name, {tensor.dtype(), tensor.shape(), tensor.bytes().data(), tensor.bytes().size()});
    EXPECT_TRUE(set.ok()) << set.ToString();
  }
  const Status ran = compiled.session->Run();
  EXPECT_TRUE(ran.ok()) << ran.ToString();
  Outputs out;
  for (const TensorInfo& info : compiled.program->outputs()) {
    const auto shape = compiled.session->OutputShape(info.name);
    if (!shape.ok()) {
      ADD_FAILURE() << shape.status().ToString();
      return {};
    }
    const auto bytes = static_cast<size_t>(*ElementCount(*shape) * DTypeBytes(info.dtype));
    std::vector<std::byte> data(bytes);
    const Status got =
        compiled.session->GetOutput(info.name, {info.dtype, *shape, data.data(), bytes});
    EXPECT_TRUE(got.ok()) << got.ToString();
    const ir::Tensor tensor = ir::Tensor::Own(info.dtype, *shape, std::move(data));
    out.push_back({*shape, {}});
    for (int64_t i = 0; i < tensor.count(); ++i) {
      out.back().values.push_back(IsFloat(info.dtype) ? tensor.FloatAt(i)
                                                      : static_cast<double>(tensor.IntAt(i)));
    }
  }
  return out;
}

}  // namespace aicf::loops
