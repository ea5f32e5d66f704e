/// Random choices that can be repeated from their seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace aicf::hostile {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15u + 1) {}

  uint64_t Bits() { return engine_(); }
  /// In [0, count). REQUIRES: count > 0.
  size_t Below(size_t count) { return static_cast<size_t>(engine_() % count); }
  bool Chance(unsigned percent) { return Below(100) < percent; }
  /// In [0, 1).
  double Real() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace aicf::hostile
