#include "compiler/source/calibrate_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/passes/quantize/transfer.h"

namespace aicf {
namespace {

using Fitted = std::vector<quantize::FittedSample>;

// What samples are run on.
const ir::Lowered& MeasuredOf(const SourceEntry& entry) {
  return entry.row ? *entry.row : entry.lowered;
}

// By entry point: the samples that fit it.
Result<std::vector<Fitted>> SortSamples(const Source& source,
                                        const std::vector<CalibrationSample>& samples) {
  std::vector<Fitted> fitted(source.entries.size());
  for (const CalibrationSample& sample : samples) {
    Status why;
    bool fits = false;
    for (size_t e = 0; e < fitted.size(); ++e) {
      Result<Fitted> pieces = quantize::FitSample(MeasuredOf(source.entries[e]), sample);
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

// Whether they take the same samples, and these say the same of both.
bool AreMeasuredAlike(const ir::Lowered& one, const ir::Lowered& other) {
  const bool alike =
      std::ranges::equal(one.inputs, other.inputs, [&](ir::BufferId a, ir::BufferId b) {
        const ir::LoweredBuffer &x = one.buffers[a], &y = other.buffers[b];
        return x.name == y.name && x.dtype == y.dtype && x.shape == y.shape;
      });
  return alike && quantize::HaveSameProducts(one, other);
}

// The record of an earlier entry point of the same rows, or else a new one.
Result<CalibratedEntry> RecordOf(const Source& source, size_t e, Fitted samples,
                                 const CalibrationRequest& request, const abi::DeviceSpec& device,
                                 const std::vector<CalibratedEntry>& earlier) {
  const SourceEntry& entry = source.entries[e];
  const std::string name = source.named ? entry.name : "";
  for (size_t i = 0; i < e; ++i) {
    const SourceEntry& other = source.entries[i];
    if (!AreMeasuredAlike(MeasuredOf(other), MeasuredOf(entry))) continue;
    CalibratedEntry record = quantize::RecordFor(entry.lowered, other.lowered, earlier[i]);
    record.entry = name;
    return record;
  }
  const ir::Lowered& measured = MeasuredOf(entry);
  AICF_ASSIGN_OR_RETURN(CalibratedEntry record,
                        Calibrate(measured, name, std::move(samples), request, device));
  return quantize::RecordFor(entry.lowered, measured, std::move(record));
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
    AICF_ASSIGN_OR_RETURN(CalibratedEntry record, RecordOf(source, e, std::move(fitted[e]), request,
                                                           device, options.calibration.entries));
    options.calibration.entries.push_back(std::move(record));
  }
  return OkStatus();
}

}  // namespace aicf
