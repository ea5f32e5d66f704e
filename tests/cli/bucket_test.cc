// Several entry points through the tools: compiled, inspected, and chosen by the inputs' shapes.
#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "schema/program.h"
#include "schema/verify.h"
#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"

namespace aicf::testing {
namespace {

// TinyModel over any number of rows, which do not know of each other.
std::string OpenModel(const TempDir& dir) {
  return PutModel(dir, "open", [](onnx::ModelProto& m) {
    auto* graph = m.mutable_graph();
    for (auto* list : {graph->mutable_input(), graph->mutable_output()}) {
      for (auto& info : *list) {
        auto* shape = info.mutable_type()->mutable_tensor_type()->mutable_shape();
        shape->mutable_dim(0)->set_dim_param("rows");
      }
    }
  });
}

const std::vector<float>& Rows() {
  static const std::vector<float> rows = {1,    -2, 3,     0.5f,  -1, 0.25f, 2,  1,
                                          0.5f, 0,  -0.5f, 0.75f, 3,  1,     -2, 0.125f};
  return rows;
}

// Files with `rows` rows of x, and what the model makes of them.
void PutRows(const TempDir& dir, int rows) {
  double y[12], h[12];
  TinyReference(Rows().data(), y, h);
  TinyReference(Rows().data() + 8, y + 6, h + 6);
  const auto put = [&](const std::string& name, int columns, const auto* values) {
    PutNpy(dir / (name + ".npy"), "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")",
           std::vector<float>(values, values + rows * columns));
  };
  put("x", 4, Rows().data());
  put("y", 3, y);
  put("h", 3, h);
}

Json RunJson(const TempDir& dir, const std::string& artifact, std::vector<std::string> flags) {
  flags.insert(flags.begin(), {artifact, "--duration=0", "--warm-up=0", "--json"});
  const ToolResult run = RunTool("aicf-run", flags);
  ExpectSuccess(run);
  (void)dir;
  return Json::parse(run.out, nullptr, false);
}

void ExpectRows(const TempDir& dir, const std::string& artifact, int rows, const std::string& entry,
                const std::vector<std::string>& more = {}) {
  SCOPED_TRACE(rows);
  PutRows(dir, rows);
  std::vector<std::string> flags = {"--load-inputs=x:" + (dir / "x.npy"),
                                    "--load-ref-outputs=y:" + (dir / "y.npy"),
                                    "--load-ref-outputs=h:" + (dir / "h.npy"), "--rel=1e-6"};
  flags.insert(flags.end(), more.begin(), more.end());
  const Json result = RunJson(dir, artifact, flags);
  EXPECT_EQ(result.value("entry", ""), entry);
  ASSERT_EQ(result["checks"].size(), 2u);
  for (const Json& check : result["checks"]) EXPECT_TRUE(check["pass"]) << check.dump();
}

TEST(Buckets, LoadedInputsChooseTheirEntryPoint) {
  TempDir dir;
  const std::string model = OpenModel(dir);
  for (const std::vector<std::string>& target : std::vector<std::vector<std::string>>{
           {}, {"--target=cuda:sm_90a", "--no-images", "--kernel-cache=none"}}) {
    const std::string artifact = dir / ("a" + std::to_string(target.size()) + ".aicf");
    std::vector<std::string> flags = {model,      "-o",       artifact, "--bucket=four=x:4x4",
                                      "--bucket", "one=x:1x4"};
    flags.insert(flags.end(), target.begin(), target.end());
    ExpectSuccess(RunTool("aicf-compile", flags));
    ExpectSuccess(RunTool("aicf-inspect", {artifact, "--verify"}));
    ExpectRows(dir, artifact, 4, "four", {"--device=cpu"});
    ExpectRows(dir, artifact, 1, "one", {"--device=cpu"});
    ExpectRows(dir, artifact, 3, "four", {"--device=cpu"});
    ExpectRows(dir, artifact, 2, "four", {"--device=cpu"});
  }
}

TEST(Buckets, OutputsAreExportedInTheirOwnShapes) {
  TempDir dir;
  const std::string artifact = dir / "a.aicf";
  ExpectSuccess(RunTool("aicf-compile", {OpenModel(dir), "-o", artifact, "--bucket=four=x:4x4"}));
  PutRows(dir, 3);
  const ToolResult run =
      RunTool("aicf-run", {artifact, "--load-inputs=x:" + (dir / "x.npy"), "--duration=0",
                           "--warm-up=0", "--export-output=" + (dir / "out")});
  ExpectSuccess(run);
  EXPECT_NE(run.out.find("padded to 4x4"), std::string::npos) << run.out;
  const Json outputs = Json::parse(GetFile(dir / "out/outputs.json"), nullptr, false);
  EXPECT_EQ(outputs[0]["shape"], (Json{3, 3}));
}

TEST(Buckets, ShapesThatNoEntryPointTakesAreListed) {
  TempDir dir;
  const std::string artifact = dir / "a.aicf";
  ExpectSuccess(RunTool(
      "aicf-compile", {OpenModel(dir), "-o", artifact, "--shapes=x:1x4", "--bucket=three=x:3x4"}));
  PutRows(dir, 4);
  const std::string load = "--load-inputs=x:" + (dir / "x.npy");
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, load}), 2,
                "no entry point takes 'x' 4x4; there is 'main': x 1x4; 'three': x 3x4 down to 1x4");
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, load, "--entry=three"}), 2,
                "expected f32 3x4");
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact, "--entry=four"}), 2, "main, three");
  EXPECT_EQ(RunJson(dir, artifact, {}).value("entry", ""), "main");
  EXPECT_EQ(RunJson(dir, artifact, {"--entry=three"}).value("entry", ""), "three");
}

TEST(Buckets, InspectionListsEntryPointsPaddingAndDecisions) {
  TempDir dir;
  const std::string artifact = dir / "a.aicf";
  ExpectSuccess(RunTool("aicf-compile", {OpenModel(dir), "-o", artifact, "--bucket=four=x:4x4",
                                         "--bucket=two=x:2x4"}));
  const Json j = Json::parse(RunTool("aicf-inspect", {artifact, "--json"}).out, nullptr, false);
  ASSERT_EQ(j["entry_points"].size(), 2u);
  const Json& four = j["entry_points"][0];
  EXPECT_EQ(four["name"], "four");
  EXPECT_EQ(four["inputs"][0]["shape"], (Json{4, 4}));
  ASSERT_EQ(four["paddings"].size(), 1u);
  EXPECT_EQ(four["paddings"][0]["min"], 1);
  EXPECT_EQ(four["paddings"][0]["outputs"].size(), 2u);
  EXPECT_EQ(j["entry_points"][1]["first_step"], four["step_count"]);
  int of_two = 0, buckets = 0;
  for (const Json& d : j["decisions"]) {
    of_two += d.value("entry", "") == "two";
    buckets += d["kind"] == "bucket";
  }
  EXPECT_GT(of_two, 3);
  EXPECT_EQ(buckets, 2);
  const ToolResult text = RunTool("aicf-inspect", {artifact});
  EXPECT_NE(text.out.find("axis 0 of x may be padded from 1 position"), std::string::npos);
  const ToolResult step =
      RunTool("aicf-inspect", {artifact, "--step=" + four["step_count"].dump()});
  ExpectSuccess(step);
  EXPECT_NE(step.out.find("entry       two"), std::string::npos) << step.out;
  EXPECT_EQ(step.out.find("(entry four)"), std::string::npos) << step.out;
  EXPECT_NE(step.out.find("(entry two)"), std::string::npos) << step.out;
}

TEST(Buckets, CompilingTwiceGivesTheSameBytes) {
  TempDir dir;
  const std::string model = OpenModel(dir);
  for (const char* name : {"a.aicf", "b.aicf"}) {
    ExpectSuccess(RunTool("aicf-compile",
                          {model, "-o", dir / name, "--bucket=four=x:4x4", "--bucket=two=x:2x4"}));
  }
  EXPECT_EQ(GetFile(dir / "a.aicf"), GetFile(dir / "b.aicf"));
}

TEST(Buckets, EveryStageCanBePrinted) {
  TempDir dir;
  const std::string model = OpenModel(dir);
  for (const char* stage : {"graph", "lowered", "plan"}) {
    const ToolResult text = RunTool("aicf-compile", {model, std::string("--stop-after=") + stage,
                                                     "--bucket=four=x:4x4", "--bucket=two=x:2x4"});
    ExpectSuccess(text);
    EXPECT_NE(text.out.find("entry \"four\""), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("entry \"two\""), std::string::npos);
  }
}

TEST(Buckets, PrintedStagesParseBack) {
  TempDir dir;
  const std::string model = OpenModel(dir);
  const auto print = [&](const std::string& stage) {
    return RunTool("aicf-compile", {model, "--stop-after=" + stage, "--bucket=four=x:4x4",
                                    "--bucket=two=x:2x4", "--target=cpu:baseline"})
        .out;
  };
  const auto plan = schema::ParseProgram(print("plan"));
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  ASSERT_EQ(plan->entry_points.size(), 2u);
  EXPECT_TRUE(schema::VerifyProgram(*plan).ok());
  std::string lowered = print("lowered");
  int parts = 0;
  for (const char* head : {"entry \"two\"\n", "entry \"four\"\n"}) {
    const size_t at = lowered.find(head);
    ASSERT_NE(at, std::string::npos) << lowered;
    const auto part = ir::ParseLowered(lowered.substr(at + std::string(head).size()));
    EXPECT_TRUE(part.ok()) << part.status().ToString();
    lowered.resize(at);
    ++parts;
  }
  EXPECT_EQ(parts, 2);
  EXPECT_EQ(lowered, "");
}

TEST(Buckets, MistakesAreUsageErrors) {
  TempDir dir;
  const std::string model = OpenModel(dir);
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--bucket=x:2x4"}, "expected name=input:1x3x48x320"},
      {{"--bucket=a="}, "expected name=input:1x3x48x320"},
      {{"--bucket==x:2x4"}, "expected name=input:1x3x48x320"},
      {{"--bucket=a=x"}, "--bucket a: expected name:1x3x48x320"},
      {{"--bucket=a=x:2x4,x:3x4"}, "--bucket a: input 'x' is given twice"},
      {{"--bucket=a=x:2x4", "--bucket=a=x:3x4"}, "bucket 'a' is given twice"},
      {{"--shapes=x:1x4", "--bucket=main=x:3x4"}, "bucket 'main' is given twice"},
      {{"--bucket=a=x:2x4", "--bucket=b=x:2x4"}, "bucket 'b' has the shapes of 'a'"},
      {{"--bucket=a=u:2x4"}, "bucket 'a': the model has no input \"u\""},
      {{"--bucket=a=x:2x5"}, "input \"x\" is [\"rows\", 4] in the model"}};
  for (const auto& [flags, part] : cases) {
    std::vector<std::string> all = {model, "-o", dir / "a.aicf"};
    all.insert(all.end(), flags.begin(), flags.end());
    ExpectFailure("aicf-compile", RunTool("aicf-compile", all), 2, part);
  }
}

}  // namespace
}  // namespace aicf::testing
