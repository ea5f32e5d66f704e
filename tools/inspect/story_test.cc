// What became of a node: in a step, folded, rewritten, a view, gone after lowering, unknown.
#include "tools/inspect/story.h"

#include <gtest/gtest.h>

#include "compiler/passes/pass.h"
#include "tools/common/text.h"
#include "tools/inspect/testing.h"
#include "tools/inspect/wrap.h"

namespace aicf::tools {
namespace {

using schema::testing::ChainProgram;
using schema::testing::EntriesProgram;

// node_0: neg, node_1: add in place, node_2: exp.
constexpr const char* kDecisions =
    R"({"kind":"fold","subject":"Shape \"shape\"","nodes":["shape"],"choice":"constant",)"
    R"("reason":"rule: known","pass":"infer-and-fold","alternatives":[]}
{"kind":"fold","subject":"BatchNormalization \"norm\"","nodes":["norm"],"choice":)"
    R"("weights of Conv \"node_0\"","reason":"rule: free","pass":"fold-batch-norm"}
{"kind":"copy","subject":"Reshape \"flat\"","nodes":["flat"],"choice":"view",)"
    R"("reason":"rule: strides","pass":"lower"}
{"kind":"fusion","subject":"[gone] -> [node_1]","nodes":["gone"],"into":["node_1"],"choice":)"
    R"("one elementwise step","reason":"rule: register","pass":"fuse-elementwise"}
{"kind":"fusion","subject":"[node_0] -> [node_1]","nodes":["node_0"],"into":["node_1"],)"
    R"("choice":"separate","reason":"only-legal","pass":"explain-separate","alternatives":)"
    R"([{"choice":"fused","refusal":"single-use: read twice"}]}
{"kind":"kernel","subject":"step 0 [node_0]","step":0,"nodes":["node_0"],"choice":"cpu.a",)"
    R"("reason":"measured","pass":"choose-kernels","cost_us":2,"measured_us":1.5,"alternatives":)"
    R"([{"choice":"cpu.b","cost_us":3},{"choice":"cpu.c","refusal":"needs luck"},)"
    R"({"choice":"cpu.d","cost_us":1,"measured_us":9}]}
{"kind":"in-place","subject":"step 1 output '%3'","step":1,"choice":"overwrites '%2'",)"
    R"("reason":"rule: dies","pass":"decide-in-place"}
)";

constexpr const char* kLowered =
    "lowered \"m\"\n%0 = input \"x\" f32 4x5\n%1 = temp \"t\" f32 4x5\ninputs %0\noutputs %1\n";

class Stories : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string lowered = kLowered;
    const schema::Program p = ChainProgram();
    for (const char* name : {"node_0", "removed", "node_1"}) {
      lowered +=
          StrCat("step [\"", name, "\"] (%0) -> (%1) : ", abi::ToString(p.steps[0].problem), "\n");
    }
    artifact_ = testing::ArtifactOf(
        p,
        std::string(kDecisions) +
            R"({"kind":"fusion","subject":"[removed]","nodes":["removed"],"choice":"removed",)"
            R"("reason":"rule: nothing reads its result","pass":"dead-steps"})"
            "\n",
        lowered);
    ASSERT_NE(artifact_, nullptr);
    evidence_ = GatherEvidence(*artifact_);
  }

  std::string Fate(const std::string& node) const {
    const auto found = FindStories(evidence_, node, "");
    return found.ok() ? found->at(0).fate : found.status().ToString();
  }
  std::string Text(const std::string& what) const {
    const auto found = FindStories(evidence_, what, "");
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    return found.ok() ? StoryText(evidence_, found->at(0)) : "";
  }

  std::shared_ptr<const schema::Artifact> artifact_;
  Evidence evidence_;
};

TEST_F(Stories, WhatBecameOfANode) {
  EXPECT_EQ(Fate("node_0"), "in step 0, cpu.elementwise.ref");
  EXPECT_EQ(Fate("shape"), "folded to a constant (known)");
  EXPECT_EQ(Fate("norm"),
            "no step of its own: weights of Conv \"node_0\" (free); node_0 is in step 0");
  EXPECT_EQ(Fate("flat"), "a view of its operand's bytes, no step (strides)");
  EXPECT_EQ(Fate("gone"),
            "no step of its own: one elementwise step (register); node_1 is in step 1");
  EXPECT_EQ(Fate("removed"), "removed (nothing reads its result)");
}

TEST_F(Stories, InTheOrderOfThePipeline) {
  const std::string text = Text("node_0");
  size_t at = 0;
  for (const char* part :
       {"node_0: in step 0", "In the graph", "fold-batch-norm", "Lowered to 1 step",
        "elementwise           [node_0] -> f32 4x5", "Fusion, precision", "not fused",
        "single-use: read twice", "Step 0: cpu.elementwise.ref",
        "kernel                cpu.a (measured, 1.500 us measured, 2.000 us predicted)",
        "not cpu.b: 3.000 us", "not cpu.d: 9.000 us measured, 1.000 us predicted",
        "not cpu.c: needs luck", "reads                 'x'",
        "writes                '%2' f32 4x5, 80 B, arena +", "read by step 1",
        "are taken in steps 0 to 2", "before it             nothing: it is the first",
        "after it              step 1 [node_1]"}) {
    const size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << " is missing, or too early, in\n" << text;
    at = found;
  }
  for (const std::string& line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), kTextWidth);
}

TEST_F(Stories, OfSteps) {
  for (const char* spelling : {"1", "step.1"}) {
    const std::string text = Text(spelling);
    EXPECT_EQ(text.find("Step 1 of 3: cpu.elementwise.ref, from node_1"), 0u) << text;
    EXPECT_NE(text.find("overwrites '%2'"), std::string::npos);
    EXPECT_NE(text.find("in place of '%2'"), std::string::npos);
    EXPECT_EQ(text.find("cpu.a"), std::string::npos) << "another step's kernel";
  }
}

TEST_F(Stories, PatternsListAndUnknownNamesSuggest) {
  const auto several = FindStories(evidence_, "node_*", "");
  ASSERT_TRUE(several.ok());
  EXPECT_EQ(several->size(), 3u);
  EXPECT_EQ(StoryListText(evidence_, *several),
            "3 nodes\n  node_0: in step 0, cpu.elementwise.ref\n"
            "  node_1: in step 1, cpu.elementwise.ref\n"
            "  node_2: in step 2, cpu.elementwise.ref\n");
  for (const char* bad : {"nod_0", "node_0 ", "Node_9"}) {
    const auto found = FindStories(evidence_, bad, "");
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.status().code(), Code::kInvalidArgument);
    EXPECT_NE(found.status().message().find("did you mean 'node_0'"), std::string::npos)
        << found.status().message();
  }
  EXPECT_FALSE(FindStories(evidence_, "no*such", "").ok());
  EXPECT_FALSE(FindStories(evidence_, "3", "").ok());
  EXPECT_FALSE(FindStories(evidence_, "step.99999999999999999999", "").ok());
  EXPECT_FALSE(FindStories(evidence_, "", "").ok());
}

TEST_F(Stories, JsonSaysTheSame) {
  const Json out = StoryJson(evidence_, FindStories(evidence_, "node_0", "")->at(0));
  EXPECT_EQ(out.at("node"), "node_0");
  EXPECT_EQ(out.at("entry"), "main");
  EXPECT_EQ(out.at("graph")[0].at("pass"), "fold-batch-norm");
  EXPECT_EQ(out.at("lowered")[0].at("family"), "elementwise");
  EXPECT_EQ(out.at("fusion")[0].at("choice"), "separate");
  const Json& step = out.at("steps")[0];
  EXPECT_EQ(step.at("decisions")[0].at("measured_us"), 1.5);
  EXPECT_EQ(step.at("writes")[0].at("read_by"), Json::array({1}));
  EXPECT_EQ(step.at("writes")[0].at("bytes_taken").at("last"), 2);
  EXPECT_EQ(step.at("after"), 1);
  EXPECT_FALSE(step.contains("before"));
}

TEST(StoriesOfEntries, StayInTheirEntryPoint) {
  const std::string decisions =
      R"({"kind":"fold","entry":"small","subject":"Shape \"s\"","choice":"constant","reason":"rule: r"})";
  const auto artifact = testing::ArtifactOf(EntriesProgram(), decisions);
  ASSERT_NE(artifact, nullptr);
  const Evidence evidence = GatherEvidence(*artifact);
  EXPECT_EQ(FindStories(evidence, "s", "")->at(0).entry, 1u);
  EXPECT_FALSE(FindStories(evidence, "s", "large").ok());
  EXPECT_EQ(FindStories(evidence, "2", "small")->at(0).entry, 1u);
  const Status outside = FindStories(evidence, "2", "large").status();
  EXPECT_NE(outside.message().find("'small'"), std::string::npos) << outside.message();
  const Status nowhere = FindStories(evidence, "2", "medium").status();
  EXPECT_NE(nowhere.message().find("large, small"), std::string::npos) << nowhere.message();
}

TEST(StoriesWithoutRecords, AStrippedArtifactStillTellsItsSteps) {
  const auto artifact = testing::ArtifactOf(ChainProgram(), "");
  ASSERT_NE(artifact, nullptr);
  const Evidence evidence = GatherEvidence(*artifact);
  const std::string text = StoryText(evidence, FindStories(evidence, "node_1", "")->at(0));
  EXPECT_NE(text.find("in place of"), std::string::npos);
  EXPECT_NE(text.find("Without reasons: the artifact was stripped"), std::string::npos) << text;
}

TEST(StoriesWithoutRecords, ADamagedLoweredSectionIsSaid) {
  const auto artifact = testing::ArtifactOf(ChainProgram(), "", "lowered \"m\"\nstep [oops\n");
  ASSERT_NE(artifact, nullptr);
  const Evidence evidence = GatherEvidence(*artifact);
  const std::string text = StoryText(evidence, FindStories(evidence, "0", "")->at(0));
  EXPECT_NE(text.find("cannot be read: lowered section, line 2"), std::string::npos) << text;
}

// A new pass has to be given its place in the story.
TEST(Stages, EveryPassIsKnown) {
  for (const PassInfo& pass : AllPasses()) {
    Decision d;
    d.pass = pass.name;
    d.kind = DecisionKind::kFold;
    const Stage expected = pass.stage == aicf::Stage::kGraph     ? Stage::kGraph
                           : pass.stage == aicf::Stage::kLowered ? Stage::kSteps
                                                                 : Stage::kPlan;
    EXPECT_EQ(StageOf(d), expected) << pass.name;
  }
}

}  // namespace
}  // namespace aicf::tools
