/// Owners of driver objects: each frees its object in its device's context, on any thread, and
/// ignores the driver's answer, since after a sticky error every call fails and nothing is left to
/// do.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "runtime/cuda/device.h"

namespace aicf::cuda {

template <class Traits>
class Owned {
 public:
  using Handle = typename Traits::Handle;

  Owned() = default;
  Owned(std::shared_ptr<const Device> device, Handle handle)
      : device_(std::move(device)), handle_(handle) {}
  Owned(Owned&& other) noexcept { *this = std::move(other); }
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ == Handle{}) return;
    // Tries a second time where the context cannot be entered: what is not freed now is never
    // freed.
    if (!GaveBack()) (void)GaveBack();
  }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle{}; }

 private:
  bool GaveBack() const {
    const ContextScope scope(*device_);
    if (scope.ok()) Traits::Free(device_->driver(), handle_);
    return scope.ok();
  }

  std::shared_ptr<const Device> device_;
  Handle handle_{};
};

struct DeviceMemoryTraits {
  using Handle = CUdeviceptr;
  static void Free(const Driver& d, Handle h) { (void)d.MemFree(h); }
};
struct PinnedMemoryTraits {
  using Handle = std::byte*;
  static void Free(const Driver& d, Handle h) { (void)d.MemFreeHost(h); }
};
struct StreamTraits {
  using Handle = CUstream;
  static void Free(const Driver& d, Handle h) { (void)d.StreamDestroy(h); }
};
struct EventTraits {
  using Handle = CUevent;
  static void Free(const Driver& d, Handle h) { (void)d.EventDestroy(h); }
};
struct ModuleTraits {
  using Handle = CUmodule;
  static void Free(const Driver& d, Handle h) { (void)d.ModuleUnload(h); }
};
struct GraphTraits {
  using Handle = CUgraph;
  static void Free(const Driver& d, Handle h) { (void)d.GraphDestroy(h); }
};
struct GraphExecTraits {
  using Handle = CUgraphExec;
  static void Free(const Driver& d, Handle h) { (void)d.GraphExecDestroy(h); }
};

using DeviceMemory = Owned<DeviceMemoryTraits>;
using PinnedMemory = Owned<PinnedMemoryTraits>;
using Stream = Owned<StreamTraits>;
using Event = Owned<EventTraits>;
using Module = Owned<ModuleTraits>;
using Graph = Owned<GraphTraits>;
using GraphExec = Owned<GraphExecTraits>;

/// The functions below REQUIRE the device's context to be current. Zero bytes give an empty owner.
/// Errors: kResource naming `what`, the bytes needed and free; kDevice.
Result<DeviceMemory> AllocateDevice(const std::shared_ptr<const Device>& device,
                                    std::string_view what, uint64_t bytes);
/// Zeroed, pinned host memory, which copies may read while the host goes on.
Result<PinnedMemory> AllocatePinned(const std::shared_ptr<const Device>& device,
                                    std::string_view what, uint64_t bytes);
Result<Stream> CreateStream(const std::shared_ptr<const Device>& device);
Result<Event> CreateEvent(const std::shared_ptr<const Device>& device, unsigned flags);

}  // namespace aicf::cuda
