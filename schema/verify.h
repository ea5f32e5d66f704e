/// Semantic verification of a program, from first principles; needs no device.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "kernels/abi/kernel.h"
#include "schema/program.h"

namespace aicf::schema {

/// Limits; above them kResource.
inline constexpr uint64_t kMaxSteps = 1'000'000;
inline constexpr uint64_t kMaxBuffers = 4'000'000;
inline constexpr uint64_t kMaxEntryPoints = 1024;
inline constexpr uint64_t kMaxMemoryBytes = uint64_t{1} << 46;  ///< arena, and weights
/// Elements of a view, broadcast axes counted; also bounds its strides and offset. Keeps the
/// arithmetic of kernels' host functions, which see shapes before any buffer bounds them, far from
/// overflow.
inline constexpr int64_t kMaxViewElements = int64_t{1} << 40;

/// Proves, in this order, for every entry point:
///  1. counts, names and roles: unique I/O names, indices in range, buffers' bytes match dtype x
///  shape;
///     outputs' extents name an axis and one i64 behind the model's outputs;
///     the entry points cut the steps into consecutive ranges; the target is a device's exact name;
///  2. storage: offsets aligned and inside arena or weights; alias chains end and have equal bytes;
///     constants, and only they, lie in the weights;
///  3. every step: ValidateProblem; kernel known and of a backend the target has; supports() is
///  empty;
///     operand counts and dtypes; each view's extent inside its buffer (packed inputs:
///     packed_bytes); workspace equal to the kernel's own query (a library's: at most that) and
///     inside the arena; launch equal to the kernel's own and within device limits; symbol equal to
///     InstanceSymbol; image index in range, or -1 on every step of a program without images (a plan for the
///     CPU reference; a GPU refuses it); guards one bool each, read on the device by the guard image; algorithm and library version on library kernels, and
///     only there;
///  4. order: no step writes an input, meta or constant, or reads an input that the entry point
///  does not
///     list; no step reads a temp or output that earlier steps did not write in full, each element
///     once; nothing is written after it was read; outputs are written;
///  5. memory: buffers and workspaces live at the same step share no byte, unless one is declared
///  an
///     alias of the other and the kernel allows that input in place with equal views; the arena has
///     no bytes beyond the last one used, but for rounding up to kBufferAlignment.
///
/// A buffer is live: state, always; an entry point's inputs and metas, during all its steps (a
/// replay may be repeated without binding them again); its outputs, from their first writer to the
/// end; other buffers, from the first to the last step that names them; a workspace, during its
/// step.
///
/// Errors: kBadArtifact (naming step or buffer, expected, found); kUnsupported for an unknown
/// kernel key or target; kResource when a limit is passed. Cost: O((steps * operands + buffers) *
/// log); under 1 ms per 1000 steps.
Status VerifyProgram(const Program& program);

}  // namespace aicf::schema
