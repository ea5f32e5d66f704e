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
/// Limit of the operations of all steps of an entry point together, each taken once
/// (abi::OperationCount). No device does as many in an hour. What runs on a CPU has a lower limit,
/// which an option raises (SessionOptions::max_operations).
inline constexpr double kMaxOperations = 1e19;
/// Limit of the elements of a view, broadcast axes counted; its strides and offset have the same
/// limit. It keeps the arithmetic of kernels' host functions, which see shapes before any buffer
/// bounds them, far from overflow.
inline constexpr int64_t kMaxViewElements = int64_t{1} << 40;

/// Proves, in this order, for every entry point:
///  1. counts, names and roles: names of inputs and outputs are unique, indices are in range, and a
///     buffer's bytes match its dtype and shape. Outputs' extents name an axis and one i64 after
///     the model's outputs. Loops are ranges of the entry point's steps, nested or apart, each with
///     one carried bool as its condition. Paddings name axes of inputs, all axes of a padding have
///     one extent, and outputs have the positions that they lose. The entry points cut the steps
///     into consecutive ranges. The target is a device's exact name;
///  2. storage: offsets are aligned and inside arena, weights or state block; alias chains end and
///     have equal bytes; constants, and only they, lie in the weights; states and their updates,
///     and only they, in the state block;
///  3. every step: ValidateProblem accepts its problem; its kernel is known, belongs to a backend
///     that the target has, and its supports() returns no refusal. Counts and dtypes of the
///     operands match. Each view's extent is inside its buffer. A packed input instead has the
///     bytes of the kernel's layout, and where its buffer has an origin, that names this layout. A
///     buffer with an origin is read in this way by at least one step, and in no other way.
///     The workspace is equal to the kernel's own query (a library's is at most that) and inside
///     the arena. The launch is equal to the kernel's own and within device limits. The symbol is
///     one that IsInstanceSymbol accepts. The image index is in range, or -1 on every step of a
///     program without images (a plan for the CPU reference; a GPU refuses it). Each guard is one
///     bool, read on the device by the guard image. Library kernels, and only they, have an
///     algorithm and a library version.
///     Streams are below kMaxStreams. A step waits for earlier steps of its entry point on other
///     streams, at most one of each. Where steps are skipped or repeated there is one stream. A
///     launch is programmatic only where its kernel waits for the kernel before it
///     (KernelInfo::waits_first), that kernel is one of aicf's own and belongs to the previous step
///     of the stream in this entry point, the step waits for no other stream, and neither of the
///     two steps is skipped or repeated. Then all earlier steps of the stream have finished before
///     the kernel touches memory (verify_streams.cc says why). Stream, waits and programmatic are
///     at their defaults where the target is no GPU;
///  4. order: no step writes an input, meta or constant, or reads an input or meta that the entry
///     point does not list. No step reads an element of a temp or output that earlier steps did
///     not write exactly once; nothing is written after it was read; outputs are written in full,
///     each element once. A carried buffer is written in full, each element once, before it is
///     read; after that, any step in the loops in which the first write stands may write it. What a
///     loop writes is read in that loop only, unless it is carried from outside: a loop may make no
///     trip. A loop writes its own condition. Whether it ends is up to the data and cannot be
///     shown;
///  5. state: a state is defined at the start, so reading it first is legal, and an update may
///     write a part of it: the rest keeps what it held. States share no byte, and all values of a
///     state have its dtype and shape. A state's old value is never written; an update writes a
///     buffer in its place. The buffers in place of one another are the state's versions. In an
///     entry point a state has one line of versions. What a step reads of a version is overwritten
///     by a later version only after that step, or by that step itself where its kernel allows the
///     input in place with equal views, or not at all, which the views show. A version is read
///     after it was written, and versions are written in their order, except for elements that are
///     apart. In a loop, every step also comes after every other. A kernel whose data choose the
///     rows that it writes names all rows that it may reach in its output's view. The state block
///     has no bytes beyond the last one used, except for rounding up;
///  6. metas: they lie next to each other, each at the first multiple of kBufferAlignment after the
///     one before;
///  7. memory: buffers and workspaces that are live at the same step share no byte, unless one is
///     declared an alias of the other, the kernel allows that input in place with equal views, and
///     no later trip of a loop reads the input again. The arena has no bytes beyond the last one
///     used, except for rounding up to kBufferAlignment;
///  8. races: of two steps that access a byte of arena or state block, one of them writing it, the
///     earlier one has finished before the later one begins (schema/step_order.h). So whatever runs
///     at the same time, the results are those of the steps one after the other, which 4 to 7 look
///     at. Views of one buffer are compared element by element, so that steps may fill parts of it
///     at once.
///
/// When a buffer is live: an entry point's inputs and metas during all its steps (a replay may be
/// repeated without binding them again); its outputs from their first writer to the end; other
/// buffers from the first to the last step that names them, and during a whole loop where some of
/// these steps are in it and others are not; a workspace during its step.
///
/// Errors: kBadArtifact (naming step or buffer, expected, found); kUnsupported for an unknown
/// kernel key or target; kResource when a limit is passed. Cost: O((steps * operands + buffers) *
/// log); per 1000 steps 0.2 to 0.6 ms for a CPU and 0.3 to 1.4 for a GPU, least where they are
/// equal.
Status VerifyProgram(const Program& program);

}  // namespace aicf::schema
