/// What the process holds of the machine, in numbers that must not grow.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/cuda/device.h"

namespace aicf::endurance {

enum class Holding : uint8_t {
  kResident,     ///< bytes of pages in memory
  kAnonymous,    ///< bytes of those that no file backs
  kMapped,       ///< bytes of the address space
  kHeap,         ///< bytes that were asked for and not given back
  kBlocks,       ///< in so many blocks
  kDescriptors,  ///< open files
  kThreads,
  kDevice,  ///< bytes of the GPU's memory, of all processes on it
  kCount,
};

class Holdings {
 public:
  int64_t& operator[](Holding h) { return values_[static_cast<size_t>(h)]; }
  int64_t operator[](Holding h) const { return values_[static_cast<size_t>(h)]; }
  /// "heap bytes +1024, descriptors +1": what is more than before; pages by more than `pages`
  /// bytes. Empty: nothing is.
  std::string GrowthSince(const Holdings& before, int64_t pages) const;
  /// "resident 5484544, anonymous 1052672, ...", without those of which there are none.
  std::string ToString() const;

 private:
  std::array<int64_t, static_cast<size_t>(Holding::kCount)> values_{};
};

class Meter {
 public:
  /// Call it once, first in main: settles what would make the numbers depend on chance. Starts the
  /// program again where that takes a variable of the environment.
  static void Settle(char** argv);
  /// Whether growth says anything: a sanitizer's own memory grows with the work.
  static bool Judges();

  /// `device` may be null: a CPU alone.
  explicit Meter(std::shared_ptr<const cuda::Device> device) : device_(std::move(device)) {}
  /// REQUIRES: no thread of the program is at work, or none of them allocates.
  Holdings Read() const;
  const cuda::Device* device() const { return device_.get(); }

 private:
  std::shared_ptr<const cuda::Device> device_;
};

/// What pages may grow by while threads come and go: how the C library cuts its blocks depends on
/// who asked first, and leaves a few more or fewer pages in use.
inline constexpr int64_t kCuttings = 128 << 10;

/// How often work for a GPU is done until nothing grows any more.
inline constexpr int kRoundsOnDevice = 4;

/// work(few), and work(many) after it, for a GPU up to kRoundsOnDevice times: gives the fault that
/// one of them returns, else what grew during the last ("": nothing), since those before it have
/// left whatever is kept for ever. Of several rounds, the growth of each follows in parentheses: a
/// leak's stays the same from round to round, and a cache's falls off.
std::string FaultOrGrowth(const Meter& meter, const std::function<std::string(uint64_t)>& work,
                          uint64_t few, uint64_t many);

}  // namespace aicf::endurance
