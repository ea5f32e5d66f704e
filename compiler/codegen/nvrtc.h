/// NVRTC, the CUDA run-time compiler, opened with dlopen when the first kernel is compiled: a build
/// and a CPU compile need no CUDA.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace aicf {

/// Compiles device sources. Thread safety: Compile may be called from several threads.
class Nvrtc {
 public:
  /// Looks, in this order, at $AICF_NVRTC (a file), lib64 and lib below $CUDA_HOME and $CUDA_PATH,
  /// /usr/local/cuda, the loader's path, and the pip packages' folders below $VIRTUAL_ENV,
  /// $CONDA_PREFIX and each entry of $PYTHONPATH. Errors: kDevice when there is none, naming what
  /// to install; kUnsupported when it is older than 12.0.
  static Result<std::shared_ptr<const Nvrtc>> Open();
  ~Nvrtc();
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  /// "nvrtc 13.0".
  const std::string& version() const { return version_; }
  /// The file it was opened from.
  const std::string& path() const { return path_; }

  /// Compiles `source` with the embedded device sources as its headers to a cubin for `arch`
  /// ("sm_90a"). Errors: kInternal with the compiler's log.
  Result<std::vector<std::byte>> Compile(const std::string& source, const std::string& arch) const;

  /// Options given to every compilation, as text: part of the cache key.
  static std::string OptionText();

 private:
  struct Api;
  Nvrtc() = default;
  void* library_ = nullptr;
  std::unique_ptr<Api> api_;
  std::string path_;
  std::string version_;
};

}  // namespace aicf
