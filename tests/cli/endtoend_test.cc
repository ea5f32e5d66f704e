/// A model through all three tools, as a user would.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

namespace fs = std::filesystem;

class EndToEnd : public ::testing::Test {
 protected:
  void SetUp() override {
    artifact_ = PutArtifact(dir_);
    double y[6], h[6];
    TinyReference(kTinyInput.data(), y, h);
    PutNpy(dir_ / "x.npy", "(2, 4)", kTinyInput);
    PutNpy(dir_ / "y.npy", "(2, 3)", std::vector<float>(y, y + 6));
    PutNpy(dir_ / "h.npy", "(2, 3)", std::vector<float>(h, h + 6));
  }
  /// aicf-run on kTinyInput without a measurement.
  ToolResult Run(std::vector<std::string> args, const std::string& artifact = "") {
    args.insert(args.begin(), artifact.empty() ? artifact_ : artifact);
    args.insert(args.end(), {"--load-inputs=x:" + (dir_ / "x.npy"), "--duration=0", "--warm-up=0"});
    return RunTool("aicf-run", args);
  }
  std::string References() const {
    return "--load-ref-outputs=y:" + (dir_ / "y.npy") + ",h:" + (dir_ / "h.npy");
  }

  TempDir dir_;
  std::string artifact_;
};

TEST_F(EndToEnd, OutputsMatchTheReference) {
  for (const char* tolerance : {"--rel=1e-6", "--atol=1e-6", "--rtol=1e-5"}) {
    const ToolResult r = Run({References(), tolerance});
    ExpectSuccess(r);
    EXPECT_NE(r.out.find("PASS  y"), std::string::npos) << r.out;
    EXPECT_NE(r.out.find("PASS  h"), std::string::npos) << r.out;
  }
}

TEST_F(EndToEnd, AWrongReferenceFailsTheCheck) {
  PutNpy(dir_ / "y.npy", "(2, 3)", {0, 0, 0, 0, 0, 1});
  const ToolResult r = Run({References(), "--rel=1e-4"});
  ExpectFailure("aicf-run", r, 1, "output 'y'");
  EXPECT_NE(r.out.find("FAIL  y"), std::string::npos);
  EXPECT_NE(r.out.find("worst at ["), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("PASS  h"), std::string::npos);
  EXPECT_NE(r.out.find("Performance summary"), std::string::npos) << "the numbers still count";
}

TEST_F(EndToEnd, WrongTensorsAreUsageErrors) {
  PutNpy(dir_ / "flat.npy", "(8,)", kTinyInput);
  ExpectFailure("aicf-run",
                RunTool("aicf-run", {artifact_, "--load-inputs=x:" + (dir_ / "flat.npy")}), 2,
                "expected f32 2x4");
  ExpectFailure("aicf-run", RunTool("aicf-run", {artifact_, "--load-inputs=x:" + artifact_}), 2,
                "not a .npy file");
  ExpectFailure("aicf-run",
                RunTool("aicf-run", {artifact_, "--load-inputs=x:" + (dir_ / "no.npy")}), 8,
                "no.npy");
  ExpectFailure("aicf-run",
                RunTool("aicf-run", {artifact_, "--load-ref-outputs=y:" + (dir_ / "x.npy")}), 2,
                "expected 2x3");
}

TEST_F(EndToEnd, TextReportHasTrtexecsFields) {
  const ToolResult r = Run({"--memory", "--profile"});
  ExpectSuccess(r);
  for (const char* part : {"=== Performance summary ===", "Throughput: ", " qps", "Latency: min = ",
                           "percentile(99%) = ", "Total Host Walltime: ", "=== Memory ===",
                           "=== Profile ===", "source nodes", "node_product", "load ", "first "}) {
    EXPECT_NE(r.out.find(part), std::string::npos) << part << " is missing in\n" << r.out;
  }
}

TEST_F(EndToEnd, JsonIsOneObjectWithTheDocumentedKeys) {
  const ToolResult r = Run({"--json", References(), "--rel=1e-5", "--profile"});
  ExpectSuccess(r);
  const Json out = Json::parse(r.out);
  EXPECT_GT(out.at("load_ms").get<double>(), 0);
  EXPECT_GT(out.at("first_ms").get<double>(), 0);
  for (const char* key : {"min", "max", "mean", "median", "p90", "p95", "p99"}) {
    EXPECT_GT(out.at("latency_ms").at(key).get<double>(), 0) << key;
  }
  EXPECT_GT(out.at("peak_memory_bytes").get<int64_t>(), 0);
  EXPECT_EQ(out.at("device"), "cpu");
  EXPECT_GE(out.at("iterations").get<int>(), 10);
  EXPECT_EQ(out.at("checks").size(), 2u);
  EXPECT_EQ(out.at("profile").size(), out.at("steps").get<size_t>());
}

TEST_F(EndToEnd, OutputsAreExportedWithAnIndex) {
  ExpectSuccess(Run({"--export-output", dir_ / "out"}));
  const Json list = Json::parse(GetFile(dir_ / "out/outputs.json"));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].at("name"), "y");
  EXPECT_EQ(list[0].at("dtype"), "f32");
  EXPECT_EQ(list[0].at("shape"), Json({2, 3}));
  // What was exported is its own reference.
  const std::string y = dir_ / ("out/" + list[0].at("file").get<std::string>());
  ExpectSuccess(Run({"--load-ref-outputs=y:" + y, "--atol=0"}));
}

TEST_F(EndToEnd, ExportsAreReadableByTheirTools) {
  ExpectSuccess(Run(
      {"--export-profile", dir_ / "p.json", "--export-times", dir_ / "t.json", "--iterations=25"}));
  const Json trace = Json::parse(GetFile(dir_ / "p.json"));
  size_t spans = 0;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    ++spans;
    EXPECT_GE(event.at("dur").get<double>(), 0);
    EXPECT_TRUE(event.at("args").contains("kernel"));
  }
  EXPECT_GT(spans, 0u);
  EXPECT_EQ(Json::parse(GetFile(dir_ / "t.json")).size(), 25u);
}

TEST_F(EndToEnd, MadeUpInputsAreStatedAndTheSameEveryTime) {
  const ToolResult r = RunTool(
      "aicf-run", {artifact_, "--duration=0", "--warm-up=0", "--export-output", dir_ / "a"});
  ExpectSuccess(r);
  EXPECT_NE(r.out.find("random in [-1, 1)"), std::string::npos);
  ExpectSuccess(RunTool("aicf-run", {artifact_, "--duration=0", "--warm-up=0", "--threads=1",
                                     "--export-output", dir_ / "b"}));
  EXPECT_EQ(GetFile(dir_ / "a/y.npy"), GetFile(dir_ / "b/y.npy"));
  EXPECT_EQ(GetFile(dir_ / "a/h.npy"), GetFile(dir_ / "b/h.npy"));
}

TEST_F(EndToEnd, CompilingTwiceGivesTheSameBytes) {
  const std::string second = PutArtifact(dir_, "second.aicf", {"--verbose"});
  EXPECT_EQ(GetFile(second), GetFile(artifact_));
}

TEST_F(EndToEnd, CompileReportsWhatItMade) {
  const ToolResult r =
      RunTool("aicf-compile", {dir_ / "tiny.onnx", "-o", dir_ / "o.aicf", "--timings", "--explain",
                               "--export-decisions", dir_ / "d.jsonl"});
  ExpectSuccess(r);
  for (const char* part :
       {"steps ", "fused", "arena ", "lower bound", "time ", "Decisions (", "-> "}) {
    EXPECT_NE(r.out.find(part), std::string::npos) << part << " is missing in\n" << r.out;
  }
  std::istringstream lines(GetFile(dir_ / "d.jsonl"));
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json decision = Json::parse(line);
    for (const char* key : {"kind", "subject", "choice", "reason", "alternatives"}) {
      EXPECT_TRUE(decision.contains(key)) << line;
    }
  }
  EXPECT_GT(count, 0u);
}

TEST_F(EndToEnd, EveryStagePrintsAndIsRepeatable) {
  const std::string model = dir_ / "tiny.onnx";
  for (const char* stage : {"graph", "lowered", "plan"}) {
    const std::string flag = std::string("--stop-after=") + stage;
    const ToolResult r = RunTool("aicf-compile", {model, flag});
    ExpectSuccess(r);
    EXPECT_FALSE(r.out.empty());
    ExpectSuccess(RunTool("aicf-compile", {model, flag, "-o", dir_ / stage}));
    EXPECT_EQ(GetFile(dir_ / stage), r.out);
  }
  const ToolResult dump = RunTool("aicf-compile", {model, "--check", "--dump-after=all"});
  ExpectSuccess(dump);
  EXPECT_NE(dump.out.find("# after "), std::string::npos);
}

TEST_F(EndToEnd, PassesOfThePlanAreDumpedAndTimedLikeOthers) {
  const ToolResult r =
      RunTool("aicf-compile", {dir_ / "tiny.onnx", "--target=cuda", "--no-images", "--force", "-o",
                               dir_ / "gpu.aicf", "--timings", "--dump-after=choose-streams"});
  ExpectSuccess(r);
  const std::string dumped = "# after choose-streams\nprogram ";
  const size_t at = r.out.find(dumped);
  ASSERT_NE(at, std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("# after ", at + 1), std::string::npos) << "only this pass, and only once";
  EXPECT_NE(r.out.find("choose-streams ", at + dumped.size()), std::string::npos) << "its time";
}

TEST_F(EndToEnd, CheckWritesNothing) {
  const auto before = dir_.Entries();
  const ToolResult r =
      RunTool("aicf-compile", {dir_ / "tiny.onnx", "--check", "-o", dir_ / "never"});
  ExpectSuccess(r);
  EXPECT_NE(r.out.find("no gaps"), std::string::npos);
  EXPECT_EQ(dir_.Entries(), before);
}

TEST_F(EndToEnd, AStrippedArtifactRunsAndSaysWhatIsMissing) {
  const std::string stripped = PutArtifact(dir_, "stripped.aicf", {"--strip", "--force"});
  EXPECT_LT(fs::file_size(stripped), fs::file_size(artifact_));
  ExpectSuccess(Run({References(), "--rel=1e-5"}, stripped));
  const ToolResult r = RunTool("aicf-inspect", {stripped});
  ExpectSuccess(r);
  EXPECT_NE(r.out.find("--strip"), std::string::npos);
}

TEST_F(EndToEnd, InspectShowsEverything) {
  const ToolResult r = RunTool("aicf-inspect", {artifact_});
  ExpectSuccess(r);
  for (const char* part :
       {"Header", "format", "target", "peak memory", "Provenance", "Entry points", "Memory",
        "lower bound", "Steps (", "node_product", "Decisions ("}) {
    EXPECT_NE(r.out.find(part), std::string::npos) << part << " is missing in\n" << r.out;
  }
  const ToolResult step = RunTool("aicf-inspect", {artifact_, "--step=0"});
  ExpectSuccess(step);
  for (const char* part : {"kernel", "operand", "strides", "arithmetic", "Decisions", "-> "}) {
    EXPECT_NE(step.out.find(part), std::string::npos) << part << " is missing in\n" << step.out;
  }
  const ToolResult summary = RunTool("aicf-inspect", {artifact_, "--summary"});
  ExpectSuccess(summary);
  EXPECT_LT(summary.out.size(), r.out.size());
}

TEST_F(EndToEnd, InspectJsonHasTheDocumentedKeys) {
  const ToolResult r = RunTool("aicf-inspect", {artifact_, "--json"});
  ExpectSuccess(r);
  const Json out = Json::parse(r.out);
  for (const char* key : {"header", "entry_points", "values", "steps", "decisions"}) {
    EXPECT_TRUE(out.contains(key)) << key;
  }
  EXPECT_EQ(out.at("entry_points")[0].at("inputs")[0].at("name"), "x");
  for (const Json& step : out.at("steps")) EXPECT_FALSE(step.at("sources").empty());
  for (const Json& decision : out.at("decisions")) {
    for (const char* key : {"kind", "subject", "choice", "reason", "alternatives"}) {
      EXPECT_TRUE(decision.contains(key)) << decision;
    }
  }
}

TEST_F(EndToEnd, FusionCanBeSwitchedOffAndValuesStay) {
  const size_t fused =
      Json::parse(RunTool("aicf-inspect", {artifact_, "--json"}).out)["steps"].size();
  const std::string plain = PutArtifact(
      dir_, "plain.aicf", {"--disable-fusion=node_biased,node_active,node_doubled,node_h,node_y"});
  const size_t apart = Json::parse(RunTool("aicf-inspect", {plain, "--json"}).out)["steps"].size();
  EXPECT_GT(apart, fused);
  ExpectSuccess(Run({References(), "--rel=1e-6"}, plain));
}

TEST_F(EndToEnd, ACudaDeviceThatIsNotThereSaysWhatWorks) {
  const ToolResult r = RunTool("aicf-run", {artifact_, "--device=cuda:0"});
  ExpectFailure("aicf-run", r, 6, "cpu");
}

TEST_F(EndToEnd, ACudaPlanRunsOnTheCpu) {
  const std::string cuda = dir_ / "cuda.aicf";
  const ToolResult made = RunTool("aicf-compile", {dir_ / "tiny.onnx", "-o", cuda,
                                                   "--target=cuda:sm_90a", "--kernel-cache=none"});
  if (made.exit_code == 6) GTEST_SKIP() << "no device compiler here: " << made.err;
  ExpectSuccess(made);
  const ToolResult r = Run({"--device=cpu", References(), "--rel=1e-5"}, cuda);
  ExpectSuccess(r);
  EXPECT_NE(r.out.find("reference kernels"), std::string::npos) << r.out;
}

TEST_F(EndToEnd, TrtexecSpellings) {
  const ToolResult compiled = RunTool(
      "aicf-compile", {"--onnx=" + (dir_ / "tiny.onnx"), "--saveEngine=" + (dir_ / "e.aicf")});
  ExpectSuccess(compiled);
  ExpectSuccess(RunTool("aicf-run", {"--loadEngine=" + (dir_ / "e.aicf"), "--warmUp=0",
                                     "--duration=0", "--loadInputs=x:" + (dir_ / "x.npy"),
                                     "--dumpProfile", "--exportTimes=" + (dir_ / "t.json")}));
}

}  // namespace
}  // namespace aicf::testing
