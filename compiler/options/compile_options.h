/// Everything a caller may say about one compilation. Only what spans the whole pipeline reads it;
/// a stage takes the part that is its own.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/buckets/buckets.h"
#include "compiler/decisions/decisions.h"
#include "compiler/edit/wishes.h"
#include "compiler/emit/golden.h"
#include "compiler/import/language/options.h"
#include "compiler/import/named_files.h"
#include "compiler/ir/budgets.h"
#include "compiler/ir/tensor.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/quantize/calibrate.h"
#include "compiler/select/options.h"
#include "compiler/states/state_pair.h"

namespace aicf {

/// Samples for a precision of 8 bits, and what they are used for.
struct CalibrationOptions {
  std::vector<CalibrationSample> samples;
  RangeMethod method = kDefaultRangeMethod;
  double max_error = kDefaultMaxError;  ///< CalibrationRequest::max_error
};

struct CompileOptions : PlanOptions {
  std::string target = "cpu";
  ShapeMap shapes;  ///< by input name; overrides the model's
  /// More entry points, or instead of the one without a name where `shapes` is empty. With buckets,
  /// what may be padded is proven of every entry point (compiler/buckets/padding.h).
  std::vector<Bucket> buckets;
  /// By input name: the input becomes this constant and is no input of the artifact any more.
  std::map<std::string, ir::Tensor, std::less<>> values;
  /// Carried inputs and outputs that become states (compiler/states/pair_states.h), and whether
  /// pairs found by their names do so too instead of being proposed.
  std::vector<StatePair> states;
  bool auto_states = false;
  std::vector<std::string> metas;  ///< inputs that the host rewrites in one copy; role kMeta
  abi::MathMode math = abi::MathMode::kFp32;
  /// Language models: products with quantised weights are those of `math` as it is; false: on a CPU
  /// they round activations to 8 bits (abi::MathMode::kInt8), as whoever quantised the weights
  /// means them.
  bool math_given = false;
  language::LanguageOptions language;  ///< of a language model's program
  /// kF16, kBF16: activations and weights of f32 are stored in it, but for those that
  /// choose-storage keeps; inputs, outputs and states keep the model's dtypes.
  /// kI8, kF8E4M3FN: products with constant weights multiply codes of 8 bits, by `calibration`.
  DType precision = DType::kF32;
  CalibrationOptions calibrate;
  /// What was measured on samples: of those in `calibrate`, or of the ones that an artifact was
  /// made with. Counts where its precision is the one asked for.
  Calibration calibration;
  bool keep_lowered = false;  ///< fills CompileResult::optimised
  bool strip = false;         ///< leave out decisions and lowered sections
  /// An If whose branch cannot run with the bound shapes gives NaN where a run takes it; false:
  /// such a model is refused.
  bool nan_branches = false;
  Budgets budgets;   ///< what the compilation may take; not part of an artifact's provenance
  NamedFiles files;  ///< which files a model may name
  std::set<std::string, std::less<>> no_fusion;
  /// Edits by decision, from an artifact that was made with some; those below are added.
  Wishes wishes;
  std::vector<std::string> sets;          ///< --set: "step.12.kernel=KEY", see ParseSet
  std::optional<DecisionLog> decisions;   ///< --decisions: what differs from it is wished for
  std::vector<GoldenSpec> golden;         ///< samples for the artifact's golden section
  std::vector<std::byte> golden_section;  ///< without them: a section as it is
};

/// "fp32", "fp16", "bf16", "int8" or "fp8": a CompileOptions::precision as users write it.
std::string_view PrecisionName(DType precision);
/// Errors: kInvalidArgument listing the names.
Result<DType> ParsePrecision(std::string_view name);
/// Whether it is of 8 bits, and needs a calibration.
bool IsQuantized(DType precision);

}  // namespace aicf
