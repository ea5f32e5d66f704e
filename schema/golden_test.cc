// The golden section: what is written is read, what is damaged is refused, and what belongs to
// another program is, too.
#include "schema/golden.h"

#include <gtest/gtest.h>

#include <bit>

#include "schema/testing.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

std::span<const std::byte> Bytes(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

/// y = x + w of AddProgram, with two samples.
class GoldenTest : public ::testing::Test {
 protected:
  void SetUp() override {
    program_ = AddProgram();
    const EntryPoint& e = program_.entry_points[0];
    ASSERT_EQ(e.inputs.size(), 1u);
    ASSERT_EQ(e.outputs.size(), 1u);
    x_ = &program_.buffers[e.inputs[0]];
    y_ = &program_.buffers[e.outputs[0]];
    data_.resize(x_->bytes / 4, 0.5f);
    expected_.resize(y_->bytes / 4, 1.5f);
    for (const GoldenOrigin origin : {GoldenOrigin::kGiven, GoldenOrigin::kReference}) {
      GoldenSample s;
      s.origin = origin;
      s.atol = 1e-3;
      if (origin == GoldenOrigin::kReference) s.rel = 0.25;
      s.inputs = {{x_->name, x_->dtype, x_->shape, Bytes(data_)}};
      s.outputs = {{y_->name, y_->dtype, y_->shape, Bytes(expected_)}};
      golden_.samples.push_back(s);
    }
  }
  void ExpectRefused(std::string_view part) const {
    const Status status = CheckGolden(golden_, program_);
    EXPECT_EQ(status.code(), Code::kBadArtifact);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.ToString();
  }

  Program program_;
  const Buffer* x_ = nullptr;
  const Buffer* y_ = nullptr;
  std::vector<float> data_, expected_;
  Golden golden_;
};

TEST_F(GoldenTest, WhatIsWrittenIsRead) {
  ASSERT_TRUE(CheckGolden(golden_, program_).ok());
  const auto bytes = EncodeGolden(golden_);
  EXPECT_EQ(bytes, EncodeGolden(golden_));
  EXPECT_EQ(bytes.size() % 8, 0u);
  const auto parsed = ParseGolden(bytes);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  ASSERT_EQ(parsed->samples.size(), 2u);
  EXPECT_EQ(EncodeGolden(*parsed), bytes);
  const GoldenSample& s = parsed->samples[1];
  EXPECT_EQ(s.origin, GoldenOrigin::kReference);
  EXPECT_EQ(s.atol, 1e-3);
  EXPECT_EQ(s.rtol, std::nullopt);
  EXPECT_EQ(s.rel, 0.25);
  ASSERT_EQ(s.inputs.size(), 1u);
  EXPECT_EQ(s.inputs[0].name, x_->name);
  EXPECT_EQ(s.inputs[0].shape, x_->shape);
  ASSERT_EQ(s.outputs.size(), 1u);
  EXPECT_EQ(s.outputs[0].data.size(), y_->bytes);
  EXPECT_EQ(std::memcmp(s.outputs[0].data.data(), expected_.data(), y_->bytes), 0);
}

TEST_F(GoldenTest, TruncationAtEveryByteIsRefused) {
  const auto bytes = EncodeGolden(golden_);
  for (size_t n = 0; n < bytes.size(); ++n) {
    const auto parsed = ParseGolden(std::span(bytes).first(n));
    ASSERT_FALSE(parsed.ok()) << n;
    ASSERT_EQ(parsed.status().code(), Code::kBadArtifact);
  }
  auto longer = bytes;
  longer.resize(longer.size() + 8);
  EXPECT_FALSE(ParseGolden(longer).ok());
}

/// What a flipped section may still say: the same bytes again when it is written.
TEST_F(GoldenTest, EveryFlippedBitIsRefusedOrMeansSomething) {
  auto bytes = EncodeGolden(golden_);
  int accepted = 0, refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const std::byte mask = std::byte{1} << (bit % 8);
    bytes[bit / 8] ^= mask;
    const auto parsed = ParseGolden(bytes);
    if (parsed.ok()) {
      ++accepted;
      EXPECT_EQ(EncodeGolden(*parsed), bytes) << bit;
      for (const GoldenSample& s : parsed->samples) {
        for (const GoldenTensor& t : s.inputs) {
          EXPECT_EQ(t.data.size(),
                    static_cast<size_t>(*ElementCount(t.shape) * DTypeBytes(t.dtype)));
        }
      }
    } else {
      ++refused;
      EXPECT_EQ(parsed.status().code(), Code::kBadArtifact);
    }
    bytes[bit / 8] ^= mask;
  }
  EXPECT_GT(accepted, 100) << "data, tolerances and names are free";
  EXPECT_GT(refused, 500);
}

TEST_F(GoldenTest, EveryWordAtExtremeValues) {
  const auto bytes = EncodeGolden(golden_);
  for (const uint32_t value : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
      auto damaged = bytes;
      std::memcpy(damaged.data() + at, &value, sizeof value);
      const auto parsed = ParseGolden(damaged);
      if (parsed.ok()) {
        EXPECT_EQ(EncodeGolden(*parsed), damaged) << at;
      } else {
        EXPECT_EQ(parsed.status().code(), Code::kBadArtifact) << at;
      }
    }
  }
}

TEST_F(GoldenTest, TextAndNumbersThatAreNone) {
  for (const std::string& name : {std::string("a\0b", 3), std::string("\xff"), std::string()}) {
    golden_.samples[0].inputs[0].name = name;
    EXPECT_FALSE(ParseGolden(EncodeGolden(golden_)).ok());
  }
  golden_.samples[0].inputs[0].name = x_->name;
  ASSERT_TRUE(ParseGolden(EncodeGolden(golden_)).ok());
  for (const double value : {-1.0, -0.0, std::bit_cast<double>(0x7ff0000000000000),
                             std::bit_cast<double>(0x7ff8000000000000)}) {
    golden_.samples[0].atol = value;
    EXPECT_FALSE(ParseGolden(EncodeGolden(golden_)).ok()) << value;
  }
  golden_.samples[0].atol.reset();
  EXPECT_FALSE(ParseGolden(EncodeGolden(golden_)).ok()) << "nothing to judge by";
}

TEST_F(GoldenTest, AnotherProgramsSamplesAreRefused) {
  const Golden right = golden_;
  golden_.samples[1].entry = 1;
  ExpectRefused("golden sample 1: entry point 1 of 1");
  golden_ = right;
  golden_.samples[0].inputs[0].name = "other";
  ExpectRefused("input 0 is 'other'");
  golden_ = right;
  golden_.samples[0].inputs.clear();
  ExpectRefused("0 inputs, the entry point has 1");
  golden_ = right;
  golden_.samples[0].outputs[0].name = "other";
  ExpectRefused("'other' is no output");
  golden_ = right;
  golden_.samples[0].outputs.push_back(golden_.samples[0].outputs[0]);
  ExpectRefused("comes twice");
  golden_ = right;
  golden_.samples[0].outputs.clear();
  ExpectRefused("no output");
  golden_ = right;
  golden_.samples[0].outputs[0].dtype = DType::kI32;
  ExpectRefused("is i32");
  golden_ = right;
  golden_.samples[0].inputs[0].shape = Dims{1};
  ExpectRefused("the program has f32");
}

TEST_F(GoldenTest, MetasFollowTheInputsInTheirOrder) {
  EntryPoint& entry = program_.entry_points[0];
  Buffer meta = *x_;  // which moves with the buffers
  for (const char* name : {"first", "second"}) {
    meta.name = name;
    entry.metas.push_back(static_cast<uint32_t>(program_.buffers.size()));
    program_.buffers.push_back(meta);
  }
  const GoldenTensor x = golden_.samples[0].inputs[0];
  const auto named = [&](const char* name) {
    GoldenTensor t = x;
    t.name = name;
    return t;
  };
  const auto check = [&](std::vector<GoldenTensor> inputs) {
    golden_.samples[0].inputs = std::move(inputs);
    return CheckGolden(golden_, program_);
  };
  EXPECT_TRUE(check({x, named("first"), named("second")}).ok());
  EXPECT_TRUE(check({x, named("second")}).ok());
  (void)check({x, named("second"), named("first")});
  ExpectRefused("'first' is no meta of the program");
  (void)check({x, named("first"), named("first")});
  ExpectRefused("comes twice");
  (void)check({named("first"), x});
  ExpectRefused("input 0 is 'first'");
  GoldenTensor other = named("first");
  other.dtype = DType::kI32;
  (void)check({x, other});
  ExpectRefused("is i32");
}

TEST_F(GoldenTest, AnArtifactCarriesIt) {
  Contents contents = ContentsOf(program_);
  contents.golden = EncodeGolden(golden_);
  const auto file = Serialize(contents);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  const auto artifact = Artifact::Parse(*file, true);
  ASSERT_TRUE(artifact.ok()) << artifact.status().ToString();
  const auto kept = (*artifact)->bytes(SectionKind::kGolden);
  EXPECT_TRUE(std::ranges::equal(kept, contents.golden));
  EXPECT_TRUE(Artifact::Parse(*file, false).ok());
}

TEST_F(GoldenTest, NeitherWriterNorReaderTakesAWrongOne) {
  Contents contents = ContentsOf(program_);
  golden_.samples[0].inputs[0].name[0] ^= 1;
  contents.golden = EncodeGolden(golden_);
  EXPECT_EQ(Serialize(contents).status().code(), Code::kInternal);
  golden_.samples[0].inputs[0].name[0] ^= 1;
  contents.golden = EncodeGolden(golden_);
  auto file = *Serialize(contents);
  const auto where =
      std::search(file.begin() + 4096, file.end(), contents.golden.begin(), contents.golden.end());
  ASSERT_NE(where, file.end());
  where[8] = std::byte{9};  // the first sample's entry point
  Reseal(file);
  const auto artifact = Artifact::Parse(file, true);
  EXPECT_EQ(artifact.status().code(), Code::kBadArtifact);
  EXPECT_NE(artifact.status().message().find("entry point 9"), std::string::npos)
      << artifact.status().ToString();
  EXPECT_TRUE(Artifact::Parse(file, false).ok()) << "running does not interpret it";
}

}  // namespace
}  // namespace aicf::schema
