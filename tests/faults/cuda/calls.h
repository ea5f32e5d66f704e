/// Intercepts every function of the CUDA driver and of cuBLASLt that the runtime opens. It counts
/// the calls, makes one of them fail, and knows which objects have been created and not released.
/// The linker redirects this program's dlopen and dlsym to it (--wrap), so the runtime is
/// unchanged.
#pragma once

#include <cstdint>
#include <string>

namespace aicf::failing_cuda {

/// An error, with the codes that the driver and cuBLASLt return for it.
struct Planted {
  const char* name;
  int cuda = 0;
  int cublaslt = 0;
  /// After this error CUDA serves no more calls of the process.
  bool device_fault = false;
};

/// From now on call number `at` fails (the first is 1; with 0 none does). With `sticky` every later
/// call fails as well, except those that only enter the context.
/// A failing call that releases something or ends a capture does so nevertheless, like a driver's
/// call that reports an earlier fault. All other failing calls do nothing.
void Arm(uint64_t at, bool sticky, const Planted& error);
/// Stops making calls fail. Returns how many calls there were since Arm.
uint64_t Disarm();
/// Whether a call has failed since Arm, and the symbol of the first one that did.
bool Failed();
std::string FailedSymbol();
/// Whether the call that failed first is one whose failure the runtime may be unable to report: it
/// releases something, enters the context in order to do that, or describes an error in words.
bool FailedUnheard();

/// The number of allocations, handles and entered contexts that have not been released.
int64_t LiveObjects();
/// Free memory of device 0 in bytes, as the driver reports it; 0 without a device. These calls are
/// not counted.
uint64_t FreeDeviceBytes();
/// Keeps the device's primary context for good, so that the context's own memory does not come and
/// go with sessions. The call is not counted. REQUIRES: a driver was opened.
void KeepContext();

/// Replaces libcuda.so.1 by a driver that works in host memory (runtime/cuda/fake_driver.h).
void UseFake();
/// The first thing the runtime has done to the fake driver that a correct one never does; "" if
/// there is none, and on real devices.
std::string FakeProblem();

}  // namespace aicf::failing_cuda
