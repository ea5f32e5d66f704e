/// Loops over blocks that the compiler vectorises. For *.isa.cc files only.
///
/// `GCC ivdep` holds for every loop here, since an output either does not overlap an operand or is
/// exactly that operand.
#pragma once

#include "kernels/cpu/expr/block_ops.h"

AICF_ISA_BEGIN

/// out[i] = Op::Do(a[i]), T to R.
template <class T, class R, class Op>
void UnaryLoop(int64_t n, const BlockOperand* args, void* out) {
  const T* a = static_cast<const T*>(args[0].data);
  R* r = static_cast<R*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) r[i] = static_cast<R>(Op::Do(a[i]));
}

/// out[i] = Op::Do(a[i], b[i]). At most one of the operands may repeat a single element (step 0),
/// unless n is 1.
template <class T, class R, class Op>
void BinaryLoop(int64_t n, const BlockOperand* args, void* out) {
  const T* a = static_cast<const T*>(args[0].data);
  const T* b = static_cast<const T*>(args[1].data);
  R* r = static_cast<R*>(out);
  if (args[0].step == args[1].step) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) r[i] = static_cast<R>(Op::Do(a[i], b[i]));
  } else if (args[0].step != 0) {
    const T value = *b;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) r[i] = static_cast<R>(Op::Do(a[i], value));
  } else {
    const T value = *a;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) r[i] = static_cast<R>(Op::Do(value, b[i]));
  }
}

AICF_ISA_END
