/// The decision-applied program: what an artifact says, decoded. The compiler calls it the Plan and
/// builds it; the runtime executes it; the verifier (schema/verify.h) proves it. Plain data.
///
/// Buffers hold bytes; operands are strided views of buffers (abi::View), so reshapes, transposes,
/// slices and concatenations that were eliminated leave no step and no buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"
#include "base/hash.h"
#include "kernels/abi/kernel.h"
#include "kernels/abi/problem.h"

namespace aicf::schema {

enum class Role : uint8_t {
  kInput,     ///< bound by the caller, never written by a step
  kOutput,    ///< read by the caller after a replay
  kConstant,  ///< a range of the weights section, never written
  kState,     ///< lives across replays; see Storage::kState
  kMeta,      ///< small, rewritten by the host before a replay
  kTemp,      ///< lives from its first writer to its last reader
  kCarried,   ///< a loop's state: written in full before the loop, and again during its trips
  kCount,
};
std::string_view RoleName(Role role);
/// "an input", "a temp", ...
std::string RoleWithArticle(Role role);

enum class Storage : uint8_t {
  kArena,    ///< `offset` bytes into the arena
  kWeights,  ///< `offset` bytes into the weights section
  kAlias,  ///< exactly the bytes of buffer `alias_of` (in-place; alias_of < this buffer's index is
           ///< not required, cycles are refused)
  /// `offset` bytes into the state block, which keeps its bytes from replay to replay and belongs
  /// to all entry points of the program. Such a buffer is a state's value from before the replay
  /// and is never written: a step updates the state by writing a buffer in its place (kAlias, role
  /// kState).
  kState,
  kCount,
};

/// Every arena, weights and state offset is a multiple of this.
inline constexpr uint64_t kBufferAlignment = 256;

/// What a constant in a kernel's own layout was before it was packed. With the problem of the step
/// that reads it, whose view describes the unpacked constant, anyone can unpack it.
struct PackedOrigin {
  std::string layout;  ///< abi::PackedLayout::name
  /// Of all bytes of the constant that the compiler packed. The lowered program in the artifact
  /// holds that constant too, unless a pass made it.
  Hash128 hash;
  friend bool operator==(const PackedOrigin&, const PackedOrigin&) = default;
};

struct Buffer {
  std::string name;  ///< the source model's tensor name, or "%N" for values the compiler made
  DType dtype = DType::kF32;
  Dims shape;          ///< dense row-major shape the caller sees; for packed constants: u8 x bytes
  uint64_t bytes = 0;  ///< == ElementCount(shape) * DTypeBytes(dtype)
  Role role = Role::kTemp;
  Storage storage = Storage::kArena;
  uint64_t offset = 0;
  uint32_t alias_of = 0;  ///< kAlias only
  /// Packed constants only. Artifacts that were made before origins were recorded have none.
  std::optional<PackedOrigin> origin = std::nullopt;
};

inline constexpr uint64_t kMaxGuards = 32;  ///< of one step: branches inside branches

inline constexpr uint32_t kMaxStreams = 8;  ///< of one entry point

/// A step runs only where a bool buffer of one element holds `expected`.
struct Guard {
  uint32_t buffer = 0;
  bool expected = true;
  friend bool operator==(const Guard&, const Guard&) = default;
};

struct Step {
  std::vector<std::string> sources;  ///< source nodes this step came from, in order
  std::string kernel;                ///< abi::KernelInfo::key
  abi::Problem problem;
  std::vector<uint32_t> inputs;   ///< buffer of problem.inputs[k]
  std::vector<uint32_t> outputs;  ///< buffer of problem.outputs[k]
  /// Outermost first; empty: the step always runs. A replay skips the step when one of them does
  /// not hold. Its outputs then hold whatever the arena held, and the steps that read them select
  /// other values instead.
  std::vector<Guard> guards;
  uint32_t packed_inputs = 0;  ///< bit k: inputs[k] holds the kernel's packed layout
  bool IsPacked(size_t k) const { return k < 32 && (packed_inputs >> k & 1) != 0; }
  uint64_t workspace_offset = 0;  ///< into the arena
  uint64_t workspace_bytes = 0;
  abi::Parameters parameters;               ///< of the kernel's variant
  abi::LaunchConfig launch;                 ///< cuda.* only; follows from the parameters
  std::vector<abi::TensorMap> tensor_maps;  ///< cuda.* only; follow from the parameters
  int32_t image = -1;  ///< cuda.* only: index into Program::images; -1 in a plan without
  std::string symbol;  ///< cuda.* only: IsInstanceSymbol(it, kernel, problem, variant)
  std::vector<uint8_t> algorithm;  ///< library kernels: the recorded algorithm, opaque
  uint64_t library_version = 0;    ///< library kernels: version the algorithm was recorded with
  // Order on a GPU; elsewhere the three are at their defaults. The order of the steps in the
  // program is one that these edges allow, so it is always right to run them in that order.
  uint32_t stream = 0;          ///< below kMaxStreams; steps of one stream run in their order
  std::vector<uint32_t> waits;  ///< earlier steps of other streams that finish first; ascending
  /// The launch may take place before the previous step on the stream has finished: the kernel
  /// itself waits for the end of that step (abi::KernelInfo::waits_first).
  bool programmatic = false;
};

/// What the step records about how its kernel runs the problem.
abi::Variant VariantOf(const Step& step);
/// The same without a copy. REQUIRES: the step outlives the result.
abi::VariantRef VariantRefOf(const Step& step);
/// Records `variant` in the step: parameters, launch, workspace bytes and tensor maps.
void SetVariant(Step& step, abi::Variant variant);

/// Compiled device code, one cubin per image.
struct Image {
  std::string arch;      ///< "sm_90a"
  std::string compiler;  ///< "nvrtc 13.0"
  Hash128 hash;
  uint64_t offset = 0;  ///< into the images section
  uint64_t bytes = 0;
};

/// An output whose extent along one axis a replay decides: its buffer has the largest shape, and
/// the first `count` positions of the axis hold data.
struct OutputExtent {
  uint32_t output = 0;  ///< position in EntryPoint::outputs
  uint32_t axis = 0;
  uint32_t count = 0;  ///< position in EntryPoint::outputs of one i64; readers clamp it to the axis
  friend bool operator==(const OutputExtent&, const OutputExtent&) = default;
};

inline constexpr uint64_t kMaxLoopDepth = 32;  ///< loops inside loops

/// Steps [first_step, first_step + step_count) run again and again while `condition` holds true,
/// which is tested before every trip: a loop may make none. Nothing but the program's own steps
/// ends a loop: a device gives no way to limit the trips from outside, so neither executor has a
/// limit. A guard inside a loop is tested in every trip.
struct Loop {
  uint32_t first_step = 0;
  uint32_t step_count = 0;
  uint32_t condition = 0;  ///< a carried bool of one element, which a step of the loop writes
  friend bool operator==(const Loop&, const Loop&) = default;
};

/// An axis of one of an entry point's inputs.
struct PaddedInput {
  uint32_t input = 0;  ///< position in EntryPoint::inputs
  uint32_t axis = 0;
  friend bool operator==(const PaddedInput&, const PaddedInput&) = default;
};

/// An axis of one of an entry point's outputs that loses `factor` positions at its end for every
/// position of padding.
struct PaddedOutput {
  uint32_t output = 0;  ///< position in EntryPoint::outputs, a model output
  uint32_t axis = 0;
  uint32_t factor = 1;
  friend bool operator==(const PaddedOutput&, const PaddedOutput&) = default;
};

/// Input axes that may hold fewer positions than their buffers have, the same number in all of
/// these axes; the rest of the buffers may hold anything. The compiler has proved that what remains
/// of the outputs does not depend on this padding, and equals what the model gives for tensors of
/// the smaller shape.
struct Padding {
  uint64_t min = 1;                 ///< least positions; at least 1, fewer than the axes have
  std::vector<PaddedInput> inputs;  ///< ascending; all of one extent
  std::vector<PaddedOutput> outputs = {};  ///< ascending
  friend bool operator==(const Padding&, const Padding&) = default;
};

struct EntryPoint {
  std::string name;               ///< "main", or the bucket's name
  std::vector<uint32_t> inputs;   ///< buffers in the model's order
  std::vector<uint32_t> outputs;  ///< the model's, in its order; then the counts of `extents`
  uint32_t first_step = 0;        ///< steps [first_step, first_step + step_count)
  uint32_t step_count = 0;
  std::vector<OutputExtent> extents = {};  ///< ascending by output, one each
  /// Any two are nested or apart, and never the same range. Ordered by first step, outer ones
  /// first.
  std::vector<Loop> loops = {};
  std::vector<Padding> paddings = {};  ///< independent of each other; no axis is in two
  /// Buffers of role kMeta, next to each other in the arena in this order, so that one copy
  /// rewrites them all.
  std::vector<uint32_t> metas = {};

  /// Number of the model's own outputs, after which come the counts of `extents`.
  size_t model_outputs() const {
    size_t first = outputs.size();
    for (const OutputExtent& e : extents) first = e.count < first ? e.count : first;
    return first;
  }
  /// nullptr when the output always has its whole shape.
  const OutputExtent* ExtentOf(size_t output) const {
    for (const OutputExtent& e : extents) {
      if (e.output == output) return &e;
    }
    return nullptr;
  }
};

struct Program {
  std::string target;  ///< DeviceSpec::name
  abi::MathMode math = abi::MathMode::kFp32;
  uint64_t arena_bytes = 0;
  uint64_t arena_lower_bound = 0;  ///< largest set of bytes live at once
  uint64_t weights_bytes = 0;
  uint64_t state_bytes = 0;  ///< of the state block; every session has one
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Image> images;
  /// CUDA plans with guards or loops: index of the image whose function abi::kGuardSymbol reads a
  /// guard or a loop's condition on the device; -1 otherwise.
  int32_t guard_image = -1;
  std::vector<EntryPoint> entry_points;
  /// The source model's own key/value strings (class names, dictionaries), in its order.
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Whether the buffer holds a state's value from before the replay. Sessions know a state by this
/// buffer.
inline bool IsState(const Buffer& b) { return b.storage == Storage::kState; }
/// Names of all states, in the order of their buffers.
inline std::vector<std::string> StateNames(const Program& program) {
  std::vector<std::string> names;
  for (const Buffer& b : program.buffers) {
    if (IsState(b)) names.push_back(b.name);
  }
  return names;
}

/// The buffer at the end of an alias chain. REQUIRES: chains end.
inline uint32_t RootOf(const Program& program, uint32_t buffer) {
  while (program.buffers[buffer].storage == Storage::kAlias) {
    buffer = program.buffers[buffer].alias_of;
  }
  return buffer;
}

/// The plan as text that parses back to an equal program (schema/program_text.cc).
std::string ToString(const Program& program);
Result<Program> ParseProgram(std::string_view text);

}  // namespace aicf::schema
