#include "runtime/cuda/device.h"

#include <charconv>

namespace aicf::cuda {

Result<std::shared_ptr<const Device>> Device::Retain(Driver& driver, int ordinal) {
  const BesideCaptures beside(driver);
  int count = 0;
  AICF_CUDA_CHECK(driver, "counting CUDA devices", driver.DeviceGetCount(&count));
  if (ordinal < 0 || ordinal >= count) {
    return Error(Code::kDevice, "device cuda:", ordinal, " does not exist; this machine has ",
                 count, count == 1 ? " CUDA device" : " CUDA devices");
  }
  std::shared_ptr<Device> device(new Device(driver, ordinal));
  AICF_CUDA_CHECK(driver, "opening the CUDA device", driver.DeviceGet(&device->device_, ordinal));
  char name[256] = {};
  AICF_CUDA_CHECK(driver, "naming the CUDA device",
                  driver.DeviceGetName(name, static_cast<int>(sizeof(name)) - 1, device->device_));
  device->name_ = name;
  AICF_RETURN_IF_ERROR(device->ReadLimits());
  CUcontext context = nullptr;
  AICF_CUDA_CHECK(driver, StrCat("retaining the primary context of ", device->name_),
                  driver.PrimaryCtxRetain(&context, device->device_));
  device->context_ = context;
  AICF_CUDA_CHECK(driver, "identifying the primary context",
                  driver.CtxGetId(context, &device->context_id_));
  return std::shared_ptr<const Device>(std::move(device));
}

ContextScope::ContextScope(const Device& device) : driver_(device.driver()) {
  if (!device.InCreator()) {
    result_ = kCudaNotInitialized;  // a forked child: the driver must not be called at all
    return;
  }
  beside_captures_.emplace(driver_);
  result_ = driver_.CtxPushCurrent(device.context());
  pushed_ = result_ == kCudaSuccess;
  if (!pushed_) return;
  unsigned long long id = 0;
  result_ = driver_.CtxGetId(device.context(), &id);
  if (result_ == kCudaSuccess && id != device.context_id()) result_ = kCudaContextIsDestroyed;
}

ContextScope::~ContextScope() {
  CUcontext popped = nullptr;
  if (pushed_) (void)driver_.CtxPopCurrent(&popped);
}

Device::~Device() {
  if (context_ == nullptr || !InCreator()) return;
  const BesideCaptures beside(driver_);
  (void)driver_.PrimaryCtxRelease(device_);
}

Status Device::ReadLimits() {
  int major = 0;
  int minor = 0;
  const struct {
    int attribute;
    int* value;
  } wanted[] = {
      {kComputeCapabilityMajor, &major},
      {kComputeCapabilityMinor, &minor},
      {kMaxThreadsPerBlock, &limits_.max_threads_per_block},
      {kMaxBlockDimX, &limits_.max_block[0]},
      {kMaxBlockDimX + 1, &limits_.max_block[1]},
      {kMaxBlockDimX + 2, &limits_.max_block[2]},
      {kMaxGridDimX, &limits_.max_grid[0]},
      {kMaxGridDimX + 1, &limits_.max_grid[1]},
      {kMaxGridDimX + 2, &limits_.max_grid[2]},
      {kMaxSharedPerBlockOptin, &limits_.max_shared_bytes},
  };
  for (const auto& row : wanted) {
    AICF_CUDA_CHECK(driver_, "reading a device attribute",
                    driver_.DeviceGetAttribute(
                        row.value, static_cast<CUdevice_attribute>(row.attribute), device_));
  }
  limits_.capability = major * 10 + minor;
  return OkStatus();
}

Status Device::CheckArch(std::string_view arch) const {
  const Status mismatch =
      Error(Code::kDevice, "the artifact's device code is for ", arch, " but cuda:", ordinal_, " (",
            name_, ") has compute capability ", limits_.capability / 10, ".",
            limits_.capability % 10, "; compile the model again for this device");
  std::string_view rest = arch;
  if (!rest.starts_with("sm_")) return mismatch;
  rest.remove_prefix(3);
  int number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc()) return mismatch;
  const std::string_view suffix(end, rest.data() + rest.size() - end);
  // "sm_90a" uses features of exactly that architecture; plain code runs on later minor versions
  // too.
  const bool fits = suffix == "a"
                        ? number == limits_.capability
                        : number / 10 == limits_.capability / 10 && number <= limits_.capability;
  if (!fits || (suffix != "" && suffix != "a" && suffix != "f")) return mismatch;
  return OkStatus();
}

Status Device::CheckLaunch(const abi::LaunchConfig& launch) const {
  const auto refuse = [&](std::string_view what, uint64_t value, uint64_t limit) {
    return Error(Code::kDevice, what, " is ", value, " but ", name_, " allows 1 to ", limit);
  };
  uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const auto grid_limit = static_cast<uint32_t>(limits_.max_grid[axis]);
    const auto block_limit = static_cast<uint32_t>(limits_.max_block[axis]);
    if (launch.grid[axis] == 0 || launch.grid[axis] > grid_limit) {
      return refuse("the grid's extent", launch.grid[axis], grid_limit);
    }
    if (launch.block[axis] == 0 || launch.block[axis] > block_limit) {
      return refuse("the block's extent", launch.block[axis], block_limit);
    }
    if (launch.cluster[axis] == 0 || launch.grid[axis] % launch.cluster[axis] != 0) {
      return Error(Code::kDevice, "a cluster extent of ", launch.cluster[axis],
                   " does not divide the grid's extent ", launch.grid[axis]);
    }
    threads *= launch.block[axis];
  }
  const auto thread_limit = static_cast<uint64_t>(limits_.max_threads_per_block);
  if (threads > thread_limit) return refuse("the block's thread count", threads, thread_limit);
  const auto shared_limit = static_cast<uint64_t>(limits_.max_shared_bytes);
  if (launch.dynamic_shared_bytes > shared_limit) {
    return refuse("dynamic shared memory in bytes", launch.dynamic_shared_bytes, shared_limit);
  }
  return OkStatus();
}

}  // namespace aicf::cuda
