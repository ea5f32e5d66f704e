/// A calibration as part of an artifact's provenance.
#pragma once

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "compiler/passes/quantize/calibration.h"

namespace aicf {

nlohmann::ordered_json CalibrationJson(const Calibration& calibration);
/// The inverse; of what is no calibration an error. Errors: kBadArtifact.
Result<Calibration> CalibrationFromJson(const nlohmann::ordered_json& json, DType precision);

}  // namespace aicf
