#include "compiler/emit/model_hash.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/hash.h"

namespace aicf {
namespace {

namespace fs = std::filesystem;

class ModelHash : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "aicf-hash-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path root_;
};

TEST_F(ModelHash, IsTheHashOfTheBytes) {
  for (const size_t size : {0, 1, 1 << 20, (3 << 20) + 5}) {
    std::string bytes(size, 'm');
    if (size > 0) bytes.back() = 'n';
    const std::string path = (root_ / "m.onnx").string();
    std::ofstream(path, std::ios::binary) << bytes;
    const auto hash = HashModelFile(path);
    ASSERT_TRUE(hash.ok()) << hash.status().ToString();
    EXPECT_EQ(*hash, ToHex(HashText(bytes))) << size;
  }
}

// A protobuf has at most 2 GiB - 1; a GGUF file may have more.
TEST_F(ModelHash, TakesFilesLargerThanAProtobuf) {
  const std::string path = (root_ / "large.gguf").string();
  std::ofstream(path, std::ios::binary).close();
  fs::resize_file(path, uint64_t{1} << 31);
  const auto hash = HashModelFile(path);
  ASSERT_TRUE(hash.ok()) << hash.status().ToString();
  EXPECT_EQ(hash->size(), 32u);
}

// Not one of them may make it wait.
TEST_F(ModelHash, RefusesWhatTheImporterRefuses) {
  ASSERT_EQ(mkfifo((root_ / "pipe").c_str(), 0600), 0);
  for (const std::string& path : {(root_ / "pipe").string(), root_.string(),
                                  std::string("/dev/zero"), (root_ / "absent").string()}) {
    EXPECT_EQ(HashModelFile(path).status().code(), Code::kIo) << path;
  }
}

}  // namespace
}  // namespace aicf
