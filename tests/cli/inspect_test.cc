/// aicf-inspect's questions: what became of this node, what lies where, what differs.
#include <gtest/gtest.h>

#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"
#include "tools/common/text.h"

namespace aicf::testing {
namespace {

using Args = std::vector<std::string>;

// TinyModel with a factor that is computed from constants, and a Reshape that changes nothing.
std::string FoldedModel(const TempDir& dir) {
  return PutModel(dir, "folded", [](onnx::ModelProto& m) {
    auto* graph = m.mutable_graph();
    onnx::NodeProto* four = graph->add_node();
    four->set_op_type("Add");
    four->set_name("node_four");
    four->add_input("two");
    four->add_input("two");
    four->add_output("four");
    for (auto& node : *graph->mutable_node()) {
      if (node.name() == "node_doubled") node.set_input(1, "four");
    }
    // Nodes stand in the order of their use.
    for (int i = graph->node_size() - 1; i > 0; --i) graph->mutable_node()->SwapElements(i, i - 1);
  });
}

class Inspect : public ::testing::Test {
 protected:
  void SetUp() override { artifact_ = PutArtifact(dir_, "tiny.aicf", {"--target=cpu:baseline"}); }

  static ToolResult Ask(const Args& args) { return RunTool("aicf-inspect", args); }

  std::string Compile(const std::string& model, const std::string& name, Args flags) {
    std::string path = dir_ / name;
    flags.insert(flags.begin(), {model, "-o", path});
    ExpectSuccess(RunTool("aicf-compile", flags));
    return path;
  }

  static void ExpectParts(const ToolResult& r, const Args& parts) {
    size_t at = 0;
    for (const std::string& part : parts) {
      const size_t found = r.out.find(part, at);
      ASSERT_NE(found, std::string::npos) << part << " is missing, or too early, in\n" << r.out;
      at = found;
    }
  }

  TempDir dir_;
  std::string artifact_;
};

TEST_F(Inspect, AFusedNodesStory) {
  const ToolResult r = Ask({artifact_, "--explain=node_biased"});
  ExpectSuccess(r);
  ExpectParts(r, {"node_biased: in step 0, cpu.gemm.", "with 2 other nodes", "Lowered to 1 step",
                  "fused, epilogue", "[node_product] -> [node_biased, node_active]",
                  "epilogue of gemm", "not fused", "single-use: ", "Step 0: cpu.gemm.", "kernel ",
                  "not cpu.gemm.ref: ", "own buffer", "before it", "after it"});
  for (const std::string& line : tools::Split(r.out, '\n')) {
    EXPECT_LE(tools::DisplayWidth(line), 100u) << line;
  }
}

TEST_F(Inspect, AStepsStoryByNumberAndTheCompactCard) {
  const ToolResult r = Ask({artifact_, "--explain=0"});
  ExpectSuccess(r);
  EXPECT_EQ(r.out, Ask({artifact_, "--explain=step.0"}).out);
  ExpectParts(r, {"Step 0 of 4: cpu.gemm.", "from node_product, node_biased, node_active"});
  ExpectParts(Ask({artifact_, "--step=0"}), {"Step 0 of ", "operand", "strides", "Decisions"});
}

TEST_F(Inspect, AFoldedNodeSaysSo) {
  const std::string folded = Compile(FoldedModel(dir_), "folded.aicf", {});
  const ToolResult r = Ask({folded, "--explain=node_four"});
  ExpectSuccess(r);
  ExpectParts(r, {"node_four: folded to a constant", "In the graph", "infer-and-fold"});
  EXPECT_EQ(r.out.find("Step "), std::string::npos) << r.out;
  const Json json = Json::parse(Ask({folded, "--explain=node_four", "--json"}).out);
  EXPECT_EQ(json.at("node"), "node_four");
  EXPECT_TRUE(json.at("steps").empty());
  EXPECT_EQ(json.at("graph")[0].at("choice"), "constant");
}

TEST_F(Inspect, ARefusedFusionNamesItsCondition) {
  const std::string apart =
      Compile(dir_ / "tiny.onnx", "apart.aicf", {"--disable-fusion=node_biased"});
  const ToolResult r = Ask({apart, "--explain=node_product"});
  ExpectSuccess(r);
  ExpectParts(r, {"not fused", "policy: --disable-fusion names a node of this edge"});
}

TEST_F(Inspect, PatternsListWithOneLineEach) {
  const ToolResult r = Ask({artifact_, "--explain=node_*"});
  ExpectSuccess(r);
  ExpectParts(r, {"7 nodes\n", "node_active: in step 0", "node_y: in step "});
  EXPECT_EQ(Json::parse(Ask({artifact_, "--explain=node_*", "--json"}).out).size(), 7u);
}

TEST_F(Inspect, UnknownNamesSuggestTheNearest) {
  ExpectFailure("aicf-inspect", Ask({artifact_, "--explain=node_prodct"}), 2,
                "did you mean 'node_product'");
  ExpectFailure("aicf-inspect", Ask({artifact_, "--explain=999"}), 2, "999");
  ExpectFailure("aicf-inspect", Ask({artifact_, "--explain=0", "--entry=b"}), 2,
                "no entry point 'b'; there are main");
  ExpectFailure("aicf-inspect", Ask({artifact_, "--explain=0", "--memory"}), 2, "--memory");
  ExpectFailure("aicf-inspect", Ask({artifact_, "--ascii"}), 2, "--memory");
}

TEST_F(Inspect, EqualArtifactsDoNotDiffer) {
  const std::string again = Compile(dir_ / "tiny.onnx", "again.aicf", {"--target=cpu:baseline"});
  const ToolResult r = Ask({"--diff", artifact_, again});
  ExpectSuccess(r);
  EXPECT_EQ(r.out, "A  " + artifact_ + "\nB  " + again + "\n\nno differences\n");
}

TEST_F(Inspect, TwoPoliciesDifferInTheKernel) {
  const std::string other =
      Compile(dir_ / "tiny.onnx", "ref.aicf", {"--target=cpu:baseline", "--policy=normalize=ref"});
  const ToolResult r = Ask({"--diff", artifact_, other});
  ExpectFailure("aicf-inspect", r, 1, "1 decision changed");
  ExpectParts(
      r, {"A  " + artifact_, "B  " + other, "Header", "policy", "Changed (1)", "kernel", "[node_y]",
          "A  cpu.normalize.", "B  cpu.normalize.ref", "policy", "us more in B", "Totals"});
  EXPECT_EQ(r.out, Ask({artifact_, "--diff=" + other}).out);
  EXPECT_EQ(r.out, Ask({artifact_, "--diff", other}).out);
  const ToolResult reverse = Ask({"--diff=" + other, artifact_});
  EXPECT_EQ(reverse.exit_code, 1);
  ExpectParts(reverse, {"A  " + other, "B  " + artifact_, "us less in B"});
  const ToolResult data = Ask({"--diff", artifact_, other, "--json"});
  EXPECT_EQ(data.exit_code, 1);
  const Json json = Json::parse(data.out);
  ASSERT_EQ(json.at("changed").size(), 1u);
  EXPECT_EQ(json.at("changed")[0].at("b").at("choice"), "cpu.normalize.ref");
  EXPECT_GT(json.at("changed")[0].at("cost_us_change").get<double>(), 0);
  EXPECT_GT(json.at("equal").get<int>(), 5);
}

TEST_F(Inspect, CpuAndCudaArtifactsAreComparable) {
  const std::string cuda =
      Compile(dir_ / "tiny.onnx", "cuda.aicf", {"--target=cuda:sm_90a", "--no-images"});
  const ToolResult r = Ask({"--diff", artifact_, cuda});
  ExpectFailure("aicf-inspect", r, 1, "decisions changed");
  ExpectParts(
      r, {"target", "cpu:baseline -> cuda:sm_90a", "Changed (", "A  cpu.gemm.", "B  cuda.gemm."});
  // The graph's passes decided alike.
  const Json json = Json::parse(Ask({"--diff", artifact_, cuda, "--json"}).out);
  size_t seen = 0;
  for (const char* list : {"only_in_a", "only_in_b"}) {
    for (const Json& d : json.at(list)) EXPECT_NE(d.at("kind"), "fold") << d;
    seen += json.at(list).size();
  }
  EXPECT_GT(seen, 0u);
}

TEST_F(Inspect, DiffNeedsTwoArtifacts) {
  ExpectFailure("aicf-inspect", Ask({artifact_, "--diff=" + (dir_ / "none.aicf")}), 8, "none.aicf");
  ExpectFailure("aicf-inspect", Ask({"--diff", artifact_}), 2, "artifact");
  PutFile(dir_ / "bad.aicf", "no artifact");
  ExpectFailure("aicf-inspect", Ask({"--diff", dir_ / "bad.aicf", artifact_}), 5, "bad.aicf");
}

TEST_F(Inspect, TheArenaOverTime) {
  const ToolResult r = Ask({artifact_, "--memory", "--ascii"});
  ExpectSuccess(r);
  EXPECT_EQ(r.out, R"(Arena of entry point main: 1.25 KiB, at least 1.25 KiB (live at step 2)
  a column is 1 step, a row 256 B; the last column is after the last step

   1.00 KiB ................EEEEEEEE................
      768 B ................DDDDDDDDDDDDDDDD........
      512 B ........CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC
      256 B BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
        0 B AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
       step 0       1       2       3
       live --------++++++++@@@@@@@@********++++++++
            full height: 1.25 KiB

     bytes  offset  lives              role    name
  -  -----  ------  -----------------  ------  -------------------------
  A    256       0  always             input   x
  B    256     256  always             output  active, in place of it: h
  C    256     512  step 1 to the end  output  y
  D    256     768  steps 2 to 3       temp    x_sum
  E    256    1024  step 2                     workspace of step 2
)");
  const Json json = Json::parse(Ask({artifact_, "--memory", "--json"}).out);
  const Json& entry = json.at("entry_points")[0];
  EXPECT_EQ(entry.at("name"), "main");
  EXPECT_EQ(entry.at("peak_bytes"), json.at("arena_lower_bound"));
  uint64_t end = 0;
  for (const Json& item : entry.at("items")) {
    end = std::max(end, item.at("offset").get<uint64_t>() + item.at("bytes").get<uint64_t>());
  }
  EXPECT_EQ(json.at("arena_bytes"), end);
}

TEST_F(Inspect, AStrippedArtifactStillAnswers) {
  const std::string stripped = Compile(dir_ / "tiny.onnx", "stripped.aicf", {"--strip"});
  const ToolResult r = Ask({stripped, "--explain=node_biased"});
  ExpectSuccess(r);
  ExpectParts(r, {"node_biased: in step 0", "reads", "Without reasons: the artifact was stripped",
                  "compiled without --strip has them"});
  ExpectParts(Ask({stripped, "--explain=node_*"}), {"nodes\n", "Without reasons: the artifact"});
  const ToolResult unknown = Ask({stripped, "--explain=node_folded"});
  ExpectFailure("aicf-inspect", unknown, 2, "the artifact was stripped of its decisions");
  ExpectSuccess(Ask({stripped, "--memory"}));
}

}  // namespace
}  // namespace aicf::testing
