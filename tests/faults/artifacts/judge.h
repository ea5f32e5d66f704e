/// One damaged artifact, from its bytes to its last run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tests/faults/artifacts/guarded_run.h"

namespace aicf::hostile {

enum class Verdict : unsigned char {
  kRefused,   ///< by loading, with a typed error
  kAccepted,  ///< and run without touching what is not its own
  kLarge,     ///< accepted, not run: more memory or operations than the limits of a test
  kEnded,     ///< accepted, and the executor refused or ended the run with a typed error
  kBroken,    ///< a defect: see the sentence
  kCount,
};

/// A defect to be planted after verification, to show that it is found.
enum class Plant : unsigned char { kNone, kWrite, kRead };

struct Judgement {
  Verdict verdict = Verdict::kRefused;
  std::string sentence;
};

/// Loads, verifies and runs the file on the CPU.
Judgement Judge(std::span<const std::byte> file, uint64_t seed, const RunLimits& limits,
                Plant plant = Plant::kNone);

}  // namespace aicf::hostile
