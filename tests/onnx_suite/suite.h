/// The ONNX standard's own test cases: a model, inputs, and the outputs that the standard expects.
///
/// $AICF_ONNX_SUITE names the folder; without it, what Debian's libonnx-testdata installs is taken.
/// `expected.txt` there lists the cases that a tensor runtime should pass, and `excluded.tsv`
/// others with what they need, of which those count that need dtypes, sequences or optionals.
/// Without the lists every case counts. skips.inc excludes cases, but none of expected.txt.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/ir/tensor.h"

namespace aicf::testing {

struct SuiteCase {
  std::string name;       ///< "node/test_abs"
  std::string model;      ///< path of the ONNX file
  std::string data;       ///< folder of input_N.pb and output_N.pb; empty for `light` cases
  bool expected = false;  ///< expected.txt lists it

  friend void PrintTo(const SuiteCase& c, std::ostream* out) { *out << c.name; }
};

/// In the suite's order; empty when no suite is found.
const std::vector<SuiteCase>& SuiteCases();

/// input_0.pb, input_1.pb, ... or output_0.pb, ... An absent optional value is a tensor without
/// data; an output that is a sequence is its elements. Errors: kUnsupported for anything else.
Result<std::vector<ir::Tensor>> ReadTensors(const SuiteCase& c, const std::string& prefix);
/// `light` cases: the one expected output beside the model.
Result<std::vector<ir::Tensor>> ReadLightOutputs(const SuiteCase& c);

/// The reason of the row of skips.inc that excludes the case; empty when it runs.
std::string SkipReason(const SuiteCase& c);

struct SuiteTolerance {
  double rtol = 1e-3;
  double atol = 1e-7;
};
SuiteTolerance ToleranceOf(const SuiteCase& c);

}  // namespace aicf::testing
