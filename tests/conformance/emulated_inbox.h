// kernels/cuda/common/inbox.cuh on a CPU. Await() is a barrier of the cluster: all values have been
// sent when every thread has called it.
#pragma once

#include "tests/conformance/emulated_ptx.h"

namespace aicf {

struct Inbox {
  void Open(int) {}
  template <class T>
  void Send(const T* place, const T& value, int rank) {
    const long offset = reinterpret_cast<const char*>(place) - emulator_calls.dynamic_shared;
    std::memcpy(emulator_calls.cluster_shared(rank) + offset, &value, sizeof value);
  }
  void Await() { emulator_calls.cluster_barrier(); }
};

}  // namespace aicf
