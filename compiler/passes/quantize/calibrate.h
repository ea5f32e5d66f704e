/// Runs a program on samples: ranges of values, what each quantised product changes, and which
/// products have to stay in floats for the error to stay within what is allowed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/passes/quantize/calibration.h"
#include "compiler/passes/quantize/samples.h"
#include "kernels/abi/device.h"

namespace aicf {

struct CalibrationRequest {
  DType precision = DType::kI8;  ///< kI8 or kF8E4M3FN
  RangeMethod method = RangeMethod::kMinMax;
  double max_error = 0;
  /// Called with what is done of the whole.
  std::function<void(std::string_view phase, int done, int total)> progress = {};
};

/// Calibrates one entry point, given as its program straight after lowering.
///
/// The relative error of an output is the root mean square of its difference from the f32
/// program's, over the root mean square of the latter, on all samples; of an output that is no
/// float, the share of elements that differ. That of several outputs is the largest one.
///
/// `device`: the error of all is measured with only those products quantised that its kernels take
/// as codes.
/// Errors: those of executing the program. REQUIRES: `samples` fit the program, and are not empty.
/// Cost: the program is executed on every sample three times. Where the error is too large, it is
/// executed on every sample once more for each halving of the set of products and, as far as that
/// takes few operations, for each product that became f32. To measure the effects of products, it
/// is also executed from every product on, on one to 32 samples, fewer for larger programs. All
/// cores of the machine take part.
Result<CalibratedEntry> Calibrate(const ir::Lowered& lowered, const std::string& entry,
                                  std::vector<quantize::FittedSample> samples,
                                  const CalibrationRequest& request, const abi::DeviceSpec& device);

}  // namespace aicf
