// TensorScatter: rows written into a cache, per batch entry from its own position on.
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

Status CheckShapes(const Composer& c, const Dims& cache, const Dims& update, int axis) {
  bool fits = cache.rank() == update.rank() && axis > 0;
  for (int d = 0; fits && d < cache.rank(); ++d) {
    fits = d == axis ? update[d] <= cache[d] : update[d] == cache[d];
  }
  if (!fits) {
    return Error(Code::kBadModel, "update ", ToString(update), " does not fit cache ",
                 ToString(cache), " along axis ", axis);
  }
  if (c.Has(2) && c.Shape(c.In(2)) != Dims{cache[0]}) {
    return Error(Code::kBadModel, "write_indices have shape ", ToString(c.Shape(c.In(2))));
  }
  return OkStatus();
}

}  // namespace

Status ExpandTensorScatter(Composer& c) {
  const Dims cache = c.Shape(c.In(0)), update = c.Shape(c.In(1));
  AICF_ASSIGN_OR_RETURN(const int axis, ir::NormalizeAxis(c.node().Int("axis", -2), cache.rank()));
  AICF_RETURN_IF_ERROR(CheckShapes(c, cache, update, axis));
  const std::string mode = c.node().Str("mode", "linear");
  if (mode != "linear" && mode != "circular") return Error(Code::kBadModel, "mode is '", mode, "'");
  ir::ValueId position = c.Counting(0, AlongAxis(cache.rank(), axis, update[axis]));
  if (c.Has(2)) {
    const ir::ValueId first = c.Cast(c.In(2), DType::kI64);
    position = c.Add(position, c.Reshape(first, AlongAxis(cache.rank(), 0, cache[0])));
  }
  if (mode == "circular") {
    const double length = static_cast<double>(cache[axis]);
    position = c.Op("Mod", {position, Number(c, length, DType::kI64)});
  }
  const std::vector<int64_t> shape(update.begin(), update.end());
  const ir::ValueId indices = c.Op("Expand", {position, c.Ints(shape)});
  c.Output(0, c.Op("ScatterElements", {c.In(0), indices, c.In(1)}, {{"axis", int64_t{axis}}}));
  return c.status();
}

}  // namespace aicf
