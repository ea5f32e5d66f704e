/// Calibration of a whole source: every entry point with the samples that fit it.
#pragma once

#include "compiler/options/compile_options.h"
#include "compiler/source/source.h"

namespace aicf {

/// Fills options.calibration from the samples where a precision of 8 bits is asked for, or checks
/// that the one of an artifact is there; clears it for other precisions. Errors: kInvalidArgument
/// without either, for samples that fit no entry point and for an entry point without one; those of
/// Calibrate.
Status CalibrateSource(const Source& source, CompileOptions& options);

}  // namespace aicf
