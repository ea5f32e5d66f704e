/// The checks of the endurance program. Each prints a line and returns how many faults it found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "tests/endurance/meter.h"
#include "tests/endurance/subject.h"

namespace aicf::endurance {

/// A defect that the program plants on request, to show that the checks find it.
enum class Plant : uint8_t {
  kNone,
  kMemory,      ///< a replay leaks 1 KiB of the heap
  kDescriptor,  ///< a replay leaks an open file
  kMapping,     ///< a replay leaks a mapped page
  kDevice,      ///< a replay leaks 1 KiB of the GPU's memory
  kBits,        ///< one of all the replays reads one bit wrong
  kSession,     ///< every hundredth cycle leaks its session
  kRace,        ///< threads share the memory of their inputs
  kOutputs,     ///< the sessions of several threads write their outputs to the same memory
  kTorn,        ///< outputs are read without the session's check that no other thread uses it
};

struct Options {
  SessionOptions session;
  uint64_t seed = 1;
  Plant plant = Plant::kNone;
  uint64_t replays = 0;   ///< replays of one session, with the same input
  int threads = 4;        ///< threads of the checks that the following numbers belong to
  uint64_t runs = 0;      ///< runs of each thread, with inputs of its own
  uint64_t cycles = 0;    ///< sessions that are created, run and destroyed while others run
  uint64_t calls = 0;     ///< calls of each thread, all to the same session
  uint64_t destroys = 0;  ///< sessions that are destroyed while threads run them
};

/// Runs the same requests again and again in one session: results stay the same bit for bit, and no
/// resource grows.
int CheckReplays(const Options& options, const Subject& subject, const Meter& meter);

/// Runs a session per thread, taking the subjects in turn: the results are bit for bit those of a
/// single thread.
int CheckThreads(const Options& options, const std::vector<Subject>& subjects, const Meter& meter);

/// Creates and destroys sessions while others run. Some outlive their program, some are made by
/// Fork.
int CheckChurn(const Options& options, const std::vector<Subject>& subjects, const Meter& meter);

/// Lets many threads use one session: each call either succeeds or is refused because the session
/// is busy, and no output mixes two runs.
int CheckMisuse(const Options& options, const Subject& subject);

/// Uses the C interface: threads run a session until another thread has destroyed it and,
/// sometimes, its program before it.
int CheckDestroys(const Options& options, const Subject& subject, const Meter& meter);

/// Prints "ok" or what is wrong, and gives 0 or 1.
int Tell(const std::string& check, const std::string& fault);

}  // namespace aicf::endurance
