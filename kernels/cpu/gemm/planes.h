/// The walk of a copy that makes a tensor dense: its two innermost axes at a time.
#pragma once

#include <algorithm>

#include "kernels/cpu/common/parallel.h"

namespace aicf::cpu {

/// Calls f(offset, index) for every plane of the last two axes of `order`, on the caller's threads:
/// the place in the buffer of its first element, and its number. plane_work: elements of a plane,
/// of which a piece of work has at least `grain` where there are as many.
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
