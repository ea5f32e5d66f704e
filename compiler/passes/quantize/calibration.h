/// What samples said about a program whose products are to be quantised: the range of each value,
/// and how much each product's quantisation changes the outputs. The pass quantize-products decides
/// by it alone, and an artifact's provenance holds it, so that the artifact is made again without
/// samples.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/ir/lowered.h"

namespace aicf {

/// How a value's range follows from the magnitudes that samples show.
enum class RangeMethod : uint8_t {
  kMinMax,      ///< the largest
  kPercentile,  ///< the one that all but one in 10,000 elements stay below
  kEntropy,     ///< the one whose codes tell most about the distribution (Kullback-Leibler)
};
inline constexpr int kRangeMethods = 3;

inline constexpr RangeMethod kDefaultRangeMethod = RangeMethod::kMinMax;
/// Of the outputs, relative, as calibrate.h defines it.
inline constexpr double kDefaultMaxError = 0.1;

/// "minmax", "percentile", "entropy".
std::string_view RangeMethodName(RangeMethod method);
/// Errors: kInvalidArgument listing the names.
Result<RangeMethod> ParseRangeMethod(std::string_view name);

/// Buffers and steps are those of the program straight after lowering, which is the same for every
/// target; names are there to notice another program.
struct CalibratedValue {
  ir::BufferId buffer = 0;
  std::string name;  ///< the buffer's
  /// By channel: four times the exponent of the power of two by which its elements are scaled up
  /// before their range is observed (equalize.h). Empty: they are not scaled.
  std::vector<uint8_t> channels;
  double low = 0, high = 0;  ///< least and greatest element, where 0 counts as one
  std::array<double, kRangeMethods> limits = {};  ///< by method: the largest magnitude with a code
  std::string infinite;  ///< the sample on which an element is no finite number, if any
  /// How many elements of each channel samples show, where that is too few to tell the ranges of
  /// channels (equalize.h), so that these are not scaled; otherwise 0.
  int64_t few = 0;

  double limit(RangeMethod method) const { return limits[static_cast<size_t>(method)]; }
  friend bool operator==(const CalibratedValue&, const CalibratedValue&) = default;
};

struct CalibratedProduct {
  int step = 0;
  std::string name;   ///< of the buffer that it writes
  double effect = 0;  ///< the relative error of the outputs when it alone is quantised
  bool wide = false;  ///< stays f32, because the error of all was above what is allowed

  friend bool operator==(const CalibratedProduct&, const CalibratedProduct&) = default;
};

struct CalibratedEntry {
  std::string entry;  ///< the entry point
  int samples = 0;
  double error = 0;  ///< of the outputs, relative, with all products quantised that are not wide
  std::vector<CalibratedValue> values;
  std::vector<CalibratedProduct> products;

  /// nullptr: it was not calibrated.
  const CalibratedValue* Find(ir::BufferId buffer) const;
  const CalibratedProduct* FindProduct(int step) const;
  /// Errors: kBadArtifact where the record is about another program.
  Status CheckFits(const ir::Lowered& lowered) const;

  friend bool operator==(const CalibratedEntry&, const CalibratedEntry&) = default;
};

struct Calibration {
  DType precision =
      DType::kF32;  ///< kI8 or kF8E4M3FN: what products multiply; kF32: nothing recorded
  RangeMethod method = RangeMethod::kMinMax;
  double max_error = 0;
  std::vector<CalibratedEntry> entries;

  bool empty() const { return entries.empty(); }
  const CalibratedEntry* Find(std::string_view entry) const;

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

}  // namespace aicf
