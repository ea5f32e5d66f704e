#include "compiler/passes/lowered/passes.h"

#include "compiler/ir/lowered_edit.h"
#include "compiler/passes/lowered/copy_pieces.h"
#include "compiler/passes/lowered/drop_casts.h"
#include "compiler/passes/storage/drop_roundings.h"
#include "compiler/passes/storage/narrow_operands.h"
#include "compiler/passes/storage/narrow_tensor.h"
#include "compiler/passes/storage/step_limits.h"
#include "compiler/passes/storage/storage_choice.h"

namespace aicf {
namespace {

using storage::StorageChoice;

Status Record(const storage::Question& item, std::string why_narrow, DType narrow,
              PassContext& context) {
  const std::string narrow_name(DTypeName(narrow)), wide_name(DTypeName(DType::kF32));
  Decision d = item.decision;
  if (item.wide.empty()) {
    d.choice = narrow_name;
    d.Because(item.wished ? Reason::kPolicy : Reason::kRule, std::move(why_narrow));
    d.alternatives = {{wide_name, "", -1}};
  } else {
    d.choice = wide_name;
    d.Because(item.reason, item.wide);
    d.alternatives = {{narrow_name, item.refused ? item.wide : "", -1}};
  }
  AICF_RETURN_IF_ERROR(CheckRefusals(context.wishes, d, item.occurrence));
  context.Record(std::move(d));
  return OkStatus();
}

Status RecordAll(const StorageChoice& choice, PassContext& context) {
  for (const storage::Value& v : choice.values()) {
    AICF_RETURN_IF_ERROR(
        Record(v, "half the bytes; arithmetic stays f32", choice.narrow(), context));
  }
  for (const storage::Product& p : choice.products()) {
    AICF_RETURN_IF_ERROR(Record(p, "products of 16-bit operands are exact, and sums are f32",
                                choice.narrow(), context));
  }
  return OkStatus();
}

// Gives every step the dtypes that were decided, and puts 16-bit copies of operands in front of
// products that need them. Returns the steps that were casts and are plain copies now.
std::vector<int> Retype(const StorageChoice& choice, ir::Lowered& lowered, PassContext& context) {
  storage::NarrowOperands operands(lowered, context);
  std::vector<int> casts;
  std::vector<ir::LoweredStep> steps;
  for (int s = 0; s < static_cast<int>(lowered.steps.size()); ++s) {
    ir::LoweredStep step = lowered.steps[static_cast<size_t>(s)];
    const abi::Problem before = step.problem;
    const bool copied = IsPureCopy(step);
    step.problem = choice.Retyped(s);
    storage::DropRoundings(step.problem);
    const int multiplied = choice.MultipliesNarrow(s) ? storage::MultipliedOperands(before) : 0;
    for (size_t k = 0; k < static_cast<size_t>(multiplied); ++k) {
      if (choice.IsNarrow(step.inputs[k])) continue;
      step.problem.inputs[k].dtype = DType::kF32;
      operands.Give(step, k, steps);
    }
    if (!copied && IsPureCopy(step)) casts.push_back(static_cast<int>(steps.size()));
    steps.push_back(std::move(step));
  }
  lowered.steps = std::move(steps);
  return casts;
}

void RetypeBuffers(const StorageChoice& choice, ir::Lowered& lowered) {
  for (const storage::Value& v : choice.values()) {
    if (!v.wide.empty()) continue;
    ir::LoweredBuffer& b = lowered.buffers[v.buffer];
    b.dtype = choice.narrow();
    if (b.constant.has_data()) b.constant = storage::Narrowed(b.constant, choice.narrow());
  }
}

}  // namespace

// Arithmetic stays as it is: expressions see f32 whatever the operands are stored in, and sums
// accumulate in f32.
Status ChooseStorage(ir::Lowered& lowered, PassContext& context) {
  if (context.storage == DType::kF32) return OkStatus();
  const ir::Lowered before = lowered;
  StorageChoice choice(before, context);
  AICF_RETURN_IF_ERROR(choice.Decide());
  AICF_RETURN_IF_ERROR(RecordAll(choice, context));
  const std::vector<int> casts = Retype(choice, lowered, context);
  RetypeBuffers(choice, lowered);
  return DropCasts(lowered, casts, context);
}

}  // namespace aicf
