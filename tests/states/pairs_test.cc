// Which inputs and outputs become states: pairs that are asked for, pairs that names suggest, pairs
// that are refused, and several entry points that share a state.
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/states/pair_states.h"
#include "runtime/test_tensors.h"
#include "tests/states/stream_model.h"

namespace aicf::states {
namespace {

/// The decisions of pass mark-states with this choice, by subject.
std::vector<std::string> Marked(const DecisionLog& log, std::string_view choice) {
  std::vector<std::string> subjects;
  for (const Decision& d : log.decisions()) {
    if (d.pass == "mark-states" && d.choice == choice) subjects.push_back(ToString(d.subject));
  }
  return subjects;
}

TEST(StatePairs, NamesSuggestPairsAndAutoTakesThem) {
  CompileOptions options = OptionsFor("cpu:baseline");
  const auto proposed = CompileModel(StreamModel(), options);
  ASSERT_TRUE(proposed.ok()) << proposed.status().ToString();
  EXPECT_EQ(proposed->contents.program.state_bytes, 0u) << "a proposal changes nothing";
  EXPECT_EQ(Marked(proposed->decisions, kInputAndOutput).size(), 4u);
  EXPECT_TRUE(Marked(proposed->decisions, kOneState).empty());
  options.auto_states = true;
  const auto taken = CompileModel(StreamModel(), options);
  ASSERT_TRUE(taken.ok()) << taken.status().ToString();
  EXPECT_EQ(Marked(taken->decisions, kOneState).size(), 4u);
  options.auto_states = false;
  options.states = StreamStates();
  const auto asked = CompileModel(StreamModel(), options);
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->contents.program.state_bytes, taken->contents.program.state_bytes);
  EXPECT_EQ(asked->contents.program.entry_points[0].inputs.size(), 2u);
}

TEST(StatePairs, WrongOnesAreErrorsThatNameWhatDiffers) {
  const std::pair<std::vector<StatePair>, std::string> cases[] = {
      {{{"hh", "hn"}}, "--state=hh:hn: no input is named 'hh'; the model has 'x', 'position', 'h'"},
      {{{"h", "y2"}}, "no output is named 'y2'; the model has 'y', 'hn'"},
      {{{"h", "y"}}, "input 'h' is f32 1x16 and output 'y' is f32 1x8"},
      {{{"h", "hn"}, {"h", "c_out"}}, "'h' is of two states"},
      {{{"h", "hn"}, {"c_in", "hn"}}, "'hn' is of two states"},
  };
  for (const auto& [states, sentence] : cases) {
    CompileOptions options = OptionsFor("cpu:baseline");
    options.states = states;
    const Status status = CompileModel(StreamModel(), options).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << sentence;
    EXPECT_NE(status.message().find(sentence), std::string::npos) << status.ToString();
  }
  CompileOptions options = OptionsFor("cpu:baseline");
  options.states = {{"h", "hn"}};
  options.metas = {"h"};
  EXPECT_NE(CompileModel(StreamModel(), options).status().message().find("input 'h' is a state"),
            std::string::npos);
  options.metas = {"nothing"};
  EXPECT_NE(CompileModel(StreamModel(), options).status().message().find("no input is named"),
            std::string::npos);
}

/// a and b change places in every run; each is the other's next value. y = a - b is computed in
/// front of both or after both.
ModelBuilder SwapModel(bool difference_first) {
  ModelBuilder model;
  for (const char* input : {"x", "a", "b"}) model.Input(input, {4});
  if (difference_first) model.Node("Sub", {"a", "b"}, {"y"}, "difference");
  model.Node("Identity", {"b"}, {"a_next"}, "to_a");
  model.Node("Identity", {"a"}, {"b_next"}, "to_b");
  if (!difference_first) model.Node("Sub", {"a", "b"}, {"y"}, "difference");
  for (const char* output : {"a_next", "b_next", "y"}) model.Output(output);
  return model;
}

void ExpectCopied(const CompileResult& compiled, const std::string& state) {
  const Decision* d = FindUpdate(compiled.decisions, state);
  ASSERT_NE(d, nullptr) << state;
  EXPECT_EQ(d->choice, "copied at the end") << state;
  ASSERT_EQ(d->alternatives.size(), 1u) << state;
  EXPECT_NE(d->alternatives[0].refusal.find("needs the old value after ["), std::string::npos)
      << d->alternatives[0].refusal;
}

void ExpectPlacesChange(const CompileResult& compiled) {
  auto program = LoadProgram(compiled);
  ASSERT_TRUE(program.ok());
  auto session = OpenSession(*program);
  ASSERT_TRUE(session.ok());
  const std::vector<float> one(4, 1), five(4, 5);
  ASSERT_TRUE((*session)->ImportState("a", TensorOf(one)).ok());
  ASSERT_TRUE((*session)->ImportState("b", TensorOf(five)).ok());
  std::vector<float> y(4);
  for (const float expected : {-4.0f, 4.0f, -4.0f}) {
    ASSERT_TRUE((*session)->Run().ok());
    ASSERT_TRUE(testing::GetValues(**session, "y", y).ok());
    EXPECT_EQ(y, std::vector<float>(4, expected));
  }
}

TEST(StatePairs, TwoStatesMayChangePlaces) {
  for (const char* target : kTargets) {
    for (const bool difference_first : {true, false}) {
      SCOPED_TRACE(StrCat(target, " difference first: ", difference_first));
      CompileOptions options = OptionsFor(target);
      options.states = {{"a", "a_next"}, {"b", "b_next"}};
      const auto compiled = CompileModel(SwapModel(difference_first), options);
      ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
      // b's maker needs the old a; after it, nothing needs the old b but a late difference.
      ExpectCopied(*compiled, "a");
      if (difference_first) {
        EXPECT_EQ(FindUpdate(compiled->decisions, "b")->choice, "made in the state's place");
      } else {
        ExpectCopied(*compiled, "b");
      }
      ExpectPlacesChange(*compiled);
    }
  }
}

/// total [1, 4] grows by the column sums of x, which may have any number of rows.
ModelBuilder TotalModel() {
  ModelBuilder model;
  model.Input("x", {-1, 4});
  model.Input("total", {1, 4});
  model.Ints("axis0", {1}, {0});
  model.Node("ReduceSum", {"x", "axis0"}, {"sum"}, "sum");
  model.Node("Add", {"total", "sum"}, {"total_new"}, "add");
  model.Node("Neg", {"total_new"}, {"y"}, "negate");
  model.Output("total_new");
  model.Output("y");
  return model;
}

TEST(StatePairs, EntryPointsShareOneState) {
  for (const char* target : kTargets) {
    CompileOptions options = OptionsFor(target);
    options.buckets = {{"one", {{"x", Dims{1, 4}}}}, {"three", {{"x", Dims{3, 4}}}}};
    options.states = {{"total", "total_new"}};
    const auto compiled = CompileModel(TotalModel(), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
    EXPECT_EQ(compiled->contents.program.state_bytes, 256u);
    auto program = LoadProgram(*compiled);
    ASSERT_TRUE(program.ok());
    EXPECT_EQ((*program)->states().size(), 1u);
    auto session = OpenSession(*program);
    ASSERT_TRUE(session.ok());
    float expected = 0;
    std::vector<float> x(12, 2), y(4);
    for (const auto& [entry, rows] : {std::pair("one", 1), {"three", 3}, {"one", 1}}) {
      ASSERT_TRUE((*session)->SelectEntry(entry).ok());
      ASSERT_TRUE((*session)
                      ->SetInput("x", TensorOf(std::span(x).first(static_cast<size_t>(rows) * 4),
                                               Dims{rows, 4}))
                      .ok());
      ASSERT_TRUE((*session)->Run().ok());
      ASSERT_TRUE(testing::GetValues(**session, "y", y).ok());
      expected -= 2 * static_cast<float>(rows);
      EXPECT_EQ(y, std::vector<float>(4, expected)) << target;
    }
    const auto artifact = schema::Artifact::Parse(compiled->bytes, true);
    ASSERT_TRUE(artifact.ok());
    const auto again = Recompile(*artifact, *OptionsOf(**artifact));
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(again->bytes, compiled->bytes);
  }
}

TEST(StatePairs, AStateThatDependsOnTheBucketIsRefused) {
  ModelBuilder model;
  model.Input("x", {-1, 4});
  model.Input("s", {-1, 4});
  model.Node("Add", {"x", "s"}, {"s_next"}, "add");
  model.Output("s_next");
  CompileOptions options = OptionsFor("cpu:baseline");
  options.buckets = {{"one", {{"x", Dims{1, 4}}, {"s", Dims{1, 4}}}},
                     {"two", {{"x", Dims{2, 4}}, {"s", Dims{2, 4}}}}};
  options.states = {{"s", "s_next"}};
  const Status status = CompileModel(model, options).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(
      status.message().find("state 's' is f32 1x4 in bucket 'one' and f32 2x4 in bucket 'two'"),
      std::string::npos)
      << status.ToString();
}

/// Rows of x are independent, so a smaller batch may be padded; the state has rows, too, and then
/// nothing may.
TEST(StatePairs, PaddingNeverReachesAState) {
  ModelBuilder model;
  model.Input("x", {-1, 4});
  model.Input("s", {1, 4});
  model.Node("Add", {"x", "s"}, {"y"}, "add");
  model.Node("Neg", {"s"}, {"s_next"}, "negate");
  model.Output("y");
  model.Output("s_next");
  CompileOptions options = OptionsFor("cpu:baseline");
  options.buckets = {{"six", {{"x", Dims{6, 4}}}}};
  options.states = {{"s", "s_next"}};
  const auto kept = CompileModel(model, options);
  ASSERT_TRUE(kept.ok()) << kept.status().ToString();
  const auto& paddings = kept->contents.program.entry_points[0].paddings;
  ASSERT_EQ(paddings.size(), 1u) << "the state does not shrink with the batch";
  EXPECT_EQ(paddings[0].inputs[0].input, 0u);

  ModelBuilder rows;
  rows.Input("s", {-1, 4});
  rows.Input("x", {-1, 4});
  rows.Node("Add", {"x", "s"}, {"s_next"}, "add");
  rows.Node("Neg", {"x"}, {"y"}, "negate");
  rows.Output("s_next");
  rows.Output("y");
  options.buckets = {{"six", {{"x", Dims{6, 4}}, {"s", Dims{6, 4}}}}};
  const auto dropped = CompileModel(rows, options);
  ASSERT_TRUE(dropped.ok()) << dropped.status().ToString();
  EXPECT_TRUE(dropped->contents.program.entry_points[0].paddings.empty());
  bool said = false;
  for (const Decision& d : dropped->decisions.decisions()) {
    said = said || (d.kind == DecisionKind::kBucket && !d.alternatives.empty() &&
                    d.alternatives[0].refusal.find("is a state") != std::string::npos);
  }
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace aicf::states
