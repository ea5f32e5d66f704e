#include "tests/faults/bands/device_memory.h"

#include <cstring>
#include <utility>

#include "runtime/cuda/handles.h"

namespace aicf::bands {
namespace {

class OnHost final : public DeviceMemory {
 public:
  Status Write(std::byte* to, std::span<const std::byte> bytes) override {
    std::memcpy(to, bytes.data(), bytes.size());
    return OkStatus();
  }
  Status Read(const std::byte* from, std::span<std::byte> bytes) override {
    std::memcpy(bytes.data(), from, bytes.size());
    return OkStatus();
  }
};

class OnCuda final : public DeviceMemory {
 public:
  OnCuda(std::shared_ptr<const cuda::Device> device, cuda::Stream stream)
      : device_(std::move(device)), stream_(std::move(stream)) {}

  Status Write(std::byte* to, std::span<const std::byte> bytes) override {
    const cuda::ContextScope scope(*device_);
    AICF_CUDA_CHECK(driver(), "filling",
                    driver().MemcpyHtoDAsync(reinterpret_cast<cuda::CUdeviceptr>(to), bytes.data(),
                                             bytes.size(), stream_.get()));
    return driver().Check(driver().StreamSynchronize(stream_.get()), "filling");
  }
  Status Read(const std::byte* from, std::span<std::byte> bytes) override {
    const cuda::ContextScope scope(*device_);
    AICF_CUDA_CHECK(
        driver(), "reading",
        driver().MemcpyDtoHAsync(bytes.data(), reinterpret_cast<cuda::CUdeviceptr>(from),
                                 bytes.size(), stream_.get()));
    return driver().Check(driver().StreamSynchronize(stream_.get()), "reading");
  }

 private:
  const cuda::Driver& driver() const { return device_->driver(); }
  std::shared_ptr<const cuda::Device> device_;
  cuda::Stream stream_;
};

}  // namespace

std::unique_ptr<DeviceMemory> HostMemory() { return std::make_unique<OnHost>(); }

Result<std::unique_ptr<DeviceMemory>> CudaMemory() {
  AICF_ASSIGN_OR_RETURN(cuda::Driver * driver, cuda::Driver::Get());
  AICF_ASSIGN_OR_RETURN(auto device, cuda::Device::Retain(*driver, 0));
  const cuda::ContextScope scope(*device);
  AICF_ASSIGN_OR_RETURN(cuda::Stream stream, cuda::CreateStream(device));
  return std::unique_ptr<DeviceMemory>(std::make_unique<OnCuda>(device, std::move(stream)));
}

}  // namespace aicf::bands
