#include "compiler/codegen/image_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/status.h"

namespace aicf {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> Bytes(size_t n, int seed) {
  std::vector<std::byte> bytes(n);
  for (size_t i = 0; i < n; ++i)
    bytes[i] = static_cast<std::byte>(i * 31 + static_cast<size_t>(seed));
  return bytes;
}

class ImageCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              StrCat("aicf-cache-test-", static_cast<int64_t>(getpid()), "-",
                     ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path OnlyFile() const {
    fs::path found;
    int count = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      found = entry.path();
      ++count;
    }
    EXPECT_EQ(count, 1);
    return found;
  }

  fs::path folder_;
  const Hash128 key_{7, 9};
};

TEST_F(ImageCacheTest, GivesBackWhatWasStored) {
  const ImageCache cache = ImageCache::Open(folder_.string());
  EXPECT_FALSE(cache.Load(key_).has_value());
  cache.Store(key_, Bytes(1000, 3));
  EXPECT_EQ(cache.Load(key_), Bytes(1000, 3));
  EXPECT_FALSE(cache.Load({7, 10}).has_value());
  cache.Store(key_, Bytes(10, 4));
  EXPECT_EQ(cache.Load(key_), Bytes(10, 4));
}

TEST_F(ImageCacheTest, EveryFlippedByteIsAMiss) {
  const ImageCache cache = ImageCache::Open(folder_.string());
  cache.Store(key_, Bytes(100, 1));
  const fs::path file = OnlyFile();
  const auto size = fs::file_size(file);
  for (uintmax_t at = 0; at < size; ++at) {
    std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
    f.seekg(static_cast<std::streamoff>(at));
    const char old = static_cast<char>(f.get());
    f.seekp(static_cast<std::streamoff>(at));
    f.put(static_cast<char>(old ^ 0x20));
    f.flush();
    EXPECT_FALSE(cache.Load(key_).has_value()) << "byte " << at;
    f.seekp(static_cast<std::streamoff>(at));
    f.put(old);
    f.close();
  }
  EXPECT_TRUE(cache.Load(key_).has_value());
}

TEST_F(ImageCacheTest, TruncatedOrLongerIsAMiss) {
  const ImageCache cache = ImageCache::Open(folder_.string());
  cache.Store(key_, Bytes(50, 1));
  const fs::path file = OnlyFile();
  const auto size = fs::file_size(file);
  for (uintmax_t keep = 0; keep < size; keep += 7) {
    fs::resize_file(file, keep);
    EXPECT_FALSE(cache.Load(key_).has_value()) << keep;
    fs::remove(file);
    cache.Store(key_, Bytes(50, 1));
  }
  std::ofstream(file, std::ios::app) << "x";
  EXPECT_FALSE(cache.Load(key_).has_value());
}

TEST_F(ImageCacheTest, AFolderInPlaceOfAnEntryIsAMiss) {
  const ImageCache cache = ImageCache::Open(folder_.string());
  cache.Store(key_, Bytes(5, 1));
  const fs::path file = OnlyFile();
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(cache.Load(key_).has_value());
  cache.Store(key_, Bytes(5, 1));  // must fail quietly and leave no temporary
  EXPECT_EQ(OnlyFile(), file);
}

TEST_F(ImageCacheTest, NoneIsOff) {
  const ImageCache cache = ImageCache::Open("none");
  EXPECT_EQ(cache.folder(), "");
  cache.Store(key_, Bytes(5, 1));
  EXPECT_FALSE(cache.Load(key_).has_value());
}

TEST_F(ImageCacheTest, UnusableFolderIsOff) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "file") << "x";
  const ImageCache cache = ImageCache::Open((folder_ / "file" / "below").string());
  EXPECT_EQ(cache.folder(), "");
  cache.Store(key_, Bytes(5, 1));
  EXPECT_FALSE(cache.Load(key_).has_value());
}

TEST_F(ImageCacheTest, DefaultFolderFollowsTheEnvironment) {
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string saved = before == nullptr ? "" : before;
  setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  EXPECT_EQ(ImageCache::Open("").folder(), (folder_ / "aicf").string());
  if (before == nullptr)
    unsetenv("XDG_CACHE_HOME");
  else
    setenv("XDG_CACHE_HOME", saved.c_str(), 1);
}

TEST_F(ImageCacheTest, WritersOfOneEntryLeaveItWhole) {
  const ImageCache cache = ImageCache::Open(folder_.string());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) cache.Store(key_, Bytes(5000, t));
    });
  }
  int seen = 0;
  for (int i = 0; i < 200; ++i) {
    const auto image = cache.Load(key_);
    if (!image) continue;
    ++seen;
    bool whole = false;
    for (int t = 0; t < 4; ++t) whole = whole || *image == Bytes(5000, t);
    EXPECT_TRUE(whole);
  }
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(cache.Load(key_).has_value()) << seen;
  OnlyFile();
}

}  // namespace
}  // namespace aicf
