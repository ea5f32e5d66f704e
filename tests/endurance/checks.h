/// What the program looks at. Each check prints a line and gives how many faults it found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "tests/endurance/meter.h"
#include "tests/endurance/subject.h"

namespace aicf::endurance {

/// A defect that the program has on purpose, to see that the checks find it.
enum class Plant : uint8_t {
  kNone,
  kMemory,      ///< a replay leaves 1 KiB of the heap
  kDescriptor,  ///< a replay leaves an open file
  kMapping,     ///< a replay leaves a page
  kDevice,      ///< a replay leaves 1 KiB of the GPU's memory
  kBits,        ///< one replay among all reads one bit wrong
  kSession,     ///< every hundredth cycle leaves its session
  kRace,        ///< threads share the memory of their inputs
  kOutputs,     ///< threads' sessions are bound to one memory for their outputs
  kTorn,        ///< outputs are read past the session's check for a second thread
};

struct Options {
  SessionOptions session;
  uint64_t seed = 1;
  Plant plant = Plant::kNone;
  uint64_t replays = 0;   ///< of one session, with one input
  int threads = 4;        ///< of the checks below
  uint64_t runs = 0;      ///< of each thread, with inputs of its own
  uint64_t cycles = 0;    ///< sessions that are created, run and destroyed, beside others at work
  uint64_t calls = 0;     ///< of each thread, all into one session
  uint64_t destroys = 0;  ///< sessions that are destroyed under the threads that run them
};

/// One session, the same requests again and again: the same bits, and nothing grows.
int CheckReplays(const Options& options, const Subject& subject, const Meter& meter);

/// A session per thread, subjects in turn: the bits that one thread alone has computed.
int CheckThreads(const Options& options, const std::vector<Subject>& subjects, const Meter& meter);

/// Sessions come and go, also after their program and by Fork, while others run.
int CheckChurn(const Options& options, const std::vector<Subject>& subjects, const Meter& meter);

/// Many threads in one session: each call is done or refused as busy, and no output is torn.
int CheckMisuse(const Options& options, const Subject& subject);

/// The C interface: threads run a session until another one has destroyed it, and its program.
int CheckDestroys(const Options& options, const Subject& subject, const Meter& meter);

/// Prints "ok" or what is wrong, and gives 0 or 1.
int Tell(const std::string& check, const std::string& fault);

}  // namespace aicf::endurance
