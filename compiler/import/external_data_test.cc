// The paths and ranges that a model may name, on a real directory.
#include "compiler/import/external_data.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/scanner.h"

namespace aicf {
namespace {

namespace fs = std::filesystem;

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "aicf-external-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directories(root_ / "model/sub");
    Write(root_ / "secret", "secret..");
    Write(root_ / "model/w.bin", "0123456789abcdef");
    Write(root_ / "model/sub/v.bin", "vvvvvvvv");
    Write(root_ / "model/m.onnx", "the model itself");
    struct stat info = {};
    ASSERT_EQ(stat((root_ / "model/m.onnx").c_str(), &info), 0);
    location_ = {(root_ / "model").string(), info.st_dev, info.st_ino};
  }
  void TearDown() override { fs::remove_all(root_); }

  static void Write(const fs::path& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  Result<std::vector<std::byte>> Read(const ExternalEntries& entries, uint64_t bytes = 8) const {
    return ReadExternalData(location_, entries, bytes);
  }
  Result<std::vector<std::byte>> ReadPath(const std::string& path) const {
    return Read({{"location", path}});
  }

  void ExpectRefused(const ExternalEntries& entries, Code code, const std::string& expected,
                     uint64_t bytes = 8) const {
    const auto data = Read(entries, bytes);
    ASSERT_FALSE(data.ok()) << expected;
    EXPECT_EQ(data.status().code(), code) << data.status().ToString();
    EXPECT_NE(data.status().message().find(expected), std::string::npos) << data.status().message();
  }
  void ExpectPathRefused(const std::string& path, const std::string& expected,
                         Code code = Code::kBadModel) const {
    ExpectRefused({{"location", path}}, code, expected);
  }

  fs::path root_;
  ModelLocation location_;
};

std::string Text(const std::vector<std::byte>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

TEST_F(ExternalData, ReadsRangesBelowTheDirectory) {
  EXPECT_EQ(Text(*ReadPath("w.bin")), "01234567");
  EXPECT_EQ(Text(*ReadPath("sub/v.bin")), "vvvvvvvv");
  EXPECT_EQ(Text(*ReadPath("./sub/v.bin")), "vvvvvvvv");
  EXPECT_EQ(Text(*Read({{"location", "w.bin"}, {"offset", "8"}, {"length", "8"}})), "89abcdef");
  EXPECT_EQ(Text(*Read({{"location", "w.bin"}, {"offset", "16"}}, 0)), "");
}

TEST_F(ExternalData, B1LeavingTheDirectory) {
  for (const char* path : {"../secret", "sub/../../secret", "sub/..//../secret", "..", "sub/.."}) {
    ExpectPathRefused(path, "leaves the model's directory");
  }
}

TEST_F(ExternalData, B2NotARelativePath) {
  ExpectPathRefused((root_ / "secret").string(), "not a relative path");
  ExpectPathRefused("C:\\x", "not a relative path");
  ExpectPathRefused("\\\\server\\x", "not a relative path");
  ExpectPathRefused("", "is empty");
  ExpectPathRefused("sub//v.bin", "empty component");
  ExpectPathRefused("sub/", "empty component");
  ExpectPathRefused(std::string("w.bin\0x", 7), "NUL");
  ExpectRefused({}, Code::kBadModel, "is empty");
}

TEST_F(ExternalData, B3B4SymbolicLinks) {
  fs::create_symlink("w.bin", root_ / "model/inside");
  fs::create_symlink("../secret", root_ / "model/outside");
  fs::create_directory_symlink(root_, root_ / "model/up");
  fs::create_directory_symlink("sub", root_ / "model/down");
  for (const char* path : {"inside", "outside", "up/secret", "down/v.bin", "w.bin/x"}) {
    ExpectPathRefused(path, "symbolic link");
  }
}

TEST_F(ExternalData, B5HardLinks) {
  fs::create_hard_link(root_ / "secret", root_ / "model/linked");
  ExpectPathRefused("linked", "hard links");
}

TEST_F(ExternalData, B6NothingOutsideIsReadWhileThePathIsSwapped) {
  std::atomic<bool> stop = false;
  std::thread racer([&] {
    while (!stop) {
      std::error_code ignored;
      fs::rename(root_ / "model/sub", root_ / "model/away", ignored);
      fs::create_directory_symlink(root_, root_ / "model/sub", ignored);
      fs::remove(root_ / "model/sub", ignored);
      fs::rename(root_ / "model/away", root_ / "model/sub", ignored);
    }
  });
  Write(root_ / "v.bin", "outside!");
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto data = ReadPath("sub/v.bin");
    if (!data.ok()) continue;
    ++read;
    ASSERT_EQ(Text(*data), "vvvvvvvv");
  }
  stop = true;
  racer.join();
  EXPECT_GT(read, 0);
}

TEST_F(ExternalData, B7Ranges) {
  const auto range = [](const char* offset, const char* length) {
    return ExternalEntries{{"location", "w.bin"}, {"offset", offset}, {"length", length}};
  };
  ExpectRefused(range("-1", "8"), Code::kBadModel, "offset is \"-1\"");
  ExpectRefused(range("0x8", "8"), Code::kBadModel, "offset is \"0x8\"");
  ExpectRefused(range("", "8"), Code::kBadModel, "offset is \"\"");
  ExpectRefused(range(" 8", "8"), Code::kBadModel, "offset is");
  ExpectRefused(range("99999999999999999999", "8"), Code::kBadModel, "offset is");
  ExpectRefused(range("0", "9"), Code::kBadModel, "length is 9, expected 8");
  ExpectRefused(range("9", "8"), Code::kBadModel, "outside \"w.bin\" of 16 bytes");
  ExpectRefused(range("18446744073709551615", "8"), Code::kBadModel, "outside");
  // A petabyte is refused by the file's size, not by the allocator.
  ExpectRefused({{"location", "w.bin"}}, Code::kBadModel, "outside", uint64_t{1} << 50);
}

TEST_F(ExternalData, B8NotARegularFile) {
  ASSERT_EQ(mkfifo((root_ / "model/pipe").c_str(), 0600), 0);
  ExpectPathRefused("pipe", "not a regular file");
  ExpectPathRefused("sub", "not a regular file");
}

TEST_F(ExternalData, B9MarkersAreOrdinaryNames) {
  ExpectPathRefused("*/_ORT_MEM_ADDR_/*", "cannot open", Code::kIo);
  ExpectPathRefused("absent.bin", "cannot open", Code::kIo);
}

TEST_F(ExternalData, B12Keys) {
  ExpectRefused({{"location", "w.bin"}, {"location", "sub/v.bin"}}, Code::kBadModel,
                "two keys \"location\"");
  ExpectRefused({{"location", "w.bin"}, {"colour", "red"}}, Code::kBadModel,
                "unknown key \"colour\"");
  ExpectRefused({{"location", "w.bin"}, {"checksum", "00"}}, Code::kUnsupported, "checksum");
}

TEST_F(ExternalData, B13TheModelItself) { ExpectPathRefused("m.onnx", "is the model itself"); }

TEST_F(ExternalData, B13WhatTheCompilationWrites) {
  location_.files.outputs = {(root_ / "out.aicf").string(),
                             (root_ / "model/sub/../w.bin").string()};
  ExpectPathRefused("w.bin", "is what the compilation writes");
  EXPECT_TRUE(ReadPath("sub/v.bin").ok());
}

TEST_F(ExternalData, LinksIntoAStore) {
  fs::create_directory(root_ / "store");
  Write(root_ / "store/blob", "88888888");
  fs::create_symlink("../store/blob", root_ / "model/link");
  fs::create_symlink("../secret", root_ / "model/outside");
  ExpectPathRefused("link", "--external-data-dir");
  location_.files.store = (root_ / "store").string();
  EXPECT_EQ(Text(*ReadPath("link")), "88888888");
  EXPECT_EQ(Text(*ReadPath("w.bin")), "01234567");  // what is no link needs no store
  ExpectPathRefused("outside", "ends outside");
  location_.files.outputs = {(root_ / "store/blob").string()};
  ExpectPathRefused("link", "is what the compilation writes");
}

TEST_F(ExternalData, MessagesAreEscaped) {
  const auto data = ReadPath("\x1b[2J\n");
  ASSERT_FALSE(data.ok());
  for (char c : data.status().message()) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
}

}  // namespace
}  // namespace aicf
