#include "tools/common/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace aicf::tools {
namespace {

std::vector<std::byte> BytesOf(std::string_view text) {
  const auto raw = std::as_bytes(std::span(text));
  return {raw.begin(), raw.end()};
}

/// A version 1 file with this header dictionary and data.
std::vector<std::byte> File(std::string header, std::string_view data, char version = 1) {
  header += '\n';
  std::string text = "\x93NUMPY";
  text += version;
  text += '\0';
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  if (version > 1) text += std::string(2, '\0');
  return BytesOf(text + header + std::string(data));
}

std::string Header(std::string_view descr, std::string_view shape, bool fortran = false) {
  return StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran ? "True" : "False",
                ", 'shape': ", shape, ", }");
}

TEST(Npy, EveryDTypeAndRankSurvivesARoundTrip) {
  std::mt19937 random(7);
  const Dims shapes[] = {{}, {5}, {0}, {3, 4}, {2, 0, 3}, {1, 2, 1, 2, 1, 2, 1, 2}};
  for (int t = 0; t < kDTypeCount; ++t) {
    const DType dtype = static_cast<DType>(t);
    for (const Dims& shape : shapes) {
      std::vector<std::byte> data(*ElementCount(shape) * DTypeBytes(dtype));
      for (std::byte& b : data) b = static_cast<std::byte>(random());
      const std::vector<std::byte> file = SerializeNpy(dtype, shape, data);
      EXPECT_EQ((file.size() - data.size()) % 64, 0u);
      const auto array = ParseNpy(file);
      ASSERT_TRUE(array.ok()) << array.status().ToString();
      EXPECT_EQ(array->dtype, NpyDType(dtype));
      EXPECT_EQ(DTypeBytes(NpyDType(dtype)), DTypeBytes(dtype));
      EXPECT_EQ(array->shape, shape);
      EXPECT_EQ(array->data, data);
    }
  }
}

TEST(Npy, ReadsWhatNumPyWrites) {
  // np.save of np.arange(3, dtype='<i2'): the dictionary padded with blanks to a multiple of 64.
  std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }";
  header += std::string(118 - header.size() - 1, ' ');
  const auto array = ParseNpy(File(header, std::string_view("\0\0\1\0\2\0", 6)));
  ASSERT_TRUE(array.ok()) << array.status().ToString();
  EXPECT_EQ(array->dtype, DType::kI16);
  EXPECT_EQ(array->shape, Dims({3}));
  // Keys in another order, double quotes, version 2.
  const auto other =
      ParseNpy(File(R"({"shape": (2, 1), "descr": "|b1", "fortran_order": False})", "\1\1", 2));
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  EXPECT_EQ(other->shape, Dims({2, 1}));
  EXPECT_EQ(other->dtype, DType::kBool);
}

TEST(Npy, FortranOrderBecomesRowMajor) {
  // Columns of [[1 2 3] [4 5 6]] one after another.
  const auto array = ParseNpy(File(Header("|u1", "(2, 3)", true), "\1\4\2\5\3\6"));
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(array->data, BytesOf("\1\2\3\4\5\6"));
  // Three axes: element [i, j, k] is at i + 2 * (j + 3 * k).
  std::string data(24, '\0');
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k)
        data[i + 2 * (j + 3 * k)] = static_cast<char>((i * 3 + j) * 4 + k);
    }
  }
  const auto cube = ParseNpy(File(Header("|i1", "(2, 3, 4)", true), data));
  ASSERT_TRUE(cube.ok());
  for (int i = 0; i < 24; ++i) EXPECT_EQ(static_cast<int>(cube->data[i]), i);
}

struct BadFile {
  const char* what;
  std::vector<std::byte> bytes;
  Code code;
};

TEST(Npy, HostileFilesAreRefused) {
  const std::string good = Header("<f4", "(2,)");
  const std::string eight(8, '\0');
  const BadFile cases[] = {
      {"empty", {}, Code::kInvalidArgument},
      {"a PNG", BytesOf("\x89PNG\r\n\x1a\n0000"), Code::kInvalidArgument},
      {"version 9", File(good, eight, 9), Code::kUnsupported},
      {"short data", File(good, "1234567"), Code::kInvalidArgument},
      {"trailing data", File(good, eight + "x"), Code::kInvalidArgument},
      {"product overflows", File(Header("<f4", "(4611686018427387904, 8)"), ""),
       Code::kInvalidArgument},
      {"bytes overflow", File(Header("<f8", "(2305843009213693952,)"), ""), Code::kInvalidArgument},
      {"extent beyond int64", File(Header("<f4", "(99999999999999999999,)"), ""),
       Code::kInvalidArgument},
      {"negative extent", File(Header("<f4", "(-2,)"), eight), Code::kInvalidArgument},
      {"rank 9", File(Header("|u1", "(1,1,1,1,1,1,1,1,1)"), "1"), Code::kInvalidArgument},
      {"big endian", File(Header(">f4", "(2,)"), eight), Code::kUnsupported},
      {"complex", File(Header("<c8", "(1,)"), eight), Code::kUnsupported},
      {"object", File(Header("|O", "(1,)"), eight), Code::kUnsupported},
      {"structured",
       File("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", eight),
       Code::kUnsupported},
      {"no shape", File("{'descr': '<f4', 'fortran_order': False}", eight), Code::kInvalidArgument},
      {"key twice",
       File("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", eight),
       Code::kInvalidArgument},
      {"unknown key",
       File("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", eight),
       Code::kInvalidArgument},
      {"order 1", File("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", eight),
       Code::kInvalidArgument},
      {"unclosed", File("{'descr': '<f4", eight), Code::kInvalidArgument},
      {"code after it", File(good + "; import os", eight), Code::kInvalidArgument},
  };
  for (const BadFile& c : cases) {
    const auto array = ParseNpy(c.bytes);
    ASSERT_FALSE(array.ok()) << c.what;
    EXPECT_EQ(array.status().code(), c.code) << c.what << ": " << array.status().ToString();
  }
}

TEST(Npy, TruncationAtEveryByteIsRefused) {
  const std::vector<std::byte> file =
      SerializeNpy(DType::kF32, Dims{2, 2}, BytesOf("0123456789abcdef"));
  for (size_t n = 0; n < file.size(); ++n) {
    EXPECT_FALSE(ParseNpy(std::span(file).first(n)).ok()) << n;
  }
  EXPECT_TRUE(ParseNpy(file).ok());
}

TEST(Npy, EveryFlippedBitOfTheHeaderGivesAnErrorOrAWholeArray) {
  const std::vector<std::byte> file =
      SerializeNpy(DType::kI32, Dims{4}, BytesOf("0123456789abcdef"));
  for (size_t bit = 0; bit < (file.size() - 16) * 8; ++bit) {
    std::vector<std::byte> broken = file;
    broken[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto array = ParseNpy(broken);
    if (array.ok()) {
      EXPECT_EQ(array->data.size(), *ElementCount(array->shape) * DTypeBytes(array->dtype));
    }
  }
}

TEST(Npy, MissingFileNamesThePath) {
  const auto array = ReadNpy("/nonexistent/x.npy");
  ASSERT_FALSE(array.ok());
  EXPECT_EQ(array.status().code(), Code::kIo);
  EXPECT_NE(array.status().message().find("/nonexistent/x.npy"), std::string::npos);
}

}  // namespace
}  // namespace aicf::tools
