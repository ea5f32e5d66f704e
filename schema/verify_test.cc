// VerifyProgram against programs with one fault each, and the numbers it
// promises.
#include "schema/verify.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <limits>

#include "schema/testing.h"
#include "schema/testing_chain.h"
#include "schema/testing_faults.h"
#include "schema/testing_time.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr Code kBad = Code::kBadArtifact;

// A fault of the program that `make` gives, with the code that refuses it.
struct ProgramFault {
  std::string_view name;
  Program (*make)();
  std::function<void(Program&)> edit;
  Code code;
  std::string_view sentence;
};

void ExpectFault(const ProgramFault& fault) {
  SCOPED_TRACE(fault.name);
  Program p = fault.make();
  ExpectAccepted(p);
  fault.edit(p);
  ExpectRefused(p, fault.sentence, fault.code);
}

TEST(VerifyTest, AcceptsTheValidPrograms) {
  for (const Program& p :
       {AddProgram(), ChainProgram(), ConcatProgram(), FamiliesProgram(), AttentionProgram()}) {
    EXPECT_TRUE(VerifyProgram(p).ok()) << VerifyProgram(p).ToString() << "\n" << ToString(p);
  }
}

TEST(VerifyTest, CountsNamesAndRoles) {
  const ProgramFault kFaults[] = {
      {"F21 input index", AddProgram, [](Program& p) { p.entry_points[0].inputs[0] = 3; }, kBad,
       "input buffer 3 of 3"},
      {"F21 output index", AddProgram, [](Program& p) { p.entry_points[0].outputs[0] = ~0u; }, kBad,
       "output buffer 4294967295 of 3"},
      {"F21 duplicate name", ConcatProgram, [](Program& p) { p.buffers[1].name = "x"; }, kBad,
       "repeated input name"},
      {"the same input twice", AddProgram,
       [](Program& p) { p.entry_points[0].inputs.push_back(0); }, kBad, "repeated input name"},
      {"empty name", AddProgram, [](Program& p) { p.buffers[2].name = ""; }, kBad,
       "empty or repeated output name"},
      {"a temp as output", ChainProgram, [](Program& p) { p.entry_points[0].outputs[0] = 2; }, kBad,
       "a temp is listed as an output"},
      {"an output as input", AddProgram, [](Program& p) { p.entry_points[0].inputs[0] = 2; }, kBad,
       "an output is listed as an input"},
      {"F5 bytes below shape", AddProgram, [](Program& p) { p.buffers[0].bytes = 12; }, kBad,
       "12 bytes, expected 24"},
      {"F5 wider dtype", AddProgram, [](Program& p) { p.buffers[0].dtype = DType::kF64; }, kBad,
       "24 bytes, expected 48 for f64 2x3"},
      {"A8 shape wraps to zero", AddProgram,
       [](Program& p) {
         p.buffers[0].shape = {int64_t{1} << 32, int64_t{1} << 32};
       },
       kBad, "illegal shape"},
      {"negative extent", AddProgram,
       [](Program& p) {
         p.buffers[0].shape = {-2, -3};
       },
       kBad, "illegal shape"},
      {"bytes wrap", AddProgram,
       [](Program& p) {
         p.buffers[0].shape = {int64_t{1} << 62};
         p.buffers[0].bytes = 0;
       },
       kBad, "illegal shape"},
      {"F22 arena", AddProgram, [](Program& p) { p.arena_bytes = uint64_t{1} << 60; },
       Code::kResource, "arena bytes"},
      {"F22 weights", AddProgram, [](Program& p) { p.weights_bytes = uint64_t{1} << 60; },
       Code::kResource, "weights bytes"},
      {"F22 state", AddProgram, [](Program& p) { p.state_bytes = uint64_t{1} << 60; },
       Code::kResource, "state bytes"},
      {"F6 arena larger than used", AddProgram, [](Program& p) { p.arena_bytes += 512; }, kBad,
       "are used"},
      {"F6 arena zero", AddProgram, [](Program& p) { p.arena_bytes = 0; }, kBad, "leave the arena"},
      {"lower bound above the arena", AddProgram,
       [](Program& p) { p.arena_lower_bound = p.arena_bytes + 1; }, kBad, "below its lower bound"},
      {"no entry point", AddProgram, [](Program& p) { p.entry_points.clear(); }, kBad,
       "program: no entry point"},
      {"unknown math mode", AddProgram, [](Program& p) { p.math = abi::MathMode::kCount; }, kBad,
       "unknown math mode"},
      {"entry point without a name", AddProgram, [](Program& p) { p.entry_points[0].name = ""; },
       kBad, "entry point '': empty"},
      {"entry point twice", AddProgram,
       [](Program& p) {
         p.entry_points.push_back(p.entry_points[0]);
         p.entry_points[1].first_step = 1;
         p.entry_points[1].step_count = 0;
       },
       kBad, "repeated name"},
      {"steps past the end", AddProgram, [](Program& p) { p.entry_points[0].step_count = 2; }, kBad,
       "2 steps from 0"},
      {"step range wraps", AddProgram,
       [](Program& p) { p.entry_points[0].first_step = p.entry_points[0].step_count = ~0u; }, kBad,
       "expected a range that starts at 0"},
      {"a step of no entry point", ChainProgram,
       [](Program& p) { p.entry_points[0].step_count = 2; }, kBad,
       "1 steps belong to no entry point"},
      {"F19 unknown target", AddProgram, [](Program& p) { p.target = "cuda:sm_30"; },
       Code::kUnsupported, "target 'cuda:sm_30' is unknown"},
      {"a target that depends on the machine", AddProgram, [](Program& p) { p.target = "cpu"; },
       kBad, "is not exact"},
      {"images on a CPU", AddProgram, [](Program& p) { p.images.emplace_back(); }, kBad,
       "holds device images"},
  };
  for (const ProgramFault& fault : kFaults) ExpectFault(fault);
}

TEST(VerifyTest, Storage) {
  const ProgramFault kFaults[] = {
      {"F1 offset past the arena", AddProgram, [](Program& p) { p.buffers[2].offset = 512; }, kBad,
       "leave the arena"},
      {"F1 sum wraps", AddProgram, [](Program& p) { p.buffers[2].offset = ~uint64_t{255}; }, kBad,
       "leave the arena"},
      {"F2 alignment", AddProgram, [](Program& p) { p.buffers[2].offset = 64; }, kBad,
       "not a multiple of 256"},
      {"F7 weight past the section", AddProgram, [](Program& p) { p.buffers[1].offset = 256; },
       kBad, "leave the weights"},
      {"alias out of range", ChainProgram, [](Program& p) { p.buffers[3].alias_of = 99; }, kBad,
       "alias of buffer 99 of 5"},
      {"alias of itself", ChainProgram, [](Program& p) { p.buffers[3].alias_of = 3; }, kBad,
       "form a cycle"},
      {"alias cycle", ChainProgram,
       [](Program& p) {
         p.buffers[2].storage = Storage::kAlias;
         p.buffers[2].offset = 0;
         p.buffers[2].alias_of = 3;
         p.buffers[3].alias_of = 2;
       },
       kBad, "form a cycle"},
      {"alias of other bytes", ChainProgram,
       [](Program& p) {
         p.buffers[3].shape = {4, 4};
         p.buffers[3].bytes = 64;
       },
       kBad, "64 bytes, alias of"},
      {"alias with an offset", ChainProgram, [](Program& p) { p.buffers[3].offset = 256; }, kBad,
       "an alias with offset 256"},
      {"alias_of without alias", ChainProgram, [](Program& p) { p.buffers[4].alias_of = 2; }, kBad,
       "alias_of without alias storage"},
      {"constant in the arena", AddProgram,
       [](Program& p) { p.buffers[1].storage = Storage::kArena; }, kBad,
       "a constant stored in the arena"},
      {"temp in the weights", ChainProgram,
       [](Program& p) {
         p.buffers[2].storage = Storage::kWeights;
         p.buffers[2].offset = 0;
       },
       kBad, "a temp stored in the weights"},
      {"output aliases a constant", AddProgram,
       [](Program& p) {
         p.buffers[2].storage = Storage::kAlias;
         p.buffers[2].offset = 0;
         p.buffers[2].alias_of = 1;
       },
       kBad, "an output stored in the weights"},
      {"unknown role", AddProgram, [](Program& p) { p.buffers[0].role = Role::kCount; }, kBad,
       "unknown dtype, role or storage"},
      {"unknown dtype", AddProgram,
       [](Program& p) { p.buffers[0].dtype = static_cast<DType>(200); }, kBad,
       "unknown dtype, role or storage"},
      {"unknown storage", AddProgram, [](Program& p) { p.buffers[0].storage = Storage::kCount; },
       kBad, "unknown dtype, role or storage"},
  };
  for (const ProgramFault& fault : kFaults) ExpectFault(fault);
}

TEST(VerifyTest, StridesOfEmptyOutputs) {
  abi::Problem p = Elementwise(abi::ExprOp::kAdd);
  const abi::View empty = {DType::kF32, {2, 0}, {std::numeric_limits<int64_t>::min(), 1}, 0};
  p.inputs = {empty, empty};
  p.outputs = {empty};
  // Nobody walks them, but a kernel may ask for their magnitude.
  EXPECT_NE(abi::ValidateProblem(p).message().find("leaves the buffer's range"), std::string::npos);
}

TEST(VerifyTest, OperationsOfAnEntryPoint) {
  // Products of 2^20 x 2^20 x 2^20: ten of them pass 1e19 operations, one does not.
  const auto verified = [](int steps) {
    ProgramBuilder b;
    const int64_t side = 1 << 20;
    const uint32_t x = b.Input("x", {1});
    abi::Problem p = Core(abi::Family::kGemm, abi::GemmAttrs{}, 2);
    p.inputs = {{DType::kF32, {side, side}, {0, 0}, 0}, {DType::kF32, {side, side}, {0, 0}, 0}};
    for (int i = 0; i < steps; ++i) b.AddStep(p, {x, x}, {b.Output(StrCat("y", i), {side, side})});
    return VerifyProgram(b.Finish());
  };
  EXPECT_EQ(verified(1).ToString(), OkStatus().ToString());
  const Status status = verified(10);
  EXPECT_EQ(status.code(), Code::kResource);
  EXPECT_NE(status.message().find("limit 1e+19"), std::string::npos) << status.message();
}

TEST(VerifyTest, Steps) {
  const ProgramFault kFaults[] = {
      {"F10 unknown kernel", AddProgram,
       [](Program& p) { p.steps[0].kernel = "cpu.elementwise.\x1b[31m"; }, Code::kUnsupported,
       "unknown kernel \"cpu.elementwise.\\x1b"},
      {"kernel of another family", AddProgram,
       [](Program& p) { p.steps[0].kernel = "cpu.gemm.ref"; }, kBad,
       "not of the family elementwise"},
      {"kernel of another backend", AddProgram, [](Program& p) { p.target = "cuda:sm_90a"; }, kBad,
       "backend"},
      {"kernel for another instruction set", FamiliesProgram,
       [](Program& p) { p.steps[5].kernel = "cpu.gemm.panels_avx2"; }, kBad,
       "does not run its problem so: needs AVX2"},
      {"F11 operand missing", AddProgram, [](Program& p) { p.steps[0].inputs.pop_back(); }, kBad,
       "1 inputs and 1 outputs, the problem has 2 and 1"},
      {"an output too many", AddProgram, [](Program& p) { p.steps[0].outputs.push_back(0); }, kBad,
       "2 inputs and 2 outputs, the problem has 2 and 1"},
      {"F11 problem operand missing", AddProgram,
       [](Program& p) { p.steps[0].problem.inputs.pop_back(); }, kBad, "core inputs"},
      {"F16 operand index", AddProgram, [](Program& p) { p.steps[0].inputs[1] = ~0u; }, kBad,
       "buffer 4294967295 of 3"},
      {"F12 dtype of an operand", AddProgram, [](Program& p) { p.buffers[0].dtype = DType::kI32; },
       kBad, "input 0: f32, but buffer 0 \"x\" is i32"},
      {"F12 dtype in the expression", AddProgram,
       [](Program& p) { p.steps[0].problem.inputs[0].dtype = DType::kF64; }, kBad, "dtype"},
      {"F12 rank", AddProgram,
       [](Program& p) { p.steps[0].problem.inputs[0] = abi::DenseView(DType::kF32, {6}); }, kBad,
       "shape"},
      {"F15 stride leaves the buffer", AddProgram,
       [](Program& p) {
         p.steps[0].problem.inputs[0].strides = {4, 1};
       },
       kBad, "input 0: touches bytes up to 28 of buffer 0 \"x\" with 24"},
      {"F15 output stride leaves the buffer", AddProgram,
       [](Program& p) {
         p.steps[0].problem.outputs[0].strides = {4, 1};
       },
       kBad, "output 0: touches bytes up to 28"},
      {"F15 negative stride without offset", AddProgram,
       [](Program& p) {
         p.steps[0].problem.inputs[0].strides = {-3, 1};
       },
       kBad, "leaves the buffer's range"},
      {"F15 extents larger than the buffers", AddProgram,
       [](Program& p) {
         for (abi::View& v : p.steps[0].problem.inputs) v = abi::DenseView(DType::kF32, {9, 9});
         p.steps[0].problem.outputs[0] = p.steps[0].problem.inputs[0];
       },
       kBad, "input 0: touches bytes up to 324"},
      {"F15 absurd extents", AddProgram,
       [](Program& p) {
         p.steps[0].problem.inputs[0].shape = {int64_t{1} << 41, 3};
       },
       Code::kResource, "passes"},
      {"F15 extents whose product is absurd", AddProgram,
       [](Program& p) {
         p.steps[0].problem.inputs[0].shape = {int64_t{1} << 38, int64_t{1} << 38};
       },
       Code::kResource, "passes"},
      {"F15 zero hides a huge extent", AddProgram,
       [](Program& p) {
         p.steps[0].problem.inputs[0].shape = {0, int64_t{1} << 62};
       },
       Code::kResource, "passes"},
      {"F15 absurd offset", AddProgram,
       [](Program& p) { p.steps[0].problem.inputs[0].offset = int64_t{1} << 62; }, Code::kResource,
       "passes"},
      {"an output writes one address twice", AddProgram,
       [](Program& p) {
         p.steps[0].problem.outputs[0].strides = {0, 1};
       },
       kBad, "twice"},
      {"F14 workspace", FamiliesProgram, [](Program& p) { p.steps.back().workspace_bytes -= 1; },
       kBad, "bytes, it needs"},
      {"workspace alignment", FamiliesProgram,
       [](Program& p) { p.steps.back().workspace_offset += 64; }, kBad, "workspace offset"},
      {"workspace past the arena", FamiliesProgram,
       [](Program& p) { p.steps.back().workspace_offset = ~uint64_t{255}; }, kBad,
       "leaves the arena"},
      {"packed bit on a kernel that does not pack", AddProgram,
       [](Program& p) { p.steps[0].packed_inputs = 2; }, kBad, "packed inputs 2"},
      {"parameters on a CPU kernel", AddProgram,
       [](Program& p) {
         p.steps[0].parameters = {{"tile", 8}};
       },
       kBad, "takes 0 parameters, here are 1"},
      {"F13 launch on a CPU kernel", AddProgram, [](Program& p) { p.steps[0].launch.grid[0] = 0; },
       kBad, "a launch or a tensor map on a kernel that is not cuda.*"},
      {"tensor map on a CPU kernel", AddProgram,
       [](Program& p) { p.steps[0].tensor_maps.emplace_back(); }, kBad,
       "a launch or a tensor map on a kernel that is not cuda.*"},
      {"image on a CPU kernel", AddProgram, [](Program& p) { p.steps[0].image = 0; }, kBad,
       "image or symbol on a kernel"},
      {"symbol on a CPU kernel", AddProgram, [](Program& p) { p.steps[0].symbol = "f"; }, kBad,
       "image or symbol on a kernel"},
      {"algorithm on a CPU kernel", AddProgram, [](Program& p) { p.steps[0].algorithm = {1}; },
       kBad, "an algorithm on a kernel"},
      {"F24 channels", FamiliesProgram,
       [](Program& p) { std::get<abi::ConvAttrs>(p.steps[0].problem.attrs).group = 3; }, kBad,
       "conv step"},
      {"A16 stride zero", FamiliesProgram,
       [](Program& p) { std::get<abi::ConvAttrs>(p.steps[0].problem.attrs).strides[0] = 0; }, kBad,
       "stride 0"},
      {"attributes of another family", AddProgram,
       [](Program& p) { p.steps[0].problem.attrs = abi::GemmAttrs{}; }, kBad,
       "attributes do not belong"},
  };
  for (const ProgramFault& fault : kFaults) ExpectFault(fault);
}

TEST(VerifyTest, Order) {
  const ProgramFault kFaults[] = {
      {"F8 read before write", ChainProgram, [](Program& p) { std::swap(p.steps[0], p.steps[1]); },
       kBad, "reads buffer 2 \"%2\" too early: 0 of its 20 elements are written"},
      {"F8 never written", ChainProgram, [](Program& p) { p.steps[2].inputs[0] = 4; }, kBad,
       "too early"},
      {"F8 written in part", ConcatProgram,
       [](Program& p) { p.steps[1].problem.outputs[0].offset = 0; }, kBad, "its writers overlap"},
      {"F8 one part missing", ConcatProgram,
       [](Program& p) {
         p.steps.erase(p.steps.begin());
         p.entry_points[0].step_count = 2;
       },
       kBad, "8 of its 12 elements are written"},
      {"written twice", ChainProgram,
       [](Program& p) {
         p.steps.insert(p.steps.begin(), p.steps[0]);
         p.entry_points[0].step_count = 4;
       },
       kBad, "name an element twice"},
      {"written after it was read", ChainProgram,
       [](Program& p) {
         p.steps.push_back(p.steps[0]);
         p.entry_points[0].step_count = 4;
       },
       kBad, "after it was read"},
      {"F9 writes an input", AddProgram, [](Program& p) { p.steps[0].outputs[0] = 0; }, kBad,
       "writes buffer 0 \"x\", an input"},
      {"F9 writes a constant", AddProgram, [](Program& p) { p.steps[0].outputs[0] = 1; }, kBad,
       "writes buffer 1 \"w\", a constant"},
      {"an input that is not bound", AddProgram,
       [](Program& p) { p.entry_points[0].inputs.clear(); }, kBad,
       "which is no input of this entry point"},
      {"output never written", ChainProgram,
       [](Program& p) {
         p.steps.pop_back();
         p.entry_points[0].step_count = 2;
       },
       kBad, "output buffer 4 \"y\": 0 of its 20 elements are written"},
  };
  for (const ProgramFault& fault : kFaults) ExpectFault(fault);
}

TEST(VerifyTest, PartsAreReadOnceTheyAreWritten) {
  const Status ok = VerifyProgram(PartProgram());
  EXPECT_TRUE(ok.ok()) << ok.ToString();
  const ProgramFault kFaults[] = {
      {"a part before its writer", PartProgram,
       [](Program& p) { std::swap(p.steps[0], p.steps[1]); }, kBad,
       "reads buffer 2 \"%2\" too early: 0 of its 12 elements are written"},
      {"another part, whose writer comes later", PartProgram,
       [](Program& p) { p.steps[1].problem.inputs[0].offset = 2; }, kBad,
       "reads buffer 2 \"%2\" too early: 4 of its 12 elements are written"},
      {"one element more than is written", PartProgram,
       [](Program& p) { p.steps[1].problem.inputs[0].offset = 1; }, kBad, "too early"},
      {"writes again what was read", PartProgram,
       [](Program& p) { p.steps[2].problem.outputs[0].offset = 1; }, kBad,
       "writes buffer 2 \"%2\" after it was read"},
      {"writes a part again, after the whole was read", PartProgram,
       [](Program& p) {
         p.steps.push_back(p.steps[2]);
         ++p.entry_points[0].step_count;
       },
       kBad, "after it was read"},
      {"a part that two steps write", PartProgram,
       [](Program& p) {
         p.steps.insert(p.steps.begin(), p.steps[0]);
         ++p.entry_points[0].step_count;
       },
       kBad, "too early"},
      {"the whole, when only a part was read", PartProgram,
       [](Program& p) { std::swap(p.steps[2], p.steps[3]); }, kBad,
       "too early: 4 of its 12 elements are written"},
  };
  for (const ProgramFault& fault : kFaults) ExpectFault(fault);
}

// The writer of the second part reads the first one: legal while the parts are apart.
TEST(VerifyTest, AStepReadsOnePartAndWritesAnother) {
  const auto make = [] {
    Program p = PartProgram();
    p.steps[2].problem.outputs[0] = {DType::kF32, {2, 2}, {6, 1}, 2};
    p.steps[2].problem.inputs[0] = {DType::kF32, {2, 2}, {6, 1}, 0};
    p.steps[2].inputs[0] = 2;
    p.steps[3].problem.inputs[0] = {DType::kF32, {2, 4}, {6, 1}, 0};
    p.steps[3].problem.outputs[0] = {DType::kF32, {2, 4}, {4, 1}, 0};
    p.buffers[3].shape = {2, 4};
    p.buffers[3].bytes = 32;
    return p;
  };
  const Status ok = VerifyProgram(make());
  EXPECT_TRUE(ok.ok()) << ok.ToString();
  ExpectFault({"overlapping by a column", make,
               [](Program& p) { p.steps[2].problem.outputs[0].offset = 1; }, kBad,
               "input 0 and output 0 overlap in buffer 2"});
}

TEST(VerifyTest, CountLimits) {
  EXPECT_TRUE(CheckCountLimits(kMaxSteps, kMaxBuffers, kMaxEntryPoints).ok());
  EXPECT_EQ(CheckCountLimits(kMaxSteps + 1, 1, 1).code(), Code::kResource);
  EXPECT_EQ(CheckCountLimits(uint64_t{1} << 32, 1, 1).code(), Code::kResource);  // F22
  EXPECT_EQ(CheckCountLimits(1, kMaxBuffers + 1, 1).code(), Code::kResource);
  EXPECT_EQ(CheckCountLimits(1, 1, kMaxEntryPoints + 1).code(), Code::kResource);
  Program p = AddProgram();
  p.entry_points.resize(kMaxEntryPoints + 1);
  EXPECT_EQ(VerifyProgram(p).code(), Code::kResource);
}

// 0.2 ms on a server core in the daily build where all steps are equal, 0.4 where no two are.
TEST(VerifyTest, AThousandStepsTakeAtMostTwoMilliseconds) {
  for (const Program& p : {LongProgram(1000), testing::LongProgramOfDifferentSteps(1000)}) {
    double best = 1e9;
    for (int round = 0; round < 10; ++round) {
      const double start = testing::ThreadMilliseconds();
      ASSERT_TRUE(VerifyProgram(p).ok()) << VerifyProgram(p).ToString();
      best = std::min(best, testing::ThreadMilliseconds() - start);
    }
    std::printf("1000 steps verified in %.3f ms\n", best);
    EXPECT_LT(best, 2 * testing::kSlowdown);
  }
}

TEST(VerifyTest, CostGrowsLinearly) {
  const auto cost = [](const Program& p) {
    const double start = testing::ThreadMilliseconds();
    EXPECT_TRUE(VerifyProgram(p).ok());
    return testing::ThreadMilliseconds() - start;
  };
  const Program small = LongProgram(2000), large = LongProgram(20000);
  double best_small = 1e9, best_large = 1e9;
  for (int i = 0; i < 5; ++i) {
    best_small = std::min(best_small, cost(small));
    best_large = std::min(best_large, cost(large));
  }
  std::printf("2000 steps verified in %.3f ms, 20000 in %.3f ms\n", best_small, best_large);
  // Ten times the steps, which a cache holds less well; quadratic growth would be a factor of 100.
  EXPECT_LT(best_large, 30 * best_small);
}

}  // namespace
}  // namespace aicf::schema
