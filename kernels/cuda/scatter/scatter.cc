#include "kernels/cuda/scatter/scatter.h"

#include <algorithm>

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

int64_t ScatterShares(std::string_view key, const abi::Problem& p, int sm_count) {
  const ScatterExtents e(p);
  const bool lines = key == kScatterLinesKey;
  // Every share walks all updates of its line: no more of them than the machine has room for, and
  // none so small that the walk outweighs its targets.
  const int64_t room = int64_t{sm_count} * (lines ? 256 : 16);
  const int64_t smallest = lines ? 8 : e.row >= 32 ? 1 : 32;
  const int64_t most = std::max<int64_t>(1, (e.targets + smallest - 1) / smallest);
  const int64_t units = std::max<int64_t>(1, e.lines * ScatterChunks(e));
  return std::clamp<int64_t>(room / units, 1, most);
}

}  // namespace aicf::cuda
