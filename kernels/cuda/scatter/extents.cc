#include "kernels/cuda/scatter/hosts.h"

namespace aicf::cuda {

ScatterExtents::ScatterExtents(const abi::Problem& p) {
  const auto& a = p.as<abi::ScatterAttrs>();
  const Dims &data = p.inputs[0].shape, &index = p.inputs[1].shape;
  if (a.kind == abi::ScatterKind::kElements) {
    const int axis = static_cast<int>(a.axis);
    for (int d = 0; d < data.rank(); ++d) {
      if (d != axis) lines *= data[d];
    }
    targets = data[axis];
    updates = index[axis];
    return;
  }
  const int n = static_cast<int>(index.back());
  for (int d = 0; d < data.rank(); ++d) (d < n ? targets : row) *= data[d];
  for (int d = 0; d + 1 < index.rank(); ++d) updates *= index[d];
}

}  // namespace aicf::cuda
