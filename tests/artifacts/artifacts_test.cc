// Artifacts that older versions of aicf have made. Each still loads, is verified, and computes what
// its samples say. Together they have every step family and every feature of the format.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "kernels/abi/instance_symbol.h"
#include "runtime/cuda/device.h"
#include "schema/codec.h"
#include "schema/verify.h"
#include "tests/artifacts/samples.h"

namespace aicf::artifacts {
namespace {

using schema::Buffer;
using schema::EntryPoint;
using schema::Step;

class CommittedTest : public ::testing::TestWithParam<std::string> {};

TEST_P(CommittedTest, LoadsAndComputesItsSamplesOnTheCpu) {
  const auto committed = Load(GetParam());
  ASSERT_TRUE(committed.ok()) << committed.status().ToString();
  const auto outputs = RunSamplesOnCpu(committed->program, committed->golden);
  EXPECT_TRUE(outputs.ok()) << outputs.status().ToString();
}

// What aicf writes today holds the same program, whichever form the artifact's steps have.
TEST_P(CommittedTest, IsTheSameProgramWhenItIsStoredAgain) {
  const auto committed = Load(GetParam());
  ASSERT_TRUE(committed.ok()) << committed.status().ToString();
  const schema::Program& program = committed->artifact->program();
  const auto stored = schema::EncodeProgram(program);
  ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  const auto again = schema::DecodeProgram(*stored);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(schema::ToString(*again), schema::ToString(program));
}

TEST_P(CommittedTest, AWrongExpectationIsFound) {
  const auto committed = Load(GetParam());
  ASSERT_TRUE(committed.ok()) << committed.status().ToString();
  schema::Golden wrong = committed->golden;
  schema::GoldenTensor& last = wrong.samples.back().outputs.back();
  std::vector<std::byte> data(last.data.begin(), last.data.end());
  for (size_t i = 1; i < data.size(); i += 2) data[i] ^= std::byte{0x41};
  last.data = data;
  EXPECT_EQ(RunSamplesOnCpu(committed->program, wrong).status().code(), Code::kCheckFailed);
}

class GpuCommittedTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto driver = cuda::Driver::Get();
    if (!driver.ok()) GTEST_SKIP() << driver.status().message();
  }
};

TEST_P(GpuCommittedTest, ComputesItsSamples) {
  const auto committed = Load(GetParam());
  ASSERT_TRUE(committed.ok()) << committed.status().ToString();
  for (const bool graph : {true, false}) {
    SessionOptions options;
    options.cuda_graph = graph;
    const auto outputs = RunSamples(committed->program, committed->golden, options);
    EXPECT_TRUE(outputs.ok()) << outputs.status().ToString();
  }
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = NameOf(info.param);
  std::ranges::replace(name, '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, CommittedTest, ::testing::ValuesIn(CommittedArtifacts()), TestName);
INSTANTIATE_TEST_SUITE_P(All, GpuCommittedTest, ::testing::ValuesIn(CommittedArtifacts("cuda")),
                         TestName);

// One target's artifacts.
class Coverage : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (const std::string& path : CommittedArtifacts(GetParam())) {
      const auto committed = Load(path);
      ASSERT_TRUE(committed.ok()) << committed.status().ToString();
      artifacts_.push_back(committed->artifact);
    }
    ASSERT_FALSE(artifacts_.empty());
  }

  bool AnyProgram(const std::function<bool(const schema::Program&)>& has) const {
    return std::ranges::any_of(artifacts_, [&](const auto& a) { return has(a->program()); });
  }
  bool AnyStep(const std::function<bool(const Step&)>& has) const {
    return AnyProgram([&](const schema::Program& p) { return std::ranges::any_of(p.steps, has); });
  }
  bool AnyBuffer(const std::function<bool(const Buffer&)>& has) const {
    return AnyProgram(
        [&](const schema::Program& p) { return std::ranges::any_of(p.buffers, has); });
  }
  bool AnyEntry(const std::function<bool(const EntryPoint&)>& has) const {
    return AnyProgram(
        [&](const schema::Program& p) { return std::ranges::any_of(p.entry_points, has); });
  }

  std::vector<std::shared_ptr<const schema::Artifact>> artifacts_;
};

TEST_P(Coverage, NoFamilyIsMissing) {
  std::set<abi::Family> found;
  for (const auto& a : artifacts_) {
    for (const Step& s : a->program().steps) found.insert(s.problem.family);
  }
  ASSERT_GE(CommittedFamilies().size(), kFamiliesOfTheFirstSet);
  for (const abi::Family family : CommittedFamilies()) {
    EXPECT_EQ(found.contains(family), HasSteps(family, GetParam())) << abi::FamilyName(family);
  }
}

TEST_P(Coverage, NoFeatureIsMissing) {
  using schema::Role;
  const std::pair<const char*, bool> features[] = {
      {"guards", AnyStep([](const Step& s) { return !s.guards.empty(); })},
      {"a workspace", AnyStep([](const Step& s) { return s.workspace_bytes > 0; })},
      {"an epilogue", AnyStep([](const Step& s) { return !s.problem.epilogue.nodes.empty(); })},
      {"a state", AnyBuffer([](const Buffer& b) { return schema::IsState(b); })},
      {"an update of a state", AnyBuffer([](const Buffer& b) {
         return b.role == Role::kState && b.storage == schema::Storage::kAlias;
       })},
      {"a buffer in place of another", AnyBuffer([](const Buffer& b) {
         return b.role != Role::kState && b.storage == schema::Storage::kAlias;
       })},
      {"a carried buffer", AnyBuffer([](const Buffer& b) { return b.role == Role::kCarried; })},
      {"a constant", AnyBuffer([](const Buffer& b) { return b.role == Role::kConstant; })},
      {"a meta", AnyEntry([](const EntryPoint& e) { return !e.metas.empty(); })},
      {"a loop", AnyEntry([](const EntryPoint& e) { return !e.loops.empty(); })},
      {"a dynamic output", AnyEntry([](const EntryPoint& e) { return !e.extents.empty(); })},
      {"padding", AnyEntry([](const EntryPoint& e) { return !e.paddings.empty(); })},
      {"keys in pages", AnyStep([](const Step& s) {
         return s.problem.family == abi::Family::kAttention &&
                s.problem.as<abi::AttentionAttrs>().pages;
       })},
      {"a language model", AnyProgram([](const schema::Program& p) {
         return std::ranges::any_of(p.entry_points,
                                    [](const auto& e) { return e.name == "decode_2"; });
       })},
      {"two entry points",
       AnyProgram([](const schema::Program& p) { return p.entry_points.size() > 1; })},
  };
  for (const auto& [name, found] : features) EXPECT_TRUE(found) << "nothing has " << name;
}

TEST_P(Coverage, WhatOneTargetAloneHasIsThere) {
  EXPECT_TRUE(AnyStep([](const Step& s) { return s.packed_inputs != 0; }));
  EXPECT_TRUE(AnyBuffer([](const Buffer& b) { return b.origin.has_value(); }));
  if (GetParam() == "cpu") return;
  const auto has_map = [](auto&& wanted) {
    return [wanted](const Step& s) { return std::ranges::any_of(s.tensor_maps, wanted); };
  };
  EXPECT_TRUE(AnyStep(has_map([](const abi::TensorMap&) { return true; })));
  EXPECT_TRUE(
      AnyStep(has_map([](const abi::TensorMap& m) { return m.swizzle == abi::Swizzle::k128; })));
  EXPECT_TRUE(AnyStep([](const Step& s) { return !s.parameters.empty(); }));
  for (const std::string_view prefix : {abi::kSymbolPrefix, abi::kTextSymbolPrefix}) {
    EXPECT_TRUE(AnyStep([&](const Step& s) { return s.symbol.starts_with(prefix); })) << prefix;
  }
  EXPECT_TRUE(AnyStep([](const Step& s) {
    return s.problem.family == abi::Family::kGemm && s.problem.as<abi::GemmAttrs>().halves == 2;
  }));
  EXPECT_TRUE(AnyStep([](const Step& s) { return s.launch.cluster[0] > 1; }));
  EXPECT_TRUE(AnyStep([](const Step& s) { return s.launch.dynamic_shared_bytes > 0; }));
  EXPECT_TRUE(AnyProgram([](const schema::Program& p) { return p.guard_image >= 0; }));
  for (const auto& a : artifacts_) EXPECT_FALSE(a->images().empty());
}

TEST_P(Coverage, StepsAreTablesAndRecords) {
  const auto has_records = [](const auto& a) {
    return schema::HoldsRecords(a->bytes(schema::SectionKind::kProgram));
  };
  const auto with = std::ranges::count_if(artifacts_, has_records);
  EXPECT_GE(with, 1);
  EXPECT_LT(with, static_cast<ptrdiff_t>(artifacts_.size()));
  if (GetParam() == "cpu") return;
  EXPECT_TRUE(std::ranges::any_of(artifacts_, [&](const auto& a) {
    return has_records(a) && std::ranges::any_of(a->program().steps, [](const Step& s) {
             return !s.tensor_maps.empty();
           });
  })) << "no record of a tensor map";
}

// A program whose steps are tables, damaged: tests in schema/ damage those that aicf writes today.
TEST(Tables, EveryBitOfAProgramIsRefusedOrMeansSomething) {
  const std::vector<std::string> paths = CommittedArtifacts("cpu");
  const auto path =
      std::ranges::find_if(paths, [](const auto& p) { return NameOf(p) == "boxes.cpu"; });
  ASSERT_NE(path, paths.end());
  const auto committed = Load(*path);
  ASSERT_TRUE(committed.ok()) << committed.status().ToString();
  const std::span<const std::byte> section =
      committed->artifact->bytes(schema::SectionKind::kProgram);
  ASSERT_FALSE(schema::HoldsRecords(section));
  std::vector<std::byte> bytes(section.begin(), section.end());
  int refused = 0, accepted = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; bit += 3) {
    const std::byte mask = std::byte{1} << (bit % 8);
    bytes[bit / 8] ^= mask;
    const auto program = schema::DecodeProgram(bytes);
    const Status status = program.ok() ? schema::VerifyProgram(*program) : program.status();
    ++(status.ok() ? accepted : refused);
    bytes[bit / 8] ^= mask;
  }
  EXPECT_GT(refused, accepted);
  EXPECT_GT(accepted, 0);
}

INSTANTIATE_TEST_SUITE_P(Target, Coverage, ::testing::Values("cpu", "cuda"),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace aicf::artifacts
