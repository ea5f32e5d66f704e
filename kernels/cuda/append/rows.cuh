// cuda.append.rows: nothing is turned, and there are no queries.
#pragma once

#include "append/append.cuh"

namespace aicf {

struct NoQueries {
  typedef In0 From;
  typedef Out0 To;
  static constexpr index_t kHeads = 0;
  static AICF_DEVICE const void* from(const Args&) { return nullptr; }
  static AICF_DEVICE void* to(const Args&) { return nullptr; }
  static AICF_DEVICE void LoadTables(const Args&, index_t, index_t, index_t, float (&)[kVector],
                                     float (&)[kVector]) {}
};

AICF_DEVICE void Kernel(const Args& args) { Append<NoQueries>(args); }

}  // namespace aicf
