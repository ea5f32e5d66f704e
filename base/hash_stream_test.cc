#include "base/hash_stream.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace aicf {
namespace {

TEST(HashStream, PiecesHashLikeTheWhole) {
  std::mt19937 random(1);
  for (const size_t size : {0, 1, 16, 17, 128, 240, 241, 1000, 5000, 300000}) {
    std::vector<std::byte> bytes(size);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    HashStream stream;
    for (size_t at = 0; at < size;) {
      const size_t piece = std::min<size_t>(size - at, random() % 3000);
      stream.Update(std::span(bytes).subspan(at, piece));
      at += piece;
    }
    EXPECT_EQ(stream.Digest(), HashBytes(bytes)) << size;
    stream.Update(std::vector<std::byte>(1));
    EXPECT_NE(stream.Digest(), HashBytes(bytes)) << size;
  }
}

}  // namespace
}  // namespace aicf
