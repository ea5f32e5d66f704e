#include "runtime/cuda/driver.h"

#include <dlfcn.h>

#include <mutex>

namespace aicf::cuda {
namespace {

constexpr std::string_view kStillWorks =
    "; compiling, inspecting and verifying need no GPU, and device 'cpu' executes a CUDA artifact "
    "on "
    "the reference kernels";

std::atomic<Driver*> g_driver{nullptr};  // never destroyed: sessions may end during exit

struct DriverSymbol {
  const char* name;
  void** slot;
};

Status ResolveDriver(void* library, DriverApi& api) {
  const DriverSymbol symbols[] = {
#define AICF_CUDA_FN(name, symbol, params) {symbol, reinterpret_cast<void**>(&api.name)},
#include "runtime/cuda/driver_functions.def"
#undef AICF_CUDA_FN
  };
  for (const DriverSymbol& symbol : symbols) {
    *symbol.slot = dlsym(library, symbol.name);
    if (*symbol.slot != nullptr) continue;
    int version = 0;
    if (api.DriverGetVersion != nullptr) (void)api.DriverGetVersion(&version);
    return Error(Code::kDevice, "the CUDA driver (version ", VersionText(version), ") lacks ",
                 symbol.name, "; aicf needs ", VersionText(kMinimumDriverVersion), " or newer");
  }
  return OkStatus();
}

Status Initialise(const Driver& driver) {
  AICF_CUDA_CHECK(driver, "initialising the CUDA driver", driver.Init(0u));
  int count = 0;
  AICF_CUDA_CHECK(driver, "counting CUDA devices", driver.DeviceGetCount(&count));
  if (count == 0) return Error(Code::kDevice, "the CUDA driver finds no device");
  return OkStatus();
}

Status WithAdvice(const Status& status) {
  return Status(status.code(), StrCat(status.message(), kStillWorks));
}

}  // namespace

std::string VersionText(int version) { return StrCat(version / 1000, ".", version % 1000 / 10); }

Result<std::unique_ptr<Driver>> Driver::Open(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return Error(Code::kDevice, "no CUDA driver: ", reason != nullptr ? reason : library,
                 kStillWorks);
  }
  DriverApi api;
  const Status resolved = ResolveDriver(handle, api);
  auto driver = std::make_unique<Driver>(api);
  const Status ready = resolved.ok() ? Initialise(*driver) : resolved;
  // A driver that started is never closed: its threads may outlive every handle.
  if (!resolved.ok()) dlclose(handle);
  if (!ready.ok()) return WithAdvice(ready);
  return driver;
}

Result<Driver*> Driver::Get() {
  if (Driver* opened = g_driver.load(std::memory_order_acquire)) return opened;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (Driver* opened = g_driver.load(std::memory_order_relaxed)) return opened;
  AICF_ASSIGN_OR_RETURN(std::unique_ptr<Driver> driver, Open("libcuda.so.1"));
  g_driver.store(driver.get(), std::memory_order_release);
  return driver.release();
}

Status Driver::ProcessHealth() {
  const Driver* driver = g_driver.load(std::memory_order_acquire);
  return driver == nullptr ? OkStatus() : driver->health();
}

Status Driver::health() const {
  const CUresult fault = fault_.load(std::memory_order_relaxed);
  if (fault == kCudaSuccess) return OkStatus();
  return Error(Code::kDevice,
               "a fault on a device has ended this process's use of its GPUs: ", NameOf(fault),
               "; end the process and start it again");
}

std::string Driver::NameOf(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  (void)GetErrorName(result, &name);
  (void)GetErrorString(result, &text);
  return StrCat(name != nullptr ? name : "CUDA error", " (", static_cast<int>(result),
                "): ", text != nullptr ? text : "no description");
}

void Driver::Remember(CUresult result) const {
  if (!IsDeviceFault(result)) return;
  CUresult none = kCudaSuccess;
  fault_.compare_exchange_strong(none, result, std::memory_order_relaxed);
}

Status Driver::Check(CUresult result, std::string_view what, uint64_t needed) const {
  if (result == kCudaSuccess) return OkStatus();
  Remember(result);
  if (result == kCudaOutOfMemory) {
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    if (MemGetInfo(&free_bytes, &total_bytes) == kCudaSuccess) {
      return Error(Code::kResource, what, ": out of device memory; ",
                   needed > 0 ? StrCat("needs ", needed, " bytes, ") : std::string(), free_bytes,
                   " of ", total_bytes, " bytes are free");
    }
    return Error(Code::kResource, what, ": out of memory",
                 needed > 0 ? StrCat("; needs ", needed, " bytes") : std::string());
  }
  return Error(Code::kDevice, what, ": ", NameOf(result));
}

}  // namespace aicf::cuda
