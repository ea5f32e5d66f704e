/// Counts every operator new of this program: nothing is allocated on the way through a replay.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

#include "runtime/cpu/cpu_session.h"
#include "runtime/test_program.h"

namespace {
std::atomic<int64_t> g_allocations{0};
}  // namespace

// Not inlined: the compiler would take free() for the wrong partner of operator new.
#define AICF_KEEP __attribute__((noinline))
AICF_KEEP void* operator new(std::size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}
AICF_KEEP void* operator new[](std::size_t bytes) { return operator new(bytes); }
AICF_KEEP void operator delete(void* p) noexcept { std::free(p); }
AICF_KEEP void operator delete[](void* p) noexcept { std::free(p); }
AICF_KEEP void operator delete(void* p, std::size_t) noexcept { std::free(p); }
AICF_KEEP void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace aicf {
namespace {

/// Keeps the compiler from removing a pair of new and delete.
char* volatile g_escape = nullptr;

TEST(CpuAllocation, AReplayAllocatesNothing) {
  testing::ChainOptions chain;
  chain.elements = 50000;
  for (const int threads : {1, 3}) {
    SessionOptions options;
    options.threads = threads;
    auto session = CreateCpuSession(testing::MakeProgram(testing::ChainContents(chain)), options);
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    const std::vector<float> x = testing::RandomInput(chain.elements, 1);
    std::vector<float> y(x.size());
    const int64_t before = g_allocations.load();
    bool ok = true;
    for (int run = 0; run < 1000; ++run) {
      ok &= (*session)->SetInput("x", x.data(), x.size() * 4).ok();
      ok &= (*session)->Run().ok() && (*session)->Wait().ok();
      ok &= (*session)->GetOutput("y", y.data(), y.size() * 4).ok();
    }
    EXPECT_EQ(g_allocations.load(), before);
    EXPECT_TRUE(ok);
  }
}

TEST(CpuAllocation, APlantedAllocationIsCaught) {
  const int64_t before = g_allocations.load();
  g_escape = new char[1];
  delete[] g_escape;
  EXPECT_EQ(g_allocations.load(), before + 1);
}

}  // namespace
}  // namespace aicf
