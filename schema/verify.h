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
/// Of an entry point's steps together, each taken once (abi::OperationCount). No device does as
/// many in an hour. What runs on a CPU has a lower limit, which an option raises
/// (SessionOptions::max_operations).
inline constexpr double kMaxOperations = 1e19;
/// Elements of a view, broadcast axes counted; also bounds its strides and offset. Keeps the
/// arithmetic of kernels' host functions, which see shapes before any buffer bounds them, far from
/// overflow.
inline constexpr int64_t kMaxViewElements = int64_t{1} << 40;

/// Proves, in this order, for every entry point:
///  1. counts, names and roles: unique I/O names, indices in range, buffers' bytes match dtype x
///  shape;
///     outputs' extents name an axis and one i64 after the model's outputs; loops are ranges of
///     the entry point's steps, nested or apart, with one carried bool each as condition; paddings
///     name axes of inputs, of one extent each, and what outputs lose is there; the entry points
///     cut the steps into consecutive ranges; the target is a device's exact name;
///  2. storage: offsets aligned and inside arena, weights or state block; alias chains end and have
///     equal bytes; constants, and only they, lie in the weights; states and their updates, and
///     only they, in the state block;
///  3. every step: ValidateProblem; kernel known and of a backend the target has; supports() is
///  empty;
///     operand counts and dtypes; each view's extent inside its buffer (packed inputs:
///     the bytes of the kernel's layout, and the layout that the buffer's origin names; a buffer
///     with an origin is read so by some step, and otherwise by none); workspace equal to the
///     kernel's own query (a library's: at most that) and inside the arena; launch equal to the
///     kernel's own and within device limits; symbol one that IsInstanceSymbol accepts; image index
///     in range, or -1 on every step of a program without images (a plan for the CPU reference; a
///     GPU refuses it); guards one bool each, read on the device by the guard image; algorithm and
///     library version on library kernels, and only there; streams: below kMaxStreams; a step waits
///     for earlier steps of its entry point on other streams, at most one of each; where steps are
///     skipped or repeated there is one stream. A launch is programmatic only where its kernel
///     waits for the one before it (KernelInfo::waits_first), that one is the stream's step before
///     it in this entry point and a kernel of aicf's own, the step waits for no other stream, and
///     neither of the two is skipped or repeated. Then a stream's earlier steps have all finished
///     before the kernel touches memory (verify_streams.cc says why). All three fields are at their
///     defaults where the target is no GPU;
///  4. order: no step writes an input, meta or constant, or reads an input or meta that the entry
///  point does not
///     list; no step reads a temp or output that earlier steps did not write in full, each element
///     once; nothing is written after it was read; outputs are written. A carried buffer is
///     written in full, each element once, before it is read; after that any step may write it, in
///     the loops in which the first write stands. What a loop writes is read in that loop only,
///     unless it is carried from outside: a loop may make no trip. A loop writes its own condition.
///     Whether it ends is up to the data and cannot be shown;
///  5. state: it is defined at the start, so that reading it first is legal, and an update may
///  write
///     a part of it: the rest keeps what it held. States share no byte, and all values of one have
///     its dtype and shape. A state's old value is never written; an update writes a buffer in its
///     place (versions: the buffers in place of one another). In an entry point a state has one
///     line of versions, and whatever a step reads of a version is overwritten by a later one only
///     after that step, or by that step where its kernel allows the input in place with equal
///     views, or not at all, which the views show. A version is read after it was written, and
///     versions are written in their order, but for elements that are apart. In a loop, every step
///     also comes after every other. A kernel whose data choose the rows that it writes names all
///     rows it may reach in its output's view. The block has no bytes beyond the last one used, but
///     for rounding up;
///  6. metas lie next to each other, each at the first multiple of kBufferAlignment after the one
///     before;
///  7. memory: buffers and workspaces live at the same step share no byte, unless one is declared
///  an
///     alias of the other, the kernel allows that input in place with equal views, and no later
///     trip of a loop reads the input again; the arena has no bytes beyond the last one used, but
///     for rounding up to kBufferAlignment;
///  8. races: of two steps that access a byte of arena or state block, one of them writing it, the
///     earlier one has finished before the later one begins (schema/step_order.h). So whatever runs
///     at the same time, the results are those of the steps one after the other, which 4 to 7 look
///     at. Views of one buffer are compared element by element, so that steps may fill parts of it
///     at once.
///
/// A buffer is live: an entry point's inputs and metas, during all its steps (a
/// replay may be repeated without binding them again); its outputs, from their first writer to the
/// end; other buffers, from the first to the last step that names them, and where some of
/// these steps are in a loop and others are not, during the whole loop; a workspace, during its
/// step.
///
/// Errors: kBadArtifact (naming step or buffer, expected, found); kUnsupported for an unknown
/// kernel key or target; kResource when a limit is passed. Cost: O((steps * operands + buffers) *
/// log); per 1000 steps 0.2 to 0.6 ms for a CPU and 0.3 to 1.4 for a GPU, least where they are
/// equal.
Status VerifyProgram(const Program& program);

}  // namespace aicf::schema
