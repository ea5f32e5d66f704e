// Loading from the file system.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/utf8.h"
#include "schema/byte_source.h"
#include "schema/testing.h"

namespace aicf::schema {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

class ReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "aicf-reader-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    const auto file = Serialize(ContentsOf(FamiliesProgram()));
    ASSERT_TRUE(file.ok());
    file_ = *file;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string Path(std::string_view name) const { return (dir_ / name).string(); }
  std::string Write(std::string_view name, std::span<const std::byte> bytes) const {
    std::ofstream out(Path(name), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    return Path(name);
  }
  static void ExpectRefused(const std::string& path, Code code, std::string_view sentence) {
    for (const Status& status : {Artifact::Load(path, true).status(), ReadHeader(path).status()}) {
      EXPECT_EQ(status.code(), code) << status.ToString();
      EXPECT_NE(status.message().find(sentence), std::string::npos) << status.ToString();
    }
  }

  std::filesystem::path dir_;
  std::vector<std::byte> file_;
};

TEST_F(ReaderTest, LoadsWhatWasWritten) {
  const std::string path = Write("a.aicf", file_);
  const auto loaded = Artifact::Load(path, true);
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  const auto parsed = Artifact::Parse(file_, true);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(ToString((*loaded)->program()), ToString((*parsed)->program()));
  const auto header = ReadHeader(path);
  ASSERT_TRUE(header.ok()) << header.status().ToString();
  EXPECT_EQ(header->file_bytes, file_.size());
  EXPECT_EQ(header->major, kFormatMajor);
  ASSERT_EQ(header->sections.size(), (*loaded)->header().sections.size());
  for (size_t i = 0; i < header->sections.size(); ++i) {
    EXPECT_EQ(header->sections[i].hash, (*loaded)->header().sections[i].hash);
  }
}

TEST_F(ReaderTest, FollowsSymbolicLinks) {
  std::filesystem::create_symlink(Write("a.aicf", file_), dir_ / "link");
  EXPECT_TRUE(Artifact::Load(Path("link"), false).ok());
}

TEST_F(ReaderTest, SurvivesReplacementOfTheFile) {
  const std::string path = Write("a.aicf", file_);
  const auto loaded = Artifact::Load(path, true);
  ASSERT_TRUE(loaded.ok());
  const std::string before = ToString((*loaded)->program());
  Write("a.aicf", std::vector<std::byte>(10));
  EXPECT_EQ(ToString((*loaded)->program()), before);
}

TEST_F(ReaderTest, RefusesWhatIsNoRegularFile) {
  ExpectRefused(Path("missing"), Code::kIo, "No such file");
  ExpectRefused(dir_.string(), Code::kIo, "is not a regular file");
  ExpectRefused("/dev/zero", Code::kIo, "is not a regular file");
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  ExpectRefused(Path("fifo"), Code::kIo, "is not a regular file");  // and does not hang
  ExpectRefused(Path("a\x1b[31m"), Code::kIo, "\\x1b");
  ExpectRefused("", Code::kIo, "No such file");
}

TEST_F(ReaderTest, RefusesShortAndForeignFiles) {
  ExpectRefused(Write("empty", {}), Code::kBadArtifact, "0 bytes, too short");
  ExpectRefused(Write("short", std::span(file_).first(63)), Code::kBadArtifact, "too short");
  ExpectRefused(Write("table", std::span(file_).first(70)), Code::kBadArtifact,
                "ends inside its section table");
  ExpectRefused(Write("cut", std::span(file_).first(file_.size() - 1)), Code::kBadArtifact,
                "the header says");
  std::vector<std::byte> zeros(4096);
  ExpectRefused(Write("zeros", zeros), Code::kBadArtifact, "not an aicf artifact");
}

TEST_F(ReaderTest, AShrinkingFileIsAnError) {
  const std::string path = Write("a.aicf", file_);
  auto source = OpenFile(path);
  ASSERT_TRUE(source.ok());
  ASSERT_EQ(::truncate(path.c_str(), 100), 0);
  std::vector<std::byte> all((*source)->size());
  const Status status = (*source)->Read(0, all);
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_NE(status.message().find("became shorter"), std::string::npos);
}

TEST(Utf8Test, AcceptsWellFormedTextOnly) {
  for (const std::string_view good :
       {"", "plain", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "a\xe4\xb8\xad z"}) {
    EXPECT_TRUE(IsCleanText(good)) << good;
  }
  using namespace std::string_view_literals;
  for (const std::string_view bad :
       {"\0"sv, "a\0b"sv, "\x80"sv, "\xbf"sv, "\xc0\x80"sv, "\xc1\xbf"sv, "\xc2"sv, "\xc2\x7f"sv,
        "\xc2\xc0"sv, "\xe0\x9f\xbf"sv, "\xe1\x80"sv, "\xed\xa0\x80"sv, "\xf0\x8f\xbf\xbf"sv,
        "\xf0\x90\x80"sv, "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv, "\xff"sv, "\xe1\x80\x7f"sv}) {
    EXPECT_FALSE(IsCleanText(bad)) << bad.size();
  }
}

}  // namespace
}  // namespace aicf::schema
