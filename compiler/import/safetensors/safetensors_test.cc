// safetensors files: what is read, and every refusal.
#include "compiler/import/safetensors/safetensors.h"

#include <gtest/gtest.h>

#include <memory>

namespace aicf::safetensors {
namespace {

std::string WithLength(uint64_t length, const std::string& rest) {
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + rest;
}
std::string File(const std::string& header, const std::string& data) {
  return WithLength(header.size(), header + data);
}
Result<SafetensorsFile> Parse(const std::string& bytes) {
  const auto owner = std::make_shared<const std::string>(bytes);
  return ParseSafetensors(std::as_bytes(std::span(*owner)), owner);
}

std::string Entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape +
         "],\"data_offsets\":[" + offsets + "]}";
}
const char kData[] = "0123456789abcdef";
const std::string kSmall = "{\"__metadata__\":{\"format\":\"pt\"}," +
                           Entry("b", "U8", "2,2", "8,12") + "," + Entry("a", "F32", "2", "0,8") +
                           "," + Entry("c", "I16", "2", "12,16") + "," +
                           Entry("none", "F64", "0,4", "8,8") + "}  ";

void ExpectBytesRefused(const std::string& bytes, Code code, const std::string& expected) {
  const auto file = Parse(bytes);
  ASSERT_FALSE(file.ok()) << bytes.substr(0, 200);
  EXPECT_EQ(file.status().code(), code) << file.status().ToString();
  EXPECT_NE(file.status().message().find(expected), std::string::npos) << file.status().message();
}
void ExpectHeaderRefused(const std::string& header, const std::string& expected,
                         Code code = Code::kBadModel) {
  ExpectBytesRefused(File(header, kData), code, expected);
}
void ExpectOneRefused(const std::string& entry, const std::string& expected,
                      Code code = Code::kBadModel) {
  ExpectHeaderRefused("{" + entry + "}", expected, code);
}

TEST(Safetensors, ReadsTensorsByName) {
  const auto file = Parse(File(kSmall, kData));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_EQ(file->tensors.size(), 4u);
  EXPECT_EQ(file->tensors[0].name, "a");
  EXPECT_EQ(file->metadata[0], (std::pair<std::string, std::string>("format", "pt")));
  const ir::Tensor* b = file->Find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->dtype(), DType::kU8);
  EXPECT_EQ(b->shape(), (Dims{2, 2}));
  EXPECT_EQ(b->IntAt(0), '8');
  EXPECT_EQ(file->Find("none")->count(), 0);
  EXPECT_EQ(file->Find("d"), nullptr);
}

TEST(Safetensors, EveryDType) {
  const std::pair<const char*, DType> dtypes[] = {{"F64", DType::kF64},
                                                  {"F32", DType::kF32},
                                                  {"F16", DType::kF16},
                                                  {"BF16", DType::kBF16},
                                                  {"I64", DType::kI64},
                                                  {"I32", DType::kI32},
                                                  {"I16", DType::kI16},
                                                  {"I8", DType::kI8},
                                                  {"U64", DType::kU64},
                                                  {"U32", DType::kU32},
                                                  {"U16", DType::kU16},
                                                  {"U8", DType::kU8},
                                                  {"F8_E4M3", DType::kF8E4M3FN},
                                                  {"F8_E5M2", DType::kF8E5M2},
                                                  {"F8_E8M0", DType::kF8E8M0},
                                                  {"F8_E4M3FNUZ", DType::kF8E4M3FNUZ},
                                                  {"F8_E5M2FNUZ", DType::kF8E5M2FNUZ}};
  for (const auto& [name, dtype] : dtypes) {
    const std::string count = std::to_string(16 / DTypeBytes(dtype));
    const auto file = Parse(File("{" + Entry("t", name, count, "0,16") + "}", kData));
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_EQ(file->tensors[0].data.dtype(), dtype);
  }
  const std::string bools = "{" + Entry("t", "BOOL", "2", "0,2") + "}";
  EXPECT_EQ(Parse(File(bools, std::string("\0\1", 2)))->tensors[0].data.IntAt(1), 1);
  ExpectBytesRefused(File(bools, "\1\2"), Code::kBadModel, "neither 0 nor 1");
}

TEST(Safetensors, ScalarsAndNothing) {
  const auto scalar = Parse(File("{" + Entry("s", "F64", "", "0,8") + "}", "12345678"));
  ASSERT_TRUE(scalar.ok()) << scalar.status().ToString();
  EXPECT_EQ(scalar->tensors[0].data.shape().rank(), 0);
  EXPECT_TRUE(Parse(File("{}", ""))->tensors.empty());
}

TEST(Safetensors, D1Lengths) {
  ExpectBytesRefused("", Code::kBadModel, "has 0 bytes, expected at least 8");
  ExpectBytesRefused("1234567", Code::kBadModel, "has 7 bytes");
  ExpectBytesRefused(WithLength(3, "{}"), Code::kBadModel, "the file ends after 2");
  ExpectBytesRefused(WithLength(100'000'001, "{}"), Code::kBadModel, "at most 100000000");
  ExpectBytesRefused(WithLength(uint64_t{1} << 63, "{}"), Code::kBadModel, "at most");
  ExpectBytesRefused(WithLength(0, ""), Code::kBadModel, "does not begin with");
}

TEST(Safetensors, D2Text) {
  ExpectHeaderRefused("{\"\xff\":1}", "not UTF-8");
  ExpectHeaderRefused(std::string("{}\0{}", 5), "not UTF-8");
  ExpectHeaderRefused(" {}", "does not begin with");
  ExpectHeaderRefused("\xef\xbb\xbf{}", "does not begin with");
  ExpectHeaderRefused("[]", "does not begin with");
  ExpectHeaderRefused("{} {}", "malformed JSON");
  ExpectHeaderRefused("{" + Entry("a", "U8", "16", "0,16") + ",}", "malformed JSON");
  ExpectHeaderRefused("{\"a\\u0000\":{}}", "a key with a NUL");
  ExpectHeaderRefused("{/**/}", "malformed JSON");
  std::string deep = "{\"a\":";
  for (int i = 0; i < 1'000'000; ++i) deep += "{\"a\":";
  ExpectHeaderRefused(deep, "expected dtype, shape and data_offsets in tensor \"a\"");
  ExpectHeaderRefused("{\"a\":" + std::string(1'000'000, '['),
                      "found an array, expected an object");
}

TEST(Safetensors, D3Duplicates) {
  const std::string a = Entry("a", "U8", "8", "0,8"), b = Entry("a", "U8", "8", "8,16");
  ExpectOneRefused(a + "," + b, "two tensors \"a\"");
  ExpectOneRefused("\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}", "two keys \"dtype\"");
  ExpectOneRefused("\"a\":{\"shape\":[],\"shape\":[]}", "two keys \"shape\"");
  ExpectOneRefused("\"a\":{\"data_offsets\":[0,1],\"data_offsets\":[0,1]}", "\"data_offsets\"");
  ExpectOneRefused("\"__metadata__\":{},\"__metadata__\":{}", "two keys \"__metadata__\"");
  ExpectOneRefused("\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"}", "two keys \"k\"");
}

TEST(Safetensors, D4Places) {
  ExpectOneRefused(Entry("a", "U8", "16", "16,0"), "expected 16 bytes");
  ExpectOneRefused(Entry("a", "U8", "8", "0,8") + "," + Entry("b", "U8", "9", "7,16"), "overlaps");
  ExpectOneRefused(Entry("a", "U8", "8", "0,8") + "," + Entry("b", "U8", "7", "9,16"), "a hole");
  ExpectOneRefused(Entry("a", "U8", "15", "1,16"), "a hole");
  ExpectOneRefused(Entry("a", "U8", "17", "0,17"), "ends outside the 16 bytes");
  ExpectOneRefused(Entry("a", "U8", "15", "0,15"), "1 bytes follow the last tensor");
  ExpectHeaderRefused("{}", "16 bytes follow");
}

TEST(Safetensors, D5Sizes) {
  ExpectOneRefused(Entry("a", "F32", "5", "0,16"), "is f32 5, expected 20 bytes");
  ExpectOneRefused(Entry("a", "U8", "4611686018427387904,8", "0,16"), "2^63 or more bytes");
  ExpectOneRefused(Entry("a", "F64", "4611686018427387904", "0,0"), "2^63 or more bytes");
  ExpectOneRefused(Entry("a", "U8", "4294967296,4294967296", "0,0"), "2^63 or more bytes");
  ExpectOneRefused(Entry("a", "U8", "9223372036854775808", "0,0"), "2^63 or more");
}

TEST(Safetensors, D6Numbers) {
  for (const char* number : {"1e400", "-0", "-1", "1.5", "1.0", "18446744073709551616", "\"16\"",
                             "true", "null", "[1]", "{}", "01", "0x1"}) {
    const auto shape = Parse(File("{" + Entry("a", "U8", number, "0,16") + "}", kData));
    EXPECT_EQ(shape.status().code(), Code::kBadModel) << number;
    const auto end =
        Parse(File("{" + Entry("a", "U8", "16", std::string("0,") + number) + "}", kData));
    EXPECT_EQ(end.status().code(), Code::kBadModel) << number;
  }
  for (const char* offsets : {"", "0", "0,16,16"}) {
    const auto file = Parse(File("{" + Entry("a", "U8", "16", offsets) + "}", kData));
    EXPECT_EQ(file.status().code(), Code::kBadModel) << offsets;
  }
}

TEST(Safetensors, D7OtherTypesAndRanks) {
  for (const char* dtype : {"F4", "C64", "f32", "", "F6_E2M3"}) {
    ExpectOneRefused(Entry("a", dtype, "16", "0,16"), "is not supported", Code::kUnsupported);
  }
  ExpectOneRefused(Entry("a", "U8", "1,1,1,1,1,1,1,1,16", "0,16"), "more than 8 dimensions",
                   Code::kUnsupported);
}

TEST(Safetensors, D8Metadata) {
  ExpectOneRefused("\"__metadata__\":{\"k\":1}", "found a number, expected a string");
  ExpectOneRefused("\"__metadata__\":{\"k\":{}}", "found an object, expected a string");
  ExpectOneRefused("\"__metadata__\":[]", "found an array, expected an object");
  ExpectOneRefused("\"__metadata__\":{\"k\":\"" + std::string(50'000'000, 'x') + "\"}",
                   "__metadata__ has more than");
  std::string many = "\"__metadata__\":{\"0\":\"\"";
  for (int i = 1; i < 300'000; ++i) many += ",\"" + std::to_string(i) + "\":\"\"";
  ExpectOneRefused(many + "}", "__metadata__ has more than");
}

TEST(Safetensors, IncompleteOrForeignEntries) {
  ExpectOneRefused("\"a\":{\"dtype\":\"U8\",\"shape\":[16]}", "the end of the tensor");
  ExpectOneRefused("\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,16]}", "the end of the tensor");
  ExpectOneRefused("\"a\":{\"shape\":[16],\"data_offsets\":[0,16]}", "the end of the tensor");
  ExpectOneRefused("\"a\":{\"more\":1}", "the key \"more\"");
  ExpectOneRefused("\"a\":{\"dtype\":3}", "found a number, expected a string");
  ExpectOneRefused("\"a\":\"text\"", "found a string, expected an object");
}

TEST(Safetensors, D10AMillionTensorsAreReadAndMoreRefused) {
  std::string header = "{";
  header.reserve(80'000'000);
  for (uint64_t i = 0; i <= kMaxTensors; ++i) {
    header += (i == 0 ? "" : ",") + Entry(std::to_string(i), "U8", "0", "0,0");
    if (i + 1 == kMaxTensors) {
      const auto file = Parse(File(header + "}", ""));
      ASSERT_TRUE(file.ok()) << file.status().ToString();
      EXPECT_EQ(file->tensors.size(), kMaxTensors);
    }
  }
  ExpectHeaderRefused(header + "}", "more than 1048576 tensors", Code::kResource);
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string whole = File(kSmall, kData);
  for (size_t n = 0; n < whole.size(); ++n) {
    const auto file = Parse(whole.substr(0, n));
    ASSERT_FALSE(file.ok()) << n;
    EXPECT_EQ(file.status().code(), Code::kBadModel) << file.status().ToString();
    // The header itself cut at every byte, with the length that fits.
    if (n < kSmall.find_last_of('}')) {
      EXPECT_FALSE(Parse(File(kSmall.substr(0, n), kData)).ok()) << n;
    }
  }
  EXPECT_FALSE(Parse(whole + "x").ok());
}

TEST(Safetensors, EveryFlippedBitIsReadOrRefused) {
  const std::string whole = File(kSmall, kData);
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto file = Parse(damaged);
    if (file.ok()) continue;
    EXPECT_TRUE(file.status().code() == Code::kBadModel ||
                file.status().code() == Code::kUnsupported)
        << file.status().ToString();
  }
}

}  // namespace
}  // namespace aicf::safetensors
