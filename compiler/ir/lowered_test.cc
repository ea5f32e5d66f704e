// The lowered program's rules and its text form.
#include "compiler/ir/lowered.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "compiler/ir/lowered_edit.h"
#include "compiler/ir/text.h"

namespace aicf::ir {
namespace {

constexpr char kProgram[] = R"(lowered "two steps"
%0 = input "x" f32 2x3
%1 = constant "w\n" f16 3 [0x1p-1, inf, nan]
%2 = temp "t" f32 2x3
%3 = output "y" f32 2x6
inputs %0
outputs %3
step ["a", "b"] (%0, %1) -> (%2) : elementwise math=fp32 core=2
  in(f32 2x3 [3, 1]+0, f16 2x3 [0, 1]+0) out(f32 2x3 [1, 2]+0)
  pro id epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = add %0 %1 : f32) -> %2
step ["c"] (%2) -> (%3) : copy math=fp32 starts={[0, 0]} has_fill=0 fill=0 core=1
  in(f32 2x3 [1, 2]+0) out(f32 2x3 [6, 1]+0) pro id epi id
step [] (%2) -> (%3) : copy math=fp32 starts={[0, 0]} has_fill=0 fill=0 core=1
  in(f32 2x3 [1, 2]+0) out(f32 2x3 [6, 1]+3) pro id epi id
)";

Lowered Program() {
  const auto parsed = ParseLowered(kProgram);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  return *parsed;
}

TEST(LoweredText, ParsesBackToTheSameText) {
  const Lowered program = Program();
  EXPECT_TRUE(Verify(program).ok()) << Verify(program).ToString();
  const std::string text = ToString(program);
  const auto again = ParseLowered(text);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(ToString(*again), text);
  EXPECT_EQ(again->buffers[1].name, "w\n");
  EXPECT_EQ(again->buffers[1].constant.at<uint16_t>(0), 0x3800);
  EXPECT_EQ(again->steps[0].sources, (std::vector<std::string>{"a", "b"}));
}

TEST(LoweredText, LargeConstantsTravelByHash) {
  std::vector<float> values(40, 1.5f);
  Lowered program;
  program.name = "hash";
  const Tensor tensor = Tensor::FromValues<float>(DType::kF32, {40}, values);
  program.buffers.push_back({"w", DType::kF32, {40}, schema::Role::kConstant, tensor});
  const std::string text = ToString(program);
  EXPECT_NE(text.find("@"), std::string::npos);
  const auto found = ParseLowered(text, [&](DType, const Dims&, std::string_view hash) {
    return text.find(hash) == std::string::npos ? Tensor() : tensor;
  });
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(ToString(*found), text);
  const auto zeros = ParseLowered(text);
  ASSERT_TRUE(zeros.ok());
  EXPECT_EQ(zeros->buffers[0].constant.FloatAt(7), 0);
  const auto wrong = ParseLowered(text, [&](DType, const Dims&, std::string_view) {
    return Tensor::FromValues<float>(DType::kF32, {2}, std::span(values).first(2));
  });
  EXPECT_EQ(wrong.status().code(), Code::kInvalidArgument);
}

// A short text could ask for any amount of memory otherwise.
TEST(LoweredText, ConstantsWithoutDataAreFewBytes) {
  const auto text = [](int constants, int64_t bytes) {
    std::string out = "lowered \"zeros\"\n";
    for (int i = 0; i < constants; ++i) {
      out +=
          StrCat("%", i, " = constant \"w", i, "\" u8 ", bytes, " @", std::string(32, '0'), "\n");
    }
    return out + "inputs\noutputs\n";
  };
  EXPECT_TRUE(ParseLowered(text(4, int64_t{16} << 20)).ok());
  for (const std::string& large : {text(1, (int64_t{256} << 20) + 1), text(17, int64_t{16} << 20),
                                   text(1, int64_t{1} << 62)}) {
    const auto refused = ParseLowered(large);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
    EXPECT_NE(refused.status().message().find("constants without data of at most 268435456 bytes"),
              std::string::npos)
        << refused.status().message();
  }
}

// Two steps write the halves of 'both'; a third reads the first half before the second is written.
constexpr const char* kParts = R"(lowered "parts"
%0 = input "x" f32 2
%1 = temp "both" f32 4
%2 = output "early" f32 2
%3 = output "late" f32 4
inputs %0
outputs %2, %3
step ["exp"] (%0) -> (%1) :
  elementwise math=fp32 core=1
  in(f32 2 [1]+0)
  out(f32 2 [1]+0)
  pro id
  epi (%0 = in 0 : f32; %1 = exp %0 : f32) -> %1
step ["neg"] (%1) -> (%2) :
  elementwise math=fp32 core=1
  in(f32 2 [1]+0)
  out(f32 2 [1]+0)
  pro id
  epi (%0 = in 0 : f32; %1 = neg %0 : f32) -> %1
step ["abs"] (%1) -> (%1) :
  elementwise math=fp32 core=1
  in(f32 2 [1]+0)
  out(f32 2 [1]+2)
  pro id
  epi (%0 = in 0 : f32; %1 = abs %0 : f32) -> %1
step ["sin"] (%1) -> (%3) :
  elementwise math=fp32 core=1
  in(f32 4 [1]+0)
  out(f32 4 [1]+0)
  pro id
  epi (%0 = in 0 : f32; %1 = sin %0 : f32) -> %1
)";

TEST(LoweredVerify, APartIsReadOnceItIsWritten) {
  const auto program = ParseLowered(kParts);
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  ASSERT_TRUE(Verify(*program).ok()) << Verify(*program).ToString();
  const auto expect_fault = [&](const std::function<void(Lowered&)>& change, const char* message) {
    Lowered broken = *program;
    change(broken);
    const Status status = Verify(broken);
    EXPECT_NE(status.message().find(message), std::string::npos) << status.ToString();
  };
  // A half that nobody has written yet, one element more than the half, and the whole.
  expect_fault([](Lowered& l) { l.steps[1].problem.inputs[0].offset = 2; },
               "step 1 reads 'both' before it is written in full");
  expect_fault([](Lowered& l) { l.steps[1].problem.inputs[0].offset = 1; },
               "step 1 reads 'both' before it is written in full");
  expect_fault([](Lowered& l) { std::swap(l.steps[2], l.steps[3]); },
               "step 2 reads 'both' before it is written in full");
  // The second writer takes an element that was read.
  expect_fault([](Lowered& l) { l.steps[2].problem.outputs[0].offset = 1; },
               "step 1 reads 'both' before it is written in full");
}

// Every prefix and every single changed character is refused or parses; none crashes.
TEST(LoweredText, BrokenTextIsAnErrorWithItsLine) {
  const std::string text = kProgram;
  for (size_t i = 0; i < text.size(); ++i) {
    (void)ParseLowered(text.substr(0, i)).ok();
    std::string changed = text;
    changed[i] = '7';
    const auto parsed = ParseLowered(changed);
    if (parsed.ok()) (void)Verify(*parsed).ok();
  }
  struct Case {
    std::string from, to, message;
  };
  for (const Case& c :
       {Case{"lowered", "graph", "line 1"}, Case{"%2 = temp", "%5 = temp", "definition of %2"},
        Case{"(%0, %1)", "(%0, %9)", "line 8: expected a buffer defined above"},
        Case{"temp", "tempo", "a role"}, Case{"f32 2x6", "f33 2x6", "dtype"},
        Case{"[0x1p-1, inf, nan]", "[1, 2]", "2 elements for a constant of shape 3"},
        Case{"elementwise math", "element math", "unknown step family"}}) {
    std::string changed = text;
    changed.replace(changed.find(c.from), c.from.size(), c.to);
    const auto parsed = ParseLowered(changed);
    ASSERT_FALSE(parsed.ok()) << c.to;
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
    EXPECT_NE(parsed.status().message().find(c.message), std::string::npos)
        << parsed.status().message();
  }
}

TEST(LoweredVerify, EachBrokenRuleIsNamed) {
  struct Case {
    std::function<void(Lowered&)> change;
    std::string message;
  };
  const Case cases[] = {
      {[](Lowered& l) { l.steps[1].inputs[0] = 99; }, "buffer %99 does not exist"},
      {[](Lowered& l) { l.steps[1].inputs.clear(); }, "operands and views differ"},
      {[](Lowered& l) { l.steps[0].outputs[0] = 0; }, "writes 'x', which is input"},
      {[](Lowered& l) { l.steps[0].problem.outputs[0].offset = 1; }, "reaches byte"},
      {[](Lowered& l) { l.steps[0].problem.inputs[1].dtype = DType::kBF16; },
       "views 'w\n' (f16) as bf16"},
      {[](Lowered& l) { std::swap(l.steps[0], l.steps[1]); },
       "step 0 reads 't' before it is written in full"},
      {[](Lowered& l) { l.steps.pop_back(); }, "output 'y' is not written in full"},
      {[](Lowered& l) { l.steps[2].problem.outputs[0].offset = 0; },
       "output 'y' is not written in full"},
      {[](Lowered& l) { l.buffers[1].constant = Tensor(); }, "a constant without data"},
      {[](Lowered& l) { l.buffers[1].shape = {4}; }, "holds 6 bytes, expected 8"},
      {[](Lowered& l) { l.outputs.push_back(3); }, "listed twice"},
      {[](Lowered& l) { l.inputs.clear(); }, "has role input but is not listed"},
      {[](Lowered& l) { l.outputs = {2}; }, "has another role"},
      {[](Lowered& l) { l.steps[0].problem.epilogue.results = {7}; }, "result %7 does not exist"},
      {[](Lowered& l) {
         l.buffers[2].shape = {int64_t{1} << 40, int64_t{1} << 40};
       },
       "illegal type"},
  };
  for (const Case& c : cases) {
    Lowered program = Program();
    c.change(program);
    const Status status = Verify(program);
    ASSERT_FALSE(status.ok()) << c.message;
    EXPECT_NE(status.message().find(c.message), std::string::npos) << status.message();
  }
}

TEST(StepEditor, KeepsUsesCurrent) {
  Lowered program = Program();
  StepEditor editor(program);
  EXPECT_EQ(editor.OnlyWriter(2), 0);
  EXPECT_EQ(editor.readers(2), (std::vector<int>{1, 2}));
  EXPECT_EQ(editor.writers(3), (std::vector<int>{1, 2}));
  editor.Erase(1);
  EXPECT_EQ(editor.OnlyReader(2), 2);
  LoweredStep step = editor.step(2);
  step.inputs = {0};
  editor.Replace(2, step);
  EXPECT_TRUE(editor.readers(2).empty());
  EXPECT_EQ(editor.readers(0), (std::vector<int>{0, 2}));
  editor.Erase(0);
  editor.Finish();
  ASSERT_EQ(program.steps.size(), 1u);
  ASSERT_EQ(program.buffers.size(), 2u);  // the constant and the temporary are gone
  EXPECT_EQ(program.buffers[program.steps[0].outputs[0]].name, "y");
}

TEST(StepEditor, AddedStepsFollowTheirFirst) {
  Lowered program = Program();
  {
    StepEditor editor(program);
    editor.ReplaceWithMany(1, {editor.step(1), editor.step(2)});
    EXPECT_TRUE(editor.IsMany(1));
    EXPECT_FALSE(editor.IsMany(0));
    EXPECT_EQ(editor.writers(3), (std::vector<int>{1, 2}));
    editor.Erase(2);
    EXPECT_EQ(editor.writers(3), (std::vector<int>{1}));
    editor.Finish();
  }
  ASSERT_EQ(program.steps.size(), 3u);
  EXPECT_EQ(program.steps[1].sources, (std::vector<std::string>{"c"}));
  EXPECT_EQ(program.steps[2].problem.outputs[0].offset, 3);
  EXPECT_TRUE(Verify(program).ok()) << Verify(program).ToString();
}

TEST(StepList, IsASortedSet) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    StepList list;
    std::set<int> expected;
    for (int i = 0; i < 40; ++i) {
      const int step = static_cast<int>(random() % (round % 6 + 1));
      if (random() % 2 == 0) {
        list.Insert(step);
        expected.insert(step);
      } else {
        list.Remove(step);
        expected.erase(step);
      }
      ASSERT_EQ(list, std::vector<int>(expected.begin(), expected.end()));
      ASSERT_EQ(list.size(), expected.size());
      ASSERT_EQ(list.empty(), expected.empty());
      if (!expected.empty()) {
        ASSERT_EQ(list.back(), *expected.rbegin());
        ASSERT_EQ(list[0], *expected.begin());
      }
      ASSERT_EQ(std::vector<int>(list), std::vector<int>(expected.begin(), expected.end()));
    }
  }
}

}  // namespace
}  // namespace aicf::ir
