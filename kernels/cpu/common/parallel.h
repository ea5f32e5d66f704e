/// Splitting work over the caller's threads. The pieces depend on the amount of work and on a fixed
/// grain, never on the number of threads, so that no result can depend on it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// Calls f(begin, end) for consecutive ranges that cover [0, count), each at most `grain` long.
/// One range, or a call without parallel_for, runs on the calling thread without any indirection.
template <class F>
void ParallelRanges(const abi::ArgBlock& args, int64_t count, int64_t grain, const F& f) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t pieces = (count - 1) / grain + 1;
  if (pieces == 1) return f(int64_t{0}, count);
  struct Context {
    const F* f;
    int64_t count;
    int64_t grain;
  } context{&f, count, grain};
  const auto run = [](void* raw, int64_t piece) {
    const Context& c = *static_cast<const Context*>(raw);
    (*c.f)(piece * c.grain, std::min(c.count, (piece + 1) * c.grain));
  };
  if (args.parallel_for != nullptr && args.threads > 1) {
    return args.parallel_for(args.stream, pieces, run, &context);
  }
  for (int64_t piece = 0; piece < pieces; ++piece) run(&context, piece);
}

}  // namespace aicf::cpu
