// GGUF containers: what is read, and every refusal.
#include "compiler/import/gguf/gguf.h"

#include <gtest/gtest.h>

#include <random>

#include "compiler/import/gguf/testing.h"

namespace aicf::gguf {
namespace {

using namespace aicf::testing;  // NOLINT

// Two tensors, of 2 x 3 floats and of one block of Q8_0, and a value.
GgufParts SmallGguf() {
  GgufParts parts;
  parts.values = {GgufValue("general.name", 8, GgufString("small")), GgufValue("n", 4, Raw(7u))};
  parts.entries = {GgufEntry("a", {3, 2}, 0, 0), GgufEntry("b", {32}, 8, 32)};
  for (float v : {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}) parts.data += Raw(v);
  parts.data += std::string(8, '\0') + Raw<uint16_t>(0x3c00);
  for (int i = 0; i < 32; ++i) parts.data += Raw(static_cast<int8_t>(i - 16));
  return parts;
}

void ExpectGgufRefused(const GgufParts& parts, Code code, const std::string& expected) {
  const auto file = ParseGguf(parts.Bytes());
  ASSERT_FALSE(file.ok()) << expected;
  EXPECT_EQ(file.status().code(), code) << file.status().ToString();
  EXPECT_NE(file.status().message().find(expected), std::string::npos) << file.status().message();
}

void ExpectEntryRefused(const std::string& entry, Code code, const std::string& expected) {
  GgufParts parts;
  parts.entries = {entry};
  parts.data = std::string(4096, '\0');
  ExpectGgufRefused(parts, code, expected);
}

TEST(Gguf, ReadsMetadataAndTensors) {
  for (uint32_t version : {2u, 3u}) {
    GgufParts parts = SmallGguf();
    parts.version = version;
    const auto file = ParseGguf(parts.Bytes());
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_EQ(file->version(), version);
    EXPECT_EQ(*file->Get<std::string_view>("general.name"), "small");
    EXPECT_EQ(*file->Get<uint32_t>("n"), 7u);
    EXPECT_EQ(*file->Find<uint32_t>("absent"), std::nullopt);
    ASSERT_EQ(file->tensors().size(), 2u);
    const Tensor* a = file->FindTensor("a");
    ASSERT_NE(a, nullptr);
    EXPECT_EQ(a->shape, (Dims{2, 3}));
    const auto floats = DecodeTensor(*a);
    ASSERT_TRUE(floats.ok());
    EXPECT_EQ(floats->shape(), (Dims{2, 3}));
    EXPECT_EQ(floats->at<float>(5), 6.0f);
    const auto block = DecodeTensor(*file->FindTensor("b"));
    EXPECT_EQ(block->at<float>(0), -16.0f);
    EXPECT_EQ(block->at<float>(31), 15.0f);
    EXPECT_EQ(file->FindTensor("c"), nullptr);
  }
}

TEST(Gguf, TheDirectoryMayHaveAnyOrderAndTheEndMayBePadded) {
  GgufParts parts = SmallGguf();
  std::swap(parts.entries[0], parts.entries[1]);
  parts.data.resize(96);
  const auto file = ParseGguf(parts.Bytes());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->tensors()[0].name, "b");
  EXPECT_EQ(DecodeTensor(*file->FindTensor("a"))->at<float>(0), 1.0f);
}

TEST(Gguf, AlignmentIsTheFilesOwn) {
  GgufParts parts = SmallGguf();
  parts.alignment = 8;
  parts.values.push_back(GgufValue("general.alignment", 4, Raw(8u)));
  parts.entries[1] = GgufEntry("b", {32}, 8, 24);
  parts.data.erase(24, 8);
  const auto file = ParseGguf(parts.Bytes());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(DecodeTensor(*file->FindTensor("b"))->at<float>(31), 15.0f);
}

TEST(Gguf, MissingAndWrongValuesNameTheirKey) {
  const auto file = ParseGguf(SmallGguf().Bytes());
  EXPECT_EQ(file->Get<bool>("gone").status().message(), "metadata \"gone\" is missing");
  EXPECT_EQ(file->Get<std::string_view>("n").status().message(),
            "metadata \"n\": is a 32-bit unsigned integer, expected a string");
  EXPECT_EQ(file->Get<std::string_view>("n").status().code(), Code::kBadModel);
}

TEST(Gguf, C1OtherFilesAndVersions) {
  GgufParts parts = SmallGguf();
  parts.magic = "GGML";
  ExpectGgufRefused(parts, Code::kBadModel, "does not begin with \"GGUF\"");
  parts.magic = "GGUF";
  for (uint32_t version : {0u, 1u, 4u}) {
    parts.version = version;
    ExpectGgufRefused(parts, Code::kUnsupported, "expected 2 or 3");
  }
  parts.version = 3u << 24;
  ExpectGgufRefused(parts, Code::kUnsupported, "big-endian");
}

TEST(Gguf, C2CountsBeyondTheFile) {
  for (uint64_t extra : {uint64_t{1} << 63, ~uint64_t{0} - 2, uint64_t{100}}) {
    GgufParts parts = SmallGguf();
    parts.extra_tensors = extra;
    ExpectGgufRefused(parts, Code::kBadModel, "do not suffice");
    parts = SmallGguf();
    parts.extra_values = extra;
    ExpectGgufRefused(parts, Code::kBadModel, "do not suffice");
  }
}

TEST(Gguf, MoreNamesThanTheLimits) {
  GgufParts parts;
  parts.extra_values = kMaxMetadata + 1;
  parts.data = std::string((kMaxMetadata + 1) * 14, '\0');
  ExpectGgufRefused(parts, Code::kResource, "metadata values, the limit is 65536");
  parts.extra_values = 0;
  parts.extra_tensors = kMaxTensors + 1;
  parts.data = std::string((kMaxTensors + 1) * 25, '\0');
  ExpectGgufRefused(parts, Code::kResource, "tensors, the limit is 1048576");
}

TEST(Gguf, C3Names) {
  const auto with_key = [](const std::string& key) {
    GgufParts parts = SmallGguf();
    parts.values.push_back(key + Raw(0u) + "x");
    return parts;
  };
  ExpectGgufRefused(with_key(Raw(~uint64_t{0})), Code::kBadModel, "the file ends after");
  ExpectGgufRefused(with_key(Raw(uint64_t{1} << 30)), Code::kBadModel, "the file ends after");
  ExpectGgufRefused(with_key(GgufString("")), Code::kBadModel, "has 0 bytes, expected 1 to 65535");
  ExpectGgufRefused(with_key(GgufString(std::string(65536, 'k'))), Code::kBadModel, "65536 bytes");
  ExpectGgufRefused(with_key(GgufString("\xff")), Code::kBadModel, "no UTF-8");
  ExpectGgufRefused(with_key(GgufString(std::string_view("a\0b", 3))), Code::kBadModel, "no UTF-8");
  ExpectEntryRefused(GgufEntry("", {1}, 0, 0), Code::kBadModel, "a tensor's name");
  ExpectEntryRefused(GgufEntry(std::string(257, 'n'), {1}, 0, 0), Code::kBadModel, "257 bytes");
  ExpectEntryRefused(GgufEntry("\xc0\x80", {1}, 0, 0), Code::kBadModel, "no UTF-8");
}

TEST(Gguf, C5Duplicates) {
  GgufParts parts = SmallGguf();
  parts.values.push_back(GgufValue("n", 0, "x"));
  ExpectGgufRefused(parts, Code::kBadModel, "two metadata values \"n\"");
  parts = SmallGguf();
  parts.entries[1] = GgufEntry("a", {32}, 8, 32);
  ExpectGgufRefused(parts, Code::kBadModel, "two tensors \"a\"");
}

TEST(Gguf, C6C7Shapes) {
  ExpectEntryRefused(GgufEntry("t", {1, 1, 1, 1, 1}, 0, 0), Code::kBadModel, "the rank is 5");
  ExpectEntryRefused(GgufString("t") + Raw(~0u) + std::string(64, 'x'), Code::kBadModel,
                     "tensor \"t\": the rank is 4294967295");
  ExpectEntryRefused(GgufEntry("t", {0}, 0, 0), Code::kBadModel, "an extent is 0");
  ExpectEntryRefused(GgufEntry("t", {uint64_t{1} << 63}, 0, 0), Code::kBadModel, "an extent is");
  const uint64_t half = uint64_t{1} << 32;
  ExpectEntryRefused(GgufEntry("t", {half, half}, 0, 0), Code::kBadModel, "2^63 elements");
  ExpectEntryRefused(GgufEntry("t", {half, half / 4}, 0, 0), Code::kBadModel, "2^64 bytes");
  ExpectEntryRefused(GgufEntry("t", {half / 4, half / 4}, 0, 0), Code::kBadModel, "ends outside");
}

TEST(Gguf, C8Alignment) {
  for (uint32_t alignment : {0u, 13u, 8192u, 1u << 31}) {
    GgufParts parts = SmallGguf();
    parts.values.push_back(GgufValue("general.alignment", 4, Raw(alignment)));
    ExpectGgufRefused(parts, Code::kBadModel, "expected a power of two up to 4096");
  }
  GgufParts parts = SmallGguf();
  parts.values.push_back(GgufValue("general.alignment", 10, Raw(uint64_t{32})));
  ExpectGgufRefused(parts, Code::kBadModel, "no 32-bit unsigned integer");
}

TEST(Gguf, C9Places) {
  const auto second = [](uint64_t offset) {
    GgufParts parts = SmallGguf();
    parts.entries[1] = GgufEntry("b", {32}, 8, offset);
    parts.data.resize(4096);
    return parts;
  };
  ExpectGgufRefused(second(0), Code::kBadModel, "overlaps the one before");
  ExpectGgufRefused(second(64), Code::kBadModel, "leaves a gap after the one before");
  ExpectGgufRefused(second(24), Code::kBadModel, "is not aligned to 32");
  ExpectGgufRefused(second(~uint64_t{31}), Code::kBadModel, "leaves a gap");
  ExpectGgufRefused(second(32), Code::kBadModel, "bytes follow the last tensor");
  GgufParts parts = SmallGguf();
  parts.entries[0] = GgufEntry("a", {3, 2}, 0, 32);
  ExpectGgufRefused(parts, Code::kBadModel, "expected offset 0");
  parts = GgufParts();
  parts.data = std::string(32, '\0');
  ExpectGgufRefused(parts, Code::kBadModel, "32 bytes follow the last tensor");
}

TEST(Gguf, C10Types) {
  for (uint32_t type : {4u, 5u, 9u, 15u, 16u, 24u, 28u, 31u, 39u, 40u, ~0u}) {
    ExpectEntryRefused(GgufEntry("t", {256}, type, 0), Code::kUnsupported, StrCat("ggml's ", type));
  }
  ExpectEntryRefused(GgufEntry("t", {256}, 16, 0), Code::kUnsupported, "16 (IQ2_XXS)");
  ExpectEntryRefused(GgufEntry("t", {256}, 4, 0), Code::kUnsupported, "removed from ggml");
  ExpectEntryRefused(GgufEntry("t", {33}, 2, 0), Code::kBadModel, "no whole blocks of Q4_0");
  ExpectEntryRefused(GgufEntry("t", {32, 8}, 14, 0), Code::kBadModel, "no whole blocks of Q6_K");
  ExpectEntryRefused(GgufEntry("t", {}, 2, 0), Code::kBadModel, "no whole blocks");
}

TEST(Gguf, C11EveryTruncationIsRefused) {
  const std::string whole = SmallGguf().Bytes();
  ASSERT_TRUE(ParseGguf(whole).ok());
  for (size_t n = 0; n < whole.size(); ++n) {
    const auto file = ParseGguf(whole.substr(0, n));
    ASSERT_FALSE(file.ok()) << n;
    EXPECT_EQ(file.status().code(), Code::kBadModel) << file.status().ToString();
  }
}

TEST(Gguf, EveryFlippedBitIsReadOrRefused) {
  const std::string whole = SmallGguf().Bytes();
  int refused = 0;
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto file = ParseGguf(damaged);
    if (file.ok()) {
      for (const Tensor& tensor : file->tensors()) EXPECT_TRUE(DecodeTensor(tensor).ok());
      continue;
    }
    ++refused;
    EXPECT_TRUE(file.status().code() == Code::kBadModel ||
                file.status().code() == Code::kUnsupported)
        << file.status().ToString();
  }
  EXPECT_GT(refused, 500);
}

TEST(Gguf, RandomBytesAfterAValidStart) {
  std::mt19937 rng(5);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = SmallGguf().Bytes().substr(0, 24 + rng() % 60);
    for (int n = rng() % 200; n > 0; --n) bytes += static_cast<char>(rng() % 4 == 0 ? rng() : 0);
    EXPECT_FALSE(ParseGguf(bytes).ok());
  }
}

}  // namespace
}  // namespace aicf::gguf
