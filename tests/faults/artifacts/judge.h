/// Takes a damaged artifact from its bytes to its last run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tests/faults/artifacts/guarded_run.h"

namespace aicf::hostile {

enum class Verdict : unsigned char {
  kRefused,   ///< loading refused it with a typed error
  kAccepted,  ///< it was accepted and ran without touching what is not its own
  kLarge,     ///< it was accepted but not run: over a test's limits of memory or operations
  kEnded,     ///< it was accepted, and the executor refused or ended the run with a typed error
  kBroken,    ///< a defect: see the sentence
  kCount,
};

/// A wrong access that is planted after verification, to show that the guarded run finds it.
enum class Plant : unsigned char { kNone, kWrite, kRead };

struct Judgement {
  Verdict verdict = Verdict::kRefused;
  std::string sentence;
};

/// Loads, verifies and runs the file on the CPU.
Judgement Judge(std::span<const std::byte> file, uint64_t seed, const RunLimits& limits,
                Plant plant = Plant::kNone);

}  // namespace aicf::hostile
