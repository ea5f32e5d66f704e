/// The walk of a copy that makes a tensor dense: its two innermost axes at a time.
#pragma once

#include <algorithm>

#include "kernels/cpu/common/parallel.h"

namespace aicf::cpu {

/// Calls f(offset, index) for every plane of the last two axes of `order`, on the caller's threads.
/// offset: place of the plane's first element in the buffer; index: number of the plane.
/// plane_work: elements of a plane. Planes are grouped into pieces of work of about `grain`
/// elements.
template <class F>
void ForEachPlane(const abi::ArgBlock& args, const abi::TensorArg& from, const int* order,
                  int64_t plane_work, int64_t grain, const F& f) {
  int64_t planes = 1;
  for (int i = 0; i + 2 < from.rank; ++i) planes *= from.shape[order[i]];
  const int64_t together = std::max<int64_t>(1, grain / std::max<int64_t>(1, plane_work));
  ParallelRanges(args, planes, together, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      int64_t offset = from.offset, rest = index;
      for (int i = from.rank - 3; i >= 0; --i) {
        offset += rest % from.shape[order[i]] * from.strides[order[i]];
        rest /= from.shape[order[i]];
      }
      f(offset, index);
    }
  });
}

}  // namespace aicf::cpu
