/// One GPU: its primary context, held for as long as the object lives, and what it can do.
#pragma once

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "kernels/abi/kernel.h"
#include "runtime/cuda/driver.h"

namespace aicf::cuda {

struct DeviceLimits {
  int capability = 0;  ///< 90 for compute capability 9.0
  int max_threads_per_block = 0;
  int max_block[3] = {};
  int max_grid[3] = {};
  int max_shared_bytes = 0;  ///< static plus dynamic, opt-in
};

/// Immutable after Retain; shared by the device's programs and sessions.
class Device {
 public:
  /// Errors: kDevice naming the ordinal and the number of devices.
  static Result<std::shared_ptr<const Device>> Retain(Driver& driver, int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Driver& driver() const { return driver_; }
  CUcontext context() const { return context_; }
  /// Identifies the primary context between two resets of the device: after a reset it has another
  /// id.
  unsigned long long context_id() const { return context_id_; }
  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }
  const DeviceLimits& limits() const { return limits_; }
  /// False in a forked child, where the driver must not be called: CUDA does not survive fork().
  bool InCreator() const { return getpid() == creator_; }

  /// Whether code compiled for `arch` ("sm_90a") runs here. Errors: kDevice with both.
  Status CheckArch(std::string_view arch) const;
  /// Errors: kDevice naming the limit, the value and this device's.
  Status CheckLaunch(const abi::LaunchConfig& launch) const;

 private:
  Device(Driver& driver, int ordinal) : driver_(driver), ordinal_(ordinal) {}
  Status ReadLimits();

  const Driver& driver_;
  int ordinal_;
  const pid_t creator_ = getpid();
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  unsigned long long context_id_ = 0;
  std::string name_;
  DeviceLimits limits_;
};

/// Keeps the calling thread, while it is inside the library, from disturbing captures of others. A
/// caller who captures in the global mode, in this thread or another, forbids every thread to
/// allocate, to free or to ask for an event's state: the call would fail, and so would his capture.
/// The library does nothing to streams that a caller captures, so it is safe to exempt the thread
/// from this rule: its capture mode is relaxed for as long as the object lives.
class BesideCaptures {
 public:
  explicit BesideCaptures(const Driver& driver) : driver_(driver) {
    exchanged_ = driver_.ThreadExchangeStreamCaptureMode(&mode_) == kCudaSuccess;
  }
  ~BesideCaptures() {
    if (exchanged_) (void)driver_.ThreadExchangeStreamCaptureMode(&mode_);
  }
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;

 private:
  const Driver& driver_;
  CUstreamCaptureMode mode_ = kCaptureRelaxed;  ///< after the exchange: the thread's own mode
  bool exchanged_ = false;
};

/// Makes a device's context current for one call and restores the caller's afterwards. Finds out
/// whether the context still is the one that was retained: objects of a context that another
/// library has reset must not be touched, not even to free them.
class ContextScope {
 public:
  /// A caller's captures go on meanwhile, see BesideCaptures.
  explicit ContextScope(const Device& device);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

  /// False: no call of the device's driver may follow.
  bool ok() const { return result_ == kCudaSuccess; }
  /// Errors: kDevice.
  Status status() const { return driver_.Check(result_, "entering the CUDA context"); }

 private:
  const Driver& driver_;                           // not the device, which may end inside the scope
  std::optional<BesideCaptures> beside_captures_;  ///< not in a forked child
  bool pushed_ = false;
  CUresult result_;
};

}  // namespace aicf::cuda
