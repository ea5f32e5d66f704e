/// What every reference kernel is written with: index walks, element access, and the prologue and
/// epilogue of a step at one point.
#pragma once

#include <cstdint>

#include "kernels/abi/kernel.h"
#include "kernels/abi/raw_dtype.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/expr/scalar_eval.h"

namespace aicf::cpu {

inline const abi::TensorArg& Input(const abi::ArgBlock& args, int k) { return args.tensors[k]; }
inline const abi::TensorArg& Output(const abi::ArgBlock& args, int k) {
  return args.tensors[args.input_count + k];
}

inline Dims ShapeOf(const abi::TensorArg& t) { return Dims(std::span(t.shape, t.rank)); }

/// Calls f(coords) for every index of `shape` in row-major order; once for rank 0, never when an
/// extent is 0. coords has kMaxRank entries; f may not change them.
template <class F>
void ForEachIndex(const Dims& shape, F&& f) {
  for (int64_t extent : shape) {
    if (extent == 0) return;
  }
  int64_t coords[kMaxRank] = {};
  for (;;) {
    f(static_cast<const int64_t*>(coords));
    int axis = shape.rank() - 1;
    while (axis >= 0 && ++coords[axis] == shape[axis]) coords[axis--] = 0;
    if (axis < 0) return;
  }
}

/// Calls f(coords) for every index of `shape`, in parallel pieces. f must write to places of its
/// own.
template <class F>
void ParallelIndices(const abi::ArgBlock& args, const Dims& shape, F&& f) {
  const int64_t count = ElementCount(shape).value_or(0);
  ParallelRanges(args, count, 1024, [&](int64_t begin, int64_t end) {
    int64_t coords[kMaxRank] = {};
    for (int64_t rest = begin, axis = shape.rank() - 1; axis >= 0; --axis) {
      coords[axis] = rest % shape[static_cast<int>(axis)];
      rest /= shape[static_cast<int>(axis)];
    }
    for (int64_t i = begin; i < end; ++i) {
      f(static_cast<const int64_t*>(coords));
      for (int axis = shape.rank() - 1; axis >= 0 && ++coords[axis] == shape[axis]; --axis) {
        coords[axis] = 0;
      }
    }
  });
}

/// Address of the element at coords, the view's offset included.
void* ElementAt(const abi::TensorArg& t, const int64_t* coords);
Scalar LoadAt(const abi::TensorArg& t, const int64_t* coords);
void StoreAt(const abi::TensorArg& t, const int64_t* coords, Scalar value);

/// Value of the prologue (reduce, normalize) at a point of the domain; inputs[0] without one.
Scalar PrologueAt(const abi::ArgBlock& args, const int64_t* coords);

/// Applies the epilogue at the output coordinates to `raw`, which is already rounded to
/// RawDType(problem), and stores its results. Without an epilogue, stores raw, cast to the output's
/// dtype.
void StoreEpilogue(const abi::ArgBlock& args, const int64_t* coords, Scalar raw);
/// The same for several raw results: RawInputs(problem) of them.
void StoreEpilogue(const abi::ArgBlock& args, const int64_t* coords, const Scalar* raw);

}  // namespace aicf::cpu
