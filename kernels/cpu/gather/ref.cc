/// cpu.gather.ref: element by element.
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/gather/gather.h"

namespace aicf::cpu {

void GatherRef(const abi::ArgBlock& args) {
  const int axis = static_cast<int>(args.problem->as<abi::GatherAttrs>().axis);
  const abi::TensorArg& data = Input(args, 0);
  const abi::TensorArg& indices = Input(args, 1);
  const DType dtype = abi::ComputeDType(data.dtype);
  ParallelIndices(args, ShapeOf(Output(args, 0)), [&](const int64_t* out_coords) {
    int64_t index = LoadAt(indices, out_coords + axis).i;
    if (index < 0) index += data.shape[axis];
    int64_t coords[kMaxRank] = {};
    for (int d = 0; d < axis; ++d) coords[d] = out_coords[d];
    coords[axis] = index;
    for (int d = axis + 1; d < data.rank; ++d) coords[d] = out_coords[d + indices.rank - 1];
    const bool inside = index >= 0 && index < data.shape[axis];
    StoreEpilogue(args, out_coords, inside ? LoadAt(data, coords) : ScalarFromDouble(0, dtype));
  });
}

}  // namespace aicf::cpu
