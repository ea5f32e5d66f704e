#include "runtime/cuda/device.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/cuda/fake_driver.h"

namespace aicf::cuda {
namespace {

class DeviceTest : public ::testing::Test {
 protected:
  DeviceTest() : driver_(testing::FakeApi()) { testing::Machine() = &machine_; }
  ~DeviceTest() override {
    EXPECT_EQ(machine_.contexts, 0);
    EXPECT_EQ(machine_.context_depth, 0);
    testing::Machine() = nullptr;
  }
  std::shared_ptr<const Device> Open() {
    auto device = Device::Retain(driver_, 0);
    EXPECT_TRUE(device.ok()) << device.status().ToString();
    return *device;
  }
  testing::FakeMachine machine_;
  Driver driver_;
};

TEST_F(DeviceTest, OrdinalsOutOfRangeNameTheCount) {
  for (int ordinal : {-1, 1, 7}) {
    const auto device = Device::Retain(driver_, ordinal);
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.status().code(), Code::kDevice);
    EXPECT_NE(device.status().message().find("has 1 CUDA device"), std::string::npos);
  }
}

TEST_F(DeviceTest, ReadsNameAndLimits) {
  const auto device = Open();
  EXPECT_EQ(device->name(), "Fake GPU");
  EXPECT_EQ(device->limits().capability, 90);
  EXPECT_EQ(device->limits().max_grid[0], 2147483647);
  EXPECT_EQ(device->limits().max_grid[2], 65535);
  EXPECT_EQ(device->limits().max_shared_bytes, 232448);
}

TEST_F(DeviceTest, ArchitectureRules) {
  const auto device = Open();
  for (const char* good : {"sm_90a", "sm_90"}) EXPECT_TRUE(device->CheckArch(good).ok()) << good;
  for (const char* bad :
       {"sm_80", "sm_100", "sm_100a", "sm_91", "sm_90x", "compute_90", "", "sm_"}) {
    const Status status = device->CheckArch(bad);
    EXPECT_EQ(status.code(), Code::kDevice) << bad;
    EXPECT_NE(status.message().find("9.0"), std::string::npos);
  }
  machine_.capability_minor = 1;  // 9.1: sm_90 code runs, sm_90a code does not
  const auto newer = Open();
  EXPECT_TRUE(newer->CheckArch("sm_90").ok());
  EXPECT_FALSE(newer->CheckArch("sm_90a").ok());
}

TEST_F(DeviceTest, EveryTargetRunsOnItsOwnDevices) {
  struct Row {
    int major, minor;
    std::vector<std::string_view> run;
  };
  // Code without a suffix runs on later minor versions; the limits of those are checked per launch.
  const Row rows[] = {{8, 0, {"sm_80"}},    {8, 6, {"sm_80", "sm_86"}},
                      {9, 0, {"sm_90a"}},   {8, 9, {"sm_80", "sm_86", "sm_89"}},
                      {10, 0, {"sm_100a"}}, {10, 3, {}},
                      {12, 0, {"sm_120"}},  {12, 1, {"sm_120"}}};
  for (const Row& row : rows) {
    machine_.capability_major = row.major;
    machine_.capability_minor = row.minor;
    const auto device = Open();
    for (const abi::CudaTarget& t : abi::CudaTargets()) {
      const Status status = device->CheckArch(t.arch);
      EXPECT_EQ(status.ok(), std::ranges::find(row.run, t.arch) != row.run.end())
          << t.arch << " on " << row.major << "." << row.minor;
      if (status.ok()) continue;
      EXPECT_EQ(status.code(), Code::kDevice);
      const std::string found = StrCat("has compute capability ", row.major, ".", row.minor);
      EXPECT_NE(status.message().find(found), std::string::npos) << status.message();
      EXPECT_NE(status.message().find(t.arch), std::string::npos) << status.message();
    }
  }
}

TEST_F(DeviceTest, LaunchLimits) {
  const auto device = Open();
  EXPECT_TRUE(device->CheckLaunch({{2147483647, 65535, 1}, {1024, 1, 1}, {1, 1, 1}, 232448}).ok());
  EXPECT_TRUE(device->CheckLaunch({{8, 1, 1}, {16, 16, 4}, {4, 1, 1}, 0}).ok());
  const abi::LaunchConfig bad[] = {
      {{0, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0},      {{2147483648u, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0},
      {{1, 65536, 1}, {1, 1, 1}, {1, 1, 1}, 0},  {{1, 1, 65536}, {1, 1, 1}, {1, 1, 1}, 0},
      {{1, 1, 1}, {0, 1, 1}, {1, 1, 1}, 0},      {{1, 1, 1}, {1025, 1, 1}, {1, 1, 1}, 0},
      {{1, 1, 1}, {1, 1, 65}, {1, 1, 1}, 0},     {{1, 1, 1}, {64, 32, 1}, {1, 1, 1}, 0},
      {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 232449}, {{3, 1, 1}, {1, 1, 1}, {2, 1, 1}, 0},
      {{1, 1, 1}, {1, 1, 1}, {0, 1, 1}, 0},
  };
  for (const abi::LaunchConfig& launch : bad) {
    EXPECT_EQ(device->CheckLaunch(launch).code(), Code::kDevice) << &launch - bad;
  }
}

TEST_F(DeviceTest, TheContextIsRestoredAfterACall) {
  const auto device = Open();
  {
    const ContextScope scope(*device);
    EXPECT_TRUE(scope.status().ok());
    EXPECT_EQ(machine_.context_depth, 1);
  }
  EXPECT_EQ(machine_.context_depth, 0);
}

TEST_F(DeviceTest, TheCallersCaptureModeIsRestoredAfterACall) {
  const auto device = Open();
  CUstreamCaptureMode& mode = testing::internal::ThreadMode();
  for (const CUstreamCaptureMode callers : {kCaptureThreadLocal, kCaptureGlobal}) {
    mode = callers;
    {
      const ContextScope scope(*device);
      EXPECT_EQ(mode, kCaptureRelaxed);
      { const ContextScope inner(*device); }
      EXPECT_EQ(mode, kCaptureRelaxed);
    }
    EXPECT_EQ(mode, callers);
  }
}

}  // namespace
}  // namespace aicf::cuda
