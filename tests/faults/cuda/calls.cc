#include "tests/faults/cuda/calls.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <type_traits>

#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/fake_driver.h"

namespace aicf::failing_cuda {
namespace {

using namespace aicf::cuda;  // the types of the tables

enum Id : int {
#define AICF_CUDA_FN(name, symbol, params) kCu##name,
#include "runtime/cuda/driver_functions.def"
#undef AICF_CUDA_FN
#define AICF_CUBLASLT_FN(name, symbol, result, params) kLt##name,
#include "runtime/cuda/cublaslt_functions.def"
#undef AICF_CUBLASLT_FN
  kIds
};

/// What a call does to the number of live objects.
constexpr int Balance(int id) {
  switch (id) {
    case kCuPrimaryCtxRetain:
    case kCuCtxPushCurrent:
    case kCuMemAlloc:
    case kCuMemHostAlloc:
    case kCuModuleLoadDataEx:
    case kCuStreamCreate:
    case kCuGraphInstantiate:
    case kCuEventCreate:
    case kLtCreate:
    case kLtMatmulDescCreate:
    case kLtMatrixLayoutCreate:
      return 1;
    case kCuPrimaryCtxRelease:
    case kCuCtxPopCurrent:
    case kCuMemFree:
    case kCuMemFreeHost:
    case kCuModuleUnload:
    case kCuStreamDestroy:
    case kCuGraphDestroy:
    case kCuGraphExecDestroy:
    case kCuEventDestroy:
    case kLtDestroy:
    case kLtMatmulDescDestroy:
    case kLtMatrixLayoutDestroy:
      return -1;
    default:
      return 0;
  }
}

constexpr bool IsDoneAllTheSame(int id) { return Balance(id) < 0 || id == kCuStreamEndCapture; }
/// What no lasting failure of a device hits: it is between the process and its own memory. Were the
/// context never to be entered again, nothing could be given back.
constexpr bool IsBookkeeping(int id) { return id == kCuCtxPushCurrent || id == kCuCtxGetId; }
constexpr bool IsUnheard(int id) {
  return Balance(id) < 0 || IsBookkeeping(id) || id == kCuGetErrorName || id == kCuGetErrorString ||
         id == kCuDriverGetVersion || id == kCuMemGetInfo ||
         id ==
             kCuThreadExchangeStreamCaptureMode;  // what it keeps whole is somebody else's capture
}
constexpr bool IsOfCublasLt(int id) { return id >= kLtGetVersion; }

struct State {
  std::atomic<bool> armed{false}, sticky{false};
  std::atomic<uint64_t> count{0}, at{0};
  std::atomic<int> failed{-1};  ///< the first Id
  std::atomic<int64_t> live{0};
  Planted error;
  bool fake = false;
  std::mutex mutex;
  std::map<CUstream, bool> into_body;  ///< captures that end in a graph of somebody else
};
State g;

/// The error that this call ends in; 0: none.
int Next(int id) {
  if (!g.armed.load(std::memory_order_relaxed)) return 0;
  const uint64_t now = g.count.fetch_add(1) + 1, at = g.at;
  if (at == 0 || (g.sticky ? now < at : now != at)) return 0;
  if (now > at && IsBookkeeping(id)) return 0;
  int none = -1;
  g.failed.compare_exchange_strong(none, id);
  // What follows is no mistake of the caller.
  if (testing::Machine() != nullptr) testing::Machine()->failed = true;
  return IsOfCublasLt(id) ? g.error.cublaslt : g.error.cuda;
}

/// Books what a call that was made has changed.
template <int kId, class... A>
void Book(bool success, const A&... a) {
  if constexpr (kId == kCuStreamBeginCapture || kId == kCuStreamBeginCaptureToGraph) {
    const std::lock_guard lock(g.mutex);
    g.into_body[std::get<0>(std::tuple(a...))] = kId == kCuStreamBeginCaptureToGraph;
  } else if constexpr (kId == kCuStreamEndCapture) {
    const auto [stream, graph] = std::tuple(a...);
    const std::lock_guard lock(g.mutex);
    if (*graph != nullptr && !g.into_body[stream]) ++g.live;
  } else if (success) {
    g.live += Balance(kId);
  }
}

template <int kId, class Function>
struct Call;
template <int kId, class R, class... A>
struct Call<kId, R(A...)> {
  static inline R (*real)(A...) = nullptr;

  static R Make(A... a) {
    if constexpr (std::is_same_v<R, CUresult> || std::is_same_v<R, int>) {
      const int error = Next(kId);
      if (error != 0 && !IsDoneAllTheSame(kId)) return static_cast<R>(error);
      const R result = real(a...);
      Book<kId>(static_cast<int>(result) == 0, a...);
      return error != 0 ? static_cast<R>(error) : result;
    } else {
      return real(a...);  // texts and numbers
    }
  }
};

struct Row {
  const char* symbol;
  void** real;
  void* made;
};

const Row kRows[] = {
#define AICF_CUDA_FN(name, symbol, params)                                    \
  {symbol, reinterpret_cast<void**>(&Call<kCu##name, CUresult params>::real), \
   reinterpret_cast<void*>(&Call<kCu##name, CUresult params>::Make)},
#include "runtime/cuda/driver_functions.def"
#undef AICF_CUDA_FN
#define AICF_CUBLASLT_FN(name, symbol, result, params)                      \
  {symbol, reinterpret_cast<void**>(&Call<kLt##name, result params>::real), \
   reinterpret_cast<void*>(&Call<kLt##name, result params>::Make)},
#include "runtime/cuda/cublaslt_functions.def"
#undef AICF_CUBLASLT_FN
};

void* FakeSymbol(std::string_view wanted) {
  static const DriverApi api = testing::FakeApi();
#define AICF_CUDA_FN(name, symbol, params) \
  if (wanted == symbol) return reinterpret_cast<void*>(api.name);
#include "runtime/cuda/driver_functions.def"
#undef AICF_CUDA_FN
  return nullptr;
}

#define AICF_REAL(name) Call<kCu##name, std::remove_pointer_t<decltype(DriverApi::name)>>::real

}  // namespace

void Arm(uint64_t at, bool sticky, const Planted& error) {
  g.count = 0;
  g.at = at;
  g.sticky = sticky;
  g.error = error;
  g.failed = -1;
  g.armed = true;
}

uint64_t Disarm() {
  g.armed = false;
  if (testing::Machine() != nullptr) testing::Machine()->failed = false;
  return g.count;
}

bool Failed() { return g.failed >= 0; }
std::string FailedSymbol() { return Failed() ? kRows[g.failed].symbol : ""; }
bool FailedUnheard() { return Failed() && IsUnheard(g.failed); }
int64_t LiveObjects() { return g.live; }

uint64_t FreeDeviceBytes() {
  CUdevice device = 0;
  CUcontext context = nullptr, popped = nullptr;
  size_t free_bytes = 0, total = 0;
  if (g.fake || AICF_REAL(DeviceGet)(&device, 0) != kCudaSuccess) return 0;
  if (AICF_REAL(PrimaryCtxRetain)(&context, device) != kCudaSuccess) return 0;
  (void)AICF_REAL(CtxPushCurrent)(context);
  (void)AICF_REAL(MemGetInfo)(&free_bytes, &total);
  (void)AICF_REAL(CtxPopCurrent)(&popped);
  (void)AICF_REAL(PrimaryCtxRelease)(device);
  return free_bytes;
}

void KeepContext() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (g.fake || AICF_REAL(DeviceGet)(&device, 0) != kCudaSuccess) return;
  (void)AICF_REAL(PrimaryCtxRetain)(&context, device);
}

void UseFake() {
  g.fake = true;
  testing::Machine() = new testing::FakeMachine;  // as long as the process
  testing::Machine()->memory = uint64_t{1} << 30;
}

std::string FakeProblem() {
  return testing::Machine() != nullptr ? testing::Machine()->problem : std::string();
}

}  // namespace aicf::failing_cuda

extern "C" {
void* __real_dlopen(const char* file, int flags);
void* __real_dlsym(void* handle, const char* name);

void* __wrap_dlopen(const char* file, int flags) {
  using aicf::failing_cuda::g;
  if (g.fake && std::strcmp(file, "libcuda.so.1") == 0) return &g;
  return __real_dlopen(file, flags);
}

void* __wrap_dlsym(void* handle, const char* name) {
  using namespace aicf::failing_cuda;
  for (const Row& row : kRows) {
    if (std::strcmp(row.symbol, name) != 0) continue;
    void* real = handle == &g ? FakeSymbol(name) : __real_dlsym(handle, name);
    if (real == nullptr) return nullptr;
    *row.real = real;
    return row.made;
  }
  return __real_dlsym(handle, name);
}
}
