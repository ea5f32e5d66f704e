/// Measured kernel times as a text file: what a machine with the device writes, and a machine
/// without it compiles tuned artifacts from.
///
///   aicf-timing-cache 2
///   problem HASH TEXT        once per problem; TEXT = ToString(problem), HASH = HashText(TEXT)
///   device TARGET "NAME"     "cuda:sm_90a" "NVIDIA H200"; the lines below belong to it
///   time HASH KERNEL MEDIAN SPREAD COUNT VERSION [WORKSPACE ALGORITHM]
///   fit ROW MATH SCALE OFFSET COUNT
///
/// KERNEL is abi::VariantName: the key, and the parameters in braces where it has some. MEDIAN and
/// SPREAD are microseconds (spread: median distance from the median), COUNT the samples.
/// VERSION names what made the code that was timed: "nvrtc-13.0", "cublaslt-130100", "aicf-0.1.0".
/// ALGORITHM (hex) and WORKSPACE are a library's recorded algorithm. A `fit` line corrects the
/// predictions of one row of candidates (fit.h); it stands only in the extract that an artifact
/// carries. Problems are sorted by hash, devices by name, times by hash and kernel, so equal
/// contents are equal bytes and a new measurement is one new line in a diff. Problem lines may be
/// absent: times are found by hash, only fitting needs the text.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/costs/cost_fit.h"
#include "compiler/costs/library_algorithms.h"
#include "kernels/abi/kernel.h"

namespace aicf::tune {

struct DeviceId {
  std::string target;  ///< TargetOf(DeviceSpec)
  std::string name;    ///< as the driver or the operating system says

  friend auto operator<=>(const DeviceId&, const DeviceId&) = default;
};

/// What times are kept under: a CUDA target's name, and "cpu" for every CPU target, since one
/// machine measures the kernels of all instruction sets that it has.
std::string TargetOf(const abi::DeviceSpec& device);

/// 32 hex digits that name a problem.
std::string HashOf(const abi::Problem& problem);

struct Timing {
  double median_us = 0;
  double spread_us = 0;
  int count = 0;
  std::string version;
  LibraryAlgorithm algorithm;  ///< bytes empty: no library kernel
};

/// A value type. Thread safety: as std::map.
class TimingCache {
 public:
  struct Key {
    std::string problem;  ///< HashOf
    std::string kernel;   ///< abi::VariantName
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  using Times = std::map<Key, Timing>;
  using Fits = std::map<std::pair<std::string, std::string>, CostFit>;  ///< by row, math mode

  /// Errors: kInvalidArgument with the line, what was expected and what was found.
  static Result<TimingCache> Parse(std::string_view text);
  std::string ToText() const;

  /// Replaces what was measured before. Times are kept to the nanosecond.
  void Put(const DeviceId& device, const abi::Problem& problem, std::string_view kernel,
           Timing timing);
  void PutFit(const DeviceId& device, std::string_view kernel, std::string_view math, CostFit fit);
  /// Of two times for one key, `other`'s where the versions differ, else the one of more samples
  /// (then of less spread, then the lower): merging equal versions is the same in either order.
  void Merge(const TimingCache& other);

  /// nullptr when it was not measured.
  const Timing* Find(const DeviceId& device, const std::string& problem,
                     std::string_view kernel) const;
  /// One time with its key, for an extract. REQUIRES: Find gives it.
  void Copy(const TimingCache& from, const DeviceId& device, const std::string& problem,
            std::string_view kernel);

  bool empty() const { return devices_.empty(); }
  size_t size() const;  ///< times of all devices
  /// Devices with times for the target, sorted.
  std::vector<DeviceId> DevicesFor(const abi::DeviceSpec& device) const;
  /// nullptr for an unknown device.
  const Times* TimesOf(const DeviceId& device) const;
  const Fits* FitsOf(const DeviceId& device) const;
  /// The problem's text; empty when the cache does not have it.
  std::string_view TextOf(const std::string& problem) const;

 private:
  friend class CacheParser;
  struct Measured {
    Times times;
    Fits fits;
  };
  std::map<std::string, std::string> problems_;  ///< text by hash
  std::map<DeviceId, Measured> devices_;
};

}  // namespace aicf::tune
