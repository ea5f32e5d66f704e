/// aicf-inspect --html: the file it writes, and what it refuses. The page itself is tested in a
/// browser (tests/html).
#include <gtest/gtest.h>

#include "schema/artifact.h"
#include "schema/testing.h"
#include "tests/cli/json.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

/// The object that the page carries.
Json DataOf(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

ToolResult Report(const std::vector<std::string>& args) { return RunTool("aicf-inspect", args); }

TEST(Report, HoldsTheArtifactAndTheLoweredProgram) {
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  const ToolResult result = Report({artifact, "--html=" + (dir / "r.html")});
  ExpectSuccess(result);
  EXPECT_EQ(result.out, "");
  const Json data = DataOf(GetFile(dir / "r.html"));
  EXPECT_EQ(data.at("title"), "tiny.aicf");
  const Json inspected = Json::parse(Report({artifact, "--json"}).out);
  for (const char* key : {"header", "entry_points", "values", "decisions"}) {
    EXPECT_EQ(data.at(key), inspected.at(key)) << key;
  }
  ASSERT_EQ(data.at("steps").size(), inspected.at("steps").size());
  ASSERT_EQ(data.at("lowered").size(), 1u);
  const Json& lowered = data["lowered"][0];
  EXPECT_EQ(lowered.at("name"), "tiny");
  EXPECT_GE(lowered.at("steps").size(), data["steps"].size());
  EXPECT_EQ(data.at("device").at("name"), inspected["header"]["target"]);
  EXPECT_FALSE(data.contains("profile"));
}

TEST(Report, IsTheSameEveryTime) {
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  ExpectSuccess(Report({artifact, "--html=" + (dir / "a.html")}));
  ExpectSuccess(Report({artifact, "--html=" + (dir / "b.html")}));
  EXPECT_EQ(GetFile(dir / "a.html"), GetFile(dir / "b.html"));
}

TEST(Report, NamesCannotLeaveTheirElement) {
  TempDir dir;
  const std::string name = "</script><img src=x onerror=alert(1)><!--&\xe2\x80\xa8";
  const std::string model = PutModel(dir, "m", [&](onnx::ModelProto& m) {
    for (auto& node : *m.mutable_graph()->mutable_node()) node.set_name(name + node.name());
  });
  ExpectSuccess(RunTool("aicf-compile", {model, "-o", dir / "m.aicf"}));
  ExpectSuccess(Report({dir / "m.aicf", "--html=" + (dir / "m.html")}));
  const std::string page = GetFile(dir / "m.html");
  EXPECT_EQ(CountOf(page, "</script"), 2u);  // the data's and the script's own
  EXPECT_EQ(CountOf(page, "<img"), 0u);
  EXPECT_EQ(CountOf(page, "<!--"), 0u);
  EXPECT_EQ(CountOf(page, "\xe2\x80\xa8"), 0u);
  EXPECT_NE(DataOf(page).at("steps").dump().find(name.substr(0, 40)), std::string::npos);
}

TEST(Report, AnExistingPageStaysWithoutForce) {
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  PutFile(dir / "r.html", "precious");
  const std::string flag = "--html=" + (dir / "r.html");
  ExpectFailure("aicf-inspect", Report({artifact, flag}), 8, "--force");
  EXPECT_EQ(GetFile(dir / "r.html"), "precious");
  ExpectSuccess(Report({artifact, flag, "--force"}));
  EXPECT_EQ(GetFile(dir / "r.html").substr(0, 15), "<!DOCTYPE html>");
  ExpectFailure("aicf-inspect", Report({artifact, "--html=" + artifact, "--force"}), 2, "input");
  EXPECT_EQ(dir.Entries(), (std::vector<std::string>{"r.html", "tiny.aicf", "tiny.onnx"}));
}

TEST(Report, TakesTheProfileOfThisArtifactOnly) {
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  const std::string trace = dir / "p.json";
  ExpectSuccess(RunTool("aicf-run", {artifact, "--warm-up=0", "--duration=0", "--iterations=1",
                                     "--export-profile=" + trace}));
  const std::string flag = "--html=" + (dir / "r.html");
  ExpectSuccess(Report({artifact, flag, "--profile=" + trace}));
  const Json profile = DataOf(GetFile(dir / "r.html")).at("profile");
  const Json exported = Json::parse(GetFile(trace));
  EXPECT_EQ(profile.at("device"), "cpu");
  EXPECT_EQ(profile.at("replay_us"), exported.at("otherData").at("replay_us"));
  size_t steps = 0;
  for (const Json& event : exported.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    ASSERT_LT(steps, profile.at("steps").size());
    EXPECT_EQ(profile["steps"][steps].at("us"), event.at("dur"));
    EXPECT_EQ(profile["steps"][steps++].at("step"), event.at("args").at("step"));
  }
  EXPECT_EQ(steps, profile.at("steps").size());

  const auto refused = [&](const std::string& text, const std::string& part) {
    PutFile(dir / "bad.json", text);
    ExpectFailure("aicf-inspect",
                  Report({artifact, flag, "--force", "--profile=" + (dir / "bad.json")}), 2, part);
  };
  refused("", "no trace");
  refused("[1, 2]", "no trace");
  refused(R"({"traceEvents": []})", "names no steps");
  Json other = exported;
  other["traceEvents"][2]["name"] = "another node";
  refused(other.dump(), "another artifact");
  other = exported;
  other["traceEvents"][2]["args"]["step"] = 99;
  refused(other.dump(), "it has a step 99");
  other["traceEvents"][2]["args"]["step"] = "x";
  refused(other.dump(), "another artifact");
  for (const char* size : {"bytes", "flop"}) {
    other = exported;
    other["traceEvents"][2]["args"][size] = other["traceEvents"][2]["args"][size].get<double>() + 1;
    refused(other.dump(), "another artifact");
    other["traceEvents"][2]["args"].erase(size);
    refused(other.dump(), "another artifact");
  }
  other = exported;
  other["traceEvents"][2]["dur"] = -1;
  refused(other.dump(), "a duration was expected");
  other = exported;
  other["traceEvents"].push_back(other["traceEvents"][2]);
  refused(other.dump(), "twice");
  ExpectFailure("aicf-inspect", Report({artifact, flag, "--force", "--profile=" + (dir / "no")}), 8,
                "");
  ExpectFailure("aicf-inspect", Report({artifact, "--profile=" + trace}), 2, "--html");
}

/// The same nodes and kernels, but other shapes.
TEST(Report, RefusesTheProfileOfOtherShapes) {
  TempDir dir;
  const std::string artifact = PutArtifact(dir);
  const std::string model = PutModel(dir, "wide", [](onnx::ModelProto& m) {
    const auto widen = [](onnx::ValueInfoProto& info) {
      info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(7);
    };
    widen(*m.mutable_graph()->mutable_input(0));
    for (auto& output : *m.mutable_graph()->mutable_output()) widen(output);
  });
  const std::string wide = dir / "wide.aicf", trace = dir / "p.json";
  ExpectSuccess(RunTool("aicf-compile", {model, "-o", wide}));
  ExpectSuccess(RunTool("aicf-run", {wide, "--warm-up=0", "--duration=0", "--iterations=1",
                                     "--export-profile=" + trace}));
  ExpectSuccess(Report({wide, "--html=" + (dir / "wide.html"), "--profile=" + trace}));
  const ToolResult r = Report({artifact, "--html=" + (dir / "r.html"), "--profile=" + trace});
  ExpectFailure("aicf-inspect", r, 2, "the profile belongs to another artifact");
  EXPECT_EQ(CountOf(r.err, " bytes and "), 1u) << r.err;
}

/// A lowered section is text that no verifier has seen.
TEST(Report, ALoweredProgramThatCannotBeReadIsSaid) {
  TempDir dir;
  const auto report = [&](const std::string& lowered) {
    schema::Contents contents;
    contents.program = schema::testing::ChainProgram();
    contents.weights.resize(contents.program.weights_bytes);
    contents.lowered = lowered;
    const Result<std::vector<std::byte>> bytes = schema::Serialize(contents);
    EXPECT_TRUE(bytes.ok()) << bytes.status().message();
    PutFile(dir / "a.aicf",
            std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
    ExpectSuccess(Report({dir / "a.aicf", "--html=" + (dir / "a.html"), "--force"}));
    return DataOf(GetFile(dir / "a.html")).at("lowered");
  };
  EXPECT_EQ(report(""), Json::array());
  for (const char* bad :
       {"nonsense", "lowered \"x\"\n%0 = input \"x\" f32 4294967296x4294967296x4\n",
        "lowered \"x\"\ninputs\noutputs %7\n", "entry \"a\"\nentry \"b\"\n"}) {
    for (const Json& part : report(bad)) EXPECT_TRUE(part.contains("error")) << bad;
  }
  const std::string model = PutModel(dir, "m");
  const std::string good = RunTool("aicf-compile", {model, "--stop-after=lowered"}).out;
  const Json parts = report("entry \"a\"\n" + good + "entry \"b \\\"c\"\n" + good);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].at("entry"), "a");
  EXPECT_EQ(parts[1].at("entry"), "b \"c");
  EXPECT_GT(parts[0].at("steps").size(), 2u);
  EXPECT_EQ(parts[0].at("steps"), parts[1].at("steps"));
}

}  // namespace
}  // namespace aicf::testing
