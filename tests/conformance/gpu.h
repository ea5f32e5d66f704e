/// The few driver calls that run a cubin, opened by name: enough to test kernels apart from the
/// runtime.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "kernels/abi/kernel.h"
#include "runtime/cuda/driver_types.h"

namespace aicf::conformance {

/// A GPU and its context. Not thread-safe.
class Gpu {
 public:
  /// Errors: kDevice with the reason there is none.
  static Result<std::shared_ptr<Gpu>> Open();
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const std::string& name() const { return name_; }

  /// Device memory that lives until Free, or as long as the Gpu; contents undefined. Errors:
  /// kDevice.
  Result<uint64_t> Allocate(size_t bytes);
  Status Free(uint64_t address);
  Status Upload(uint64_t to, const void* from, size_t bytes);
  Status Download(void* to, uint64_t from, size_t bytes);
  Status Fill(uint64_t to, unsigned char value, size_t bytes);

  /// Loads the cubin, launches `symbol` `times` times with the addresses and the encoded tensor
  /// maps as parameters and waits. `microseconds` (when not null) gets the mean time of the
  /// launches after the first, queued back to back. `early`: each is launched as the runtime
  /// launches steps that overlap, programmatically, on a stream of its own.
  Status Run(const std::vector<std::byte>& cubin, const std::string& symbol,
             const abi::LaunchConfig& launch, const std::vector<uint64_t>& addresses, int times = 1,
             double* microseconds = nullptr, const std::vector<cuda::CUtensorMap>& maps = {},
             bool early = false);

 private:
  struct Api;
  Gpu() = default;
  Status Check(int result, std::string_view what) const;
  void* library_ = nullptr;
  std::unique_ptr<Api> api_;
  std::string name_;
  std::vector<uint64_t> allocations_;
};

}  // namespace aicf::conformance
