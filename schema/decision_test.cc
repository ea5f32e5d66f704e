#include "schema/decision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "schema/decision_rules.h"

namespace aicf::schema {
namespace {

using Random = std::mt19937;

template <class T>
T Pick(Random& random, const std::vector<T>& from) {
  return from[random() % from.size()];
}

std::string Name(Random& random) {
  static const std::vector<std::string> kNames = {"conv", "a b",          "model/layer.0",
                                                  "n,m",  "quoted \"q\"", "step 3",
                                                  "it's", "\xc3\xa9",     "w \\ v"};
  return Pick(random, kNames) + std::to_string(random() % 100);
}

NodeNames Names(Random& random) {
  NodeNames names(1 + random() % 3);
  for (std::string& n : names) n = Name(random);
  return names;
}

Subject RandomSubject(Random& random) {
  const int step = static_cast<int>(random() % 20);
  switch (random() % 10) {
    case 0:
      return Subject::Step(step, Names(random));
    case 1:
      return Subject::StepOutput(step, Names(random), Name(random));
    case 2:
      return Subject::Edge(Names(random), Names(random));
    case 3:
      return Subject::Op("Conv", Name(random));
    case 4:
      return Subject::Of(Pick<SubjectForm>(random, {SubjectForm::kSources, SubjectForm::kNodes,
                                                    SubjectForm::kScales}),
                         Names(random));
    case 5:
      return Subject::Of(SubjectForm::kChain, {Name(random), Name(random)});
    case 6:
      return Subject::ValueOf(Pick<SubjectForm>(random, {SubjectForm::kValue, SubjectForm::kWeights,
                                                         SubjectForm::kWritten}),
                              Name(random), Names(random));
    case 7:
      return Subject::Named(
          Pick<SubjectForm>(random, {SubjectForm::kLoopState, SubjectForm::kPadding}),
          Name(random));
    case 8:
      return Subject::Named(
          Pick<SubjectForm>(random, {SubjectForm::kStateUpdate, SubjectForm::kStatePair}),
          Name(random), Name(random));
    default:
      return Subject::Extent("axis 0 of \"x\"", 1 + static_cast<int64_t>(random() % 3));
  }
}

Decision RandomDecision(Random& random) {
  Decision d;
  d.kind = Pick(random, DecisionKinds()).kind;
  d.subject = RandomSubject(random);
  if (random() % 2 == 0) d.subject.entry = "b6";
  d.choice = Name(random);
  d.Because(static_cast<Reason>(random() % 7));
  if (d.reason == Reason::kRule) d.sentence = "because: of " + Name(random);
  d.pass = "some-pass";
  if (random() % 2 == 0) d.cost_us = 0.25 * static_cast<double>(random() % 9);
  if (random() % 2 == 0) d.measured_us = 1.0 / 3;
  for (size_t k = random() % 3; k > 0; --k) {
    d.alternatives.push_back({Name(random), random() % 2 == 0 ? "no: reason" : "", -1, 2.5});
  }
  return d;
}

TEST(Decision, LinesKeepEveryField) {
  Random random(1);
  std::vector<Decision> decisions;
  for (int i = 0; i < 2000; ++i) decisions.push_back(RandomDecision(random));
  const std::string lines = ToJsonLines(decisions);
  const auto read = ParseDecisionLines(lines);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), decisions.size());
  for (size_t i = 0; i < decisions.size(); ++i) {
    ASSERT_EQ((*read)[i], decisions[i]) << ToJsonLine(decisions[i]) << "\n"
                                        << ToJsonLine((*read)[i]);
  }
  EXPECT_EQ(ToJsonLines(*read), lines);
}

TEST(Decision, AStepsNumberIsNoPartOfItsIdentity) {
  Random random(2);
  for (int i = 0; i < 500; ++i) {
    const Decision d = RandomDecision(random);
    Decision moved = d, lost = d, elsewhere = d;
    if (d.subject.step < 0) continue;
    moved.subject.step += 117;
    lost.subject.step = -1;
    elsewhere.subject.entry += "x";
    EXPECT_EQ(IdentityOf(moved), IdentityOf(d));
    EXPECT_EQ(IdentityOf(lost), IdentityOf(d));
    EXPECT_NE(IdentityOf(elsewhere), IdentityOf(d));
    EXPECT_NE(ToString(moved.subject), ToString(d.subject));
    const auto read = ParseDecision(ToJsonLine(lost));
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ(*read, lost);
  }
}

TEST(Decision, TheThreeFusionsOfAnEdgeAreOneQuestion) {
  Decision fusion, epilogue;
  fusion.subject = epilogue.subject = Subject::Edge({"a"}, {"b"});
  fusion.kind = DecisionKind::kFusion;
  epilogue.kind = DecisionKind::kEpilogue;
  EXPECT_NE(IdentityOf(fusion), IdentityOf(epilogue));
  EXPECT_EQ(QuestionOf(fusion), QuestionOf(epilogue));
  epilogue.subject.into = {"c"};
  EXPECT_NE(QuestionOf(fusion), QuestionOf(epilogue));
}

TEST(Decision, KernelsOfTwoFamiliesAreTwoIdentities) {
  Decision gemm;
  gemm.kind = DecisionKind::kKernel;
  gemm.subject = Subject::Step(3, {"n"});
  gemm.choice = "cpu.gemm.ref";
  Decision edited = gemm, conv = gemm;
  edited.choice = "no kernel at all";
  edited.alternatives = {{"cpu.gemm.ref", ""}};
  conv.choice = "cpu.conv.ref";
  EXPECT_EQ(IdentityOf(gemm), IdentityOf(edited));
  EXPECT_NE(IdentityOf(gemm), IdentityOf(conv));
}

// Artifacts made before their lines named the nodes of every subject.
TEST(Decision, TheTextAloneIsEnough) {
  const auto read = [](std::string_view text) {
    const auto subject = ParseSubject(text, {});
    EXPECT_TRUE(subject.ok()) << text;
    EXPECT_EQ(ToString(*subject), text);
    return *subject;
  };
  EXPECT_EQ(read("step 12 [a, b]"), Subject::Step(12, {"a", "b"}));
  EXPECT_EQ(read("step  [a]"), Subject::Step(-1, {"a"}));
  EXPECT_EQ(read("step 1 output 'v'"), Subject::StepOutput(1, {}, "v"));
  EXPECT_EQ(read("[a, b] -> [c]"), Subject::Edge({"a", "b"}, {"c"}));
  EXPECT_EQ(read("Conv \"a\""), Subject::Op("Conv", "a"));
  EXPECT_EQ(read("\"a\" and \"b\""), Subject::Of(SubjectForm::kChain, {"a", "b"}));
  EXPECT_EQ(read("\"a\", \"b\""), Subject::Of(SubjectForm::kNodes, {"a", "b"}));
  EXPECT_EQ(read("scale \"a\""), Subject::Of(SubjectForm::kScales, {"a"}));
  EXPECT_EQ(read("'v' [a]"), Subject::ValueOf(SubjectForm::kWritten, "v", {"a"}));
  EXPECT_EQ(read("input 'h' and output 'hn'"), Subject::Named(SubjectForm::kStatePair, "h", "hn"));
  EXPECT_EQ(read("axis 0 of \"x\", 1 position"), Subject::Extent("axis 0 of \"x\"", 1));
  EXPECT_EQ(read("arena"), Subject::Named(SubjectForm::kArena));
  for (const char* text : {"", "whatever comes", "step 99999999999 [a]", "[a] -> [", "\"a"}) {
    EXPECT_EQ(read(text).form, SubjectForm::kOther) << text;
  }
}

TEST(Decision, KeysDecideWhereTheTextHasTwoReadings) {
  Subject keys;
  keys.nodes = {"a] -> [b"};
  EXPECT_EQ(*ParseSubject("[a] -> [b]", keys), Subject::Of(SubjectForm::kSources, {"a] -> [b"}));
  keys.nodes = {"a, b", "c"};
  keys.step = 3;
  EXPECT_EQ(*ParseSubject("step 3 [a, b, c]", keys), Subject::Step(3, {"a, b", "c"}));
  const Status other = ParseSubject("step 4 [a, b, c]", keys).status();
  EXPECT_EQ(other.code(), Code::kInvalidArgument);
  EXPECT_NE(other.message().find("another step"), std::string::npos) << other.message();
}

TEST(Decision, ABadLineIsNamedWithWhatWasExpected) {
  const std::string good = R"({"kind":"fold","subject":"s","choice":"c"})";
  const struct {
    const char *line, *says;
  } kRefused[] = {
      {"{", "no JSON"},
      {"[]", "no JSON object"},
      {"{}", "'kind'"},
      {R"({"kind":1,"subject":"s","choice":"c"})", "'kind' is not a string"},
      {R"({"kind":"colour","subject":"s","choice":"c"})", "'kind' is \"colour\", expected fold, "},
      {R"({"kind":"fold","subject":"s"})", "'choice' is missing"},
      {R"({"kind":"fold","choice":"c"})", "'subject' is missing"},
      {R"({"kind":"fold","subject":"s","choice":"c","reason":"luck"})", "'reason' is \"luck\""},
      {R"({"kind":"fold","subject":"s","choice":"c","step":-1})", "'step' is not"},
      {R"({"kind":"fold","subject":"s","choice":"c","nodes":[1]})", "'nodes' is not"},
      {R"({"kind":"fold","subject":"s","choice":"c","alternatives":{}})", "'alternatives'"},
      {R"({"kind":"fold","subject":"s","choice":"c","alternatives":[{}]})", "an alternative"},
      {R"({"kind":"kernel","subject":"step 2 [a]","choice":"c","step":3})", "another step"},
  };
  for (const auto& bad : kRefused) {
    const std::string lines = StrCat(good, "\n\n", bad.line, "\n", good);
    const Status status = ParseDecisionLines(lines).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << bad.line;
    EXPECT_NE(status.message().find("line 3: "), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(bad.says), std::string::npos) << status.message();
    // Readers that show what they can show the rest.
    const DecisionLines read = ReadDecisionLines(lines);
    EXPECT_EQ(read.decisions.size(), 2u);
    ASSERT_EQ(read.unread.size(), 1u);
    EXPECT_EQ(read.unread[0].line, 3u);
  }
}

TEST(DecisionKinds, NamesAreTheirOwnAndReadBack) {
  std::set<std::string_view> names, edits;
  for (const DecisionKindInfo& info : DecisionKinds()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(ParseKind(info.name), info.kind);
    EXPECT_EQ(InfoOf(info.kind).name, info.name);
    EXPECT_NE(KindList().find(info.name), std::string::npos);
    EXPECT_FALSE(info.about.empty() || info.decides.empty()) << info.name;
    if (info.edit.empty()) continue;
    EXPECT_TRUE(edits.insert(info.edit).second) << info.edit;
    EXPECT_EQ(ParseEditedKind(info.edit), info.kind);
  }
  EXPECT_EQ(ParseKind("colour"), std::nullopt);
  EXPECT_EQ(ParseEditedKind("memory"), std::nullopt);
  EXPECT_EQ(ParseEditedKind(""), std::nullopt);
}

std::string Documentation() {
  std::ifstream file(AICF_SOURCE_DIR "/docs/decisions.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The documentation's table is this table.
TEST(DecisionKinds, AreDocumented) {
  std::string table = "| kind | is about | decides | in `--set` |\n|---|---|---|---|\n";
  for (const DecisionKindInfo& info : DecisionKinds()) {
    table += StrCat("| `", info.name, "` | ", info.about, " | ", info.decides, " | ",
                    info.edit.empty() ? std::string() : StrCat("`", info.edit, "` "), "|\n");
  }
  EXPECT_NE(Documentation().find(table), std::string::npos) << "docs/decisions.md has to hold:\n"
                                                            << table;
}

TEST(DecisionReasons, AreDocumented) {
  std::string table = "| reason | is given where |\n|---|---|\n";
#define AICF_DECISION_REASON(id, name, when) table += StrCat("| `", name, "` | ", when, " |\n");
#include "schema/decision_reasons.def"
#undef AICF_DECISION_REASON
  EXPECT_NE(Documentation().find(table), std::string::npos) << "docs/decisions.md has to hold:\n"
                                                            << table;
}

TEST(DecisionRules, AreInOrderAndDocumented) {
  std::string table = "| rule | means |\n|---|---|\n";
  for (const DecisionRule& rule : DecisionRules()) {
    table += StrCat("| `", rule.name, "` | ", rule.means, " |\n");
  }
  EXPECT_NE(Documentation().find(table), std::string::npos) << "docs/decisions.md has to hold:\n"
                                                            << table;
  const auto earlier = [](const DecisionRule& a, const DecisionRule& b) { return a.name < b.name; };
  EXPECT_TRUE(std::ranges::is_sorted(DecisionRules(), earlier));
}

TEST(DecisionRules, ARefusalBeginsWithOne) {
  const DecisionRule* rule = RuleOf("single-use: 'x' is also read by [b]");
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->name, "single-use");
  for (const char* none : {"", "no colon", "single-use: ", "colour: it is red", "single-use:x"}) {
    EXPECT_EQ(RuleOf(none), nullptr) << none;
  }
}

}  // namespace
}  // namespace aicf::schema
