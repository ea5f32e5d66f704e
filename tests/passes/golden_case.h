/// Golden tests of passes: text files of cases. A line that starts in column one with a key opens a
/// field; other lines continue the field; '#' starts a comment line.
///   case:      name; opens a case
///   pass:      one or more passes, in order: "fuse-epilogue, explain-separate"
///   device:    target that the passes see; absent: a device without kernels, so that a case
///              depends on legality and not on which kernels exist
///   math:      value of --math; absent: fp32
///   precision: value of --precision; absent: fp32
///   calibration: for a precision of 8 bits, what was measured on samples, in lines: "value NAME
///              LOW HIGH", optionally followed by the channels' exponents, and "product NAME
///              EFFECT", optionally followed by "wide"
///   policy:    value of --policy
///   disable:   source nodes for --disable-fusion
///   input:     IR text, a graph or a lowered program. A constant "@<32 hex digits>" is random data
///              seeded by the digits
///   expect:    IR text after the passes, or "same". Here "@<32 hex digits>" is also the hash of a
///              constant that the passes have made
///   decisions: optional; every decision the passes record, one line each:
///              "kind subject: choice" then " | refusal" for every alternative that has one
///   values:    "exact", "max_ulp=N" or "max_error=X" (absolute): the program before and after must
///              agree on random inputs
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace aicf {

struct GoldenCase {
  std::string name, device, math = "fp32", precision = "fp32", policy;
  std::vector<std::string> passes, disabled, decisions, calibration;
  std::string input, expect;
  bool check_decisions = false;
  int64_t max_ulp = 0;
  double max_error = 0;
  int line = 0;
};

Result<std::vector<GoldenCase>> ParseGoldenFile(const std::string& path);

}  // namespace aicf
