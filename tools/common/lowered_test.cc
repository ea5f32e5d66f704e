#include "tools/common/lowered.h"

#include <gtest/gtest.h>

#include "compiler/ir/text.h"

namespace aicf::tools {
namespace {

constexpr std::string_view kProgram =
    R"(lowered "m"
%0 = input "x" f32 2x3
%1 = constant "w" f32 3 [1, 2, 3]
%2 = constant "big" f32 40 @0123456789abcdef0123456789abcdef
%3 = temp "t \"1\"" f32 2x3
%4 = output "y" f32 2x3
inputs %0
outputs %4
step ["conv, 1", "relu"] (%0) -> (%3) : )";

abi::Problem Copy() {
  abi::Problem p;
  p.family = abi::Family::kCopy;
  p.attrs = abi::CopyAttrs{{{0, 0}}, false, 0};
  p.core_inputs = 1;
  p.inputs = {abi::DenseView(DType::kF32, {2, 3})};
  p.outputs = p.inputs;
  return p;
}

std::string Text() {
  return StrCat(kProgram, abi::ToString(Copy()), "\n",
                "step [\"last\"] (%3) -> (%4) : ", abi::ToString(Copy()), "\n");
}

TEST(Lowered, StepsWithTheirSources) {
  const auto read = ReadLowered(Text());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), 1u);
  const RecordedProgram& p = (*read)[0];
  EXPECT_EQ(p.entry, "");
  ASSERT_EQ(p.buffers.size(), 5u);
  EXPECT_EQ(p.buffers[2].name, "big");
  EXPECT_EQ(p.buffers[3].name, "t \"1\"");
  EXPECT_EQ(p.buffers[3].role, "temp");
  ASSERT_EQ(p.steps.size(), 2u);
  EXPECT_EQ(p.steps[0].sources, (std::vector<std::string>{"conv, 1", "relu"}));
  EXPECT_EQ(p.steps[1].inputs, std::vector<uint32_t>{3});
  EXPECT_EQ(abi::ToString(p.steps[1].problem), abi::ToString(Copy()));
}

TEST(Lowered, TheCompilersOwnTextReadsTheSame) {
  const auto parsed = ir::ParseLowered(Text());
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  const auto read = ReadLowered(ir::ToString(*parsed));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ((*read)[0].steps.size(), parsed->steps.size());
  for (size_t s = 0; s < parsed->steps.size(); ++s) {
    EXPECT_EQ((*read)[0].steps[s].sources, parsed->steps[s].sources);
    EXPECT_EQ((*read)[0].steps[s].outputs, parsed->steps[s].outputs);
    EXPECT_EQ(abi::ToString((*read)[0].steps[s].problem), abi::ToString(parsed->steps[s].problem));
  }
}

TEST(Lowered, SeveralEntryPoints) {
  const auto read = ReadLowered(StrCat("entry \"b1\"\n", Text(), "entry \"b 2\"\n", Text()));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].entry, "b1");
  EXPECT_EQ((*read)[1].entry, "b 2");
  EXPECT_EQ((*read)[1].steps.size(), 2u);
}

TEST(Lowered, LoopsAndGuards) {
  std::string text = Text();
  const std::string plain = "step [\"last\"] (";
  text.replace(text.find(plain), plain.size(), "step [\"last\"] loop 2 if %1 if not %0 (");
  const auto read = ReadLowered(text);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ((*read)[0].steps[1].loop, 2);
  EXPECT_TRUE((*read)[0].steps[1].guarded);
  EXPECT_FALSE((*read)[0].steps[0].guarded);
}

TEST(Lowered, EmptyIsEmpty) { EXPECT_TRUE(ReadLowered("")->empty()); }

TEST(Lowered, DamagedTextIsAnError) {
  const std::string good = Text();
  for (const std::string& bad :
       {std::string("nonsense\n"), std::string("step [\"a\"] () -> () : copy\n"),
        good + "step [\"a\"] (%9) -> (%4) : copy\n", good + "step [\"a\" (%0)\n",
        good + "%5 = temp \"t\" f33 1\n"}) {
    const auto read = ReadLowered(bad);
    EXPECT_FALSE(read.ok()) << bad;
    EXPECT_EQ(read.status().code(), Code::kBadArtifact);
    EXPECT_NE(read.status().message().find("line "), std::string::npos);
  }
  for (size_t cut = 0; cut < good.size(); ++cut) (void)ReadLowered(good.substr(0, cut));
}

}  // namespace
}  // namespace aicf::tools
