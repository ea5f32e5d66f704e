#include <algorithm>

#include "kernels/cuda/append/hosts.h"

namespace aicf::cuda {

AppendWork::AppendWork(const abi::Problem& p, int64_t vector) {
  const abi::AppendShape s = abi::AppendShapeOf(p);
  const int64_t rest = s.head - 2 * s.pairs;
  const int64_t heads = s.query_heads + s.heads;
  turned = heads * (s.pairs / vector);
  moved = heads * (rest / vector) + s.heads * (s.head / vector);
  rows = s.rows;
  copied = s.slots * s.heads * (s.head / vector);
}

std::string AppendHost::Refuse(const abi::Problem& p, const abi::Parameters& c,
                               const abi::DeviceSpec& d) {
  const std::string refusal = VectorHostBase::Refuse(p, c, d);
  if (!refusal.empty()) return refusal;
  const abi::AppendShape s = abi::AppendShapeOf(p);
  const int64_t vector = c["vector"];
  if (s.pairs % vector != 0 || s.head % vector != 0) {
    return StrCat("takes vectors that divide ", s.pairs, " pairs and ", s.head,
                  " elements, here are ", vector);
  }
  // Device code counts vectors in the type of its element indices (index_t), which may have only 32
  // bits.
  const AppendWork work(p, vector);
  const int64_t most = (int64_t{1} << 31) - kMaxGridStride;
  if (std::max(work.Count(), work.copied) >= most) {
    return StrCat("counts less than ", most, " vectors, here are ",
                  std::max(work.Count(), work.copied));
  }
  return {};
}

}  // namespace aicf::cuda
