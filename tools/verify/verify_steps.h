/// Step by step: a device's kernels against the reference kernels on the same buffers.
///
/// Before each step the reference gets exactly the bytes that the device's step will read, so an
/// error does not travel: a step is judged by what it adds alone (step_tolerance.h says how), and
/// the first step that fails is the one that is wrong. Only the elements that a step writes are
/// compared. What a step reads must be what its writer left: a difference names a step between them
/// that wrote outside its outputs.
///
/// Guards and loops run as the device's own values decide; a loop's steps are compared in every
/// trip, and their worst trip is kept. A skipped step is not compared. A state's old value goes to
/// all runs alike, also where a step overwrites it.
///
/// Beside it a second reference run feeds on its own results from first step to last: the
/// difference of both is the drift, which includes what earlier steps passed on. It is reported,
/// not judged: it tells which step's rounding matters at the end.
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
  std::string changed;  ///< buffer whose bytes a step in between changed; fails the step

  // The worst run and output: the first that failed, else the one with the largest error in units
  // of its norm.
  int output = 0;
  int64_t trip = 0;
  Dims shape;
  Tolerance tolerance;
  Comparison comparison;
  bool cancelled = false;  ///< it passed by its terms' magnitude (product_bounds.h)
  /// Results of all runs that are infinite in a 16-bit dtype although every operand is finite and
  /// no expression names infinity; fails the step.
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
  std::vector<OutputDrift> outputs;  ///< then states, as the run leaves them
  bool pass = true;
  std::optional<size_t> first_failed;  ///< position in `steps`
};

struct VerifyOptions {
  Tolerance tolerance = {};  ///< empty: each step's own
  /// What metas and states hold at the start, by the program's buffer; others are zero.
  std::vector<std::pair<uint32_t, std::vector<std::byte>>> start = {};
  std::function<void(int done, int total)> progress = {};
  double max_operations = 0;  ///< as SessionOptions::max_operations
};

/// Executors of one entry point, fresh.
struct Executors {
  StepByStep& device;
  StepByStep& reference;                    ///< of MakeReferenceSteps, for the same buffers
  StepByStep& drift;                        ///< the same, for the run of its own
  std::span<const UnpackedInput> unpacked;  ///< what the reference executors were made with
};

/// `inputs`: whole buffers, in the entry point's order. Errors: kDevice.
Result<StepsReport> CompareSteps(const schema::Program& program, size_t entry,
                                 const Executors& executors,
                                 const std::vector<std::vector<std::byte>>& inputs,
                                 const VerifyOptions& options);

/// All of it: makes the executors and compares. `stored`: the same file read with its optional
/// sections. Errors: those of MakeStepByStep, FindUnpacked and CompareSteps; kDevice where there is
/// nothing to compare because the reference kernels are what runs (a CUDA plan on the CPU).
Result<StepsReport> VerifySteps(const std::shared_ptr<const Program>& program,
                                const std::shared_ptr<const schema::Artifact>& stored, size_t entry,
                                const SessionOptions& session,
                                const std::vector<std::vector<std::byte>>& inputs,
                                const VerifyOptions& options);

}  // namespace aicf::tools
