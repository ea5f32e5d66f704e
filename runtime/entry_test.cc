/// Several entry points in one session: which one serves given shapes, and what it computes then,
/// on the CPU, on the (fake) device, and through the C interface.
#include <gtest/gtest.h>

#include <numeric>

#include "aicf/aicf_c.h"
#include "kernels/cpu/functions.h"
#include "runtime/box.h"
#include "runtime/cuda/cuda_session.h"
#include "runtime/cuda/fake_driver.h"
#include "runtime/test_entries.h"

namespace aicf {
namespace {

using testing::EntriesContents;
using testing::SomeEntries;

// Element by element, against the definition: positions are equal.
TEST(Box, RunsCoverEveryPositionOnce) {
  const std::pair<Dims, Dims> cases[] = {{{}, {}},
                                         {{4}, {4}},
                                         {{2}, {5}},
                                         {{0, 3}, {2, 3}},
                                         {{2, 3}, {4, 3}},
                                         {{2, 2}, {2, 5}},
                                         {{3, 2, 2}, {3, 4, 2}},
                                         {{1, 2, 3, 2}, {2, 2, 4, 3}},
                                         {{2, 1, 1}, {2, 7, 1}}};
  for (const auto& [part, whole] : cases) {
    std::vector<int> from(static_cast<size_t>(*ElementCount(part)));
    std::iota(from.begin(), from.end(), 1);
    std::vector<int> to(static_cast<size_t>(*ElementCount(whole)), 0);
    const Status done = ForEachRun(part, whole, 4, [&](uint64_t p, uint64_t w, uint64_t bytes) {
      EXPECT_LE(p + bytes, from.size() * 4);
      EXPECT_LE(w + bytes, to.size() * 4);
      std::memcpy(reinterpret_cast<std::byte*>(to.data()) + w,
                  reinterpret_cast<const std::byte*>(from.data()) + p, bytes);
      return OkStatus();
    });
    ASSERT_TRUE(done.ok());
    const Dims strides = RowMajorStrides(whole);
    std::vector<int> want(to.size(), 0);
    for (size_t i = 0; i < from.size(); ++i) {
      int64_t rest = static_cast<int64_t>(i), at = 0;
      for (int d = part.rank(); d-- > 0; rest /= part[d]) at += rest % part[d] * strides[d];
      want[static_cast<size_t>(at)] = from[i];
    }
    EXPECT_EQ(to, want) << ToString(part) << " in " << ToString(whole);
  }
}

TEST(EntryChoice, TheProgramDescribesItsEntryPoints) {
  const auto program = testing::MakeProgram(EntriesContents("cpu:baseline", SomeEntries()));
  ASSERT_EQ(program->entries().size(), 4u);
  EXPECT_EQ(program->entries()[0].name, "six");
  EXPECT_EQ(program->entries()[0].inputs[0].min_shape, (Dims{2, 4}));
  EXPECT_EQ(program->entries()[0].outputs[0].min_shape, (Dims{2, 4}));
  EXPECT_EQ(program->entries()[1].inputs[0].min_shape, program->entries()[1].inputs[0].shape);
  EXPECT_EQ(program->entries()[2].first_step, 2u);
  EXPECT_EQ(program->entries()[2].step_count, 1u);
  EXPECT_EQ(program->inputs()[0].shape, (Dims{6, 4}));
  EXPECT_EQ(program->step_count(), 1u);
}

TEST(EntryChoice, ExactFirstThenTheSmallestThatPads) {
  const auto program = testing::MakeProgram(EntriesContents("cpu:baseline", SomeEntries()));
  const std::pair<Dims, size_t> served[] = {{{6, 4}, 0}, {{2, 4}, 1}, {{10, 4}, 3}, {{2, 8}, 2},
                                            {{3, 4}, 0}, {{1, 4}, 3}, {{7, 4}, 3},  {{2, 5}, 2}};
  for (const auto& [shape, entry] : served) {
    const InputShape x{"x", shape};
    const auto choice = program->Choose({&x, 1});
    ASSERT_TRUE(choice.ok()) << choice.status().ToString();
    EXPECT_EQ(choice->entry, entry) << ToString(shape);
    EXPECT_EQ(choice->inputs[0], shape);
    EXPECT_EQ(choice->outputs[0], shape);
  }
  const auto first = program->Choose({});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->entry, 0u);
  for (const Dims& shape : {Dims{11, 4}, Dims{0, 4}, Dims{3, 5}, Dims{1, 8}, Dims{4}, Dims{}}) {
    const InputShape x{"x", shape};
    const auto choice = program->Choose({&x, 1});
    EXPECT_EQ(choice.status().code(), Code::kInvalidArgument) << ToString(shape);
    EXPECT_EQ(
        choice.status().message(),
        StrCat("no entry point takes 'x' ", ToString(shape),
               "; there is 'six': x 6x4 down to 2x4; 'two': x 2x4; 'wide': x 2x8 down to 2x5; "
               "'ten': x 10x4 down to 1x4"));
  }
}

TEST(EntryChoice, NamesAreChecked) {
  const auto program = testing::MakeProgram(EntriesContents("cpu:baseline", SomeEntries()));
  const InputShape unknown[] = {{"z", {6, 4}}};
  EXPECT_EQ(program->Choose(unknown).status().message(),
            "no input is named 'z'; the program has 'x'");
  const InputShape twice[] = {{"x", {6, 4}}, {"x", {2, 4}}};
  EXPECT_EQ(program->Choose(twice).status().message(), "input 'x' is given two shapes");
}

/// Two inputs that share an extent, and an output with three positions for each of theirs.
schema::Contents TogetherContents() {
  schema::Contents contents = EntriesContents("cpu:baseline", {{"main", {4, 3}}});
  schema::Program& p = contents.program;
  schema::Buffer z = p.buffers[0];
  z.name = "z";
  z.offset = p.arena_bytes;
  p.arena_bytes += 256;
  schema::Buffer flat = p.buffers[1];
  flat.name = "flat";
  flat.shape = {12};
  flat.offset = p.arena_bytes;
  p.arena_bytes += 256;
  p.buffers.insert(p.buffers.end(), {z, flat});
  p.steps.push_back(testing::Negate("cpu:baseline", DType::kF32, {12}, 2, 3));
  schema::EntryPoint& e = p.entry_points[0];
  e.inputs = {0, 2};
  e.outputs = {1, 3};
  e.step_count = 2;
  // z's axis 0 is flattened into 12 positions: each of its rows is three of them.
  p.steps[1].problem.inputs[0].shape = {12};
  e.paddings = {{1, {{0, 0}, {1, 0}}, {{0, 0, 1}, {1, 0, 3}}}};
  return contents;
}

TEST(EntryChoice, AxesThatBelongTogetherHaveOneExtent) {
  const auto program = testing::MakeProgram(TogetherContents());
  ASSERT_NE(program, nullptr);
  const InputShape both[] = {{"x", {3, 3}}, {"z", {3, 3}}};
  const auto choice = program->Choose(both);
  ASSERT_TRUE(choice.ok()) << choice.status().ToString();
  EXPECT_EQ(choice->outputs[0], (Dims{3, 3}));
  EXPECT_EQ(choice->outputs[1], (Dims{9}));
  const InputShape one[] = {{"z", {2, 3}}};
  const auto follows = program->Choose(one);
  ASSERT_TRUE(follows.ok());
  EXPECT_EQ(follows->inputs[0], (Dims{2, 3}));
  const InputShape apart[] = {{"x", {3, 3}}, {"z", {2, 3}}};
  EXPECT_FALSE(program->Choose(apart).ok());
  auto session = Session::Create(program, {});
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE((*session)->SelectShapes(one).ok());
  const std::vector<float> z = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE((*session)->SetInput("z", TensorOf(z, {2, 3})).ok());
  ASSERT_TRUE((*session)->Run().ok());
  std::vector<float> flat(6);
  ASSERT_TRUE((*session)->GetOutput("flat", TensorInto(flat)).ok());
  EXPECT_EQ(flat, (std::vector<float>{-1, -2, -3, -4, -5, -6}));
}

void ExpectNegated(Session& session, const Dims& shape, float first) {
  SCOPED_TRACE(ToString(shape));
  const InputShape x{"x", shape};
  const Status selected = session.SelectShapes({&x, 1});
  ASSERT_TRUE(selected.ok()) << selected.ToString();
  EXPECT_EQ(*session.InputShapeOf("x"), shape);
  const auto count = static_cast<size_t>(*ElementCount(shape));
  std::vector<float> in(count), out(count, 99);
  std::iota(in.begin(), in.end(), first);
  EXPECT_FALSE(session.SetInput("x", TensorOf(in, {shape[1], shape[0] + 1})).ok());
  const Status set = session.SetInput("x", TensorOf(in, shape));
  ASSERT_TRUE(set.ok()) << set.ToString();
  ASSERT_TRUE(session.Run().ok());
  ASSERT_TRUE(session.Wait().ok());
  EXPECT_EQ(*session.OutputShape("y"), shape);
  ASSERT_TRUE(session.GetOutput("y", TensorInto(out, shape)).ok());
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], -in[i]) << i;
}

void ExpectEverySelection(Session& session) {
  for (int round = 0; round < 3; ++round) {
    float first = static_cast<float>(round * 100 + 1);
    for (const Dims& shape : {Dims{6, 4}, Dims{3, 4}, Dims{2, 4}, Dims{2, 6}, Dims{10, 4},
                              Dims{1, 4}, Dims{2, 8}, Dims{5, 4}}) {
      ExpectNegated(session, shape, first += 50);
    }
  }
  const Status missing = session.SelectEntry("seven");
  EXPECT_EQ(missing.message(),
            "no entry point is named 'seven'; the program has 'six', 'two', 'wide', 'ten'");
  ASSERT_TRUE(session.SelectEntry("wide").ok());
  EXPECT_EQ(session.selected_entry(), 2u);
  EXPECT_EQ(*session.InputShapeOf("x"), (Dims{2, 8}));
}

// What is padded, and an input that was not set, are zeros; the same selection keeps its inputs.
void ExpectZeros(Session& session) {
  ASSERT_TRUE(session.SelectEntry("ten").ok());
  const std::vector<float> ones(40, 1);
  ASSERT_TRUE(session.SetInput("x", TensorOf(ones, {10, 4})).ok());
  ASSERT_TRUE(session.SelectEntry("ten").ok());
  ASSERT_TRUE(session.Run().ok());
  std::vector<float> out(40);
  ASSERT_TRUE(session.GetOutput("y", TensorInto(out, {10, 4})).ok());
  EXPECT_EQ(out, std::vector<float>(40, -1));
  const InputShape three{"x", {7, 4}};
  ASSERT_TRUE(session.SelectShapes({&three, 1}).ok());
  EXPECT_EQ(session.selected_entry(), 3u);
  ASSERT_TRUE(session.Run().ok());
  ASSERT_TRUE(session.GetOutput("y", TensorInto(std::span(out).first(28), {7, 4})).ok());
  for (int i = 0; i < 28; ++i) EXPECT_EQ(out[static_cast<size_t>(i)], 0);
}

TEST(EntrySession, TheCpuServesEveryEntryPoint) {
  const auto program = testing::MakeProgram(EntriesContents("cpu:baseline", SomeEntries()));
  auto session = Session::Create(program, {});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  ExpectEverySelection(**session);
  ExpectZeros(**session);
  EXPECT_EQ((*session)->memory().arena_bytes, 512u);
  ASSERT_TRUE((*session)->SelectEntry("wide").ok());
  const auto profile = (*session)->Profile(2);
  ASSERT_TRUE(profile.ok());
  ASSERT_EQ(profile->size(), 1u);
  EXPECT_EQ((*profile)[0].step, 2u);
}

TEST(EntrySession, APlanForADeviceServesThemOnTheReferenceKernels) {
  const auto program = testing::MakeProgram(EntriesContents("cuda:sm_90a", SomeEntries()));
  SessionOptions options;
  options.device = "cpu";
  auto session = Session::Create(program, options);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  ExpectEverySelection(**session);
  ExpectZeros(**session);
}

class EntryCuda : public ::testing::Test {
 protected:
  EntryCuda() : driver_(cuda::testing::FakeApi()) {
    cuda::testing::Machine() = &machine_;
    program_ = testing::MakeProgram(EntriesContents("cuda:sm_90a", SomeEntries()));
    for (const schema::Step& step : program_->artifact().program().steps) {
      const abi::Problem problem = step.problem;
      cuda::testing::FakeFunction function;
      function.parameters = 3;
      function.run = [problem](void** parameters) {
        void* buffers[] = {*static_cast<void**>(parameters[0]),
                           *static_cast<void**>(parameters[1])};
        cpu::RunSerial(abi::ReferenceKey(problem.family), problem, buffers);
      };
      machine_.functions[step.symbol] = function;
    }
  }
  ~EntryCuda() override {
    program_ = nullptr;
    EXPECT_EQ(machine_.problem, "");
    EXPECT_TRUE(machine_.alive.empty());
    EXPECT_EQ(machine_.memory_used, 0u);
    cuda::testing::Machine() = nullptr;
  }
  cuda::testing::FakeMachine machine_;
  cuda::Driver driver_;
  std::shared_ptr<const Program> program_;
};

TEST_F(EntryCuda, EveryModeServesEveryEntryPoint) {
  for (const bool graph : {true, false}) {
    for (const bool transfers : {true, false}) {
      SessionOptions options;
      options.cuda_graph = graph;
      options.transfers = transfers;
      auto session = cuda::CreateCudaSession(program_, 0, options, &driver_);
      ASSERT_TRUE(session.ok()) << session.status().ToString();
      ExpectEverySelection(**session);
      ExpectZeros(**session);
    }
  }
}

TEST_F(EntryCuda, OneLaunchPerReplayAndNothingAllocatedAfterCreation) {
  auto session = cuda::CreateCudaSession(program_, 0, {}, &driver_);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const uint64_t launches = driver_.counters().graph_launches();
  const uint64_t allocations = driver_.counters().allocations();
  for (int round = 0; round < 50; ++round) {
    for (const char* name : {"six", "two", "wide", "ten"}) {
      ASSERT_TRUE((*session)->SelectEntry(name).ok());
      ASSERT_TRUE((*session)->Run().ok());
    }
  }
  EXPECT_EQ(driver_.counters().graph_launches() - launches, 200u);
  EXPECT_EQ(driver_.counters().allocations(), allocations);
  // The largest entry point's tensors, once.
  EXPECT_EQ((*session)->memory().staging_bytes, 512u);
}

bool replay_runs = false;

TEST_F(EntryCuda, TheSelectionStaysWhileAReplayIsInFlight) {
  auto api = cuda::testing::FakeApi();
  api.EventQuery = [](cuda::CUevent) {
    return replay_runs ? cuda::kCudaNotReady : cuda::kCudaSuccess;
  };
  cuda::Driver driver(api);
  SessionOptions options;
  options.sync = SyncPolicy::kEventRecord;
  auto session = cuda::CreateCudaSession(program_, 0, options, &driver);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  ASSERT_TRUE((*session)->Run().ok());
  replay_runs = true;
  const Status refused = (*session)->SelectEntry("two");
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.message().find("in flight"), std::string::npos) << refused.message();
  EXPECT_EQ((*session)->selected_entry(), 0u);
  EXPECT_TRUE((*session)->SelectEntry("six").ok());  // the one that is selected
  replay_runs = false;
  EXPECT_TRUE((*session)->SelectEntry("two").ok());
  EXPECT_EQ((*session)->selected_entry(), 1u);
}

TEST(EntryC, TheInterfaceHasTheSameMeaning) {
  const auto bytes = schema::Serialize(EntriesContents("cpu:baseline", SomeEntries()));
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  aicf_program program = 0;
  aicf_session session = 0;
  ASSERT_EQ(aicf_program_from_bytes(bytes->data(), bytes->size(), &program), AICF_OK);
  uint32_t count = 0;
  ASSERT_EQ(aicf_program_entry_count(program, &count), AICF_OK);
  EXPECT_EQ(count, 4u);
  aicf_entry_info entry;
  ASSERT_EQ(aicf_program_entry(program, 2, &entry), AICF_OK);
  EXPECT_STREQ(entry.name, "wide");
  EXPECT_EQ(entry.inputs, 1u);
  EXPECT_EQ(entry.first_step, 2u);
  EXPECT_EQ(aicf_program_entry(program, 4, &entry), AICF_INVALID_ARGUMENT);
  EXPECT_STREQ(aicf_last_error(), "entry point 4: the program has 4");
  aicf_tensor_info info;
  int64_t least[8] = {};
  ASSERT_EQ(aicf_program_entry_input(program, 2, 0, &info, least), AICF_OK);
  EXPECT_EQ(info.shape[1], 8);
  EXPECT_EQ(least[1], 5);
  ASSERT_EQ(aicf_program_entry_output(program, 3, 0, &info, nullptr), AICF_OK);
  EXPECT_EQ(info.shape[0], 10);
  EXPECT_EQ(aicf_program_entry_output(program, 3, 1, &info, nullptr), AICF_INVALID_ARGUMENT);

  ASSERT_EQ(aicf_session_create(program, nullptr, &session), AICF_OK);
  aicf_input_shape shape = {"x", {2, 6}, 2, 0};
  ASSERT_EQ(aicf_session_select_shapes(session, &shape, 1), AICF_OK) << aicf_last_error();
  uint32_t selected = 9;
  EXPECT_EQ(aicf_session_selected_entry(session, &selected), AICF_OK);
  EXPECT_EQ(selected, 2u);
  int64_t now[8] = {};
  int32_t rank = 0;
  EXPECT_EQ(aicf_session_input_shape(session, "x", now, &rank), AICF_OK);
  EXPECT_EQ(rank, 2);
  EXPECT_EQ(now[1], 6);
  const float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  float y[12] = {};
  ASSERT_EQ(aicf_session_set_input(session, "x", "f32", now, rank, x, sizeof x), AICF_OK)
      << aicf_last_error();
  ASSERT_EQ(aicf_session_run(session), AICF_OK);
  ASSERT_EQ(aicf_session_get_output(session, "y", "f32", now, rank, y, sizeof y), AICF_OK)
      << aicf_last_error();
  for (int i = 0; i < 12; ++i) EXPECT_EQ(y[i], -x[i]);
  aicf_step_profile steps[1];
  ASSERT_EQ(aicf_session_profile(session, 1, steps, 1, &count), AICF_OK);
  EXPECT_EQ(steps[0].step, 2u);
  shape.rank = 9;
  EXPECT_EQ(aicf_session_select_shapes(session, &shape, 1), AICF_INVALID_ARGUMENT);
  shape = {"x", {50, 50}, 2, 0};
  EXPECT_EQ(aicf_session_select_shapes(session, &shape, 1), AICF_INVALID_ARGUMENT);
  EXPECT_NE(std::string(aicf_last_error()).find("'ten': x 10x4"), std::string::npos);
  EXPECT_EQ(aicf_session_select_shapes(session, nullptr, 1), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_session_select_entry(session, nullptr), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_session_select_entry(session, "two"), AICF_OK);
  EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
  EXPECT_EQ(aicf_program_destroy(program), AICF_OK);
}

}  // namespace
}  // namespace aicf
