#include "compiler/edit/wishes.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

Decision Kernel(int step, std::vector<std::string> nodes, std::string choice) {
  std::string names;
  for (const std::string& n : nodes) names += (names.empty() ? "" : ", ") + n;
  Decision d{"kernel",
             "step " + std::to_string(step) + " [" + names + "]",
             std::move(choice),
             "predicted",
             "choose-kernels",
             1.0,
             {{"cpu.gemm.ref", "", 9.0}, {"cpu.gemm.panels_avx2", "packs an operand", -1}}};
  d.step = step;
  d.nodes = std::move(nodes);
  return d;
}

Decision Edge(std::string kind, std::string choice, std::vector<Alternative> alternatives) {
  Decision d{std::move(kind), "[a] -> [b]", std::move(choice),      "rule: x",
             "fuse",          -1,           std::move(alternatives)};
  d.nodes = {"a"};
  d.into = {"b"};
  return d;
}

DecisionLog LogOf(std::vector<Decision> decisions) {
  DecisionLog log;
  for (Decision& d : decisions) log.Record(std::move(d));
  return log;
}

TEST(Decisions, JsonLinesSurvive) {
  Decision d = Kernel(3, {"x \"quoted\"", "y"}, "cpu.gemm.packed_avx2");
  d.entry = "b6";
  d.measured_us = 2.5;
  d.alternatives[0].measured_us = 3;
  const DecisionLog log = LogOf({d, Edge("fusion", "separate", {{"fused", "why: so", -1}})});
  const Result<DecisionLog> parsed = DecisionLog::Parse(log.ToJsonLines());
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(parsed->ToJsonLines(), log.ToJsonLines());
}

TEST(Decisions, ABadLineIsNamed) {
  const std::string good = LogOf({Kernel(0, {"a"}, "cpu.gemm.ref")}).ToJsonLines();
  for (const char* bad :
       {"{", "[]", "{}", "{\"kind\":1,\"subject\":\"s\",\"choice\":\"c\"}",
        "{\"kind\":\"k\",\"subject\":\"s\"}",
        "{\"kind\":\"k\",\"subject\":\"s\",\"choice\":\"c\",\"step\":-1}",
        "{\"kind\":\"k\",\"subject\":\"s\",\"choice\":\"c\",\"nodes\":[1]}",
        "{\"kind\":\"k\",\"subject\":\"s\",\"choice\":\"c\",\"alternatives\":{}}",
        "{\"kind\":\"k\",\"subject\":\"s\",\"choice\":\"c\",\"alternatives\":[{}]}"}) {
    const Result<DecisionLog> log = DecisionLog::Parse(good + "\n" + bad + "\n");
    EXPECT_EQ(log.status().code(), Code::kInvalidArgument) << bad;
    EXPECT_NE(log.status().message().find("line 3"), std::string::npos) << log.status().message();
  }
}

TEST(Decisions, IdentityForgetsTheStepsNumberOnly) {
  const Decision a = Kernel(3, {"n"}, "cpu.gemm.ref"),
                 b = Kernel(14, {"n"}, "cpu.gemm.packed_avx2");
  EXPECT_EQ(IdentityOf(a), IdentityOf(b));
  EXPECT_NE(IdentityOf(a), IdentityOf(Kernel(3, {"m"}, "cpu.gemm.ref")));
  EXPECT_NE(IdentityOf(a), IdentityOf(Kernel(3, {"n"}, "cpu.conv.ref"))) << "another family";
  Decision c = a;
  c.entry = "b6";
  EXPECT_NE(IdentityOf(a), IdentityOf(c));
}

TEST(FindEdits, OnlyLinesThatDifferAreWishes) {
  const DecisionLog decided =
      LogOf({Kernel(0, {"a"}, "cpu.gemm.packed_avx2"), Kernel(1, {"b"}, "cpu.gemm.packed_avx2")});
  DecisionLog edited = decided;
  EXPECT_TRUE(FindEdits(decided, edited)->empty());
  edited.mutable_decisions()[1].choice = "cpu.gemm.ref";
  const Result<Wishes> wishes = FindEdits(decided, edited);
  ASSERT_TRUE(wishes.ok()) << wishes.status().ToString();
  ASSERT_EQ(wishes->all().size(), 1u);
  EXPECT_EQ(wishes->all()[0].decision.nodes, std::vector<std::string>{"b"});
  EXPECT_EQ(wishes->all()[0].decision.choice, "cpu.gemm.ref");
  EXPECT_EQ(wishes->all()[0].origin, "decision 2 of the file");
}

// Two steps of one node and family: the second one is edited.
TEST(FindEdits, EqualIdentitiesAreToldApartByTheirOrder) {
  const DecisionLog decided =
      LogOf({Kernel(0, {"a"}, "cpu.gemm.packed_avx2"), Kernel(1, {"a"}, "cpu.gemm.packed_avx2")});
  DecisionLog edited = decided;
  edited.mutable_decisions()[1].choice = "cpu.gemm.ref";
  const Result<Wishes> wishes = FindEdits(decided, edited);
  ASSERT_TRUE(wishes.ok());
  const std::string identity = IdentityOf(decided.decisions()[0]);
  EXPECT_EQ(wishes->Find(identity, 0), nullptr);
  ASSERT_NE(wishes->Find(identity, 1), nullptr);
}

TEST(FindEdits, WhatIsNoChoiceIsAnError) {
  const DecisionLog decided =
      LogOf({Kernel(0, {"a"}, "cpu.gemm.packed_avx2"),
             {"fold", "[c]", "constant", "rule: x", "fold-constants", -1, {{"node", "", -1}}}});
  for (size_t line : {size_t{0}, size_t{1}}) {
    DecisionLog edited = decided;
    edited.mutable_decisions()[line].choice = "node of nothing";
    const Result<Wishes> wishes = FindEdits(decided, edited);
    EXPECT_EQ(wishes.status().code(), Code::kInvalidArgument);
    EXPECT_NE(wishes.status().message().find(line == 0 ? "legal are 'cpu.gemm.packed_avx2'"
                                                       : "cannot be changed"),
              std::string::npos)
        << wishes.status().message();
  }
}

TEST(Set, StepsAndNodes) {
  const DecisionLog log = LogOf(
      {Kernel(0, {"a"}, "cpu.gemm.packed_avx2"), Kernel(12, {"b.x=y"}, "cpu.gemm.packed_avx2")});
  for (const char* text :
       {"step.12.kernel=cpu.gemm.ref", "node:b.x=y.kernel=cpu.gemm.ref", "step.12.kernel=ref"}) {
    const Result<Wish> wish = ParseSet(text, log);
    ASSERT_TRUE(wish.ok()) << wish.status().ToString();
    EXPECT_EQ(wish->decision.step, 12) << text;
    EXPECT_EQ(wish->decision.choice, "cpu.gemm.ref") << text;
  }
  // "gemm" fits several.
  for (const char* bad : {"step.12.kernel=gemm", "step.12.kernel=", "step.12=ref", "12.kernel=ref",
                          "step.x.kernel=ref", "step.12.colour=ref", "step.13.kernel=ref",
                          "node:c.kernel=ref", "node:.kernel=ref", "step.12.math=fp16", ""}) {
    EXPECT_EQ(ParseSet(bad, log).status().code(), Code::kInvalidArgument) << bad;
  }
}

TEST(Set, ANodeOfSeveralDecisionsIsAmbiguous) {
  const DecisionLog log =
      LogOf({Kernel(0, {"a"}, "cpu.gemm.packed_avx2"), Kernel(1, {"a", "b"}, "cpu.gemm.ref")});
  const Result<Wish> wish = ParseSet("node:a.kernel=cpu.gemm.ref", log);
  EXPECT_EQ(wish.status().code(), Code::kInvalidArgument);
  EXPECT_NE(wish.status().message().find("step 1 [a, b]"), std::string::npos);
}

// Two passes look at one copy: the one that removed it can keep it.
TEST(Set, OfSeveralDecisionsTheOneThatTheChoiceChangesIsMeant) {
  Decision kept{"copy", "[a]", "copy", "only-legal", "forward-copies", -1, {{"read", "no", -1}}};
  Decision removed{"copy", "[a]", "removed", "rule: x", "eliminate-copies", -1, {{"copy", "", -1}}};
  kept.nodes = removed.nodes = {"a"};
  const Result<Wish> wish = ParseSet("node:a.copy=copy", LogOf({kept, removed}));
  ASSERT_TRUE(wish.ok()) << wish.status().ToString();
  EXPECT_EQ(wish->decision.pass, "eliminate-copies");
  EXPECT_EQ(wish->occurrence, 1);
}

TEST(Wishes, SeparateHoldsForWhatGrewAroundTheEdge) {
  Wishes wishes;
  wishes.Add({Edge("epilogue", "separate", {}), 0, "me"});
  EXPECT_NE(wishes.Separate("", {"a"}, {"b"}), nullptr);
  EXPECT_NE(wishes.Separate("", {"z", "a"}, {"b", "c"}), nullptr);
  EXPECT_EQ(wishes.Separate("", {"z"}, {"b"}), nullptr);
  EXPECT_EQ(wishes.Separate("b6", {"a"}, {"b"}), nullptr);
}

TEST(Wishes, ALaterOneReplacesAnEarlierOne) {
  Wishes wishes;
  wishes.Add({Kernel(0, {"a"}, "cpu.gemm.ref"), 0, "first"});
  wishes.Add({Kernel(5, {"a"}, "cpu.gemm.packed_avx2"), 0, "second"});
  ASSERT_EQ(wishes.all().size(), 1u);
  EXPECT_EQ(wishes.all()[0].origin, "second");
}

TEST(CheckHonoured, NamesWhatDidNotComeTrue) {
  Wishes kernel, apart;
  kernel.Add({Kernel(0, {"a"}, "cpu.gemm.ref"), 0, "file line 1"});
  apart.Add({Edge("fusion", "separate", {}), 0, "file line 2"});
  const DecisionLog as_wished = LogOf({Kernel(4, {"a"}, "cpu.gemm.ref")});
  const DecisionLog otherwise = LogOf({Kernel(4, {"a"}, "cpu.gemm.packed_avx2")});
  EXPECT_TRUE(CheckHonoured(kernel, as_wished, {}).ok());
  EXPECT_NE(CheckHonoured(kernel, otherwise, {}).message().find("file line 1"), std::string::npos);
  EXPECT_FALSE(CheckHonoured(kernel, DecisionLog(), {}).ok());
  EXPECT_TRUE(CheckHonoured(apart, {}, {{"", {"a"}}, {"", {"b"}}}).ok());
  EXPECT_FALSE(CheckHonoured(apart, {}, {{"", {"a", "b"}}}).ok());
  EXPECT_TRUE(CheckHonoured(apart, {}, {{"b6", {"a", "b"}}}).ok()) << "another entry point";
}

TEST(CheckRefusals, GivesTheRecordedSentence) {
  Wishes wishes;
  wishes.Add({Kernel(0, {"a"}, "cpu.gemm.panels_avx2"), 0, "me"});
  const Decision made = Kernel(0, {"a"}, "cpu.gemm.ref");
  const Status status = CheckRefusals(&wishes, made, 0);
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.message().find("packs an operand"), std::string::npos) << status.message();
  EXPECT_TRUE(CheckRefusals(nullptr, made, 0).ok());
  EXPECT_TRUE(CheckRefusals(&wishes, Kernel(0, {"b"}, "cpu.gemm.ref"), 0).ok());
}

}  // namespace
}  // namespace aicf
