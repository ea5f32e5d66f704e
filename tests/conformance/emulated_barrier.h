// What an mbarrier holds, for the emulator and for the instances that it runs.
#pragma once

/// The parity of the current phase, how many arrivals end a phase, and what is missing in this one.
struct EmulatedBarrier {
  unsigned parity : 1, arrivals : 15, missing : 16;
  int missing_bytes;

  void EndPhaseIfComplete() {
    if (missing != 0 || missing_bytes != 0) return;
    parity ^= 1;
    missing = arrivals;
  }
};
