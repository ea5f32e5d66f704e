/// Verification step by step: compares a device's kernels with the reference kernels on the same
/// buffers.
///
/// Before each step the reference gets exactly the bytes that the device's step will read, so an
/// error does not travel: a step is judged only by the error that it adds (step_tolerance.h says
/// how), and the first step that fails is the one that is wrong. Only the elements that a step
/// writes are compared. What a step reads must also be what its writer left; if it differs, a step
/// between the two has written outside its outputs.
///
/// Guards and loops run as the device's own values decide. A loop's steps are compared in every
/// trip, and the report keeps their worst trip. A skipped step is not compared. All runs get the
/// same old value of a state, even if a step overwrites it.
///
/// A second reference run uses its own results from the first step to the last. The difference
/// between the device's results and those of this run is the drift, which includes the errors that
/// earlier steps passed on. It is reported but not judged: it shows which step's rounding matters
/// at the end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aicf/aicf.h"
#include "base/status.h"
#include "runtime/step_by_step.h"
#include "schema/artifact.h"
#include "tools/verify/judge.h"

namespace aicf::tools {

/// One step over all its runs.
struct StepCheck {
  uint32_t step = 0;         ///< of the program
  int64_t runs = 0;          ///< 0: its guards never held
  bool same_kernel = false;  ///< the step runs the reference kernel itself
  bool pass = true;
  std::string changed;  ///< operand that a step after its writer changed; fails this step

  // The worst run and output: the first that failed, else the one with the largest error in units
  // of its norm.
  int output = 0;
  int64_t trip = 0;
  Dims shape;
  Tolerance tolerance;
  Comparison comparison;
  bool cancelled = false;  ///< it passed by its terms' magnitude (product_bounds.h)
  /// How many results of all runs are infinite in a 16-bit dtype although every operand is finite
  /// and no expression has an infinite constant. Any such result fails the step.
  int64_t overflows = 0;
  double drift_l2 = 0;  ///< largest over the outputs of the last run
};

struct OutputDrift {
  std::string name;
  Dims shape;
  Comparison comparison;
};

struct StepsReport {
  std::string device;
  std::vector<StepCheck> steps;      ///< of the entry point, in its order
  std::vector<OutputDrift> outputs;  ///< outputs, followed by states as the run leaves them
  bool pass = true;
  std::optional<size_t> first_failed;  ///< position in `steps`
};

struct VerifyOptions {
  Tolerance tolerance = {};  ///< empty: each step's own
  /// What metas and states hold at the start, with their buffers' numbers; all others are zero.
  std::vector<std::pair<uint32_t, std::vector<std::byte>>> start = {};
  std::function<void(int done, int total)> progress = {};
  double max_operations = 0;  ///< as SessionOptions::max_operations
};

/// New executors of one entry point.
struct Executors {
  StepByStep& device;
  StepByStep& reference;                    ///< made by MakeReferenceSteps; gets the device's bytes
  StepByStep& drift;                        ///< likewise; uses its own results instead
  std::span<const UnpackedInput> unpacked;  ///< what both reference executors were made with
};

/// `inputs`: whole buffers, in the entry point's order. Errors: kDevice.
Result<StepsReport> CompareSteps(const schema::Program& program, size_t entry,
                                 const Executors& executors,
                                 const std::vector<std::vector<std::byte>>& inputs,
                                 const VerifyOptions& options);

/// Makes the executors and compares all steps. `stored` is the same artifact read with its optional
/// sections. Errors: those of MakeStepByStep, FindUnpacked and CompareSteps; kDevice where there is
/// nothing to compare because the reference kernels are what runs (a CUDA plan on the CPU).
Result<StepsReport> VerifySteps(const std::shared_ptr<const Program>& program,
                                const std::shared_ptr<const schema::Artifact>& stored, size_t entry,
                                const SessionOptions& session,
                                const std::vector<std::vector<std::byte>>& inputs,
                                const VerifyOptions& options);

}  // namespace aicf::tools
