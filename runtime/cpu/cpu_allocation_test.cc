/// Counts every operator new of this program: nothing is allocated on the way through a replay.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "base/test_new.h"
#include "runtime/cpu/cpu_session.h"
#include "runtime/test_allocations.h"
#include "runtime/test_entries.h"

namespace {
std::atomic<int64_t> g_allocations{0};
}  // namespace

bool aicf::testing::MayAllocate() {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return true;
}
void aicf::testing::Allocated() {}
void aicf::testing::Freed() {}

int64_t aicf::testing::AllocationCount() { return g_allocations.load(); }

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
      ok &= (*session)->SetInput("x", TensorOf(x)).ok();
      ok &= (*session)->Run().ok() && (*session)->Wait().ok();
      ok &= (*session)->GetOutput("y", TensorInto(y)).ok();
    }
    EXPECT_EQ(g_allocations.load(), before);
    EXPECT_TRUE(ok);
  }
}

TEST(CpuAllocation, ChangingTheEntryPointAllocatesNothing) {
  const auto program =
      testing::MakeProgram(testing::EntriesContents("cpu:baseline", testing::SomeEntries()));
  auto session = CreateCpuSession(program, {});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const InputShape shapes[] = {{"x", {6, 4}}, {"x", {3, 4}}, {"x", {2, 7}}, {"x", {10, 4}}};
  const std::vector<float> x(40);
  std::vector<float> y(40);
  const int64_t before = g_allocations.load();
  bool ok = true;
  for (int run = 0; run < 100; ++run) {
    const InputShape& shape = shapes[run % 4];
    const auto count = static_cast<size_t>(*ElementCount(shape.shape));
    ok &= (*session)->SelectShapes({&shape, 1}).ok();
    ok &= (*session)->SetInput("x", TensorOf(std::span(x).first(count), shape.shape)).ok();
    ok &= (*session)->Run().ok();
    ok &= (*session)->GetOutput("y", TensorInto(std::span(y).first(count), shape.shape)).ok();
  }
  EXPECT_EQ(g_allocations.load(), before);
  EXPECT_TRUE(ok);
}

TEST(CpuAllocation, APlantedAllocationIsCaughtInEveryForm) {
  constexpr std::align_val_t kAlignment{128};
  const int64_t before = g_allocations.load();
  g_escape = new char[1];
  delete[] g_escape;
  g_escape = new (std::nothrow) char[1];
  delete[] g_escape;
  g_escape = static_cast<char*>(operator new(300, kAlignment));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(g_escape) % 128, 0u);
  operator delete(g_escape, kAlignment);
  g_escape = static_cast<char*>(operator new(1, kAlignment, std::nothrow));
  operator delete(g_escape, 1, kAlignment);
  EXPECT_EQ(g_allocations.load(), before + 4);
}

}  // namespace
}  // namespace aicf
