// The chart of small programs, letter by letter.
#include "tools/inspect/arena.h"

#include <gtest/gtest.h>

#include "schema/testing.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

using namespace schema::testing;  // NOLINT(google-build-using-namespace)

std::string Draw(const schema::Program& program, const ChartStyle& style, size_t entry = 0) {
  const auto view = ViewArena(program, entry);
  EXPECT_TRUE(view.ok());
  return view.ok() ? ArenaText(program, entry, *view, style) : "";
}

ChartStyle Small() {
  ChartStyle style;
  style.width = 40;
  style.rows = 4;
  style.ascii = true;
  style.listed = 3;
  return style;
}

// x | t, overwritten by sum | y, each 128 floats, and one step's workspace.
schema::Program SumProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {128});
  const uint32_t t = b.Temp({128});
  const uint32_t sum = b.Temp({128});
  const uint32_t y = b.Output("y", {64});
  b.MakeAlias(sum, t);
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {t});
  b.AddStep(Elementwise(abi::ExprOp::kAdd), {t, x}, {sum}).workspace_bytes = 700;
  abi::Problem half = Elementwise(abi::ExprOp::kExp);
  half.inputs = {{DType::kF32, {64}, {1}, 0}};
  b.AddStep(half, {sum}, {y});
  return b.Finish();
}

TEST(Arena, ChartOfASmallProgram) {
  EXPECT_EQ(Draw(SumProgram(), Small()),
            "Arena of entry point main: 2.00 KiB, at least 1.75 KiB (live at step 1)\n"
            "  a column is 1 step, a row 512 B; the last column is after the last step\n"
            "\n"
            "   1.50 KiB ......AAAAAA............\n"
            "   1.00 KiB ......AAAAAA############\n"
            "      512 B CCCCCCCCCCCCCCCCCC......\n"
            "        0 B BBBBBBBBBBBBBBBBBBBBBBBB\n"
            "       step 0     1     2\n"
            "       live ++++++@@@@@@******------\n"
            "            full height: 1.75 KiB\n"
            "\n"
            "     bytes  offset  lives         role   name\n"
            "  -  -----  ------  ------------  -----  ----------------------\n"
            "  A    768    1280  step 1               workspace of step 1\n"
            "  B    512       0  always        input  x\n"
            "  C    512     512  steps 0 to 2  temp   %1, in place of it: %2\n"
            "  #  1 more of 256 B together\n");
}

TEST(Arena, UnicodeWhereItIsRead) {
  ChartStyle style = Small();
  style.ascii = false;
  const std::string text = Draw(SumProgram(), style);
  EXPECT_NE(text.find("·"), std::string::npos);
  EXPECT_NE(text.find("█"), std::string::npos);
  EXPECT_EQ(text.find('#'), std::string::npos);
  for (const char c : Draw(SumProgram(), Small())) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(Arena, ManyStepsShareColumnsAndLinesStayInTheWidth) {
  ProgramBuilder b;
  uint32_t at = b.Input("x", {64});
  for (int i = 0; i < 500; ++i) {
    const uint32_t next = i == 499 ? b.Output("y", {64}) : b.Temp({64});
    b.AddStep(Elementwise(abi::ExprOp::kNeg), {at}, {next});
    at = next;
  }
  const schema::Program program = b.Finish();
  for (const size_t width : {40u, 60u, 100u, 250u}) {
    ChartStyle style;
    style.width = width;
    const std::string text = Draw(program, style);
    for (const std::string& line : Split(text, '\n')) {
      EXPECT_LE(DisplayWidth(line), std::max<size_t>(width, 80)) << line;
    }
    EXPECT_NE(text.find("steps, a row"), std::string::npos);
  }
}

TEST(Arena, EntryPointsAreDrawnAlone) {
  const schema::Program p = EntriesProgram();
  const std::string small = Draw(p, Small(), 1);
  EXPECT_NE(small.find("entry point small"), std::string::npos);
  EXPECT_NE(small.find("step 2"), std::string::npos) << small;
  EXPECT_EQ(small.find("step 0 "), std::string::npos) << small;
}

TEST(Arena, AnEmptyOneSaysSo) {
  ProgramBuilder b;
  b.Input("x", {0});
  EXPECT_NE(Draw(b.Finish(), Small()).find("nothing lies in it"), std::string::npos);
}

TEST(Arena, NothingAtAnOffsetIsNothing) {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {0});
  schema::Program p = b.Finish();
  p.buffers[x].offset = 512;
  p.arena_bytes = 1024;
  EXPECT_NE(Draw(p, Small()).find("nothing lies in it"), std::string::npos);
}

TEST(Arena, JsonHoldsEveryLifetime) {
  const schema::Program p = SumProgram();
  const Json out = ArenaJson(p, 0, *ViewArena(p, 0));
  EXPECT_EQ(out.at("peak_step"), 1);
  EXPECT_EQ(out.at("peak_bytes"), 1792);
  EXPECT_EQ(out.at("live_bytes").size(), 4u);
  ASSERT_EQ(out.at("items").size(), 4u);
  EXPECT_EQ(out.at("items")[1].at("in_place")[0].at("name"), "%2");
  EXPECT_EQ(out.at("items")[3].at("workspace_of"), 1);
  EXPECT_EQ(out.at("items")[3].at("bytes"), 768);
}

}  // namespace
}  // namespace aicf::tools
