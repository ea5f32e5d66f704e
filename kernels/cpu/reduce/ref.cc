/// cpu.reduce.ref: for each output element, a walk over the reduced axes in row-major order.
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/reduce/accumulate.h"
#include "kernels/cpu/reduce/reduce.h"

namespace aicf::cpu {
namespace {

DType ReducedDType(const abi::Problem& problem) {
  const abi::Expr& prologue = problem.prologue;
  return prologue.empty() ? abi::ComputeDType(problem.inputs[0].dtype)
                          : prologue.nodes[prologue.results[0]].dtype;
}

}  // namespace

void ReduceRef(const abi::ArgBlock& args) {
  const auto& attrs = args.problem->as<abi::ReduceAttrs>();
  const DType dtype = ReducedDType(*args.problem);
  Dims kept = ShapeOf(Input(args, 0));
  Dims reduced = Dims::Filled(kept.rank(), 1);
  for (int64_t axis : attrs.axes) {
    reduced[static_cast<int>(axis)] = kept[static_cast<int>(axis)];
    kept[static_cast<int>(axis)] = 1;
  }
  ParallelIndices(args, kept, [&](const int64_t* out_coords) {
    Accumulator result(attrs.kind, attrs.last_index, dtype);
    ForEachIndex(reduced, [&](const int64_t* inner) {
      int64_t coords[kMaxRank] = {};
      for (int axis = 0; axis < kept.rank(); ++axis) coords[axis] = out_coords[axis] + inner[axis];
      result.Add(PrologueAt(args, coords));
    });
    StoreEpilogue(args, out_coords, result.Finish());
  });
}

}  // namespace aicf::cpu
