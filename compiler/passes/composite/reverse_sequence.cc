// ReverseSequence: a gather whose indices run backwards up to each sequence's length.
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {

Status ExpandReverseSequence(Composer& c) {
  const Dims shape = c.Shape(c.In(0));
  if (shape.rank() < 2) return Error(Code::kBadModel, "its input has rank ", shape.rank());
  const int64_t batch = c.node().Int("batch_axis", 1), time = c.node().Int("time_axis", 0);
  if (!((batch == 0 && time == 1) || (batch == 1 && time == 0))) {
    return Error(Code::kBadModel, "batch_axis ", batch, " and time_axis ", time,
                 " are not 0 and 1");
  }
  const int64_t sequences = shape[static_cast<int>(batch)], steps = shape[static_cast<int>(time)];
  if (!(c.Shape(c.In(1)) == Dims{sequences})) {
    return Error(Code::kBadModel, "sequence_lens has shape ", ToString(c.Shape(c.In(1))),
                 ", expected ", sequences);
  }
  std::vector<int64_t> swap = AxesFrom(0, shape.rank());
  std::swap(swap[0], swap[1]);
  const ir::ValueId x = batch == 0 ? c.In(0) : c.Transpose(c.In(0), swap);
  // [B, T]: length - 1 - t inside the sequence, t after it.
  const ir::ValueId length = c.Reshape(c.Cast(c.In(1), DType::kI64), {sequences, 1});
  const ir::ValueId at = c.Counting(0, {1, steps});
  const ir::ValueId back = c.Sub(length, c.Counting(1, {1, steps}));
  const ir::ValueId index = c.Op("Where", {c.Op("Less", {at, length}), back, at});
  const ir::ValueId y =
      c.Op("GatherND", {x, c.Reshape(index, {sequences, steps, 1})}, {{"batch_dims", int64_t{1}}});
  c.Output(0, batch == 0 ? y : c.Transpose(y, swap));
  return c.status();
}

}  // namespace aicf
