/// Access to a session's memory as bytes, on the CPU or on a GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"

namespace aicf::bands {

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  /// Both wait until the copy is done. REQUIRES: no replay is in flight.
  virtual Status Write(std::byte* to, std::span<const std::byte> bytes) = 0;
  virtual Status Read(const std::byte* from, std::span<std::byte> bytes) = 0;
};

std::unique_ptr<DeviceMemory> HostMemory();
/// Memory of CUDA device 0. Errors: those of opening the driver and the device.
Result<std::unique_ptr<DeviceMemory>> CudaMemory();

}  // namespace aicf::bands
