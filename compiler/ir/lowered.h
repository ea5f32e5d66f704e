/// ir::Lowered: kernel-shaped steps of the families in kernels/abi/family.def, with explicit
/// layouts (strided views of buffers). No kernel is named, no byte is placed.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/ir/tensor.h"
#include "kernels/abi/problem.h"
#include "schema/program.h"

namespace aicf::ir {

using BufferId = uint32_t;

struct LoweredBuffer {
  std::string name;
  DType dtype = DType::kF32;
  Dims shape;  ///< dense; what the caller sees for inputs and outputs
  schema::Role role = schema::Role::kTemp;
  Tensor constant;  ///< role kConstant: its data, dense in `shape`
};

/// Bytes of the whole buffer, which is dense. REQUIRES: a shape whose elements can be counted.
inline size_t BytesOf(const LoweredBuffer& buffer) {
  return static_cast<size_t>(*ElementCount(buffer.shape) * DTypeBytes(buffer.dtype));
}

/// "f32 [2, 3]": what two buffers of one state have in common.
std::string TypeText(const LoweredBuffer& buffer);

inline constexpr int32_t kNoLoop = -1;  ///< runs once

struct LoweredStep {
  std::vector<std::string> sources;  ///< source node names, in order of absorption
  abi::Problem problem;
  std::vector<BufferId> inputs;  ///< buffer of problem.inputs[k]
  std::vector<BufferId> outputs;
  std::vector<schema::Guard> guards = {};  ///< as in schema::Step; buffers are BufferIds
  int32_t loop = kNoLoop;                  ///< the innermost loop that repeats it
};

/// Steps that repeat while the condition holds, as in schema::Loop.
struct LoweredLoop {
  BufferId condition = 0;
  int32_t parent = kNoLoop;  ///< the loop directly around this one; comes before it in the list
};

/// A state: `past` is its value before a replay, `present` the one after it, with which the next
/// replay begins. Both have the same dtype and shape. Until the pass update-states they are an
/// input and an output. From then on both have role kState: `past` is never written, and `present`
/// is written in full and takes the place of `past`.
struct LoweredState {
  BufferId past = 0;
  BufferId present = 0;
};

/// Steps are in execution order; buffers not referenced by a step, input or output list are
/// dropped. A temp or output buffer may be written by several steps, each its own disjoint part
/// (concatenation); a step reads only elements that an earlier step wrote and no later one writes.
/// The steps of a loop, and of the loops inside it, follow each other. A carried buffer is written
/// in full in front of its loop and changes inside: a read gives what the last write before it
/// left. What a loop writes is not read outside unless it is carried, because the loop may make no
/// trip.
struct Lowered {
  std::string name;
  std::vector<LoweredBuffer> buffers;
  std::vector<LoweredStep> steps;
  std::vector<BufferId> inputs;                    ///< role kInput, or kMeta
  std::vector<BufferId> outputs;                   ///< the graph's, then counts of `extents`
  std::vector<schema::OutputExtent> extents = {};  ///< as in schema::EntryPoint
  std::vector<LoweredLoop> loops = {};
  std::vector<LoweredState> states = {};  ///< named by their past buffer
};

/// ValidateProblem for every step, extents inside buffers, definition before use, roles respected,
/// states in pairs of one type, loops in one piece and what they write used inside.
Status Verify(const Lowered& lowered);

std::string ToString(const Lowered& lowered);

}  // namespace aicf::ir
