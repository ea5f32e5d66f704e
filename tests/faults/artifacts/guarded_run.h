/// A verified artifact executed where nothing goes unseen: every value, constant and workspace has
/// memory of its own, with unmapped pages and a known pattern around it.
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
  kRan,       ///< and touched nothing that is not its own
  kTooLarge,  ///< not run
  kRefused,   ///< by the executor, with a typed error
  kBroken,    ///< see the sentence
};

struct RunOutcome {
  RunVerdict verdict = RunVerdict::kRan;
  std::string sentence;  ///< what was touched that should not be
};

/// Runs every entry point twice on the CPU with inputs that `seed` draws, wild numbers among them.
/// An access beyond a page is a signal; a write beside a value is found in the pattern; results
/// that differ where the second run has other bytes around and in values that no step wrote show a
/// read. Values of guarded and repeated steps may keep what was there, so those programs are
/// compared only for writes.
RunOutcome RunGuarded(const schema::Artifact& artifact, uint64_t seed, const RunLimits& limits);

/// Independent of the verifier: every element of every operand lies in its buffer. Empty, or what
/// does not.
std::string OutsideItsBuffer(const schema::Program& program);

}  // namespace aicf::hostile
