#include "compiler/passes/quantize/product_choice.h"

#include <algorithm>
#include <cstdio>

#include "compiler/passes/lowered/choose_math.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"

namespace aicf::quantize {
namespace {

constexpr std::string_view kPass = "quantize-products";

void Refuse(Answer& answer, std::string why) {
  answer.wide = std::move(why);
  answer.reason = Reason::kRule;
  answer.refused = true;
}

}  // namespace

std::string ShortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

ProductChoice::ProductChoice(const ir::Lowered& lowered, PassContext& context,
                             const CalibratedEntry& record)
    : lowered_(lowered), context_(context), record_(record), all_(lowered) {
  for (const ir::BufferId b : all_.values) AddValue(b);
  for (size_t s = 0; s < lowered_.steps.size(); ++s) {
    if (IsFloatProduct(lowered_.steps[s])) AddProduct(static_cast<int>(s));
  }
  for (ValueAnswer& v : values_) {
    if (v.wide.empty() && !IsMultiplied(v.buffer)) {
      Refuse(v, "product: none that reads it multiplies codes");
    }
  }
}

Status ProductChoice::Record() {
  for (const ValueAnswer& v : values_) AICF_RETURN_IF_ERROR(RecordValue(v));
  for (const ProductAnswer& p : products_) AICF_RETURN_IF_ERROR(RecordProduct(p));
  return OkStatus();
}

const ValueAnswer& ProductChoice::ValueOf(ir::BufferId b) const {
  return *std::ranges::find(values_, b, &ValueAnswer::buffer);
}

schema::NodeNames ProductChoice::MakersOf(ir::BufferId b) const {
  for (const ir::LoweredStep& step : lowered_.steps) {
    if (std::ranges::count(step.outputs, b) > 0) return step.sources;
  }
  return {};
}

const Wish* ProductChoice::WishFor(const Answer& answer) const {
  if (context_.wishes == nullptr) return nullptr;
  return context_.wishes->Find(IdentityOf(answer.decision), answer.occurrence);
}

void ProductChoice::AddValue(ir::BufferId b) {
  ValueAnswer v;
  v.buffer = b;
  v.stored = lowered_.buffers[b].dtype;
  v.decision = context_.About(
      DecisionKind::kStorage,
      schema::Subject::ValueOf(SubjectForm::kValue, lowered_.buffers[b].name, MakersOf(b)), kPass);
  v.occurrence = occurrences_.Next(IdentityOf(v.decision));
  const CalibratedValue* ranges = record_.Find(b);
  const auto extent = static_cast<size_t>(all_.RulesOf(b, precision()).channels.extent);
  if (ranges != nullptr && !ranges->channels.empty() && ranges->channels.size() != extent) {
    ranges = nullptr;
  }
  if (ranges != nullptr && ranges->infinite.empty()) {
    AddCodes(*ranges, v);
    TakeWish(v);
  } else {
    Refuse(v, ranges == nullptr ? "pattern: it was not calibrated"
                                : StrCat("range: not all of its elements are finite numbers on ",
                                         ranges->infinite));
    v.codes = {{NarrowName(), ValueCode()}};
  }
  values_.push_back(std::move(v));
}

void ProductChoice::AddCodes(const CalibratedValue& ranges, ValueAnswer& v) const {
  const CodeRules rules = all_.RulesOf(v.buffer, precision());
  const RangeMethod first = context_.calibration->method;
  const auto add = [&](RangeMethod method) {
    const ValueCode code = CodeOf(ranges, method, rules);
    v.codes.emplace_back(CodeText(code, method), code);
  };
  add(first);
  for (int m = 0; m < kRangeMethods; ++m) {
    if (static_cast<RangeMethod>(m) != first) add(static_cast<RangeMethod>(m));
  }
}

void ProductChoice::TakeWish(ValueAnswer& v) const {
  const Wish* wish = WishFor(v);
  if (wish == nullptr) return;
  if (wish->decision.choice == v.WideName()) v.wide = StrCat(wish->origin, " asks for it");
  for (size_t i = 0; i < v.codes.size(); ++i) {
    if (v.codes[i].first == wish->decision.choice) v.chosen = i;
  }
}

void ProductChoice::AddProduct(int s) {
  const ir::LoweredStep& step = lowered_.steps[static_cast<size_t>(s)];
  ProductAnswer p;
  p.step = s;
  p.stored = step.problem.inputs[0].dtype;
  p.decision = context_.About(DecisionKind::kOperands, SubjectOf(step), kPass);
  p.occurrence = occurrences_.Next(IdentityOf(p.decision));
  const std::string& refusal = all_.refusals[static_cast<size_t>(s)];
  if (refusal.empty()) {
    Build(step, p);
  } else {
    Refuse(p, refusal);
  }
  if (p.wide.empty()) TakeWish(p);
  products_.push_back(std::move(p));
}

// Fills in what the product becomes when it is quantised, or refuses it on account of its value or
// of the device's kernels.
void ProductChoice::Build(const ir::LoweredStep& step, ProductAnswer& p) const {
  const ValueAnswer& value = ValueOf(step.inputs[0]);
  if (!value.wide.empty()) {
    return Refuse(p, StrCat("operand: '", lowered_.buffers[value.buffer].name, "' is ",
                            value.WideName(), ": ", value.wide));
  }
  p.weights = QuantizeWeights(step.problem, lowered_.buffers[step.inputs[1]].constant, precision(),
                              value.code().factors);
  p.after = QuantizedProblem(step.problem, value.code(), p.weights, &p.extras);
  const DType code = value.code().dtype;
  const abi::MathMode asked = IsFloat(code) ? abi::MathMode::kFp8 : context_.math;
  p.after.math = ModeFor(p.after.family, asked, code, context_.device);
  const std::string refusal = RefuseOnDevice(step.problem, p.after, context_.device);
  if (!refusal.empty()) return Refuse(p, refusal);
  const bool lost = !LosesKernel(step.problem, p.after, context_.device).empty();
  if (lost) p.note = "; only the reference kernel of this target multiplies such codes, slowly";
}

void ProductChoice::TakeWish(ProductAnswer& p) const {
  if (const Wish* wish = WishFor(p); wish != nullptr) {
    if (wish->decision.choice == p.WideName()) p.wide = StrCat(wish->origin, " asks for it");
    return;
  }
  const ir::LoweredStep& step = lowered_.steps[static_cast<size_t>(p.step)];
  if (const std::optional<abi::MathMode> named = NamedMath(context_, step)) {
    p.wide = StrCat("its math mode is to be ", abi::MathModeName(*named));
    return;
  }
  const CalibratedProduct* measured = record_.FindProduct(p.step);
  if (measured == nullptr || !measured->wide) return;
  p.wide = StrCat("alone in ", NarrowName(), " it changes the outputs by ",
                  ShortNumber(measured->effect),
                  ", much for the work that it saves, and together they may by ",
                  ShortNumber(context_.calibration->max_error), " (--max-error)");
}

bool ProductChoice::IsMultiplied(ir::BufferId b) const {
  return std::ranges::any_of(products_, [&](const ProductAnswer& p) {
    return p.wide.empty() && lowered_.steps[static_cast<size_t>(p.step)].inputs[0] == b;
  });
}

std::string ProductChoice::RangeText(const CalibratedValue& ranges) const {
  std::string text =
      StrCat(ranges.channels.empty() ? "it lies" : "its channels, brought to one range, lie",
             " between ", ShortNumber(ranges.low), " and ", ShortNumber(ranges.high), " on ",
             record_.samples, record_.samples == 1 ? " sample" : " samples");
  if (ranges.few == 0) return text;
  return StrCat(text, "; its channels are not brought to one range, because ", ranges.few,
                ranges.few == 1 ? " element of each does" : " elements of each do",
                " not tell where others lie");
}

Status ProductChoice::RecordValue(const ValueAnswer& v) {
  Decision d = v.decision;
  d.choice = v.wide.empty() ? v.codes[v.chosen].first : v.WideName();
  if (v.wide.empty()) {
    d.Because(Reason::kPolicy, RangeText(*record_.Find(v.buffer)));
    d.alternatives = {{v.WideName(), "", -1}};
  } else {
    d.Because(v.reason, v.wide);
  }
  for (const auto& [text, code] : v.codes) {
    if (text != d.choice) d.alternatives.push_back({text, v.refused ? v.wide : "", -1});
  }
  AICF_RETURN_IF_ERROR(CheckRefusals(context_.wishes, d, v.occurrence));
  context_.Record(std::move(d));
  return OkStatus();
}

Status ProductChoice::RecordProduct(const ProductAnswer& p) {
  Decision d = p.decision;
  d.choice = p.wide.empty() ? NarrowName() : p.WideName();
  if (p.wide.empty()) {
    const CalibratedProduct* measured = record_.FindProduct(p.step);
    const std::string effect = measured == nullptr ? "its effect was not measured"
                                                   : StrCat("alone it changes the outputs by ",
                                                            ShortNumber(measured->effect));
    d.Because(Reason::kPolicy, StrCat(effect, p.note));
    d.alternatives = {{p.WideName(), "", -1}};
  } else {
    d.Because(p.reason, p.wide);
    d.alternatives = {{NarrowName(), p.refused ? p.wide : "", -1}};
  }
  AICF_RETURN_IF_ERROR(CheckRefusals(context_.wishes, d, p.occurrence));
  context_.Record(std::move(d));
  return OkStatus();
}

}  // namespace aicf::quantize
