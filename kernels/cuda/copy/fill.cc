#include <algorithm>

#include "kernels/cuda/copy/hosts.h"

namespace aicf::cuda {
namespace {

// Lines of the innermost axis that follow each other in memory along the axis around it
// (AxisAroundLines in copy/neighbours.cuh).
int64_t LinesTogether(const abi::View& y, int inner) {
  for (int d = 0; d < y.shape.rank(); ++d) {
    if (d != inner && y.shape[d] > 1 && y.strides[d] == y.shape[inner]) return y.shape[d];
  }
  return 1;
}

}  // namespace

int64_t CopyFillHost::MaxVector(const abi::Problem& p) {
  const abi::View& y = p.outputs[0];
  const Space space = SpacesOf(kKey, p).output;
  if (space.groups[0].empty()) return 1;
  const int inner = static_cast<int>(space.groups[0].back());
  const int64_t line = y.shape[inner], lines = LinesTogether(y, inner);
  int64_t vector = std::min<int64_t>(RunOf(y, space), 16 / DTypeBytes(y.dtype));
  while (vector > 1 && line % vector != 0 && (vector % line != 0 || lines * line % vector != 0)) {
    vector /= 2;
  }
  return std::max<int64_t>(1, vector);
}

namespace {

// Empty, or why the parameters are illegal for a kernel whose threads each store `vector`
// neighbours of the output, of which there may be at most `most`.
std::string RefuseVectors(const abi::Problem& p, const abi::Parameters& c, const abi::DeviceSpec& d,
                          int64_t most) {
  const int64_t vector = std::max<int64_t>(1, c["vector"]);
  if (vector > most || !IsPowerOfTwo(static_cast<uint64_t>(vector))) {
    return StrCat("takes a vector of a power of two up to ", most, ", here is ", vector);
  }
  const std::string refusal = PointHostBase::Refuse(p, c, d);
  return refusal.empty() ? RefuseStride(c["blocks"], c["threads"] * vector) : refusal;
}

}  // namespace

std::string CopyFillHost::Refuse(const abi::Problem& p, const abi::Parameters& c,
                                 const abi::DeviceSpec& d) {
  return RefuseVectors(p, c, d, MaxVector(p));
}

std::string CopyConvertHost::Refuse(const abi::Problem& p, const abi::Parameters& c,
                                    const abi::DeviceSpec& d) {
  return RefuseVectors(p, c, d, CopyFillHost::MaxVector(p));
}

}  // namespace aicf::cuda
