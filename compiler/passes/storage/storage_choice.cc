#include "compiler/passes/storage/storage_choice.h"

#include <algorithm>
#include <set>

#include "compiler/edit/wishes.h"
#include "compiler/passes/lowered/choose_math.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/storage/beyond_range.h"
#include "compiler/passes/storage/narrow_tensor.h"
#include "compiler/passes/storage/sensitive.h"
#include "compiler/passes/storage/step_limits.h"
#include "compiler/passes/storage/value_ranges.h"

namespace aicf::storage {
namespace {

// Reading constants of fewer elements costs nothing.
constexpr int64_t kSmallConstant = 4096;

bool IsTied(const abi::Problem& p, int input) {
  const Tied tied = TiedValues(p);
  return std::ranges::find(tied.inputs, input) != tied.inputs.end();
}

}  // namespace

StorageChoice::StorageChoice(const ir::Lowered& lowered, PassContext& context)
    : lowered_(lowered),
      context_(context),
      value_of_(lowered.buffers.size(), -1),
      product_of_(lowered.steps.size(), -1) {}

Status StorageChoice::Decide() {
  FindValues();
  for (Value& v : values_) ApplyWish(v);
  ApplyRules();
  AICF_RETURN_IF_ERROR(ApplySamples());
  FindProducts();
  for (bool changed = true; changed;) {
    changed = false;
    for (int s = 0; s < static_cast<int>(lowered_.steps.size()); ++s) changed |= Settle(s);
  }
  return OkStatus();
}

bool StorageChoice::IsNarrow(ir::BufferId b) const {
  return value_of_[b] >= 0 && values_[static_cast<size_t>(value_of_[b])].wide.empty();
}

bool StorageChoice::MultipliesNarrow(int s) const {
  const int product = product_of_[static_cast<size_t>(s)];
  return product >= 0 && products_[static_cast<size_t>(product)].wide.empty();
}

abi::Problem StorageChoice::Retyped(int s) const {
  const ir::LoweredStep& step = lowered_.steps[static_cast<size_t>(s)];
  abi::Problem p = step.problem;
  const int multiplied = MultipliedOperands(p);
  const bool multiplies = MultipliesNarrow(s);
  for (size_t k = 0; k < p.inputs.size(); ++k) {
    const bool operand = static_cast<int>(k) < multiplied;
    const bool wanted = operand ? multiplies : IsNarrow(step.inputs[k]);
    if (wanted && p.inputs[k].dtype == DType::kF32) p.inputs[k].dtype = narrow();
  }
  for (size_t r = 0; r < p.outputs.size(); ++r) {
    if (IsNarrow(step.outputs[r])) p.outputs[r].dtype = narrow();
  }
  // Products of float8 codes keep the mode that they were given when they were quantised.
  if (FormsProducts(p.family) && !IsStorageOnly(p.inputs[0].dtype)) {
    const abi::MathMode usual = multiplies ? MathOfStorage(narrow()) : context_.math;
    p.math = ModeFor(p.family, NamedMath(context_, step).value_or(usual), p.inputs[0].dtype,
                     context_.device);
  }
  return p;
}

bool StorageChoice::IsEligible(ir::BufferId b) const {
  const ir::LoweredBuffer& buffer = lowered_.buffers[b];
  if (buffer.dtype != DType::kF32) return false;
  return buffer.role == schema::Role::kTemp || buffer.role == schema::Role::kConstant;
}

void StorageChoice::AddValue(ir::BufferId b) {
  if (value_of_[b] >= 0 || !IsEligible(b)) return;
  const ir::LoweredBuffer& buffer = lowered_.buffers[b];
  const bool constant = buffer.role == schema::Role::kConstant;
  if (constant && buffer.constant.count() < kSmallConstant && !IsMoved(b)) return;
  value_of_[b] = static_cast<int>(values_.size());
  Value value;
  value.buffer = b;
  values_.push_back(std::move(value));
}

bool StorageChoice::IsMoved(ir::BufferId b) const {
  for (const ir::LoweredStep& step : lowered_.steps) {
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      if (step.inputs[k] == b && IsTied(step.problem, static_cast<int>(k))) return true;
    }
  }
  return false;
}

// Lists the values in the order of the steps that write or read them first.
void StorageChoice::FindValues() {
  for (const ir::LoweredStep& step : lowered_.steps) {
    const int multiplied = MultipliedOperands(step.problem);
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      const ir::BufferId b = step.inputs[k];
      const bool constant = lowered_.buffers[b].role == schema::Role::kConstant;
      if (!constant || static_cast<int>(k) >= multiplied) AddValue(b);
    }
    for (ir::BufferId b : step.outputs) AddValue(b);
  }
  std::vector<const ir::LoweredStep*> maker(lowered_.buffers.size(), nullptr);
  for (const ir::LoweredStep& step : lowered_.steps) {
    for (ir::BufferId b : step.inputs) {
      const bool constant = lowered_.buffers[b].role == schema::Role::kConstant;
      if (constant && maker[b] == nullptr) maker[b] = &step;
    }
    for (ir::BufferId b : step.outputs) {
      if (maker[b] == nullptr) maker[b] = &step;
    }
  }
  Occurrences occurrences;
  for (Value& v : values_) {
    const ir::LoweredBuffer& buffer = lowered_.buffers[v.buffer];
    const bool constant = buffer.role == schema::Role::kConstant;
    const auto form = constant ? SubjectForm::kWeights : SubjectForm::kValue;
    const schema::NodeNames nodes =
        maker[v.buffer] == nullptr ? schema::NodeNames{} : maker[v.buffer]->sources;
    v.decision =
        context_.About(DecisionKind::kStorage, schema::Subject::ValueOf(form, buffer.name, nodes),
                       "choose-storage");
    v.occurrence = occurrences.Next(IdentityOf(v.decision));
  }
}

bool StorageChoice::KeepWide(ir::BufferId b, const std::string& why, bool refused) {
  if (!IsNarrow(b)) return false;
  Value& v = values_[static_cast<size_t>(value_of_[b])];
  if (v.wished && !refused) return false;
  v.wide = why;
  v.refused = refused;
  return true;
}

void StorageChoice::ApplyWish(Question& question) const {
  if (context_.wishes == nullptr) return;
  const Wish* wish = context_.wishes->Find(IdentityOf(question.decision), question.occurrence);
  if (wish == nullptr) return;
  question.wished = wish->decision.choice == DTypeName(narrow());
  if (question.wished) return;
  question.wide = StrCat(wish->origin, " asks for it");
  question.reason = Reason::kPolicy;
}

void StorageChoice::ApplyRules() {
  for (const ir::LoweredStep& step : lowered_.steps) ApplyStepRules(step);
  for (Value& v : values_) {
    if (lowered_.buffers[v.buffer].role == schema::Role::kConstant) ApplyConstantRules(v);
  }
  KeepBeyondRange();
  if (lowered_.loops.empty()) return;
  // A value that is written in front of a loop and inside it is carried from trip to trip.
  std::vector<std::set<int32_t>> loops(lowered_.buffers.size());
  for (const ir::LoweredStep& step : lowered_.steps) {
    for (ir::BufferId b : step.outputs) loops[b].insert(step.loop);
  }
  for (const Value& v : values_) {
    if (loops[v.buffer].size() > 1) KeepWide(v.buffer, "a loop carries it", false);
  }
}

void StorageChoice::ApplyStepRules(const ir::LoweredStep& step) {
  const abi::Problem& p = step.problem;
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    // A buffer whose bits something reads as another dtype keeps them.
    if (p.inputs[k].dtype != lowered_.buffers[step.inputs[k]].dtype) {
      KeepWide(step.inputs[k], StrCat("view: ", NamesOf(step), " reads its bits"), true);
    }
    const std::string why = SensitiveOperand(p, static_cast<int>(k));
    if (!why.empty())
      KeepWide(step.inputs[k], StrCat("range: for ", NamesOf(step), ": ", why), false);
  }
  for (size_t r = 0; r < step.outputs.size(); ++r) {
    if (p.outputs[r].dtype != lowered_.buffers[step.outputs[r]].dtype) {
      KeepWide(step.outputs[r], StrCat("view: ", NamesOf(step), " writes its bits"), true);
    }
    const std::string why = SensitiveResult(p, static_cast<int>(r));
    if (!why.empty()) KeepWide(step.outputs[r], StrCat("range: ", why), false);
  }
}

// A fused attention gives a row of which nothing is visible zeros, so that a mask may be infinite
// there; everywhere else an infinity would go on as NaN.
void StorageChoice::KeepBeyondRange() {
  const std::vector<bool> beyond = BeyondRange(lowered_, narrow());
  const std::string why = StrCat("range: a constant of the model that ", DTypeName(narrow()),
                                 " cannot hold may be in it");
  for (const ir::LoweredStep& step : lowered_.steps) {
    if (step.problem.family == abi::Family::kAttention) continue;
    for (const ir::BufferId b : step.inputs) {
      if (beyond[b]) KeepWide(b, why, false);
    }
  }
}

void StorageChoice::ApplyConstantRules(Value& v) {
  const std::string lost = LosesDigits(lowered_.buffers[v.buffer].constant, narrow());
  if (!lost.empty()) KeepWide(v.buffer, StrCat("range: ", lost), false);
}

Status StorageChoice::ApplySamples() {
  AICF_ASSIGN_OR_RETURN(largest_, LargestValues(lowered_, context_.samples));
  for (const Value& v : values_) {
    const std::string why = ExceedsOnSamples(v.buffer);
    if (!why.empty()) KeepWide(v.buffer, why, false);
  }
  return OkStatus();
}

std::string StorageChoice::ExceedsOnSamples(ir::BufferId b) const {
  // Half of the range is left for inputs that the samples do not show.
  const double most = LargestOf(narrow()) / 2;
  if (largest_.empty() || largest_[b] <= most) return "";
  return StrCat("range: it reaches ", largest_[b], " on a sample, above ", most);
}

void StorageChoice::FindProducts() {
  Occurrences occurrences;
  for (size_t s = 0; s < lowered_.steps.size(); ++s) {
    const ir::LoweredStep& step = lowered_.steps[s];
    const bool multiplies = MultipliedOperands(step.problem) > 0;
    if (!multiplies || step.problem.inputs[0].dtype != DType::kF32) continue;
    product_of_[s] = static_cast<int>(products_.size());
    Product product;
    product.step = static_cast<int>(s);
    product.decision = context_.About(DecisionKind::kOperands, SubjectOf(step), "choose-storage");
    product.occurrence = occurrences.Next(IdentityOf(product.decision));
    ApplyWish(product);
    if (product.wide.empty()) ApplyProductRules(product);
    products_.push_back(std::move(product));
  }
}

// Keeps the product in f32 where its math mode or one of its operands demands that, whatever
// kernels there are.
void StorageChoice::ApplyProductRules(Product& product) const {
  const ir::LoweredStep& step = lowered_.steps[static_cast<size_t>(product.step)];
  const std::optional<abi::MathMode> named = NamedMath(context_, step);
  if (named && *named != MathOfStorage(narrow())) {
    product.wide = StrCat("its math mode is to be ", abi::MathModeName(*named));
    product.reason = Reason::kPolicy;
    return;
  }
  for (int k = 0; k < MultipliedOperands(step.problem); ++k) {
    const ir::BufferId b = step.inputs[static_cast<size_t>(k)];
    const ir::LoweredBuffer& buffer = lowered_.buffers[b];
    std::string why = ExceedsOnSamples(b);
    if (why.empty() && buffer.role == schema::Role::kConstant) {
      why = LosesDigits(buffer.constant, narrow());
    }
    if (why.empty() && buffer.role == schema::Role::kState) {
      why = "it is a state, and copying it every time costs more";
    }
    if (why.empty()) continue;
    product.wide = StrCat("operand '", buffer.name, "': ", why);
    return;
  }
}

}  // namespace aicf::storage
