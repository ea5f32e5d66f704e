/// Every function that the runtime opens of the CUDA driver and of cuBLASLt, through one place that
/// counts its calls, makes one fail and knows what was made and not given back. The linker turns
/// dlopen and dlsym of this program to here (--wrap), so that the runtime is what it always is.
#pragma once

#include <cstdint>
#include <string>

namespace aicf::failing_cuda {

/// An error, as the driver and as cuBLASLt would give it.
struct Planted {
  const char* name;
  int cuda = 0;
  int cublaslt = 0;
  /// After it CUDA serves nothing in the process any more.
  bool device_fault = false;
};

/// From now on call number `at` fails (the first is 1; 0: none), and with `sticky` every later one
/// but those that only enter the context.
/// A call that gives something back, or ends a capture, does so all the same, as the driver's do
/// that report an earlier fault; no other one that fails is made.
void Arm(uint64_t at, bool sticky, const Planted& error);
/// No call fails any more; gives how many there were since Arm.
uint64_t Disarm();
/// Whether a call has failed since Arm, and the first one's symbol.
bool Failed();
std::string FailedSymbol();
/// Whether the call that failed first was one whose failure may have nobody to tell: it gives
/// something back, enters the context for that, or gives words for an error.
bool FailedUnheard();

/// What was made of memory, handles and entered contexts and not given back.
int64_t LiveObjects();
/// Free bytes of the current device as the driver has them, uncounted; 0 without a device.
uint64_t FreeDeviceBytes();
/// Keeps the device's primary context for good, uncounted, so that its own memory does not come and
/// go with sessions. REQUIRES: a driver was opened.
void KeepContext();

/// A driver made of host memory takes the place of libcuda.so.1 (runtime/cuda/fake_driver.h).
void UseFake();
/// The first thing that a correct runtime never does; "" while there is none, and on real devices.
std::string FakeProblem();

}  // namespace aicf::failing_cuda
