// Steps whose data depends on the kernel: device launches and images, packed
// inputs.
#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "kernels/abi/packing.h"
#include "schema/sections.h"
#include "schema/testing.h"
#include "schema/testing_chain.h"
#include "schema/testing_faults.h"
#include "schema/testing_time.h"
#include "schema/verify.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(VerifyDeviceTest, LaunchesSymbolsAndImages) {
  const Fault kFaults[] = {
      {"F13 grid zero", [](Program& p) { p.steps[0].launch.grid[0] = 0; },
       "does not follow from its parameters"},
      {"F13 grid", [](Program& p) { p.steps[0].launch.grid[0] += 1; },
       "does not follow from its parameters"},
      {"F13 block", [](Program& p) { p.steps[0].launch.block[0] = 2048; },
       "does not follow from its parameters"},
      {"F13 shared memory", [](Program& p) { p.steps[0].launch.dynamic_shared_bytes = 1 << 20; },
       "does not follow from its parameters"},
      {"F13 cluster", [](Program& p) { p.steps[0].launch.cluster[2] = 2; },
       "does not follow from its parameters"},
      {"a parameter gone", [](Program& p) { p.steps[0].parameters = {}; }, "takes 4 parameters"},
      {"a parameter of another name",
       [](Program& p) {
         p.steps[0].parameters = {{"width", 1}, {"threads", 128}, {"blocks", 17}};
       },
       "takes parameter vector at place 1, here is width"},
      {"a parameter out of range",
       [](Program& p) {
         p.steps[0].parameters = {{"vector", 1}, {"threads", 4096}, {"blocks", 17}};
       },
       "takes threads from 32 to 1024, here is 4096"},
      {"a parameter that the kernel refuses",
       [](Program& p) {
         p.steps[0].parameters = {{"vector", 3}, {"threads", 128}, {"blocks", 17}};
       },
       "takes vector as a power of two, here is 3"},
      {"a tensor map on a kernel that takes none",
       [](Program& p) { p.steps[0].tensor_maps.emplace_back(); }, "tensor maps do not follow"},
      {"F19 symbol missing", [](Program& p) { p.steps[0].symbol.clear(); }, "symbol \"\""},
      {"F19 symbol of another problem", [](Program& p) { p.steps[0].symbol = p.steps[1].symbol; },
       "is not the instance"},
      {"problem changed under its symbol",
       [](Program& p) { p.steps[0].problem.epilogue.nodes[1].op = abi::ExprOp::kAbs; },
       "is not the instance"},
      {"F19 image index", [](Program& p) { p.steps[0].image = 1; }, "image 1 of 1"},
      {"F19 no image", [](Program& p) { p.steps[0].image = -1; }, "image -1 of 1"},
      {"F19 image of another architecture", [](Program& p) { p.images[0].arch = "sm_80"; },
       "image 0 is for sm_80"},
      {"algorithm on an own kernel", [](Program& p) { p.steps[0].library_version = 1; },
       "an algorithm on a kernel"},
      {"a CPU kernel on a GPU", [](Program& p) { p.steps[0].kernel = "cpu.elementwise.ref"; },
       "backend"},
  };
  ExpectFaults(DeviceProgram(), kFaults);
}

// A plan without any device code is for the CPU reference; everything else about it is proven.
TEST(VerifyDeviceTest, PlansWithoutDeviceCode) {
  Program plan = DeviceProgram();
  plan.images.clear();
  for (Step& step : plan.steps) step.image = -1;
  const Fault kFaults[] = {
      {"symbol missing", [](Program& p) { p.steps[0].symbol.clear(); }, "symbol \"\""},
      {"an image that is not there", [](Program& p) { p.steps[0].image = 0; }, "image 0 of 0"},
      {"grid", [](Program& p) { p.steps[0].launch.grid[0] += 1; },
       "does not follow from its parameters"},
  };
  ExpectFaults(plan, kFaults);
}

TEST(VerifyDeviceTest, EveryFamilyHasADeviceKernelThatVerifies) {
  const Program p = OnDevice(FamiliesProgram());
  for (const Step& s : p.steps) EXPECT_EQ(s.image, 0) << s.kernel;
  EXPECT_TRUE(VerifyProgram(p).ok()) << VerifyProgram(p).ToString() << "\n" << ToString(p);
}

TEST(VerifyDeviceTest, LaunchLimits) {
  const abi::DeviceSpec device = *abi::FindDevice("cuda:sm_90a");
  using Launch = abi::LaunchConfig;
  const Launch kLegal[] = {
      {},
      {{0x7fffffff, 65535, 65535}, {1024, 1, 1}, {1, 1, 1}, 0},
      {{32, 4, 2}, {16, 1, 64}, {4, 2, 2}, static_cast<uint32_t>(device.max_shared_bytes)},
  };
  for (const Launch& l : kLegal) EXPECT_TRUE(CheckLaunchLimits(l, device).ok());
  const Launch kIllegal[] = {
      {{0, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0},
      {{0x80000000u, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0},
      {{1, 65536, 1}, {1, 1, 1}, {1, 1, 1}, 0},
      {{1, 1, 65536}, {1, 1, 1}, {1, 1, 1}, 0},
      {{1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 0},
      {{1, 1, 1}, {1025, 1, 1}, {1, 1, 1}, 0},
      {{1, 1, 1}, {1, 1, 65}, {1, 1, 1}, 0},
      {{1, 1, 1}, {32, 33, 1}, {1, 1, 1}, 0},
      {{1, 1, 1}, {1, 1, 1}, {0, 1, 1}, 0},
      {{32, 1, 1}, {1, 1, 1}, {17, 1, 1}, 0},
      {{3, 1, 1}, {1, 1, 1}, {2, 1, 1}, 0},
      {{8, 8, 1}, {1, 1, 1}, {8, 8, 1}, 0},
      {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, static_cast<uint32_t>(device.max_shared_bytes) + 1},
  };
  for (const Launch& l : kIllegal) {
    EXPECT_EQ(CheckLaunchLimits(l, device).code(), Code::kBadArtifact) << &l - kIllegal;
  }
}

TEST(VerifyDeviceTest, ClustersAndSharedMemoryAreThoseOfTheTarget) {
  const abi::LaunchConfig pair{{2, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0};
  const abi::LaunchConfig sixteen{{16, 1, 1}, {32, 1, 1}, {16, 1, 1}, 0};
  const abi::LaunchConfig large{{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 120 << 10};
  const auto takes = [](const abi::LaunchConfig& l, const char* target) {
    return CheckLaunchLimits(l, *abi::FindDevice(target)).ok();
  };
  for (const char* target : {"cuda:sm_80", "cuda:sm_86", "cuda:sm_89"}) {
    EXPECT_FALSE(takes(pair, target)) << target;
  }
  for (const char* target : {"cuda:sm_90a", "cuda:sm_100a", "cuda:sm_120"}) {
    EXPECT_TRUE(takes(pair, target)) << target;
    EXPECT_EQ(takes(sixteen, target), std::string_view(target) == "cuda:sm_90a") << target;
  }
  EXPECT_TRUE(takes(large, "cuda:sm_80"));
  for (const char* target : {"cuda:sm_86", "cuda:sm_89", "cuda:sm_120"}) {
    EXPECT_FALSE(takes(large, target)) << target;
  }
}

TEST(VerifyDeviceTest, ImagesAreBoundByHash) {
  const Contents c = ContentsOf(DeviceProgram());
  const auto file = Serialize(c);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const auto artifact = Artifact::Parse(*file, true);
  ASSERT_TRUE(artifact.ok()) << artifact.status().ToString();
  EXPECT_EQ((*artifact)->images().size(), 300u);
  // F17: every bit of the image, with the section's hash made right again.
  const auto& sections = (*artifact)->header().sections;
  const auto images = std::find_if(sections.begin(), sections.end(),
                                   [](const auto& s) { return s.kind == SectionKind::kImages; });
  ASSERT_NE(images, sections.end());
  for (size_t bit = 0; bit < images->bytes * 8; bit += 5) {
    auto damaged = *file;
    damaged[images->offset + bit / 8] ^= std::byte{1} << (bit % 8);
    Reseal(damaged);
    const Status status = Artifact::Parse(damaged, false).status();
    ASSERT_EQ(status.code(), Code::kBadArtifact) << bit;
    ASSERT_NE(status.message().find("image 0: hash mismatch"), std::string::npos);
  }
}

TEST(VerifyDeviceTest, ImageRanges) {
  const std::vector<std::byte> bytes = ImageBytes();
  Program p = DeviceProgram();
  const std::vector<std::byte> weights(p.weights_bytes);
  EXPECT_TRUE(CheckSections(p, weights, bytes).ok());
  const auto refused = [&](std::string_view sentence) {
    const Status status = CheckSections(p, weights, bytes);
    EXPECT_EQ(status.code(), Code::kBadArtifact);
    EXPECT_NE(status.message().find(sentence), std::string::npos) << status.ToString();
  };
  p.images[0].bytes = 301;
  refused("leave the section of 300");
  p.images[0].bytes = 0;
  refused("are empty");
  p.images[0] = {"sm_90a", "", {}, ~uint64_t{0}, 2};
  refused("leave the section");
  p = DeviceProgram();
  p.images[0].bytes = 299;
  refused("hash mismatch");
  p = DeviceProgram();
  p.images.push_back(p.images[0]);
  refused("image 1");
  p.images.clear();
  refused("the program names none");
}

double BestMilliseconds(const Program& p) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const double start = testing::ThreadMilliseconds();
    EXPECT_TRUE(VerifyProgram(p).ok()) << VerifyProgram(p).ToString();
    best = std::min(best, testing::ThreadMilliseconds() - start);
  }
  return best;
}

// 0.9 ms on a server core in the daily build, up to three times as much where other processes share
// the core.
TEST(VerifyDeviceTest, AThousandDifferentDeviceStepsTakeAtMostFourMilliseconds) {
  const double ms = BestMilliseconds(OnDevice(LongProgramOfDifferentSteps(1000)));
  std::printf("1000 different device steps verified in %.3f ms\n", ms);
  EXPECT_LT(ms, 4 * testing::kSlowdown);
}

// 0.2 ms: what is legal for a step is legal for its equals.
TEST(VerifyDeviceTest, AThousandEqualDeviceStepsTakeAtMostAMillisecond) {
  const double ms = BestMilliseconds(OnDevice(LongProgram(1000)));
  std::printf("1000 equal device steps verified in %.3f ms\n", ms);
  EXPECT_LT(ms, 1 * testing::kSlowdown);
}

TEST(VerifyDeviceTest, PackedInputs) {
  const Fault kFaults[] = {
      {"bit missing", [](Program& p) { p.steps[0].packed_inputs = 0; },
       "packed inputs 0, the kernel packs 2"},
      {"bit of another input", [](Program& p) { p.steps[0].packed_inputs = 3; },
       "packed inputs 3, the kernel packs 2"},
      {"other bytes",
       [](Program& p) {
         p.buffers[1].bytes -= 1;
         p.buffers[1].shape[0] -= 1;
       },
       "packed input 1"},
      {"not bytes", [](Program& p) { p.buffers[1].dtype = DType::kI8; }, "packed input 1"},
      {"not constant",
       [](Program& p) {
         p.buffers[1].role = Role::kInput;
         p.buffers[1].storage = Storage::kArena;
         p.buffers[1].offset = RoundUp(p.arena_bytes, kBufferAlignment);
         p.arena_bytes = p.buffers[1].offset + p.buffers[1].bytes;
         p.entry_points[0].inputs.push_back(1);
       },
       "is an input of"},
      {"a kernel that reads the view as it is",
       [](Program& p) {
         p.steps[0].kernel = "cpu.gemm.ref";
         p.steps[0].packed_inputs = 0;
         p.buffers[1].origin.reset();
       },
       "input 1: f32, but buffer 1 \"w\" is u8"},
  };
  ExpectFaults(PackedProgram(), kFaults);
  Program unrecorded = PackedProgram();
  unrecorded.buffers[1].origin.reset();
  EXPECT_TRUE(VerifyProgram(unrecorded).ok()) << "as artifacts were before origins were recorded";
}

// y = x * w by a kernel that reads w before it waits for the step before.
Program AheadProgram() {
  ProgramBuilder b;
  abi::Problem gemm = Core(abi::Family::kGemm, abi::GemmAttrs{}, 2);
  gemm.math = abi::MathMode::kFp16;
  gemm.inputs = {abi::DenseView(DType::kF16, {64, 128}), abi::DenseView(DType::kF16, {128, 64})};
  gemm.outputs = {abi::DenseView(DType::kF16, {64, 64})};
  const uint32_t x = b.Input("x", {64, 128}, DType::kF16);
  const uint32_t w = b.Constant("w", {128, 64}, DType::kF16);
  const uint32_t y = b.Output("y", {64, 64}, DType::kF16);
  b.AddStep(gemm, {x, w}, {y});
  Program p = OnDevice(b.Finish());
  Step& s = p.steps[0];
  const abi::KernelInfo& kernel = *abi::FindKernel("cuda.gemm.hopper");
  const abi::DeviceSpec device = *abi::FindDevice(p.target);
  const abi::Parameters own = abi::BestCandidate(kernel, gemm, device)->variant.parameters;
  s.kernel = kernel.key;
  SetVariant(s, kernel.variant(gemm, abi::WithAhead(kernel, own)));
  s.symbol = abi::InstanceSymbol(s.kernel, gemm, VariantOf(s));
  return p;
}

TEST(VerifyDeviceTest, InputsReadBeforeTheWait) {
  const auto turn_into_input = [](Program& p) {
    p.buffers[1].role = Role::kInput;
    p.buffers[1].storage = Storage::kArena;
    p.buffers[1].offset = RoundUp(p.arena_bytes, kBufferAlignment);
    p.arena_bytes = p.buffers[1].offset + p.buffers[1].bytes;
    p.entry_points[0].inputs.push_back(1);
  };
  const Fault kFaults[] = {
      {"not constant", turn_into_input,
       "is an input, expected a constant, a meta or a state from before the replay"}};
  ExpectFaults(AheadProgram(), kFaults);
  Program waits = AheadProgram();
  Step& s = waits.steps[0];
  const abi::KernelInfo& kernel = *abi::FindKernel(s.kernel);
  const abi::DeviceSpec device = *abi::FindDevice(waits.target);
  SetVariant(s, abi::BestCandidate(kernel, s.problem, device)->variant);
  s.symbol = abi::InstanceSymbol(s.kernel, s.problem, VariantOf(s));
  turn_into_input(waits);
  EXPECT_TRUE(VerifyProgram(waits).ok()) << VerifyProgram(waits).ToString();
  // The host writes a meta before a replay, and no step does.
  Program meta = AheadProgram();
  turn_into_input(meta);
  meta.buffers[1].role = Role::kMeta;
  meta.entry_points[0].inputs.pop_back();
  meta.entry_points[0].metas.push_back(1);
  EXPECT_TRUE(VerifyProgram(meta).ok()) << VerifyProgram(meta).ToString();
}

// What else, besides the attention, a program of AppendingProgram does to its keys.
enum class KeysAre { kLeftAlone, kNegatedBefore, kNegatedAfter };

// An attention that appends a row to its keys and values in place, and reads both, with `ahead`,
// before it waits for the step that makes its queries.
Program AppendingProgram(KeysAre others, bool ahead) {
  ProgramBuilder b;
  abi::AttentionAttrs attrs;
  attrs.lengths = attrs.pages = true;
  attrs.append_pairs = 32;
  abi::Problem attention = Core(abi::Family::kAttention, attrs, 10);
  attention.math = abi::MathMode::kFp16;
  const abi::Problem negation = Elementwise(abi::ExprOp::kNeg, DType::kF16);
  const Dims heads = {1, 6, 1, 64}, row = {1, 1, 2, 64}, pool = {5, 2, 16, 64};
  const uint32_t x = b.Input("x", heads, DType::kF16), q = b.Temp(heads, DType::kF16);
  const uint32_t k = b.Input("k", row, DType::kF16), v = b.Input("v", row, DType::kF16);
  const uint32_t cosine = b.Constant("cosine", {1, 1, 32}), sine = b.Constant("sine", {1, 1, 32});
  const uint32_t lengths = b.Meta("lengths", {1}, DType::kI32);
  const uint32_t table = b.Meta("table", {1, 4}, DType::kI32);
  const uint32_t places = b.Meta("places", {1, 1, 2}, DType::kI32);
  uint32_t keys = b.State("keys", pool, DType::kF16);
  const uint32_t values = b.State("values", pool, DType::kF16);
  const auto negate = [&](uint32_t state) {
    const uint32_t negated = b.Update("keys.negated", state);
    b.AddStep(negation, {state}, {negated});
    return negated;
  };
  if (others == KeysAre::kNegatedBefore) keys = negate(keys);
  const uint32_t next_keys = b.Update("keys.next", keys);
  const uint32_t next_values = b.Update("values.next", values);
  b.AddStep(negation, {x}, {q});
  b.AddStep(attention, {q, keys, values, lengths, table, k, v, places, cosine, sine},
            {b.Output("y", heads, DType::kF16), next_keys, next_values});
  if (others == KeysAre::kNegatedAfter) negate(next_keys);
  Program p = OnDevice(b.Finish());
  for (Step& s : p.steps) {
    if (s.problem.family != abi::Family::kAttention) continue;
    const abi::KernelInfo& kernel = *abi::FindKernel(s.kernel);
    EXPECT_EQ(kernel.key, "cuda.attention.decode");
    if (ahead) SetVariant(s, kernel.variant(s.problem, abi::WithAhead(kernel, s.parameters)));
    s.symbol = abi::InstanceSymbol(s.kernel, s.problem, VariantOf(s));
  }
  return p;
}

TEST(VerifyDeviceTest, StatesThatOneStepChangesMayBeReadBeforeItsWait) {
  const Fault kFaults[] = {
      {"each in place of the other",
       [](Program& p) { std::swap(p.steps[1].outputs[1], p.steps[1].outputs[2]); },
       "reads the old value"},
      {"new rows that are put into other elements",
       [](Program& p) {
         Step& s = p.steps[1];
         for (abi::View* v : {&s.problem.outputs[1], &s.problem.outputs[2]}) v->shape[0] = 4;
         for (abi::View* v : {&s.problem.inputs[1], &s.problem.inputs[2]}) {
           v->shape[0] = 4;
           v->offset = 2 * 16 * 64;
         }
         s.symbol = abi::InstanceSymbol(s.kernel, s.problem, VariantOf(s));
       },
       "reads the old value"}};
  ExpectFaults(AppendingProgram(KeysAre::kLeftAlone, true), kFaults);
  EXPECT_EQ(FeaturesOf(AppendingProgram(KeysAre::kLeftAlone, true)),
            kFeatureRecords | kFeatureState | kFeatureSymbols | kFeatureAppending);
}

// The step that writes the state may still run, or run already, while the attention reads ahead.
TEST(VerifyDeviceTest, StatesThatOtherStepsWriteAreReadBehindTheWait) {
  ExpectAccepted(AppendingProgram(KeysAre::kNegatedAfter, false));
  ExpectRefused(AppendingProgram(KeysAre::kNegatedAfter, true),
                "step 1 (\"cuda.attention.decode\") reads buffer 9 \"keys\" before it waits, and "
                "step 2 (\"cuda.elementwise.");
}

// An update is what an earlier step writes.
TEST(VerifyDeviceTest, UpdatesOfStatesAreReadBehindTheWait) {
  ExpectAccepted(AppendingProgram(KeysAre::kNegatedBefore, false));
  ExpectRefused(AppendingProgram(KeysAre::kNegatedBefore, true),
                "\"keys.negated\" is a state, expected a constant, a meta or a state from before "
                "the replay: it is read before the kernel waits");
}

TEST(VerifyDeviceTest, TensorMapsFollowFromTheParameters) {
  using Change = void (*)(std::vector<abi::TensorMap>&);
  const Change kChanges[] = {
      [](auto& maps) { maps.pop_back(); },
      [](auto& maps) { maps.push_back(maps.back()); },
      [](auto& maps) { std::swap(maps[0], maps[1]); },
      [](auto& maps) { maps[1].operand = 2; },
      [](auto& maps) { maps[1].extents[0] -= 8; },
      [](auto& maps) { maps[1].strides[1] += 8; },
      [](auto& maps) { maps[1].box[1] += 1; },
      [](auto& maps) { maps[1].steps[1] += 1; },
      [](auto& maps) { maps[1].offset += 8; },
      [](auto& maps) { maps[1].swizzle = abi::Swizzle::kNone; },
      [](auto& maps) { maps[1].fill = abi::BoxFill::kNan; },
      [](auto& maps) { maps[1].tf32 = !maps[1].tf32; },
  };
  const Program valid = AheadProgram();
  ASSERT_EQ(valid.steps[0].tensor_maps.size(), 2u);
  ExpectAccepted(valid);
  for (size_t i = 0; i < std::size(kChanges); ++i) {
    SCOPED_TRACE(i);
    Program p = valid;
    kChanges[i](p.steps[0].tensor_maps);
    ExpectRefused(p, "tensor maps do not follow from its parameters");
  }
}

// Wherever in a program a step is, and however many others pass the checks together with it.
TEST(VerifyDeviceTest, AFaultOfOneOfManyStepsIsFound) {
  const std::pair<void (*)(Step&), std::string_view> kFaults[] = {
      {[](Step& s) { s.problem.math = abi::MathMode::kInt8; }, "math mode int8"},
      {[](Step& s) { s.launch.grid[0] += 1; }, "does not follow from its parameters"},
      {[](Step& s) { s.symbol.back() ^= 1; }, "is not the instance"},
      {[](Step& s) { s.inputs[0] = 1000; }, "buffer 1000 of"},
  };
  constexpr uint32_t kSteps = 30;
  for (const Program& valid : {LongProgram(kSteps), LongProgramOfDifferentSteps(kSteps)}) {
    for (uint32_t at = 0; at < kSteps; ++at) {
      for (const auto& [edit, sentence] : kFaults) {
        Program p = OnDevice(valid);
        edit(p.steps[at]);
        ExpectRefused(p, sentence);
        ExpectRefused(p, StrCat("step ", at, " "));
      }
    }
  }
}

// Adds "w again", which lies where the packed constant does, and gives its number.
uint32_t AddAlias(Program& p) {
  Buffer alias = p.buffers[1];
  alias.name = "w again";
  alias.storage = Storage::kAlias;
  alias.offset = 0;
  alias.alias_of = 1;
  alias.origin.reset();
  p.buffers.push_back(alias);
  return static_cast<uint32_t>(p.buffers.size() - 1);
}

TEST(VerifyDeviceTest, OriginsOfPackedInputs) {
  const Fault kFaults[] = {
      {"the layout of another kernel",
       [](Program& p) { p.buffers[1].origin->layout = "cpu.gemm.panels16"; },
       "has the layout \"cpu.gemm.panels16\", the kernel reads \"cpu.gemm.panels4\""},
      {"the same through an alias",
       [](Program& p) {
         p.buffers[1].origin->layout = "cpu.gemm.panels16";
         p.steps[0].inputs[1] = AddAlias(p);
       },
       "\"w again\" has the layout \"cpu.gemm.panels16\""},
      {"a kernel that reads the bytes as they are",
       [](Program& p) {
         p.steps[0].kernel = "cpu.gemm.ref";
         p.steps[0].packed_inputs = 0;
       },
       "the kernel reads it as it is"},
      {"of a buffer that is no constant",
       [](Program& p) {
         p.buffers[0].origin = {"cpu.gemm.panels4", {}};
       },
       "the kernel reads it as it is"},
      {"of a buffer that no step reads",
       [](Program& p) {
         p.buffers[2].origin = {"cpu.gemm.panels4", {}};
       },
       "which no step reads"},
      {"of an alias",
       [](Program& p) {
         const uint32_t alias = AddAlias(p);
         p.buffers[alias].origin = p.buffers[1].origin;
         p.steps[0].inputs[1] = alias;
       },
       "which no step reads"},
  };
  ExpectFaults(PackedProgram(), kFaults);
  Program aliased = PackedProgram();
  aliased.steps[0].inputs[1] = AddAlias(aliased);
  EXPECT_TRUE(VerifyProgram(aliased).ok()) << VerifyProgram(aliased).ToString();
}

}  // namespace
}  // namespace aicf::schema
