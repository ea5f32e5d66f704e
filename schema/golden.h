/// The golden section: sample inputs and the outputs that belong to them, so that an artifact
/// carries its own acceptance test.
///
/// Little-endian; every record starts at a multiple of 8, gaps are zero:
///   u32 version (1), u32 samples, then per sample
///     u32 entry point, u32 origin, u32 which tolerances are set (bit 0 atol, 1 rtol, 2 rel), u32
///     zero, f64 atol, f64 rtol, f64 rel (+0 where not set), u32 inputs, u32 outputs, then per
///     tensor
///       u32 bytes of the name, u8 dtype, u8 rank, u16 zero, i64 extents[rank], u64 bytes of data,
///       the name, the data
/// and nothing after it. Equal samples give equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"
#include "base/status.h"
#include "schema/program.h"

namespace aicf::schema {

inline constexpr uint32_t kMaxGoldenSamples = 1024;

struct GoldenTensor {
  std::string name;
  DType dtype = DType::kF32;
  Dims shape;
  std::span<const std::byte> data;  ///< dense row-major; owned by whoever made the sample
};

/// Where a sample's outputs come from.
enum class GoldenOrigin : uint8_t {
  kGiven,      ///< with the inputs, from the model's owner
  kReference,  ///< computed by the compiler with the reference kernels from the lowered program
  kCount,
};
std::string_view GoldenOriginName(GoldenOrigin origin);

struct GoldenSample {
  uint32_t entry = 0;  ///< index into Program::entry_points
  GoldenOrigin origin = GoldenOrigin::kGiven;
  /// An output passes when every test that is set holds: |got - expected| <= atol + rtol *
  /// |expected| for each element (either absent counts as 0); the largest error <= rel * the
  /// largest |expected|. At least one is set.
  std::optional<double> atol, rtol, rel;
  /// The entry point's inputs, all, in its order; then any of its metas, in theirs. Metas that are
  /// not here are zero, and so is every state.
  std::vector<GoldenTensor> inputs;
  std::vector<GoldenTensor> outputs;  ///< of the entry point, in its order; at least one
};

struct Golden {
  std::vector<GoldenSample> samples;
};

/// REQUIRES: at most kMaxGoldenSamples; CheckGolden holds for some program.
std::vector<std::byte> EncodeGolden(const Golden& golden);

/// The tensors' data points into `section`. Checks all but what a program says: counts, dtypes,
/// shapes against bytes, names (UTF-8 without NUL, not empty), tolerances (finite, not negative),
/// zero gaps, the end. Errors: kBadArtifact.
Result<Golden> ParseGolden(std::span<const std::byte> section);

/// Entry points exist; names, dtypes and shapes are theirs. An output with a dynamic axis may be
/// shorter along it. Errors: kBadArtifact naming the sample and the tensor.
Status CheckGolden(const Golden& golden, const Program& program);

}  // namespace aicf::schema
