#include "compiler/passes/composite/contrib_masks.h"

#include <cmath>

#include "base/scanner.h"

namespace aicf {

Status RequireInput(const Composer& c, size_t input, std::string_view name) {
  if (c.Has(input)) return OkStatus();
  return Error(Code::kBadModel, "input ", input, " (", name, ") is absent, but required");
}

Status RefuseInput(const Composer& c, size_t input, std::string_view name) {
  if (!c.Has(input)) return OkStatus();
  return Error(Code::kUnsupported, "input ", input, " (", name, ")");
}

Status RefuseAttribute(const Composer& c, std::string_view name) {
  const int64_t value = c.node().Int(name, 0);
  if (value == 0) return OkStatus();
  return Error(Code::kUnsupported, "attribute '", name, "' of ", value);
}

double AttentionScale(const Composer& c, int64_t head_size) {
  const double given = c.node().Float("scale", 0);
  return given != 0 ? given : 1 / std::sqrt(static_cast<double>(head_size));
}

namespace {

// bool, broadcasting to `scores`: true for the keys that take part. kNoValue for an unknown form.
ir::ValueId KeysThatCount(Composer& c, ir::ValueId mask, const Dims& scores, int64_t past) {
  const Dims s = c.Shape(mask);
  const int64_t batch = scores[0], rows = scores[2], keys = scores[3];
  if (s.rank() == 1 && (s[0] == batch || s[0] == 2 * batch)) {
    const ir::ValueId limits = c.Cast(mask, DType::kI64);
    auto column = [&](int64_t from) {
      return c.Reshape(c.Window(limits, 0, from, batch), {batch, 1, 1, 1});
    };
    const ir::ValueId places = c.Counting(0, {keys});
    const ir::ValueId before = c.Op("Less", {places, column(0)});
    if (s[0] == batch) return before;
    return c.Op("And", {before, c.Op("GreaterOrEqual", {places, column(batch)})});
  }
  const ir::ValueId set = c.Op("Greater", {mask, c.Cast(c.Scalar(0, DType::kF32), c.Type(mask))});
  if (s == Dims{batch, keys}) return c.Reshape(set, {batch, 1, 1, keys});
  if (s == Dims{batch, rows, keys}) return c.Reshape(set, {batch, 1, rows, keys});
  if (s.rank() == 4 && s[0] == batch && s[1] == 1 && s[2] >= past + rows && s[3] >= keys) {
    return c.Window(c.Window(set, 2, past, rows), 3, 0, keys);
  }
  c.Fail(Error(Code::kBadModel, "a mask of shape ", ToString(s), " does not fit scores of shape ",
               ToString(scores)));
  return ir::kNoValue;
}

}  // namespace

ir::ValueId PaddingBias(Composer& c, ir::ValueId mask, const Dims& scores, int64_t past,
                        DType dtype) {
  const ir::ValueId counts = KeysThatCount(c, mask, scores, past);
  const double filter = c.node().Float("mask_filter_value", -10000);
  return c.Op("Where", {counts, c.Scalar(0, dtype), c.Scalar(filter, dtype)});
}

}  // namespace aicf
