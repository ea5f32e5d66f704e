#include "runtime/cpu/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace aicf {
namespace {

TEST(HostMemory, IsZeroedAlignedAndMovable) {
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{4095}, uint64_t{5} << 20}) {
    auto memory = HostMemory::Allocate("test", bytes);
    ASSERT_TRUE(memory.ok());
    std::byte* const data = memory->data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 4096, 0u);
    EXPECT_EQ(memory->size(), bytes);
    EXPECT_TRUE(std::all_of(data, data + bytes, [](std::byte b) { return b == std::byte{0}; }));
    const HostMemory moved = *std::move(memory);
    EXPECT_EQ(moved.data(), data);
  }
}

TEST(HostMemory, ZeroBytesAreLegal) {
  const auto memory = HostMemory::Allocate("test", 0);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->data(), nullptr);
}

TEST(HostMemory, MoreThanTheMachineHasIsARefusal) {
  for (const uint64_t bytes : {UINT64_MAX, uint64_t{1} << 60, uint64_t{1} << 46}) {
    const auto memory = HostMemory::Allocate("arena", bytes);
    ASSERT_FALSE(memory.ok());
    EXPECT_EQ(memory.status().code(), Code::kResource);
    EXPECT_NE(memory.status().message().find("arena"), std::string::npos);
    EXPECT_NE(memory.status().message().find(std::to_string(bytes)), std::string::npos);
  }
}

}  // namespace
}  // namespace aicf
