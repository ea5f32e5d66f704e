#include "tools/common/decisions.h"

#include <gtest/gtest.h>

namespace aicf::tools {
namespace {

constexpr const char* kLines =
    R"({"kind":"fold","subject":"Shape \"a\"","choice":"constant","reason":"rule: r","alternatives":[]})"
    "\n"
    R"({"kind":"fold","subject":"Shape \"b\"","choice":"constant","reason":"rule: r","alternatives":[]})"
    "\n"
    R"({"kind":"fusion","subject":"[Conv.1, Relu.1] -> [Mul.2]","choice":"separate","reason":"only-legal",)"
    R"("alternatives":[{"choice":"fused","refusal":"single-use: read twice"}]})"
    "\n"
    R"({"kind":"kernel","subject":"step 1 [Mul.2]","choice":"cpu.a","reason":"predicted","cost_us":2.5,)"
    R"("alternatives":[{"choice":"cpu.b","cost_us":5}]})"
    "\nnot json\n";

DecisionLines Read(std::string_view lines) { return ReadDecisions(lines, {}); }

schema::Step StepOf(const std::vector<std::string>& sources) {
  schema::Step step;
  step.sources = sources;
  return step;
}

TEST(Decisions, ReadAsTextWithSharedExplanations) {
  EXPECT_EQ(DecisionsText(Read(kLines)),
            "Decisions (5: 2 fold, 1 fusion, 1 kernel, 1 unread)\n"
            "  fold      Shape \"a\"\n"
            "            Shape \"b\"\n"
            "            -> constant  (rule: r)\n"
            "  fusion    [Conv.1, Relu.1] -> [Mul.2]\n"
            "            -> separate  (only-legal)\n"
            "               not fused: single-use: read twice\n"
            "  kernel    step 1 [Mul.2]\n"
            "            -> cpu.a  (predicted, 2.500 us)\n"
            "               not cpu.b: 5.000 us\n"
            "  unread    line 5: it is no JSON\n");
}

TEST(Decisions, AStepFindsThoseThatSpeakOfIt) {
  const DecisionLines lines = Read(kLines);
  const auto concerned = [&](uint32_t index, const std::vector<std::string>& sources) {
    std::vector<bool> out;
    out.reserve(lines.decisions.size());
    for (const Decision& d : lines.decisions) out.push_back(Concerns(d, index, StepOf(sources)));
    return out;
  };
  EXPECT_EQ(concerned(1, {"Mul.2"}), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(concerned(0, {"Conv.1", "Relu.1"}), (std::vector<bool>{false, false, true, false}));
  EXPECT_EQ(concerned(7, {"Conv"}), std::vector<bool>(4, false)) << "a name's beginning is no name";
}

TEST(Decisions, AStepsDecisionWithoutNodesGetsItsSources) {
  schema::Program program;
  program.steps = {StepOf({"a"}), StepOf({"b", "c"})};
  const auto read =
      ReadDecisions(R"({"kind":"in-place","subject":"step 1 output 'v'","choice":"own"})"
                    "\n"
                    R"({"kind":"in-place","subject":"step 9 output 'v'","choice":"own"})",
                    program)
          .decisions;
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].subject.nodes, (std::vector<std::string>{"b", "c"}));
  EXPECT_TRUE(read[1].subject.nodes.empty());
}

TEST(Decisions, CostsSayWhatIsMeasured) {
  EXPECT_EQ(CostText(kNoCost, kNoCost), "");
  EXPECT_EQ(CostText(2.5, kNoCost), "2.500 us");
  EXPECT_EQ(CostText(kNoCost, 1.25), "1.250 us measured");
  EXPECT_EQ(CostText(2.5, 1.25), "1.250 us measured, 2.500 us predicted");
}

TEST(Decisions, AlternativesThatWereRefusedAlikeShareALine) {
  EXPECT_EQ(AlternativeLines({{"a", "no"},
                              {"b", "no"},
                              {"c", "never"},
                              {"d", "", 2},
                              {"e", "", 2},
                              {"f", ""},
                              {"g", "no"}}),
            (std::vector<std::string>{"not a, b: no", "not c: never", "not d: 2.000 us",
                                      "not e: 2.000 us", "not f: legal too", "not g: no"}));
}

TEST(Decisions, HostileLinesAreShownNotObeyed) {
  for (const char* line :
       {"[1,2]", "{\"kind\":5}", "{\"step\":\"x\",\"nodes\":[1,{}],\"into\":7}",
        "{\"step\":18446744073709551615,\"cost_us\":\"fast\"}",
        "{\"subject\":\"step 99999999999999999999 [\"}", "{\"subject\":\"[a] -> [\"}",
        "{\"alternatives\":{\"choice\":1}}", "null", "{", "{\"alternatives\":[1,[],\"x\"]}",
        "{\"kind\":\"\\u001b[2J\"}", "\xff\xfe",
        "{\"kind\":\"fold\",\"subject\":\"\\u001b[2J\",\"choice\":\"\\u0007\"}"}) {
    for (const char c : DecisionsText(Read(line))) {
      EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << line;
    }
  }
  EXPECT_TRUE(Read("").decisions.empty());
  const std::string deep = std::string(100000, '[');
  EXPECT_EQ(Read(deep).unread.size(), 1u);
}

}  // namespace
}  // namespace aicf::tools
