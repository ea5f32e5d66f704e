#include "compiler/source/calibrate_source.h"

#include <utility>
#include <vector>

namespace aicf {
namespace {

using Fitted = std::vector<quantize::FittedSample>;

// By entry point: the samples that fit it.
Result<std::vector<Fitted>> SortSamples(const Source& source,
                                        const std::vector<CalibrationSample>& samples) {
  std::vector<Fitted> fitted(source.entries.size());
  for (const CalibrationSample& sample : samples) {
    Status why;
    bool fits = false;
    for (size_t e = 0; e < fitted.size(); ++e) {
      Result<Fitted> pieces = quantize::FitSample(source.entries[e].lowered, sample);
      if (!pieces.ok()) {
        why = pieces.status();
        continue;
      }
      fits = true;
      for (quantize::FittedSample& piece : *pieces) fitted[e].push_back(std::move(piece));
    }
    if (!fits) return why.WithContext("--calibrate");
  }
  for (size_t e = 0; e < fitted.size(); ++e) {
    if (!fitted[e].empty()) continue;
    return Error(Code::kInvalidArgument, "--calibrate: no sample fits entry point '",
                 source.entries[e].name, "'");
  }
  return fitted;
}

Status CheckRecorded(const CompileOptions& options) {
  if (options.calibration.precision == options.precision) return OkStatus();
  return Error(Code::kInvalidArgument, "--precision=", PrecisionName(options.precision),
               " needs samples of the inputs: --calibrate=DIR, or --calibrate=NAME:FILE.npy,...");
}

}  // namespace

Status CalibrateSource(const Source& source, CompileOptions& options) {
  if (!IsQuantized(options.precision)) {
    options.calibration = {};
    return OkStatus();
  }
  if (options.calibrate.samples.empty()) return CheckRecorded(options);
  AICF_ASSIGN_OR_RETURN(const abi::DeviceSpec device, abi::FindDevice(options.target));
  AICF_ASSIGN_OR_RETURN(std::vector<Fitted> fitted, SortSamples(source, options.calibrate.samples));
  const CalibrationRequest request{options.precision, options.calibrate.method,
                                   options.calibrate.max_error, options.progress};
  options.calibration = {request.precision, request.method, request.max_error, {}};
  for (size_t e = 0; e < fitted.size(); ++e) {
    const SourceEntry& entry = source.entries[e];
    AICF_ASSIGN_OR_RETURN(CalibratedEntry record,
                          Calibrate(entry.lowered, source.named ? entry.name : "",
                                    std::move(fitted[e]), request, device));
    options.calibration.entries.push_back(std::move(record));
  }
  return OkStatus();
}

}  // namespace aicf
