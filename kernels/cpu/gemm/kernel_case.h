/// Random problems for the gemm and conv tests: buffers, odd layouts, epilogues, and a run of any
/// variant on them, packed as the compiler would.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/abi/kernel.h"

namespace aicf::cpu::testing {

using Rng = std::mt19937;

/// Uniform integer in [low, high].
int64_t Uniform(Rng& rng, int64_t low, int64_t high);

/// A view of `shape` with its axes in a random or the given order (outermost first), gaps between
/// rows now and then, and an offset.
abi::View RandomView(Rng& rng, DType dtype, const Dims& shape, const std::vector<int>& order = {});

/// A problem with its buffers: inputs, then outputs.
struct KernelCase {
  abi::Problem problem;
  std::vector<std::vector<std::byte>> buffers;

  /// Fills inputs with values in [-1, 1] and outputs with a pattern that no result resembles.
  void Fill(Rng& rng);
  /// Appends an epilogue operand of the output's shape: per element, per column (the axis given),
  /// per row (all but that axis), or a scalar.
  enum class Operand { kFull, kColumn, kRow, kScalar };
  int AddOperand(Rng& rng, Operand kind, int column_axis, DType dtype);
};

/// Element at coords of input or output `index` (buffers' order), widened.
double ElementOf(const KernelCase& c, const std::vector<std::byte>& buffer, const abi::View& view,
                 const int64_t* coords);

/// A random epilogue of f32 results for a problem whose other fields are filled.
void AddRandomEpilogue(Rng& rng, int column_axis, KernelCase* c);

/// Runs a variant and gives the output buffers, whole. threads > 1 runs it on a pool of that width.
/// in_place_input >= 0: outputs[0] occupies that input's buffer.
/// REQUIRES: supports(problem) is empty.
std::vector<std::vector<std::byte>> RunVariant(const abi::KernelInfo& kernel, const KernelCase& c,
                                               int threads, int in_place_input = -1);

/// Largest |a - b| / max(1, largest |b|) over the elements of output `k`; infinity if one is NaN
/// where the other is not, or if a byte outside the view changed.
double WorstError(const KernelCase& c, int k, const std::vector<std::byte>& found,
                  const std::vector<std::byte>& expected);

/// What this machine can run, planned for `threads` threads.
abi::DeviceSpec HostDevice(int threads);

}  // namespace aicf::cpu::testing
