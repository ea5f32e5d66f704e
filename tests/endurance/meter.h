/// Measures which resources the process holds. These numbers must not grow over time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/cuda/device.h"

namespace aicf::endurance {

enum class Holding : uint8_t {
  kResident,    ///< bytes of pages in memory
  kAnonymous,   ///< bytes of such pages that are not backed by a file
  kMapped,      ///< bytes of the mapped address space
  kHeap,        ///< bytes of the heap that were allocated and not freed
  kBlocks,      ///< the number of such allocations
  kDriverHeap,  ///< the same of what the GPU's driver asked for, which the two above leave out
  kDriverBlocks,
  kDescriptors,  ///< open files
  kThreads,
  kDevice,  ///< bytes of the GPU's memory that all processes together use
  kCount,
};

class Holdings {
 public:
  int64_t& operator[](Holding h) { return values_[static_cast<size_t>(h)]; }
  int64_t operator[](Holding h) const { return values_[static_cast<size_t>(h)]; }
  /// What has grown since `before`, such as "heap bytes +1024, descriptors +1"; empty if nothing
  /// has. The numbers that consist of pages count only if they have grown by more than `pages`
  /// bytes.
  std::string GrowthSince(const Holdings& before, int64_t pages) const;
  /// "resident 5484544, anonymous 1052672, ..."; numbers that are 0 are left out.
  std::string ToString() const;

 private:
  std::array<int64_t, static_cast<size_t>(Holding::kCount)> values_{};
};

class Meter {
 public:
  /// Changes settings of the process that would make the numbers depend on chance. Call it once, at
  /// the start of main. It executes the program again if an environment variable has to be set.
  static void Settle(char** argv);
  /// Whether growth means anything. It does not with a sanitizer, whose own memory grows with the
  /// work.
  static bool Judges();

  /// `device` may be null if only the CPU is used.
  /// REQUIRES: no thread of the program allocates.
  explicit Meter(std::shared_ptr<const cuda::Device> device);
  /// REQUIRES: no thread of the program is at work, or none of them allocates.
  Holdings Read() const;
  const cuda::Device* device() const { return device_.get(); }

 private:
  std::shared_ptr<const cuda::Device> device_;
};

/// Bytes by which pages may grow while threads come and go. How the C library divides its blocks
/// depends on the order of requests, which leaves a few more or fewer pages in use.
inline constexpr int64_t kCuttings = 128 << 10;

/// How often work for a GPU is repeated at most until nothing grows any more.
inline constexpr int kRoundsOnDevice = 4;

/// Calls work(few) and then work(many), the latter up to kRoundsOnDevice times for a GPU until
/// nothing grows. Returns the fault that one of the calls returned, otherwise what grew during the
/// last one, or "" if nothing did; earlier calls have already allocated whatever is kept for good.
/// If there were several rounds, the growth of each follows in parentheses: a leak's growth stays
/// the same from round to round, that of a cache falls off.
std::string FaultOrGrowth(const Meter& meter, const std::function<std::string(uint64_t)>& work,
                          uint64_t few, uint64_t many);

}  // namespace aicf::endurance
