// Opening files by both of the kernel's ways, by stores, and what the user names.
// What a model may name is tested in compiler/import/external_data_test.cc, races in
// tests/faults/paths.
#include "base/open_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace aicf {
namespace {

namespace fs = std::filesystem;

class OpenFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "aicf-open-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = fs::canonical(pattern);
    fs::create_directories(root_ / "model/sub");
    fs::create_directories(root_ / "store/deep");
    Write(root_ / "secret", "outside");
    Write(root_ / "model/sub/f", "inside!");
    Write(root_ / "store/deep/f", "stored!");
  }
  void TearDown() override { fs::remove_all(root_); }

  static void Write(const fs::path& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string Text(const OpenedFile& file) {
    std::string text(file.size, '\0');
    EXPECT_EQ(pread(file.fd.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }
  std::string Model() const { return (root_ / "model").string(); }
  void ExpectRefused(const Result<OpenedFile>& file, Code code, const std::string& part) const {
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.status().code(), code) << file.status().ToString();
    EXPECT_NE(file.status().message().find(part), std::string::npos) << file.status().message();
  }

  fs::path root_;
};

TEST_F(OpenFileTest, WhatTheUserNames) {
  fs::create_symlink("secret", root_ / "link");
  const auto file = OpenRegularFile((root_ / "link").string());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(Text(*file), "outside");
  EXPECT_FALSE(file->several_names);
  ASSERT_EQ(mkfifo((root_ / "pipe").c_str(), 0600), 0);
  ExpectRefused(OpenRegularFile((root_ / "pipe").string()), Code::kIo, "a pipe");
  ExpectRefused(OpenRegularFile(root_.string()), Code::kIo, "a directory");
  ExpectRefused(OpenRegularFile("/dev/zero"), Code::kIo, "a device");
  ExpectRefused(OpenRegularFile((root_ / "absent").string()), Code::kIo, "No such file");
}

// Kernels without openat2 are no less strict.
TEST_F(OpenFileTest, BothWaysAgree) {
  fs::create_symlink("sub", root_ / "model/down");
  fs::create_symlink("..", root_ / "model/up");
  fs::create_symlink("sub/f", root_ / "model/link");
  fs::create_symlink("/proc/self/root", root_ / "model/magic");
  const FileDescriptor folder(open(Model().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_GE(folder.get(), 0);
  const struct {
    const char* path;
    bool opens;
  } cases[] = {{"sub/f", true},      {"./sub/./f", true}, {"down/f", false},
               {"up/secret", false}, {"link", false},     {"magic/etc/passwd", false},
               {"sub/f/x", false},   {"absent", false},   {"absent/f", false}};
  for (const auto& [path, opens] : cases) {
    const FileDescriptor once(internal::OpenInOneCall(folder.get(), path));
    const int first = once.get() < 0 ? errno : 0;
    const FileDescriptor steps(internal::OpenByComponents(folder.get(), path));
    if (first == ENOSYS) GTEST_SKIP() << "this kernel has no openat2";
    EXPECT_EQ(once.get() >= 0, opens) << path;
    EXPECT_EQ(steps.get() >= 0, opens) << path;
  }
}

TEST_F(OpenFileTest, StoresAreWhereLinksMayEnd) {
  const std::string store = (root_ / "store").string();
  const auto through = [&](const std::string& path) {
    return OpenThroughStore(Model(), path, store);
  };
  fs::create_symlink("../store/deep/f", root_ / "model/link");
  fs::create_directory_symlink("../store/deep", root_ / "model/folder");
  fs::create_hard_link(root_ / "store/deep/f", root_ / "store/hard");
  fs::create_symlink("../store/hard", root_ / "model/hard");
  for (const char* path : {"link", "folder/f", "hard"}) {
    const auto file = through(path);
    ASSERT_TRUE(file.ok()) << path << ": " << file.status().ToString();
    EXPECT_EQ(Text(*file), "stored!");
  }
  fs::create_symlink("../secret", root_ / "model/out");
  fs::create_symlink("../../secret", root_ / "store/deep/on");
  fs::create_symlink("../store/deep/on", root_ / "model/further");
  // A folder whose name begins as the store's is another folder.
  fs::create_directory(root_ / "store2");
  Write(root_ / "store2/f", "outside");
  fs::create_symlink("../store2/f", root_ / "model/beside");
  for (const char* path : {"out", "further", "beside", "sub/f"}) {
    ExpectRefused(through(path), Code::kBadModel, "ends outside");
  }
  ExpectRefused(through("../store/deep/f"), Code::kBadModel, "leaves the model's directory");
  ExpectRefused(through("folder"), Code::kBadModel, "not a regular file");
  ExpectRefused(OpenThroughStore(Model(), "link", (root_ / "absent").string()), Code::kIo,
                "absent");
  EXPECT_TRUE(OpenThroughStore(Model(), "out", "/").ok());
}

TEST_F(OpenFileTest, HardLinksOnlyWhereTheyAreAccepted) {
  fs::create_hard_link(root_ / "secret", root_ / "model/hard");
  ExpectRefused(OpenBeneath(Model(), "hard"), Code::kBadModel, "hard links");
  const auto file = OpenBeneath(Model(), "hard", Links::kAccept);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->several_names);
}

}  // namespace
}  // namespace aicf
