// A streaming model through all three tools: the hint, --state, --load-state, --export-state.
#include <gtest/gtest.h>

#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

/// total' = total + x; y = -total'.
std::string PutTotalModel(const TempDir& dir) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(18);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("total");
  SetTensorInfo(*graph.add_input(), "x", {4});
  SetTensorInfo(*graph.add_input(), "total_in", {4});
  onnx::NodeProto& add = *graph.add_node();
  add.set_op_type("Add");
  add.set_name("add");
  add.add_input("total_in");
  add.add_input("x");
  add.add_output("total_out");
  onnx::NodeProto& neg = *graph.add_node();
  neg.set_op_type("Neg");
  neg.set_name("neg");
  neg.add_input("total_out");
  neg.add_output("y");
  for (const char* output : {"total_out", "y"}) SetTensorInfo(*graph.add_output(), output, {4});
  const std::string path = dir / "total.onnx";
  PutFile(path, model.SerializeAsString());
  return path;
}

/// The four floats at the end of a .npy file.
std::vector<float> NpyFloats(const std::string& path) {
  const std::string bytes = GetFile(path);
  std::vector<float> values(4);
  EXPECT_GE(bytes.size(), 16u) << path;
  if (bytes.size() >= 16) std::memcpy(values.data(), bytes.data() + bytes.size() - 16, 16);
  return values;
}

class States : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = PutTotalModel(dir_);
    PutNpy(dir_ / "x.npy", "(4,)", {1, 2, 3, 4});
  }
  std::string Compile(const std::vector<std::string>& flags) {
    std::vector<std::string> args = {model_, "-o", dir_ / "total.aicf", "--force"};
    args.insert(args.end(), flags.begin(), flags.end());
    const ToolResult r = RunTool("aicf-compile", args);
    ExpectSuccess(r);
    return r.out;
  }
  ToolResult Run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {dir_ / "total.aicf", "--device=cpu", "--warm-up=0", "--duration=0",
                                 "--iterations=3", "--load-inputs=x:" + (dir_ / "x.npy")});
    return RunTool("aicf-run", flags);
  }

  TempDir dir_;
  std::string model_;
};

TEST_F(States, AreProposedAndTakenWhenAskedFor) {
  const std::string hint = "hint: input 'total_in' and output 'total_out' could be one state";
  EXPECT_NE(Compile({}).find(hint), std::string::npos);
  for (const char* flag : {"--state=auto", "--state=total_in:total_out"}) {
    const std::string out = Compile({flag});
    EXPECT_EQ(out.find("hint"), std::string::npos) << out;
    EXPECT_NE(out.find("state     total_in (256 B)"), std::string::npos) << out;
  }
  ExpectFailure("aicf-compile",
                RunTool("aicf-compile", {model_, "-o", dir_ / "n.aicf", "--state=x:y2"}), 2,
                "no output is named 'y2'");
  ExpectFailure("aicf-compile",
                RunTool("aicf-compile", {model_, "-o", dir_ / "n.aicf", "--state=x"}), 2,
                "--state: expected PAST:PRESENT");
}

TEST_F(States, GoOnFromFileToFile) {
  Compile({"--state=auto"});
  ExpectSuccess(Run({"--export-output=" + (dir_ / "out"), "--export-state=" + (dir_ / "s1")}));
  EXPECT_EQ(NpyFloats(dir_ / "out/y.npy"), (std::vector<float>{-1, -2, -3, -4}));
  EXPECT_EQ(NpyFloats(dir_ / "s1/total_in.npy"), (std::vector<float>{1, 2, 3, 4}));
  const Json list = Json::parse(GetFile(dir_ / "s1/states.json"));
  EXPECT_EQ(list[0]["name"], "total_in");
  ExpectSuccess(Run({"--load-state=total_in:" + (dir_ / "s1/total_in.npy"),
                     "--export-state=" + (dir_ / "s2"), "--keep-state"}));
  EXPECT_EQ(NpyFloats(dir_ / "s2/total_in.npy"), (std::vector<float>{2, 4, 6, 8}))
      << "the state of the first inference, however many are measured";
  ExpectFailure("aicf-run", Run({"--load-state=total:" + (dir_ / "x.npy")}), 2, "total");
}

TEST_F(States, AreShownByRunAndInspect) {
  Compile({"--state=auto"});
  const ToolResult run = Run({});
  ExpectSuccess(run);
  EXPECT_NE(run.out.find("state: begins with zero"), std::string::npos) << run.out;
  const ToolResult json = Run({"--json"});
  ExpectSuccess(json);
  EXPECT_EQ(Json::parse(json.out)["states"][0]["name"], "total_in");
  const ToolResult text = RunTool("aicf-inspect", {dir_ / "total.aicf"});
  ExpectSuccess(text);
  EXPECT_NE(text.out.find("States\n"), std::string::npos) << text.out;
  const ToolResult data = RunTool("aicf-inspect", {dir_ / "total.aicf", "--json"});
  ExpectSuccess(data);
  const Json states = Json::parse(data.out)["states"];
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0]["bytes"], 16);
}

TEST_F(States, AreVerifiedStepByStepAndBySamples) {
  for (const std::string target : {"cpu", "cpu:baseline"}) {
    Compile({"--state=auto", "--target=" + target, "--golden=x:" + (dir_ / "x.npy"),
             "--golden=x:" + (dir_ / "x.npy")});
    const ToolResult steps = RunTool("aicf-run", {dir_ / "total.aicf", "--verify"});
    ExpectSuccess(steps);
    EXPECT_NE(steps.out.find("total_in"), std::string::npos) << steps.out;
    // Both samples begin with a state of zero, so both have the same outputs.
    ExpectSuccess(RunTool("aicf-run", {dir_ / "total.aicf", "--verify=golden"}));
  }
}

}  // namespace
}  // namespace aicf::testing
