#include "runtime/cuda/handles.h"

#include <cstring>

namespace aicf::cuda {

Result<DeviceMemory> AllocateDevice(const std::shared_ptr<const Device>& device,
                                    std::string_view what, uint64_t bytes) {
  if (bytes == 0) return DeviceMemory();
  CUdeviceptr address = 0;
  const Driver& driver = device->driver();
  AICF_RETURN_IF_ERROR(driver.Check(driver.MemAlloc(&address, bytes), what, bytes));
  return DeviceMemory(device, address);
}

Result<PinnedMemory> AllocatePinned(const std::shared_ptr<const Device>& device,
                                    std::string_view what, uint64_t bytes) {
  if (bytes == 0) return PinnedMemory();
  void* address = nullptr;
  const Driver& driver = device->driver();
  const CUresult result = driver.MemHostAlloc(&address, bytes, kHostAllocPortable);
  if (result == kCudaOutOfMemory) {
    return Error(Code::kResource, what, ": cannot pin ", bytes, " bytes of host memory");
  }
  AICF_RETURN_IF_ERROR(driver.Check(result, what));
  std::memset(address, 0, bytes);
  return PinnedMemory(device, static_cast<std::byte*>(address));
}

Result<Stream> CreateStream(const std::shared_ptr<const Device>& device) {
  CUstream stream = nullptr;
  AICF_CUDA_CHECK(device->driver(), "creating a stream",
                  device->driver().StreamCreate(&stream, kStreamNonBlocking));
  return Stream(device, stream);
}

Result<Event> CreateEvent(const std::shared_ptr<const Device>& device, unsigned flags) {
  CUevent event = nullptr;
  AICF_CUDA_CHECK(device->driver(), "creating an event",
                  device->driver().EventCreate(&event, flags));
  return Event(device, event);
}

}  // namespace aicf::cuda
