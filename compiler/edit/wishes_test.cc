#include "compiler/edit/wishes.h"

#include <gtest/gtest.h>

namespace aicf {
namespace {

Decision Kernel(int step, schema::NodeNames nodes, std::string choice) {
  Decision d;
  d.kind = DecisionKind::kKernel;
  d.subject = schema::Subject::Step(step, std::move(nodes));
  d.choice = std::move(choice);
  d.reason = Reason::kPredicted;
  d.pass = "choose-kernels";
  d.cost_us = 1.0;
  d.alternatives = {{"cpu.gemm.ref", "", 9.0}, {"cpu.gemm.panels_avx2", "packs an operand", -1}};
  return d;
}

Decision Rewrite(DecisionKind kind, schema::Subject subject, std::string choice,
                 std::vector<Alternative> alternatives) {
  Decision d;
  d.kind = kind;
  d.subject = std::move(subject);
  d.choice = std::move(choice);
  d.pass = "rewrite";
  d.Because(Reason::kRule, "x").alternatives = std::move(alternatives);
  return d;
}

Decision Edge(DecisionKind kind, std::string choice, std::vector<Alternative> alternatives) {
  return Rewrite(kind, schema::Subject::Edge({"a"}, {"b"}), std::move(choice),
                 std::move(alternatives));
}

DecisionLog LogOf(const std::vector<Decision>& decisions) { return DecisionLog(decisions); }

DecisionLog WithChoice(const DecisionLog& log, size_t line, std::string choice) {
  std::vector<Decision> decisions = log.decisions();
  decisions[line].choice = std::move(choice);
  return DecisionLog(decisions);
}

TEST(FindEdits, OnlyLinesThatDifferAreWishes) {
  const DecisionLog decided =
      LogOf({Kernel(0, {"a"}, "cpu.gemm.packed_avx2"), Kernel(1, {"b"}, "cpu.gemm.packed_avx2")});
  EXPECT_TRUE(FindEdits(decided, decided)->empty());
  const DecisionLog edited = WithChoice(decided, 1, "cpu.gemm.ref");
  const Result<Wishes> wishes = FindEdits(decided, edited);
  ASSERT_TRUE(wishes.ok()) << wishes.status().ToString();
  ASSERT_EQ(wishes->all().size(), 1u);
  EXPECT_EQ(wishes->all()[0].decision.subject.nodes, std::vector<std::string>{"b"});
  EXPECT_EQ(wishes->all()[0].decision.choice, "cpu.gemm.ref");
  EXPECT_EQ(wishes->all()[0].origin, "decision 2 of the file");
}

// Two steps of one node and family: the second one is edited.
TEST(FindEdits, EqualIdentitiesAreToldApartByTheirOrder) {
  const DecisionLog decided =
      LogOf({Kernel(0, {"a"}, "cpu.gemm.packed_avx2"), Kernel(1, {"a"}, "cpu.gemm.packed_avx2")});
  const DecisionLog edited = WithChoice(decided, 1, "cpu.gemm.ref");
  const Result<Wishes> wishes = FindEdits(decided, edited);
  ASSERT_TRUE(wishes.ok());
  const std::string identity = IdentityOf(decided.decisions()[0]);
  EXPECT_EQ(wishes->Find(identity, 0), nullptr);
  ASSERT_NE(wishes->Find(identity, 1), nullptr);
}

TEST(FindEdits, WhatIsNoChoiceIsAnError) {
  const DecisionLog decided = LogOf({Kernel(0, {"a"}, "cpu.gemm.packed_avx2"),
                                     Rewrite(DecisionKind::kFold, schema::Subject::Op("Add", "c"),
                                             "constant", {{"node", "", -1}})});
  for (size_t line : {size_t{0}, size_t{1}}) {
    const DecisionLog edited = WithChoice(decided, line, "node of nothing");
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
    EXPECT_EQ(wish->decision.subject.step, 12) << text;
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
  const schema::Subject step = schema::Subject::Of(SubjectForm::kSources, {"a"});
  const Decision kept = Rewrite(DecisionKind::kCopy, step, "copy", {{"read", "no", -1}});
  Decision removed = Rewrite(DecisionKind::kCopy, step, "removed", {{"copy", "", -1}});
  removed.pass = "eliminate-copies";
  const Result<Wish> wish = ParseSet("node:a.copy=copy", LogOf({kept, removed}));
  ASSERT_TRUE(wish.ok()) << wish.status().ToString();
  EXPECT_EQ(wish->decision.pass, "eliminate-copies");
  EXPECT_EQ(wish->occurrence, 1);
}

// What was decided about the node before, and cannot be edited, is not meant.
TEST(Set, ANodesFoldedScaleDoesNotHideItsCopy) {
  const Decision view =
      Rewrite(DecisionKind::kCopy, schema::Subject::Op("Reshape", "a"), "view", {});
  const Decision copy =
      Rewrite(DecisionKind::kCopy, schema::Subject::Of(SubjectForm::kSources, {"a"}), "removed",
              {{"copy", "", -1}});
  const Result<Wish> wish = ParseSet("node:a.copy=copy", LogOf({view, copy}));
  ASSERT_TRUE(wish.ok()) << wish.status().ToString();
  EXPECT_EQ(wish->decision.choice, "copy");
  EXPECT_EQ(ToString(wish->decision.subject), "[a]");
  const Status alone = ParseSet("node:a.copy=copy", LogOf({view})).status();
  EXPECT_NE(alone.message().find("cannot be changed"), std::string::npos) << alone.message();
}

TEST(Wishes, SeparateHoldsForWhatGrewAroundTheEdge) {
  Wishes wishes;
  wishes.Add({Edge(DecisionKind::kEpilogue, "separate", {}), 0, "me"});
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
  apart.Add({Edge(DecisionKind::kFusion, "separate", {}), 0, "file line 2"});
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
