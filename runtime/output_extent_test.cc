/// Outputs whose extent a replay decides: what the caller sees, on the CPU, on the (fake) device,
/// and through the C interface.
#include <gtest/gtest.h>

#include <numeric>

#include "aicf/aicf_c.h"
#include "kernels/cpu/functions.h"
#include "runtime/cuda/cuda_session.h"
#include "runtime/cuda/fake_driver.h"
#include "runtime/test_program.h"

namespace aicf {
namespace {

using testing::Negate;

/// rows = -x, cut along axis 0, and columns = -x, cut along axis 1, both where -n says.
schema::Contents CountedContents(const std::string& target) {
  schema::Contents contents;
  schema::Program& p = contents.program;
  p.target = target;
  const Dims shape = {4, 3};
  const auto add = [&](const std::string& name, DType dtype, const Dims& s, schema::Role role) {
    schema::Buffer buffer;
    buffer.name = name;
    buffer.dtype = dtype;
    buffer.shape = s;
    buffer.bytes = static_cast<uint64_t>(*ElementCount(s) * DTypeBytes(dtype));
    buffer.role = role;
    buffer.offset = p.arena_bytes;
    p.arena_bytes += testing::Padded(buffer.bytes);
    p.buffers.push_back(buffer);
    return static_cast<uint32_t>(p.buffers.size() - 1);
  };
  const uint32_t x = add("x", DType::kF32, shape, schema::Role::kInput);
  const uint32_t n = add("n", DType::kI64, {1}, schema::Role::kInput);
  const uint32_t rows = add("rows", DType::kF32, shape, schema::Role::kOutput);
  const uint32_t columns = add("columns", DType::kF32, shape, schema::Role::kOutput);
  const uint32_t count = add("rows.count", DType::kI64, {1}, schema::Role::kOutput);
  p.steps = {Negate(target, DType::kF32, shape, x, rows),
             Negate(target, DType::kF32, shape, x, columns),
             Negate(target, DType::kI64, {1}, n, count)};
  p.arena_lower_bound = p.arena_bytes;
  p.entry_points.push_back({"main", {x, n}, {rows, columns, count}, 0, 3, {{0, 0, 2}, {1, 1, 2}}});
  if (target.starts_with("cuda")) {
    contents.images = testing::EmptyCubin();
    p.images.push_back(
        {"sm_90a", "test compiler", HashBytes(contents.images), 0, contents.images.size()});
  }
  return contents;
}

std::vector<float> Numbers() {
  std::vector<float> x(12);
  std::iota(x.begin(), x.end(), 1.0f);
  return x;
}

void ExpectOutputs(Session& session, int64_t asked) {
  SCOPED_TRACE(asked);
  const std::vector<float> x = Numbers();
  const int64_t n = -asked;
  ASSERT_TRUE(session.SetInput("x", TensorOf(x, {4, 3})).ok());
  ASSERT_TRUE(session.SetInput("n", TensorOf(std::span(&n, 1))).ok());
  ASSERT_TRUE(session.Run().ok());
  ASSERT_TRUE(session.Wait().ok());
  const int64_t rows = std::clamp<int64_t>(asked, 0, 4), columns = std::clamp<int64_t>(asked, 0, 3);
  EXPECT_EQ(*session.OutputShape("rows"), (Dims{rows, 3}));
  EXPECT_EQ(*session.OutputShape("columns"), (Dims{4, columns}));
  std::vector<float> got(12, 77);
  const auto part = [&](int64_t rows_asked, int64_t columns_asked) {
    const auto count = static_cast<size_t>(rows_asked * columns_asked);
    return TensorInto(std::span(got).first(count), {rows_asked, columns_asked});
  };
  ASSERT_TRUE(session.GetOutput("rows", part(rows, 3)).ok());
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(got[i], i < rows * 3 ? -x[static_cast<size_t>(i)] : 77) << i;
  }
  got.assign(12, 77);
  ASSERT_TRUE(session.GetOutput("columns", part(4, columns)).ok());
  for (int64_t i = 0; i < 12; ++i) {
    const int64_t row = columns == 0 ? 0 : i / columns;
    const float want = i < 4 * columns ? -x[static_cast<size_t>(row * 3 + i % columns)] : 77;
    EXPECT_EQ(got[i], want) << i;
  }
  if (rows == 4) return;
  const Status whole = session.GetOutput("rows", part(4, 3));
  EXPECT_EQ(whole.code(), Code::kInvalidArgument);
  EXPECT_NE(whole.message().find(StrCat(rows, "x3")), std::string::npos) << whole.message();
}

constexpr int64_t kCounts[] = {2, 0, 4, 1, -3, 1000, 3};

TEST(OutputExtent, TheProgramNamesTheAxisAndHidesTheCount) {
  const auto program = testing::MakeProgram(CountedContents("cpu:baseline"));
  ASSERT_EQ(program->outputs().size(), 2u);
  EXPECT_EQ(program->outputs()[0].dynamic_axis, 0);
  EXPECT_EQ(program->outputs()[1].dynamic_axis, 1);
  EXPECT_EQ(program->outputs()[1].shape, (Dims{4, 3}));
  EXPECT_EQ(program->inputs()[0].dynamic_axis, -1);
}

TEST(OutputExtent, TheCpuGivesWhatTheCountSays) {
  auto session = Session::Create(testing::MakeProgram(CountedContents("cpu:baseline")), {});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  for (const int64_t count : kCounts) ExpectOutputs(**session, count);
  EXPECT_EQ((*session)->OutputShape("rows.count").status().code(), Code::kInvalidArgument);
}

TEST(OutputExtent, TheDeviceGivesWhatTheCountSays) {
  cuda::testing::FakeMachine machine;
  cuda::testing::Machine() = &machine;
  {
    cuda::Driver driver(cuda::testing::FakeApi());
    const auto program = testing::MakeProgram(CountedContents("cuda:sm_90a"));
    for (const schema::Step& step : program->artifact().program().steps) {
      const abi::Problem problem = step.problem;
      cuda::testing::FakeFunction function;
      function.parameters = 3;
      function.run = [problem](void** parameters) {
        void* buffers[] = {*static_cast<void**>(parameters[0]),
                           *static_cast<void**>(parameters[1])};
        cpu::RunSerial(abi::ReferenceKey(problem.family), problem, buffers);
      };
      machine.functions[step.symbol] = function;
    }
    for (const bool transfers : {true, false}) {
      SessionOptions options;
      options.transfers = transfers;
      auto session = cuda::CreateCudaSession(program, 0, options, &driver);
      ASSERT_TRUE(session.ok()) << session.status().ToString();
      for (const int64_t count : kCounts) ExpectOutputs(**session, count);
    }
  }
  EXPECT_EQ(machine.problem, "");
  cuda::testing::Machine() = nullptr;
}

TEST(OutputExtent, TheCInterfaceHasTheSameMeaning) {
  const auto bytes = schema::Serialize(CountedContents("cpu:baseline"));
  ASSERT_TRUE(bytes.ok());
  aicf_program program = 0;
  aicf_session session = 0;
  ASSERT_EQ(aicf_program_from_bytes(bytes->data(), bytes->size(), &program), AICF_OK);
  aicf_tensor_info info;
  ASSERT_EQ(aicf_program_output(program, 1, &info), AICF_OK);
  EXPECT_EQ(info.dynamic_axis, 1);
  EXPECT_EQ(info.bytes, 48u);
  uint32_t outputs = 0;
  ASSERT_EQ(aicf_program_output_count(program, &outputs), AICF_OK);
  EXPECT_EQ(outputs, 2u);
  ASSERT_EQ(aicf_session_create(program, nullptr, &session), AICF_OK);
  const int64_t n = -2;
  int64_t shape[8] = {1};
  ASSERT_EQ(aicf_session_set_input(session, "n", "i64", shape, 1, &n, 8), AICF_OK);
  ASSERT_EQ(aicf_session_run(session), AICF_OK);
  int32_t rank = 0;
  ASSERT_EQ(aicf_session_output_shape(session, "columns", shape, &rank), AICF_OK);
  EXPECT_EQ(rank, 2);
  EXPECT_EQ(shape[0], 4);
  EXPECT_EQ(shape[1], 2);
  EXPECT_NE(aicf_session_output_shape(session, "z", shape, &rank), AICF_OK);
  EXPECT_EQ(aicf_session_destroy(session), AICF_OK);
  EXPECT_EQ(aicf_program_destroy(program), AICF_OK);
}

}  // namespace
}  // namespace aicf
