/// The CUDA driver, opened with dlopen: a table of function pointers, and the one place that turns
/// CUDA error codes into a Status.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "runtime/cuda/counters.h"
#include "runtime/cuda/driver_types.h"

namespace aicf::cuda {

struct DriverApi {
#define AICF_CUDA_FN(name, symbol, params) CUresult(*name) params = nullptr;
#include "runtime/cuda/driver_functions.def"
#undef AICF_CUDA_FN
};

/// Oldest driver whose interface has every function of the table.
inline constexpr int kMinimumDriverVersion = 12040;

/// "13.0" for 13000.
std::string VersionText(int version);

/// Thread safety: all functions may be called from any thread.
class Driver {
 public:
  /// The process's driver, opened and initialised on first use and never closed.
  /// Errors: kDevice: no driver, too old (naming both versions), or no device, and what still
  /// works. After an error the next call tries again.
  static Result<Driver*> Get();
  /// The health() of the process's driver; ok where none has been opened. Opens no driver and waits
  /// for nothing.
  static Status ProcessHealth();
  /// Opens `library` and initialises it. For tests of its errors.
  static Result<std::unique_ptr<Driver>> Open(const char* library);
  explicit Driver(const DriverApi& api) : api_(api) {}
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// One method per row of driver_functions.def: counts the call and makes it. A device fault is
  /// remembered for good (health()), even where nobody looks at the result, as in calls that free
  /// something.
#define AICF_CUDA_FN(name, symbol, params) \
  template <class... Args>                 \
  CUresult name(Args... args) const {      \
    counters_.Count(Fn::k##name);          \
    return Heard(api_.name(args...));      \
  }
#include "runtime/cuda/driver_functions.def"
#undef AICF_CUDA_FN

  const Counters& counters() const { return counters_; }

  /// ok for kCudaSuccess. kResource for exhausted device memory, naming `needed` bytes (when not 0)
  /// and the free ones; kDevice for everything else, with the driver's name and sentence for the
  /// code.
  /// A device fault among them is remembered for good (health()).
  Status Check(CUresult result, std::string_view what, uint64_t needed = 0) const;
  /// ok until a call has returned a device fault; from then on kDevice, naming the first one. Costs
  /// one load while it is ok.
  Status health() const;

 private:
  CUresult Heard(CUresult result) const {
    if (result != kCudaSuccess) Remember(result);
    return result;
  }
  void Remember(CUresult result) const;
  std::string NameOf(CUresult result) const;

  DriverApi api_;
  mutable Counters counters_;
  mutable std::atomic<CUresult> fault_{kCudaSuccess};  ///< the first one
};

}  // namespace aicf::cuda

/// Returns driver.Check(call, what) from the enclosing function when it is an error.
#define AICF_CUDA_CHECK(driver, what, call) AICF_RETURN_IF_ERROR((driver).Check((call), (what)))
