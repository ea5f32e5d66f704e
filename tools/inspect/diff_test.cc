#include "tools/inspect/diff.h"

#include <gtest/gtest.h>

#include "tools/common/text.h"
#include "tools/inspect/testing.h"
#include "tools/inspect/wrap.h"

namespace aicf::tools {
namespace {

using schema::testing::ChainProgram;

struct Side {
  std::shared_ptr<const schema::Artifact> artifact;
  Evidence evidence;
  DiffSide Get(std::string name) const { return {artifact.get(), &evidence, std::move(name)}; }
};

Side Make(const std::string& decisions, const std::string& provenance = "{}",
          const schema::Program& program = ChainProgram()) {
  Side side;
  side.artifact = testing::ArtifactOf(program, decisions, "", provenance);
  if (side.artifact != nullptr) side.evidence = GatherEvidence(*side.artifact);
  return side;
}

Differences Between(const Side& a, const Side& b) { return Compare(a.Get("a"), b.Get("b")); }

std::string Kernel(int step, const std::string& node, const std::string& choice,
                   const std::string& rest) {
  return StrCat(R"({"kind":"kernel","subject":"step )", step, " [", node, "]\",\"step\":", step,
                ",\"nodes\":[\"", node, R"("],"choice":")", choice, "\",", rest, "}\n");
}

TEST(Diff, EqualArtifactsHaveNone) {
  const Side a = Make(Kernel(0, "x", "cpu.a", R"("reason":"predicted","cost_us":1)"));
  const Differences d = Between(a, a);
  EXPECT_TRUE(d.empty());
  EXPECT_EQ(d.equal, 1u);
  EXPECT_EQ(DiffText(a.Get("a.aicf"), a.Get("b.aicf"), d),
            "A  a.aicf\nB  b.aicf\n\nno differences\n");
  EXPECT_EQ(DiffSummary(d), "no differences");
}

TEST(Diff, AnotherKernelWithBothCosts) {
  const Side a = Make(Kernel(0, "x", "cpu.a", R"("reason":"predicted","cost_us":4)"));
  const Side b =
      Make(Kernel(0, "x", "cpu.b", R"("reason":"measured","cost_us":3,"measured_us":2.5)"));
  const Differences d = Between(a, b);
  ASSERT_EQ(d.changed.size(), 1u);
  EXPECT_EQ(DiffText(a.Get("a"), b.Get("b"), d),
            "A  a\nB  b\n"
            "\nChanged (1)\n"
            "  kernel    [x] (step 0)\n"
            "            A  cpu.a (predicted, 4.000 us)\n"
            "            B  cpu.b (measured, 2.500 us measured, 3.000 us predicted)\n"
            "               predicted 1.000 us less in B (0.7500 x)\n"
            "\nTotals\n"
            "  A  3 steps, predicted 4.000 us\n"
            "  B  3 steps, predicted 3.000 us, measured 2.500 us of 1 kernels\n"
            "     predicted 1.000 us less in B (0.7500 x)\n"
            "  0 decisions are the same; 1 decision changed\n");
  const Json out = DiffJson(a.Get("a"), b.Get("b"), d);
  EXPECT_EQ(out.at("changed")[0].at("cost_us_change"), -1);
  EXPECT_FALSE(out.at("changed")[0].contains("measured_us_change"));
  EXPECT_EQ(out.at("totals").at("b").at("measured_us"), 2.5);
}

TEST(Diff, EachSideSaysWhatItThoughtOfTheOthersChoice) {
  const Side a = Make(Kernel(0, "x", "cpu.a",
                             R"("reason":"predicted","alternatives":[)"
                             R"({"choice":"cpu.b","refusal":"needs luck"}])"));
  const Side b = Make(Kernel(0, "x", "cpu.b",
                             R"("reason":"measured","alternatives":[)"
                             R"({"choice":"cpu.a","cost_us":2,"measured_us":3}])"));
  const std::string text = DiffText(a.Get("a"), b.Get("b"), Between(a, b));
  EXPECT_NE(text.find("A's choice in B: 3.000 us measured, 2.000 us predicted\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("B's choice in A: needs luck\n"), std::string::npos) << text;
}

TEST(Diff, StepNumbersMayShift) {
  const Side a =
      Make(Kernel(1, "x", "cpu.a", R"("reason":"predicted")") +
           R"({"kind":"in-place","subject":"step 1 output 'v'","step":1,"choice":"own buffer",)"
           R"("nodes":["x"],"alternatives":[{"choice":"overwrite 'u'","refusal":)"
           R"("is read again by step 2"}]})");
  const Side b =
      Make(Kernel(0, "x", "cpu.a", R"("reason":"predicted")") +
           R"({"kind":"in-place","subject":"step 0 output 'v'","step":0,"choice":"own buffer",)"
           R"("nodes":["x"],"alternatives":[{"choice":"overwrite 'u'","refusal":)"
           R"("is read again by step 17"}]})");
  const Differences d = Between(a, b);
  EXPECT_TRUE(d.changed.empty());
  EXPECT_TRUE(d.restated.empty());
  EXPECT_EQ(d.equal, 2u);
}

TEST(Diff, AFusionThatWasRefusedIsChangedWhateverItsKind) {
  const Side a = Make(R"({"kind":"epilogue","subject":"[c] -> [r]","nodes":["c"],"into":["r"],)"
                      R"("choice":"epilogue of conv","reason":"rule: r","pass":"fuse-epilogue"})");
  const Side b = Make(R"({"kind":"fusion","subject":"[c] -> [r]","nodes":["c"],"into":["r"],)"
                      R"("choice":"separate","reason":"only-legal","pass":"explain-separate",)"
                      R"("alternatives":[{"choice":"fused","refusal":"policy: named"}]})");
  const Differences d = Between(a, b);
  ASSERT_EQ(d.changed.size(), 1u);
  EXPECT_NE(DiffText(a.Get("a"), b.Get("b"), d).find("separate (only-legal; policy: named)"),
            std::string::npos);
}

TEST(Diff, SeveralAboutTheSameArePairedBySubjectThenPass) {
  const std::string value =
      R"({"kind":"layout","subject":"value 'v' [c]","nodes":["c"],"choice":"L","pass":"lower"})"
      "\n";
  const std::string filter =
      R"({"kind":"layout","subject":"filter 'w' [c]","nodes":["c"],"choice":"M","pass":"lower"})"
      "\n";
  const Differences d = Between(Make(value), Make(filter + value));
  EXPECT_TRUE(d.changed.empty());
  EXPECT_EQ(d.only_b, std::vector<size_t>{0});
  // Two equal lines on one side, one on the other: by order.
  const Differences twice = Between(Make(value + value), Make(value));
  EXPECT_EQ(twice.only_a, std::vector<size_t>{1});
}

TEST(Diff, EntryPointsAreNotMixed) {
  const std::string x =
      R"({"kind":"fold","entry":"p","subject":"Shape \"s\"","choice":"constant"})";
  const std::string y =
      R"({"kind":"fold","entry":"q","subject":"Shape \"s\"","choice":"constant"})";
  const Differences d = Between(Make(x), Make(y));
  EXPECT_EQ(d.only_a.size(), 1u);
  EXPECT_EQ(d.only_b.size(), 1u);
}

TEST(Diff, TheSameChoiceOnOtherGrounds) {
  const Side a = Make(Kernel(0, "x", "cpu.a", R"("reason":"predicted","cost_us":4)"));
  const Side b =
      Make(Kernel(0, "x", "cpu.a", R"("reason":"measured","cost_us":4,"measured_us":2)"));
  const Differences d = Between(a, b);
  EXPECT_EQ(d.restated.size(), 1u);
  EXPECT_FALSE(d.empty());
  EXPECT_NE(DiffText(a.Get("a"), b.Get("b"), d).find("other grounds (1)"), std::string::npos);
}

TEST(Diff, TheHeader) {
  const Side a = Make("", R"({"model_xxh3_128":"11","policy":{},"target":"x"})");
  schema::Program other = ChainProgram();
  other.math = abi::MathMode::kFp16;
  const Side b = Make("",
                      R"({"model_xxh3_128":"22","policy":{"gemm":"ref"},"edits":[)"
                      R"({"kind":"kernel","asked_by":"--set a"},{"asked_by":"--set b"},3,[]]})",
                      other);
  const Differences d = Between(a, b);
  std::vector<std::string> whats;
  for (const HeaderDifference& h : d.header) whats.push_back(h.what);
  EXPECT_EQ(whats, (std::vector<std::string>{"math", "model_xxh3_128", "policy", "edits"}));
  EXPECT_EQ(d.header[3].a, "");
  EXPECT_EQ(d.header[3].b, "--set a, --set b, 3, []");
}

TEST(Diff, LongListsOfTheHeaderAreCountedAndStillToldApart) {
  const auto timings = [](int last) {
    std::string list;
    for (int i = 0; i < 20; ++i)
      list += StrCat(i == 0 ? "" : ",", "\"time ", i == 19 ? last : i, "\"");
    return StrCat("{\"timings\":[", list, "]}");
  };
  const Differences d = Between(Make("", timings(1)), Make("", timings(2)));
  ASSERT_EQ(d.header.size(), 1u);
  EXPECT_TRUE(d.header[0].a.starts_with("20 entries, hash ")) << d.header[0].a;
  EXPECT_NE(d.header[0].a, d.header[0].b);
  EXPECT_LT(d.header[0].a.size(), 40u);
}

TEST(Diff, BytesThatNothingElseExplainsAreStillADifference) {
  schema::Program other = ChainProgram();
  other.buffers[2].name = "renamed";
  const Differences d = Between(Make(""), Make("", "{}", other));
  ASSERT_EQ(d.header.size(), 1u);
  EXPECT_EQ(d.header[0].what, "hash of the program");
}

TEST(Diff, LinesThatCannotBeReadDifferAsBytes) {
  const Side a = Make("not json\n[1]\n{\"kind\":\"\x1b\"}\n");
  EXPECT_TRUE(Between(a, a).empty());
  const Differences d = Between(a, Make("not json\n"));
  ASSERT_EQ(d.header.size(), 1u);
  EXPECT_EQ(d.header[0].what, "hash of the decisions");
  for (const std::string& line : Split(DiffText(a.Get("a"), a.Get("b\x1b"), d), '\n')) {
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace aicf::tools
