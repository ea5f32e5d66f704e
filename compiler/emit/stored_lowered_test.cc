// The lowered program out of an artifact: constants from both places, and damage.
#include "compiler/emit/stored_lowered.h"

#include <gtest/gtest.h>

#include "base/scanner.h"
#include "compiler/plan/weights.h"
#include "schema/testing.h"

namespace aicf {
namespace {

/// An artifact of y = x + w whose lowered programs name the plan's w and a constant of their own.
class StoredLoweredTest : public ::testing::Test {
 protected:
  StoredLoweredTest() : contents_(schema::testing::ContentsOf(schema::testing::AddProgram())) {
    for (const schema::Buffer& b : contents_.program.buffers) {
      if (b.role != schema::Role::kConstant) continue;
      const auto bytes = std::span(contents_.weights).subspan(b.offset, b.bytes);
      Add("planned", DType::kU8, bytes);
    }
    const auto own = std::as_bytes(std::span(own_));
    Add("own", DType::kF32, own);
    contents_.lowered = ir::ToString(lowered_);
    contents_.lowered_weights = EncodeConstants({{HashBytes(own), own}});
  }
  void Add(const std::string& name, DType dtype, std::span<const std::byte> bytes) {
    const Dims shape = {static_cast<int64_t>(bytes.size()) / DTypeBytes(dtype)};
    lowered_.name = "stored";
    lowered_.buffers.push_back({name, dtype, shape, schema::Role::kConstant,
                                ir::Tensor::Own(dtype, shape, {bytes.begin(), bytes.end()})});
  }
  Result<std::vector<StoredLowered>> Read() {
    const auto bytes = schema::Serialize(contents_);
    EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
    artifact_ = *schema::Artifact::Parse(*bytes, true);
    return ReadLowered(artifact_);
  }
  void ExpectBad(std::string_view part) {
    const Status status = Read().status();
    EXPECT_EQ(status.code(), Code::kBadArtifact);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.ToString();
  }

  std::vector<float> own_ = std::vector<float>(100, 0.25f);
  ir::Lowered lowered_;
  schema::Contents contents_;
  std::shared_ptr<const schema::Artifact> artifact_;
};

TEST_F(StoredLoweredTest, ConstantsComeFromBothPlaces) {
  const auto stored = Read();
  ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  ASSERT_EQ(stored->size(), 1u);
  EXPECT_EQ((*stored)[0].entry, "");
  ASSERT_EQ((*stored)[0].lowered.buffers.size(), 2u);
  for (size_t b = 0; b < 2; ++b) {
    EXPECT_TRUE(std::ranges::equal((*stored)[0].lowered.buffers[b].constant.bytes(),
                                   lowered_.buffers[b].constant.bytes()));
  }
  EXPECT_EQ(ToString((*stored)[0].lowered), contents_.lowered);
}

TEST_F(StoredLoweredTest, EntryPointsAreApart) {
  const std::string one = contents_.lowered;
  contents_.lowered = StrCat("entry \"a\"\n", one, "entry ", Quote("b \"\n"), "\n", one);
  const auto stored = Read();
  ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  ASSERT_EQ(stored->size(), 2u);
  EXPECT_EQ((*stored)[0].entry, "a");
  EXPECT_EQ((*stored)[1].entry, "b \"\n");
  for (const StoredLowered& s : *stored) EXPECT_EQ(ToString(s.lowered), one);
}

TEST_F(StoredLoweredTest, WithoutTheSectionThereIsNone) {
  contents_.lowered.clear();
  const auto stored = Read();
  ASSERT_TRUE(stored.ok());
  EXPECT_TRUE(stored->empty());
}

TEST_F(StoredLoweredTest, DamageIsRefused) {
  const std::string text = contents_.lowered;
  const std::vector<std::byte> table = contents_.lowered_weights;
  contents_.lowered_weights.clear();
  ExpectBad("has 0 bytes of f32");
  contents_.lowered_weights = table;
  contents_.lowered = "lowered nonsense";
  ExpectBad("the lowered program: ");
  contents_.lowered = "entry a\n" + text;
  ExpectBad("the lowered program: ");
  contents_.lowered = text;
  for (size_t field : {0u, 24u, 32u}) {  // count, offset, bytes
    contents_.lowered_weights = table;
    std::fill_n(contents_.lowered_weights.begin() + static_cast<long>(field), 8, std::byte{0xff});
    ExpectBad("lowered weights: ");
  }
  contents_.lowered_weights.assign(4, std::byte{});
  ExpectBad("lowered weights: ");
}

TEST_F(StoredLoweredTest, TruncationOfTheTableAtEveryByteIsRefusedOrHarmless) {
  const std::vector<std::byte> table = contents_.lowered_weights;
  for (size_t n = 1; n < table.size(); ++n) {
    contents_.lowered_weights.assign(table.begin(), table.begin() + static_cast<long>(n));
    EXPECT_EQ(Read().status().code(), Code::kBadArtifact) << n;
  }
}

}  // namespace
}  // namespace aicf
