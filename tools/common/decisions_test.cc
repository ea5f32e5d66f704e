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

schema::Step StepOf(const std::vector<std::string>& sources) {
  schema::Step step;
  step.sources = sources;
  return step;
}

TEST(Decisions, ReadAsTextWithSharedExplanations) {
  EXPECT_EQ(DecisionsText(ParseDecisions(kLines)),
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
            "  unread    not json\n");
}

TEST(Decisions, AStepFindsThoseThatSpeakOfIt) {
  const std::vector<Json> decisions = ParseDecisions(kLines);
  const auto concerned = [&](uint32_t index, const std::vector<std::string>& sources) {
    std::vector<bool> out;
    out.reserve(decisions.size());
    for (const Json& d : decisions) out.push_back(Concerns(d, index, StepOf(sources)));
    return out;
  };
  EXPECT_EQ(concerned(1, {"Mul.2"}), (std::vector<bool>{false, false, true, true, false}));
  EXPECT_EQ(concerned(0, {"Conv.1", "Relu.1"}),
            (std::vector<bool>{false, false, true, false, false}));
  EXPECT_EQ(concerned(7, {"Conv"}), std::vector<bool>(5, false)) << "a name's beginning is no name";
}

TEST(Decisions, HostileLinesAreShownNotObeyed) {
  for (const char* line :
       {"[1,2]", "{\"kind\":5}", "{\"alternatives\":{\"choice\":1}}", "null", "{",
        "{\"alternatives\":[1,[],\"x\"]}", "{\"subject\":\"\\u001b[2J\"}", "\xff\xfe"}) {
    for (const char c : DecisionsText(ParseDecisions(line))) {
      EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << line;
    }
  }
  EXPECT_TRUE(ParseDecisions("").empty());
  const std::string deep = std::string(100000, '[');
  EXPECT_EQ(ParseDecisions(deep).size(), 1u);
}

}  // namespace
}  // namespace aicf::tools
