// The compiler and a library's algorithms, with a library made up here.
#include <gtest/gtest.h>

#include "compiler/compiler.h"
#include "kernels/cuda/gemm/library.h"
#include "schema/artifact.h"

namespace aicf {
namespace {

class MadeUpLibrary final : public LibraryAlgorithms {
 public:
  Result<LibraryAlgorithm> For(const abi::Problem& problem) override {
    ++asked;
    if (!error.ok()) return error;
    const std::string text = abi::ToString(problem);
    LibraryAlgorithm algorithm{{}, 130100, workspace};
    for (int i = 0; i < 64; ++i) algorithm.bytes.push_back(static_cast<uint8_t>(text[i]));
    return algorithm;
  }
  int asked = 0;
  uint64_t workspace = 1000;
  Status error;
};

ir::LoweredBuffer BufferOf(const std::string& name, schema::Role role) {
  ir::LoweredBuffer buffer;
  buffer.name = name;
  buffer.shape = {8, 8};
  buffer.role = role;
  return buffer;
}

/// y = (x * x) * x, the last operand read with other strides.
ir::Lowered TwoProducts(const Dims& last_strides = {8, 1}) {
  ir::Lowered lowered;
  lowered.buffers = {BufferOf("x", schema::Role::kInput), BufferOf("t", schema::Role::kTemp),
                     BufferOf("y", schema::Role::kOutput)};
  for (uint32_t s = 0; s < 2; ++s) {
    ir::LoweredStep step;
    step.sources = {StrCat("product", s)};
    step.problem.family = abi::Family::kGemm;
    step.problem.attrs = abi::GemmAttrs{};
    step.problem.core_inputs = 2;
    step.problem.inputs.assign(2, abi::DenseView(DType::kF32, {8, 8}));
    step.problem.outputs = {abi::DenseView(DType::kF32, {8, 8})};
    step.inputs = {s, 0};
    step.outputs = {s + 1};
    lowered.steps.push_back(std::move(step));
  }
  lowered.steps[1].problem.inputs[1].strides = last_strides;
  lowered.inputs = {0};
  lowered.outputs = {2};
  return lowered;
}

struct LibraryPlan {
  Result<schema::Contents> contents;
  DecisionLog decisions;
};

CompileOptions OptionsFor(LibraryAlgorithms* library) {
  CompileOptions options;
  options.target = "cuda:sm_90a";
  options.kernel_cache_dir = "none";
  options.policy = *Policy::Parse("gemm=cublaslt");
  options.policy_strict = true;
  options.library_algorithms = library;
  return options;
}

LibraryPlan Plan(const CompileOptions& options, const ir::Lowered& lowered = TwoProducts()) {
  EXPECT_TRUE(ir::Verify(lowered).ok()) << ir::Verify(lowered).ToString();
  LibraryPlan planned{Status(Code::kInternal, "not planned"), {}};
  PassContext context;
  context.device = *abi::FindDevice(options.target);
  context.decisions = &planned.decisions;
  planned.contents = MakePlan(lowered, options, context);
  return planned;
}

TEST(LibraryChoice, ThePolicyChoosesAndThePlanRecordsTheAlgorithm) {
  MadeUpLibrary library;
  const LibraryPlan planned = Plan(OptionsFor(&library));
  ASSERT_TRUE(planned.contents.ok()) << planned.contents.status().ToString();
  EXPECT_EQ(library.asked, 2);
  ASSERT_EQ(planned.contents->program.steps.size(), 2u);
  for (const schema::Step& step : planned.contents->program.steps) {
    EXPECT_EQ(step.kernel, "cublaslt.matmul");
    EXPECT_EQ(step.algorithm, library.For(step.problem)->bytes);
    EXPECT_EQ(step.library_version, 130100u);
    EXPECT_EQ(step.workspace_bytes, 1000u);
  }
  const std::string text = schema::ToString(planned.contents->program);
  const auto parsed = schema::ParseProgram(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(schema::ToString(*parsed), text);
}

TEST(LibraryChoice, TheDecisionNamesLibraryVersionAndAlgorithm) {
  MadeUpLibrary library;
  const LibraryPlan planned = Plan(OptionsFor(&library));
  const std::vector<Decision>& decisions = planned.decisions.decisions();
  ASSERT_GE(decisions.size(), 4u);
  EXPECT_EQ(decisions[0].kind, DecisionKind::kKernel);
  EXPECT_EQ(decisions[0].reason, Reason::kPolicy);
  EXPECT_EQ(decisions[1].kind, DecisionKind::kAlgorithm);
  EXPECT_EQ(decisions[1].subject, decisions[0].subject);
  EXPECT_EQ(decisions[1].choice.find("cublaslt 130100, algorithm "), 0u) << decisions[1].choice;
  EXPECT_NE(decisions[1].choice.find("workspace 1000"), std::string::npos);
}

TEST(LibraryChoice, EqualCompilationsGiveEqualVerifiedBytes) {
  MadeUpLibrary library;
  std::vector<std::byte> first;
  for (int round = 0; round < 2; ++round) {
    const LibraryPlan planned = Plan(OptionsFor(&library));
    ASSERT_TRUE(planned.contents.ok());
    const auto bytes = schema::Serialize(*planned.contents);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    ASSERT_TRUE(schema::Artifact::Parse(*bytes, true).ok());
    if (round == 0) first = *bytes;
    EXPECT_EQ(*bytes, first);
  }
}

/// The error of a compilation whose strict policy cannot be honoured.
std::string RefusalOf(const CompileOptions& options, const ir::Lowered& lowered = TwoProducts()) {
  const LibraryPlan planned = Plan(options, lowered);
  EXPECT_EQ(planned.contents.status().code(), Code::kUnsupported);
  return planned.contents.status().message();
}

TEST(LibraryChoice, RefusalsSayWhatHelps) {
  const auto expect = [](const std::string& message, std::string_view part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(RefusalOf(OptionsFor(nullptr)), "compile on a machine with the library");
  MadeUpLibrary library;
  library.error = Status(Code::kDevice, "there is no GPU");
  expect(RefusalOf(OptionsFor(&library)),
         "which has no algorithm for this problem: there is no GPU");
  library.error = OkStatus();
  library.workspace = cuda::kLibraryWorkspaceBytes + 1;
  expect(RefusalOf(OptionsFor(&library)), "bytes of workspace, at most");
  library.workspace = 0;
  expect(RefusalOf(OptionsFor(&library), TwoProducts({0, 0})),
         "which cannot take B: neither of its matrix axes is contiguous");
}

TEST(LibraryChoice, WithoutAPolicyTheLibraryIsNotAsked) {
  MadeUpLibrary library;
  CompileOptions options = OptionsFor(&library);
  options.policy = *Policy::Parse("gemm=no such kernel");
  const LibraryPlan planned = Plan(options);
  EXPECT_FALSE(planned.contents.ok());
  EXPECT_EQ(library.asked, 0);
}

TEST(LibraryChoice, TheVerifierWantsAnAlgorithmOnALibraryStep) {
  MadeUpLibrary library;
  const LibraryPlan planned = Plan(OptionsFor(&library));
  ASSERT_TRUE(planned.contents.ok());
  const auto refused = [&](auto change) {
    schema::Contents damaged = *planned.contents;
    change(damaged.program.steps[0]);
    return !schema::Serialize(damaged).ok();
  };
  EXPECT_TRUE(refused([](schema::Step& s) { s.algorithm.clear(); }));
  EXPECT_TRUE(refused([](schema::Step& s) { s.library_version = 0; }));
  EXPECT_TRUE(
      refused([](schema::Step& s) { s.workspace_bytes = cuda::kLibraryWorkspaceBytes + 1; }));
  EXPECT_FALSE(refused([](schema::Step&) {}));
}

}  // namespace
}  // namespace aicf
