/// Executes a verified artifact so that wrong accesses are found: every value, every constant and
/// the workspaces have memory of their own, with unmapped pages and a known pattern around it.
#pragma once

#include <cstdint>
#include <string>

#include "schema/artifact.h"

namespace aicf::hostile {

struct RunLimits {
  double operations = 2e7;              ///< of one run
  uint64_t bytes = uint64_t{16} << 20;  ///< of all buffers and workspaces
};

enum class RunVerdict : unsigned char {
  kRan,       ///< it ran and touched nothing that is not its own
  kTooLarge,  ///< it was not run, because it exceeds the limits
  kRefused,   ///< the executor refused it with a typed error
  kBroken,    ///< a defect: see the sentence
};

struct RunOutcome {
  RunVerdict verdict = RunVerdict::kRan;
  std::string sentence;  ///< what was touched wrongly, or why it was refused
};

/// Runs every entry point twice on the CPU, with inputs drawn from `seed` that include wild
/// numbers. An access to an unmapped page raises a signal, and a write beside a value changes the
/// pattern. The second run has other bytes around values and in values that no step has written; if
/// its results differ, a step has read such bytes. Values that guarded and repeated steps write may
/// keep what was there before, so the results of entry points with such steps are not compared.
RunOutcome RunGuarded(const schema::Artifact& artifact, uint64_t seed, const RunLimits& limits);

/// Checks, independently of the verifier, that every element of every operand lies in its buffer.
/// Returns a sentence about the first operand for which that is wrong, or "".
std::string OutsideItsBuffer(const schema::Program& program);

}  // namespace aicf::hostile
