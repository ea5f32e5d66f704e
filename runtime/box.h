/// Copying between a dense tensor and the part of a larger one that has the first positions of
/// every axis.
#pragma once

#include <cstdint>

#include "base/dims.h"
#include "base/status.h"

namespace aicf {

/// Calls copy(offset in the part, offset in the whole, bytes), which returns a Status, for every
/// run of elements that is consecutive in both. Both are dense row-major; the part's element at a
/// position is the whole's at the same position. A part of no elements has no runs. REQUIRES: equal
/// ranks; part[d] <= whole[d].
template <class Copy>
Status ForEachRun(const Dims& part, const Dims& whole, int64_t element_bytes, Copy copy) {
  int inner = part.rank();  // axes from here on form one run: all of them but the first are whole
  uint64_t run = static_cast<uint64_t>(element_bytes), whole_run = run;
  while (inner > 0) {
    --inner;
    run *= static_cast<uint64_t>(part[inner]);
    whole_run *= static_cast<uint64_t>(whole[inner]);
    if (part[inner] != whole[inner]) break;
  }
  for (int d = 0; d < part.rank(); ++d) {
    if (part[d] == 0) return OkStatus();
  }
  Dims at = Dims::Filled(inner, 0);
  for (uint64_t done = 0;; done += run) {
    uint64_t row = 0;
    for (int d = 0; d < inner; ++d)
      row = row * static_cast<uint64_t>(whole[d]) + static_cast<uint64_t>(at[d]);
    AICF_RETURN_IF_ERROR(copy(done, row * whole_run, run));
    int d = inner - 1;
    while (d >= 0 && ++at[d] == part[d]) at[d--] = 0;
    if (d < 0) return OkStatus();
  }
}

}  // namespace aicf
