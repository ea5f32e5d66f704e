/// The kernel contract: what every kernel variant on every backend declares about itself.
///
/// This header is the half that concerns legality, which everybody needs who handles a recorded
/// step. The other half, what is worth choosing and what it costs, is kernels/abi/choice.h; only
/// the compiler links it. All functions are pure: no allocation that outlives the call, no device,
/// no global state.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/abi/device.h"
#include "kernels/abi/problem.h"
#include "kernels/abi/variant.h"

namespace aicf::abi {

/// Version of the argument block, the instance symbol and the meaning of every family.
inline constexpr uint32_t kKernelAbiVersion = 2;

/// Peak rate of the tensor cores in this math mode; 0 for modes in which no kernel uses them.
inline double TensorFlopsPerUs(const DeviceSpec& device, MathMode math) {
  if (math == MathMode::kTf32) return device.tf32_flops_per_us;
  return math == MathMode::kFp16 || math == MathMode::kBf16 ? device.tensor_flops_per_us : 0;
}

/// How exactly unpacking a packed constant gives back the original.
enum class Recovery : uint8_t {
  kBits,         ///< every element bit for bit
  kNormal,       ///< bit for bit, except that values below the normal range of f32 and -0 become +0
  kRounded,      ///< the values rounded to the 16-bit type that the packed form has
  kTransformed,  ///< the values within 2^-19 of the largest magnitude of their filter, if finite
};

/// A kernel's own layout for a constant operand.
struct PackedLayout {
  /// E.g. "cpu.gemm.panels16". It is stored in artifacts, so the layout that a name stands for
  /// never changes. Together with the problem it determines where each element of the operand lies.
  std::string_view name;
  uint64_t bytes = 0;  ///< not 0
  Recovery recovery = Recovery::kBits;
};

struct KernelInfo {
  std::string_view key;  ///< "cuda.conv.implicit_gemm"; unique; stored in artifacts
  Family family;
  Backend backend;
  bool deterministic;  ///< same inputs give the same bits on the same device
  std::string_view
      source;  ///< kCuda: device file under kernels/cuda/, e.g. "conv/implicit_gemm.cuh"
  /// kCuda: every thread of the kernel waits, before it touches memory, until the predecessor (the
  /// kernel before it on the stream) has finished and its writes are visible (griddepcontrol.wait);
  /// the kernel itself does not finish before its predecessor. Only such a kernel may be launched
  /// programmatically, that is, while its predecessor still runs.
  bool waits_first;
  /// kCuda: whether the kernel is able to read the input before that wait. It does so where its
  /// parameter "ahead" is not 0; the input then has to be a constant or a meta tensor, which no
  /// kernel writes, or a state that no other step of the entry point writes. nullptr: the kernel
  /// has no such parameter and reads nothing before the wait.
  bool (*reads_ahead)(const Problem&, size_t input) = nullptr;
  /// kCuda: whether all blocks of the kernel ask memory for what `reads_ahead` names from the
  /// moment they start, without a pause, so that it is the memory's speed that limits them. False
  /// for kernels whose blocks read the first tiles alone ahead.
  bool streams_ahead = false;

  /// Names and ranges of the kernel's parameters, in their order. Empty: the kernel has no
  /// parameters that would tell its variants apart.
  std::span<const ParameterRange> parameters;

  /// Empty, or one sentence saying why the kernel cannot run the problem on the device, whatever
  /// the parameters.
  std::string (*supports)(const Problem&, const DeviceSpec&);
  /// Empty, or one sentence saying why the kernel cannot run the problem with these parameters,
  /// whose values are within their ranges. nullptr: it can with all such parameters.
  std::string (*refuse)(const Problem&, const Parameters&, const DeviceSpec&);
  /// kCuda only (nullptr otherwise): `refuse` in two parts, for callers that derive the launch
  /// themselves and would otherwise do so twice (CheckVariant). The first says why the parameters
  /// do not suit the problem, the second why the device does not allow the launch that follows from
  /// them.
  std::string (*refuse_parameters)(const Problem&, const Parameters&, const DeviceSpec&);
  std::string (*refuse_launch)(const DeviceSpec&, const LaunchConfig&);
  /// kCuda only (nullptr otherwise): launch, workspace and tensor maps, which follow from the
  /// parameters alone. REQUIRES: `refuse` accepted them.
  DerivedVariant (*derive)(const Problem&, const Parameters&);
  /// kCpu: the least scratch bytes that the kernel needs. kLibrary: the most that a recorded
  /// algorithm may use. nullptr otherwise.
  uint64_t (*workspace_bytes)(const Problem&, const DeviceSpec&);
  /// Whether inputs[input] may occupy exactly the bytes of the output OutputInPlaceOf(input): their
  /// views are equal, and once the kernel has written an element of the output, it does not read
  /// that element of the input any more.
  bool (*in_place)(const Problem&, int input);
  /// The kernel's own layout in which it wants inputs[input], which then has to be a constant;
  /// nullopt: the kernel reads the view as it is. The compiler stores the packed bytes as the
  /// operand's buffer and records where they come from. nullptr: the kernel packs no operand.
  std::optional<PackedLayout> (*packed)(const Problem&, const Parameters&, int input);
  /// Writes the packed bytes from the unpacked buffer's first byte. nullptr where `packed` is.
  void (*pack)(const Problem&, const Parameters&, int input, const void* buffer, void* packed);
  /// The inverse: writes every element that the input's view names into a buffer of that view, and
  /// leaves the buffer's other bytes alone. PackedLayout::recovery says how exactly it gives back
  /// what was packed. nullptr where `packed` is.
  void (*unpack)(const Problem&, const Parameters&, int input, const void* packed, void* buffer);

  /// The variant with these parameters. REQUIRES: as `derive`, which is not nullptr.
  Variant variant(const Problem& problem, const Parameters& chosen) const {
    return MakeVariant(chosen, derive(problem, chosen));
  }
};

/// All variants of a family, in order of preference; the last cpu row is the reference variant
/// ("cpu.<family>.ref"), which never refuses a valid problem.
std::span<const KernelInfo> KernelsOf(Family family);
/// nullptr for an unknown key.
const KernelInfo* FindKernel(std::string_view key);
/// "cpu.<family>.ref".
std::string ReferenceKey(Family family);

/// Whether a kernel's backend is the device's: CPU kernels on a CPU, CUDA's and libraries' on a
/// GPU.
inline bool RunsOn(const KernelInfo& kernel, const DeviceSpec& device) {
  return (kernel.backend == Backend::kCpu) == (device.backend == Backend::kCpu);
}

/// Whether a step may record this variant: empty, or one sentence saying what is illegal about it.
/// A variant is legal if the kernel supports the problem and takes these parameters, and if launch,
/// workspace and tensor maps are those that follow from them. The workspace may be larger than
/// that; a library's is at most what it may use.
std::string CheckVariant(const KernelInfo& kernel, const Problem& problem,
                         const VariantRef& variant, const DeviceSpec& device);

/// The packed argument block of host-callable kernels. Layout is versioned by kKernelAbiVersion.
struct TensorArg {
  void* data = nullptr;  ///< address of the buffer's first byte; the view's offset is not added
  int64_t shape[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};
  int64_t offset = 0;
  DType dtype = DType::kF32;
  uint8_t rank = 0;
  uint8_t device = 0;  ///< 0 host, 1 CUDA
};

/// Runs fn(context, i) for i in [0, count) on the caller's threads and returns when all are done.
/// Threads claim iterations in ascending order, but these may overlap and finish in any order. A
/// kernel whose result depends on which thread ran an iteration is not deterministic.
using ParallelForFn = void (*)(void* stream, int64_t count, void (*fn)(void* context, int64_t i),
                               void* context);

struct ArgBlock {
  uint32_t abi_version = kKernelAbiVersion;
  uint32_t input_count = 0;
  uint32_t output_count = 0;
  const TensorArg* tensors = nullptr;  ///< inputs, then outputs
  const Problem* problem = nullptr;    ///< attributes and expressions
  void* workspace = nullptr;           ///< 64-byte aligned, workspace_bytes(problem)
  uint64_t workspace_bytes = 0;
  void* stream = nullptr;  ///< CPU: handed to parallel_for
  ParallelForFn parallel_for = nullptr;
  int threads = 1;  ///< width of parallel_for, for splitting work
};

/// A device kernel's launch parameters: the addresses of inputs then outputs (view offsets added by
/// the kernel), then the workspace, then the variant's encoded tensor maps as grid constants.
/// Shapes, strides, dtypes and attributes are constants of the instance, bound to it through the
/// hash in its symbol.
inline constexpr int kMaxDevicePointers = 64;

/// The device function that decides a guarded part of a CUDA graph:
/// (u64 conditional handle, address of a bool, u32 expected). Source:
/// kernels/cuda/control/guard.cuh.
inline constexpr const char* kGuardSymbol = "aicf_guard";

using CpuKernelFn = void (*)(const ArgBlock& args);

}  // namespace aicf::abi
