#include "compiler/passes/quantize/calibration.h"

#include <algorithm>

#include "compiler/passes/quantize/equalize.h"

namespace aicf {
namespace {

constexpr std::array<std::string_view, kRangeMethods> kNames = {"minmax", "percentile", "entropy"};

Status AnotherProgram(std::string_view what) {
  return Error(Code::kBadArtifact, "the recorded calibration is about another program: ", what);
}

}  // namespace

std::string_view RangeMethodName(RangeMethod method) { return kNames[static_cast<size_t>(method)]; }

Result<RangeMethod> ParseRangeMethod(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found != kNames.end()) return static_cast<RangeMethod>(found - kNames.begin());
  return Error(Code::kInvalidArgument,
               "--calibrate-method: expected minmax, percentile or entropy, got '", name, "'");
}

const CalibratedValue* CalibratedEntry::Find(ir::BufferId buffer) const {
  const auto found = std::ranges::find(values, buffer, &CalibratedValue::buffer);
  return found == values.end() ? nullptr : &*found;
}

const CalibratedProduct* CalibratedEntry::FindProduct(int step) const {
  const auto found = std::ranges::find(products, step, &CalibratedProduct::step);
  return found == products.end() ? nullptr : &*found;
}

Status CalibratedEntry::CheckFits(const ir::Lowered& lowered) const {
  for (const CalibratedValue& v : values) {
    const bool legal = std::ranges::all_of(
        v.channels, [](uint8_t exponent) { return exponent <= quantize::kMostExponent; });
    const bool there = v.buffer < lowered.buffers.size();
    if (legal && there && lowered.buffers[v.buffer].name == v.name) continue;
    return AnotherProgram(StrCat("it has no value '", v.name, "' in this place"));
  }
  for (const CalibratedProduct& p : products) {
    const bool inside = p.step >= 0 && static_cast<size_t>(p.step) < lowered.steps.size();
    if (inside) {
      const ir::LoweredStep& step = lowered.steps[static_cast<size_t>(p.step)];
      if (lowered.buffers[step.outputs[0]].name == p.name) continue;
    }
    return AnotherProgram(StrCat("it has no step that makes '", p.name, "' in this place"));
  }
  return OkStatus();
}

const CalibratedEntry* Calibration::Find(std::string_view entry) const {
  const auto found = std::ranges::find(entries, entry, &CalibratedEntry::entry);
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace aicf
