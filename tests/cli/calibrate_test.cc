/// --precision=int8 and fp8: samples with right and wrong shapes, what the artifact records about
/// them, and the way back to floats.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <random>

#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

using Args = std::vector<std::string>;

class Calibrate : public ::testing::Test {
 protected:
  void SetUp() override {
    PutTinySample(dir_);
    model_ = PutModel(dir_, "tiny");
    std::filesystem::create_directory(dir_ / "samples");
    std::mt19937 random(3);
    std::normal_distribution<float> normal(0, 1.5f);
    for (int i = 0; i < 4; ++i) {
      std::vector<float> x(8);
      for (float& v : x) v = normal(random);
      PutNpy(dir_ / ("samples/" + std::to_string(i) + ".npy"), "(2, 4)", x);
    }
  }

  ToolResult Compile(Args flags) const { return RunTool("aicf-compile", std::move(flags)); }
  std::string Quantised(const std::string& name, const Args& more = {}) const {
    Args flags = {model_, "-o", dir_ / name, "--precision=int8",
                  "--calibrate=" + (dir_ / "samples")};
    flags.insert(flags.end(), more.begin(), more.end());
    ExpectSuccess(Compile(flags));
    return dir_ / name;
  }
  std::vector<Json> DecisionsOf(const std::string& artifact, const std::string& kind) const {
    const ToolResult r = RunTool("aicf-inspect", {artifact, "--json"});
    ExpectSuccess(r);
    std::vector<Json> found;
    const Json data = Json::parse(r.out, nullptr, false);
    for (const Json& d : data.at("decisions")) {
      if (d.at("kind") == kind) found.push_back(d);
    }
    return found;
  }
  /// The choice of the one product's operands.
  std::string OperandsOf(const std::string& artifact) const {
    const std::vector<Json> found = DecisionsOf(artifact, "operands");
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? "" : found[0].at("choice").get<std::string>();
  }
  std::string Node(const std::string& artifact) const {
    return DecisionsOf(artifact, "operands").at(0).at("nodes").at(0).get<std::string>();
  }
  void ExpectNear(const std::string& artifact, const std::string& error) const {
    ExpectSuccess(
        RunTool("aicf-run",
                {artifact, "--device=cpu", "--duration=0", "--warm-up=0",
                 "--load-inputs=x:" + (dir_ / "x.npy"), "--load-ref-outputs=y:" + (dir_ / "y.npy"),
                 "--load-ref-outputs=h:" + (dir_ / "h.npy"), "--rel=" + error}));
  }
  void ExpectUsage(const Args& flags, const std::string& what) const {
    Args all = {model_, "-o", dir_ / "no.aicf"};
    all.insert(all.end(), flags.begin(), flags.end());
    ExpectFailure("aicf-compile", Compile(all), 2, what);
    EXPECT_FALSE(std::filesystem::exists(dir_ / "no.aicf"));
  }

  TempDir dir_;
  std::string model_;
};

TEST_F(Calibrate, AFolderOfSamplesMakesAnInt8Program) {
  const std::string artifact = Quantised("a.aicf");
  EXPECT_EQ(OperandsOf(artifact), "i8");
  ExpectNear(artifact, "3e-2");
  const std::vector<Json> operands = DecisionsOf(artifact, "operands");
  EXPECT_NE(operands[0].at("reason").get<std::string>().find("alone it changes the outputs by"),
            std::string::npos);
  int scales = 0;
  for (const Json& d : DecisionsOf(artifact, "storage")) {
    scales += d.at("choice").get<std::string>().find("scale") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(scales, 2) << "the value, and the weights";
}

TEST_F(Calibrate, Fp8MultipliesOnTheReferenceKernelAndSaysSo) {
  const std::string artifact = dir_ / "a.aicf";
  ExpectSuccess(
      Compile({model_, "-o", artifact, "--precision=fp8", "--calibrate=" + (dir_ / "samples")}));
  EXPECT_EQ(OperandsOf(artifact), "f8e4m3fn");
  ExpectNear(artifact, "2e-1");
  const std::string reason = DecisionsOf(artifact, "operands")[0].at("reason").get<std::string>();
  EXPECT_NE(reason.find("only the reference kernel"), std::string::npos) << reason;
}

TEST_F(Calibrate, TheArtifactRemembersWhatSamplesSaid) {
  const std::string artifact = Quantised("a.aicf", {"--calibrate-method=percentile"});
  std::filesystem::remove_all(dir_ / "samples");
  ExpectSuccess(Compile({"--rebuild", artifact, model_}));
  ExpectSuccess(Compile({"--from", artifact, "-o", dir_ / "b.aicf"}));
  EXPECT_EQ(GetFile(dir_ / "b.aicf"), GetFile(artifact));
}

TEST_F(Calibrate, TheSummarySaysWhatSamplesSaidInShort) {
  const ToolResult r =
      RunTool("aicf-inspect", {Quantised("a.aicf", {"--max-error=0.05"}), "--summary"});
  ExpectSuccess(r);
  for (const char* part : {"\n  calibration       minmax, hash ", ": 4 samples, error 0.",
                           " of 0.05000 allowed, 0 of 1 products stay in floats\n"}) {
    EXPECT_EQ(CountOf(r.out, part), 1u) << part << " in " << r.out;
  }
  std::string line;
  std::istringstream in(r.out);
  while (std::getline(in, line)) EXPECT_LT(line.size(), 300u) << line;
}

TEST_F(Calibrate, FromGoesBackToFloats) {
  const std::string artifact = Quantised("a.aicf");
  ExpectSuccess(Compile({"--from", artifact, "-o", dir_ / "wide.aicf", "--precision=fp32"}));
  ExpectSuccess(Compile({model_, "-o", dir_ / "plain.aicf"}));
  EXPECT_EQ(GetFile(dir_ / "wide.aicf"), GetFile(dir_ / "plain.aicf"));
  // Samples are for a precision: those of int8 say nothing of fp8's effects.
  ExpectFailure("aicf-compile",
                Compile({"--from", artifact, "-o", dir_ / "no.aicf", "--precision=fp8"}), 2,
                "needs samples");
}

TEST_F(Calibrate, AProductOrAValueIsGivenBackByAnEdit) {
  const std::string artifact = Quantised("a.aicf");
  const std::string set = "--set=node:" + Node(artifact) + ".operands=";
  ExpectSuccess(Compile({"--from", artifact, "-o", dir_ / "wide.aicf", set + "f32"}));
  EXPECT_EQ(OperandsOf(dir_ / "wide.aicf"), "f32");
  ExpectNear(dir_ / "wide.aicf", "1e-5");
  ExpectFailure("aicf-compile", Compile({"--from", artifact, "-o", dir_ / "no.aicf", set + "f16"}),
                2, "legal are");
  // An exported file: another method's scale for the value.
  const std::string file = dir_ / "decisions.jsonl", edited = dir_ / "edited.jsonl";
  ExpectSuccess(Compile({"--from", artifact, "-o", dir_ / "c.aicf", "--export-decisions=" + file}));
  std::string text, line;
  std::istringstream in(GetFile(file));
  bool found = false;
  while (std::getline(in, line)) {
    Json d = Json::parse(line);
    const std::string choice = d.at("choice").get<std::string>();
    if (d.at("kind") == "storage" && choice.ends_with("minmax")) {
      found = true;
      d["choice"] = "f32";
    }
    text += d.dump() + "\n";
  }
  EXPECT_TRUE(found);
  PutFile(edited, text);
  ExpectSuccess(Compile({"--from", artifact, "-o", dir_ / "d.aicf", "--decisions=" + edited}));
  EXPECT_EQ(OperandsOf(dir_ / "d.aicf"), "f32");
}

// Where rows of a batch do not depend on each other, samples are rows, whatever the batch is.
TEST_F(Calibrate, SamplesOfOneRowAreEnoughForAnyBatch) {
  const std::string open = PutModel(dir_, "open", [](onnx::ModelProto& model) {
    for (auto* infos :
         {model.mutable_graph()->mutable_input(), model.mutable_graph()->mutable_output()}) {
      for (onnx::ValueInfoProto& info : *infos) {
        info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(
            "n");
      }
    }
  });
  const auto calibration = [&](const std::string& name, const Args& shapes) {
    Args flags = {open, "-o", dir_ / name, "--precision=int8",
                  "--calibrate=x:" + (dir_ / "row.npy")};
    flags.insert(flags.end(), shapes.begin(), shapes.end());
    ExpectSuccess(Compile(flags));
    const ToolResult r = RunTool("aicf-inspect", {dir_ / name, "--json"});
    ExpectSuccess(r);
    return Json::parse(r.out).at("header").at("provenance").at("calibration");
  };
  PutNpy(dir_ / "row.npy", "(1, 4)", {0.5f, -1, 2, 0.25f});
  const Json one = calibration("one.aicf", {"--shapes=x:1x4"});
  const Json many = calibration("many.aicf", {"--shapes=x:6x4"});
  EXPECT_EQ(one, many);
  EXPECT_EQ(many.at("entries")[0].at("samples"), 1);
  // Entry points with the same rows are measured once.
  const Json both = calibration("both.aicf", {"--bucket=two=x:2x4", "--bucket=six=x:6x4"});
  ASSERT_EQ(both.at("entries").size(), 2u);
  EXPECT_EQ(both.at("entries")[0].at("entry"), "two");
  EXPECT_EQ(both.at("entries")[1].at("entry"), "six");
  for (const Json& entry : both.at("entries")) {
    EXPECT_EQ(entry.at("values"), one.at("entries")[0].at("values"));
    EXPECT_EQ(entry.at("products"), one.at("entries")[0].at("products"));
  }
  // What an artifact carries is the program of its batch, and takes samples of that batch alone.
  ExpectFailure("aicf-compile",
                Compile({"--from", dir_ / "many.aicf", "-o", dir_ / "no.aicf",
                         "--calibrate=x:" + (dir_ / "row.npy")}),
                2, "expected f32 6x4, found f32 1x4");
}

TEST_F(Calibrate, ABudgetKeepsProductsWide) {
  EXPECT_EQ(OperandsOf(Quantised("a.aicf", {"--max-error=0"})), "f32");
  const std::string reason =
      DecisionsOf(dir_ / "a.aicf", "operands")[0].at("reason").get<std::string>();
  EXPECT_NE(reason.find("--max-error"), std::string::npos) << reason;
  ExpectNear(dir_ / "a.aicf", "1e-5");
}

TEST_F(Calibrate, NamesWhatIsMissingOrDoesNotFit) {
  const std::string folder = "--calibrate=" + (dir_ / "samples");
  ExpectUsage({"--precision=int8"}, "needs samples of the inputs");
  ExpectUsage({"--calibrate-method=entropy"}, "needs --calibrate");
  ExpectUsage({"--max-error=0.1"}, "needs --calibrate");
  ExpectUsage({folder}, "needs --precision");
  ExpectUsage({folder, "--precision=int8", "--calibrate-method=mean"}, "expected minmax");
  ExpectUsage({folder, "--precision=int8", "--max-error=-1"}, "--max-error");
  ExpectUsage({"--precision=int8", "--calibrate=nowhere"}, "expected a folder");
  std::filesystem::create_directory(dir_ / "empty");
  ExpectUsage({"--precision=int8", "--calibrate=" + (dir_ / "empty")}, "holds neither");
  PutNpy(dir_ / "odd.npy", "(3, 4)", std::vector<float>(12, 1));
  ExpectUsage({"--precision=int8", "--calibrate=x:" + (dir_ / "odd.npy")},
              "expected f32 2x4, found f32 3x4");
  PutNpy(dir_ / "nan.npy", "(2, 4)",
         {1, 2, 3, std::numeric_limits<float>::quiet_NaN(), 5, 6, 7, 8});
  ExpectUsage({"--precision=int8", "--calibrate=x:" + (dir_ / "nan.npy")},
              "nan.npy: input 'x': element 3 is nan");
}

}  // namespace
}  // namespace aicf::testing
