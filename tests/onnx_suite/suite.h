/// The ONNX standard's own test cases: a model, inputs, and the outputs that the standard expects.
///
/// $AICF_ONNX_SUITE names the folder; without it, the files that Debian's libonnx-testdata installs
/// are used. In the folder, `expected.txt` lists the cases that a tensor runtime should pass, and
/// `excluded.tsv` lists others with the feature that they need. Of those, the ones that only need
/// dtypes, sequences or optionals are part of the suite as well. Without the lists every case is.
/// skips.inc excludes cases, but none of those in expected.txt.
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
  bool expected = false;  ///< whether expected.txt lists the case

  friend void PrintTo(const SuiteCase& c, std::ostream* out) { *out << c.name; }
};

/// In the suite's order; empty when no suite is found.
const std::vector<SuiteCase>& SuiteCases();

/// Reads input_0.pb, input_1.pb, ... or output_0.pb, ... An absent optional value becomes a tensor
/// without data, an output that is a sequence becomes its elements. Errors: kUnsupported for
/// anything else.
Result<std::vector<ir::Tensor>> ReadTensors(const SuiteCase& c, const std::string& prefix);
/// For `light` cases: reads the only expected output, which lies beside the model.
Result<std::vector<ir::Tensor>> ReadLightOutputs(const SuiteCase& c);

/// The reason in the row of skips.inc that excludes the case; empty when the case runs.
std::string SkipReason(const SuiteCase& c);

struct SuiteTolerance {
  double rtol = 1e-3;
  double atol = 1e-7;
};
SuiteTolerance ToleranceOf(const SuiteCase& c);

}  // namespace aicf::testing
