/// The fake driver on a device that is as slow as can be: a graph that was launched runs only when
/// somebody waits for it. So the runtime gets wrong numbers where it writes into what a queued
/// replay still reads, or reads what that replay has not written yet. Tests only.
#pragma once

#include <deque>
#include <map>

#include "runtime/cuda/fake_driver.h"

namespace aicf::cuda::testing {

struct LateMachine {
  DriverApi fake;
  std::deque<std::pair<CUgraphExec, CUstream>> waiting;
  uint64_t launched = 0, finished = 0;
  std::map<CUevent, uint64_t> recorded;  ///< by event: launches before it
};

inline LateMachine& Late() {
  static LateMachine machine;
  return machine;
}

inline CUresult FinishLaunches(uint64_t count) {
  LateMachine& m = Late();
  CUresult result = kCudaSuccess;
  for (; m.finished < count && result == kCudaSuccess; ++m.finished) {
    result = m.fake.GraphLaunch(m.waiting.front().first, m.waiting.front().second);
    m.waiting.pop_front();
  }
  return result;
}

/// A table whose functions act on Machine(). One at a time.
inline DriverApi LateApi() {
  DriverApi api = FakeApi();
  Late() = {};
  Late().fake = api;
  api.GraphLaunch = [](CUgraphExec exec, CUstream stream) {
    Late().waiting.emplace_back(exec, stream);
    ++Late().launched;
    return kCudaSuccess;
  };
  api.EventRecord = [](CUevent event, CUstream stream) {
    Late().recorded[event] = Late().launched;
    return Late().fake.EventRecord(event, stream);
  };
  api.EventQuery = [](CUevent event) {
    return Late().finished < Late().recorded[event] ? kCudaNotReady : kCudaSuccess;
  };
  api.EventSynchronize = [](CUevent event) { return FinishLaunches(Late().recorded[event]); };
  api.StreamQuery = [](CUstream) {
    return Late().finished < Late().launched ? kCudaNotReady : kCudaSuccess;
  };
  api.StreamSynchronize = [](CUstream) { return FinishLaunches(Late().launched); };
  return api;
}

}  // namespace aicf::cuda::testing
