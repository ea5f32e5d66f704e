/// The part of the CUDA driver interface that this runtime calls, declared here so that a build
/// needs no CUDA headers. Names and values are the driver's public ABI.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aicf::cuda {

using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctxTag*;
using CUmodule = struct CUmodTag*;
using CUfunction = struct CUfuncTag*;
using CUstream = struct CUstreamTag*;
using CUevent = struct CUeventTag*;
using CUgraph = struct CUgraphTag*;
using CUgraphExec = struct CUgraphExecTag*;
using CUgraphNode = struct CUgraphNodeTag*;
using CUgraphConditionalHandle = unsigned long long;

/// Opaque: encoded by the driver, read by the bulk tensor copy engine.
struct alignas(64) CUtensorMap {
  uint64_t opaque[16] = {};
};
static_assert(sizeof(CUtensorMap) == 128);

enum CUresult : int {
  kCudaSuccess = 0,
  kCudaInvalidValue = 1,
  kCudaOutOfMemory = 2,
  kCudaNotInitialized = 3,
  kCudaNoDevice = 100,
  kCudaInvalidDevice = 101,
  kCudaInvalidImage = 200,
  kCudaInvalidContext = 201,
  kCudaNoBinaryForGpu = 209,
  kCudaUnsupportedPtx = 222,
  kCudaInvalidHandle = 400,
  kCudaNotFound = 500,
  kCudaEccUncorrectable = 214,
  kCudaNvlinkUncorrectable = 220,
  kCudaContained = 226,
  kCudaNotReady = 600,
  kCudaIllegalAddress = 700,
  kCudaLaunchTimeout = 702,
  kCudaContextIsDestroyed = 709,
  kCudaAssert = 710,
  kCudaHardwareStackError = 714,
  kCudaIllegalInstruction = 715,
  kCudaMisalignedAddress = 716,
  kCudaInvalidAddressSpace = 717,
  kCudaInvalidPc = 718,
  kCudaLaunchFailed = 719,
  kCudaTensorMemoryLeak = 721,
  kCudaNotSupported = 801,
  kCudaSystemNotReady = 802,
  kCudaMpsClientTerminated = 809,
  kCudaCaptureInvalidated = 901,
};

/// Whether the error says that something has run wrong on the device: CUDA then serves nothing in
/// the process any more, whichever session it was.
constexpr bool IsDeviceFault(CUresult result) {
  switch (result) {
    case kCudaEccUncorrectable:
    case kCudaNvlinkUncorrectable:
    case kCudaContained:
    case kCudaIllegalAddress:
    case kCudaLaunchTimeout:
    case kCudaAssert:
    case kCudaHardwareStackError:
    case kCudaIllegalInstruction:
    case kCudaMisalignedAddress:
    case kCudaInvalidAddressSpace:
    case kCudaInvalidPc:
    case kCudaLaunchFailed:
    case kCudaTensorMemoryLeak:
    case kCudaMpsClientTerminated:
      return true;
    default:
      return false;
  }
}

enum CUdevice_attribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxBlockDimX = 2,  ///< Y, Z follow
  kMaxGridDimX = 5,   ///< Y, Z follow
  kMultiprocessorCount = 16,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedPerBlockOptin = 97,
};

enum CUfunction_attribute : int {
  kFuncMaxThreadsPerBlock = 0,
  kFuncStaticSharedBytes = 1,
  kFuncMaxDynamicSharedBytes = 8,
  kFuncNonPortableClusterSize = 14,
};

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostAllocPortable = 1;
enum CUstreamCaptureMode : int { kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };
enum CUstreamCaptureStatus : int { kCaptureNone = 0 };

enum CUjit_option : int { kJitErrorLogBuffer = 5, kJitErrorLogBufferBytes = 6 };

struct CUlaunchAttribute {
  uint32_t id = 0;
  uint32_t pad = 0;
  uint32_t dims[3] =
      {};  ///< kLaunchClusterDimension; [0] is kLaunchProgrammaticSerialization's value
  uint8_t rest[52] = {};  ///< the value is a union of 64 bytes
};
static_assert(sizeof(CUlaunchAttribute) == 72);
inline constexpr uint32_t kLaunchClusterDimension = 4;
inline constexpr uint32_t kLaunchProgrammaticSerialization = 6;  ///< value: 1 allows it

struct CUlaunchConfig {
  uint32_t grid[3] = {};
  uint32_t block[3] = {};
  uint32_t shared_bytes = 0;
  CUstream stream = nullptr;
  CUlaunchAttribute* attributes = nullptr;
  uint32_t attribute_count = 0;
};
/// Node types, kinds and flags of conditional nodes.
inline constexpr int kNodeConditional = 13;
inline constexpr int kConditionalIf = 0;
inline constexpr int kConditionalWhile = 1;
inline constexpr unsigned kConditionalAssignDefault = 1;
inline constexpr unsigned kCaptureSetDependencies = 1;

struct CUgraphNodeParams {
  int type = 0;
  int reserved[3] = {};
  struct Conditional {
    CUgraphConditionalHandle handle = 0;
    int type = 0;
    unsigned size = 0;
    CUgraph* graphs = nullptr;  ///< out: the bodies, owned by the driver
    CUcontext context = nullptr;
  } conditional;  ///< of a union of 232 bytes
  uint8_t rest[200] = {};
  long long reserved_end = 0;
};
static_assert(sizeof(CUgraphNodeParams) == 256);

static_assert(offsetof(CUlaunchConfig, stream) == 32 && sizeof(CUlaunchConfig) == 56);

}  // namespace aicf::cuda
