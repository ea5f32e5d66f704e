#include "runtime/cuda/driver.h"

#include <gtest/gtest.h>

#include "aicf/aicf.h"
#include "runtime/cuda/fake_driver.h"

namespace aicf::cuda {
namespace {

using ::testing::Test;

TEST(Driver, AMissingLibraryIsADeviceErrorThatNamesWhatWorks) {
  const auto driver = Driver::Open("libcuda-that-is-not-there.so.1");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.status().code(), Code::kDevice);
  EXPECT_NE(driver.status().message().find("libcuda-that-is-not-there.so.1"), std::string::npos);
  EXPECT_NE(driver.status().message().find("'cpu'"), std::string::npos);
}

TEST(Driver, ALibraryWithoutTheInterfaceNamesTheMissingFunctionAndTheVersionNeeded) {
  const auto driver = Driver::Open("libc.so.6");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.status().code(), Code::kDevice);
  EXPECT_NE(driver.status().message().find("cuInit"), std::string::npos);
  EXPECT_NE(driver.status().message().find("12.4"), std::string::npos);
}

TEST(Driver, VersionText) {
  EXPECT_EQ(VersionText(13000), "13.0");
  EXPECT_EQ(VersionText(12040), "12.4");
}

class FakeDriver : public Test {
 protected:
  FakeDriver() : driver_(testing::FakeApi()) { testing::Machine() = &machine_; }
  ~FakeDriver() override { testing::Machine() = nullptr; }
  testing::FakeMachine machine_;
  Driver driver_;
};

TEST_F(FakeDriver, CodesBecomeStatus) {
  EXPECT_TRUE(driver_.Check(kCudaSuccess, "x").ok());
  const Status lost = driver_.Check(kCudaIllegalAddress, "running the program");
  EXPECT_EQ(lost.code(), Code::kDevice);
  EXPECT_EQ(lost.message(), "running the program: FAKE_ERROR (700): planted");
  machine_.memory_used = machine_.memory - 100;
  const Status full = driver_.Check(kCudaOutOfMemory, "allocating the arena", 4096);
  EXPECT_EQ(full.code(), Code::kResource);
  EXPECT_NE(full.message().find("needs 4096 bytes, 100 of 67108864 bytes are free"),
            std::string::npos)
      << full.message();
}

TEST_F(FakeDriver, ADeviceFaultIsRememberedForGoodAndNothingElseIs) {
  EXPECT_TRUE(driver_.health().ok());
  for (const CUresult harmless : {kCudaOutOfMemory, kCudaInvalidValue, kCudaNotReady,
                                  kCudaContextIsDestroyed, kCudaSystemNotReady}) {
    EXPECT_FALSE(driver_.Check(harmless, "x").ok());
    EXPECT_TRUE(driver_.health().ok()) << harmless;
  }
  EXPECT_FALSE(driver_.Check(kCudaMisalignedAddress, "running the program").ok());
  EXPECT_FALSE(driver_.Check(kCudaIllegalAddress, "running the program").ok());
  EXPECT_TRUE(driver_.Check(kCudaSuccess, "x").ok());
  const Status health = driver_.health();
  EXPECT_EQ(health.code(), Code::kDevice);
  EXPECT_NE(health.message().find("(716)"), std::string::npos) << health.message();
  EXPECT_NE(health.message().find("start it again"), std::string::npos) << health.message();
}

TEST_F(FakeDriver, ADeviceFaultIsRememberedThoughNobodyLooksAtTheResult) {
  machine_.context_depth = 1;
  machine_.fail_call = 0;
  machine_.fail_code = kCudaOutOfMemory;
  CUdeviceptr address = 0;
  EXPECT_EQ(driver_.MemAlloc(&address, 512), kCudaOutOfMemory);
  EXPECT_TRUE(driver_.health().ok());
  machine_.failed = false;
  machine_.fail_call = 0;
  machine_.fail_code = kCudaIllegalAddress;
  EXPECT_EQ(driver_.MemAlloc(&address, 512), kCudaIllegalAddress);
  EXPECT_EQ(driver_.health().code(), Code::kDevice);
}

TEST(Driver, AProcessThatOpenedNoneIsHealthy) { EXPECT_TRUE(DeviceHealth().ok()); }

TEST_F(FakeDriver, EveryCallIsCounted) {
  machine_.context_depth = 1;
  CUdeviceptr address = 0;
  ASSERT_EQ(driver_.MemAlloc(&address, 512), kCudaSuccess);
  ASSERT_EQ(driver_.MemFree(address), kCudaSuccess);
  EXPECT_EQ(driver_.counters().calls(Fn::kMemAlloc), 1u);
  EXPECT_EQ(driver_.counters().calls(Fn::kMemFree), 1u);
  EXPECT_EQ(driver_.counters().allocations(), 1u);
  EXPECT_EQ(driver_.counters().graph_launches(), 0u);
}

}  // namespace
}  // namespace aicf::cuda
