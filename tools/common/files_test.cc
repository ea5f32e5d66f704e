#include "tools/common/files.h"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace aicf::tools {
namespace {

namespace fs = std::filesystem;

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/aicf-files-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  void Put(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  std::string Get(const std::string& name) const {
    std::ifstream in(Path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t Entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(dir_), {}));
  }

  std::string dir_;
};

TEST_F(FilesTest, WritesNewFilesWholeAndLeavesNothingElse) {
  ASSERT_TRUE(WriteFile(Path("a"), std::string_view("hello"), Existing::kRefuse).ok());
  EXPECT_EQ(Get("a"), "hello");
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(FilesTest, RefusesOrReplacesAnExistingFile) {
  Put("a", "old");
  const Status refused = WriteFile(Path("a"), std::string_view("new"), Existing::kRefuse);
  EXPECT_EQ(refused.code(), Code::kIo);
  EXPECT_EQ(Get("a"), "old");
  ASSERT_TRUE(WriteFile(Path("a"), std::string_view("new"), Existing::kReplace).ok());
  EXPECT_EQ(Get("a"), "new");
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(FilesTest, AFileThatAppearsMeanwhileIsNotOverwritten) {
  auto file = AtomicFile::Create(Path("a"), Existing::kRefuse);
  ASSERT_TRUE(file.ok());
  Put("a", "theirs");
  ASSERT_TRUE(file->Write("ours").ok());
  EXPECT_EQ(file->Commit().code(), Code::kIo);
  EXPECT_EQ(Get("a"), "theirs");
}

TEST_F(FilesTest, AbandonedWritesLeaveNothing) {
  {
    auto file = AtomicFile::Create(Path("a"), Existing::kRefuse);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write("half").ok());
    EXPECT_EQ(Entries(), 1u);
  }
  EXPECT_EQ(Entries(), 0u);
}

TEST_F(FilesTest, StaleTemporariesAreSweptAndLiveOnesStay) {
  Put(".a.1-0.aicf-tmp", "left by a killed process");
  Put(".b.1-0.aicf-tmp", "of another output");
  Put("c.aicf-tmp", "somebody's file");
  Put(".d", "somebody's file");
  auto live = AtomicFile::Create(Path("a"), Existing::kRefuse);
  ASSERT_TRUE(live.ok());
  EXPECT_FALSE(fs::exists(Path(".a.1-0.aicf-tmp")));
  EXPECT_FALSE(fs::exists(Path(".b.1-0.aicf-tmp")));
  EXPECT_TRUE(fs::exists(Path("c.aicf-tmp")));
  EXPECT_TRUE(fs::exists(Path(".d")));
  auto second = AtomicFile::Create(Path("a"), Existing::kReplace);
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  ASSERT_TRUE(live->Write("first").ok());
  ASSERT_TRUE(live->Commit().ok()) << "the sweeper must not have taken a live file";
  EXPECT_EQ(Get("a"), "first");
  ASSERT_TRUE(second->Write("second").ok());
  ASSERT_TRUE(second->Commit().ok());
  EXPECT_EQ(Get("a"), "second");
}

TEST_F(FilesTest, ASymbolicLinkStaysAndItsTargetChanges) {
  Put("target", "old");
  fs::create_symlink("target", Path("link"));
  ASSERT_TRUE(WriteFile(Path("link"), std::string_view("new"), Existing::kReplace).ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Get("target"), "new");
}

TEST_F(FilesTest, ImpossibleOutputs) {
  EXPECT_EQ(WriteFile(Path("no/such/dir/a"), std::string_view("x"), Existing::kRefuse).code(),
            Code::kIo);
  EXPECT_EQ(WriteFile(dir_, std::string_view("x"), Existing::kReplace).code(), Code::kIo);
  EXPECT_EQ(WriteFile(dir_ + "/", std::string_view("x"), Existing::kReplace).code(), Code::kIo);
  EXPECT_EQ(WriteFile("", std::string_view("x"), Existing::kReplace).code(), Code::kIo);
  EXPECT_EQ(WriteFile("/dev/null", std::string_view("x"), Existing::kReplace).code(), Code::kIo);
  EXPECT_EQ(WriteFile("/proc/x", std::string_view("x"), Existing::kReplace).code(), Code::kIo);
  EXPECT_EQ(
      WriteFile(Path(std::string(300, 'n')), std::string_view("x"), Existing::kReplace).code(),
      Code::kIo);
  const std::string longest(255, 'n');
  EXPECT_TRUE(WriteFile(Path(longest), std::string_view("x"), Existing::kReplace).ok());
}

TEST_F(FilesTest, ReadsRegularFilesOnly) {
  Put("a", "text");
  EXPECT_EQ(ReadFile(Path("a"))->size(), 4u);
  EXPECT_EQ(ReadFile(dir_).status().code(), Code::kIo);
  EXPECT_EQ(ReadFile(Path("absent")).status().code(), Code::kIo);
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(Path("fifo")).status().code(), Code::kIo) << "and does not hang";
}

TEST_F(FilesTest, SameFileSeesThroughLinks) {
  Put("a", "x");
  Put("b", "x");
  fs::create_symlink("a", Path("soft"));
  fs::create_hard_link(Path("a"), Path("hard"));
  EXPECT_TRUE(SameFile(Path("a"), Path("soft")));
  EXPECT_TRUE(SameFile(Path("a"), Path("hard")));
  EXPECT_TRUE(SameFile(Path("a"), dir_ + "/./a"));
  EXPECT_FALSE(SameFile(Path("a"), Path("b")));
  EXPECT_FALSE(SameFile(Path("a"), Path("absent")));
}

}  // namespace
}  // namespace aicf::tools
