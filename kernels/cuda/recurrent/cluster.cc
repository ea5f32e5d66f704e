#include <algorithm>

#include "kernels/abi/recurrent.h"
#include "kernels/cuda/recurrent/hosts.h"

namespace aicf::cuda {
namespace {

RecurrentStorage StorageOf(const abi::Parameters& c) {
  return static_cast<RecurrentStorage>(c["storage"]);
}

RecurrentCut CutOf(const abi::Problem& p, const abi::Parameters& c) {
  return RecurrentCut(p, c["cluster"], c["clusters"]);
}

}  // namespace

RecurrentCut::RecurrentCut(const abi::Problem& p, int64_t blocks, int64_t parts)
    : element(p.inputs[0].dtype == DType::kF64 ? 8 : 4), cluster(blocks), clusters(parts) {
  const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
  const int64_t wide = 16 / element;
  pitch = CeilDiv(s.hidden, wide) * wide;
  units = CeilDiv(s.hidden, cluster);
  rows = std::max<int64_t>(1, CeilDiv(s.batch, clusters));
  state_elements = (abi::ResetsBeforeProduct(p) ? 3 : 2) * rows * pitch;
  block_elements = CeilDiv((s.gates + 1) * rows * units, wide) * wide;
  weight_elements = s.gates * units * pitch;
}

int64_t RecurrentCut::SharedBytes(RecurrentStorage storage) const {
  if (storage == RecurrentStorage::kWorkspace) return 0;
  const int64_t weights = storage == RecurrentStorage::kWeights ? weight_elements : 0;
  return element * (state_elements + block_elements + weights);
}

std::string RecurrentClusterHost::Refuse(const abi::Problem& p, const abi::Parameters& c,
                                         const abi::DeviceSpec& d) {
  const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
  if (!IsPowerOfTwo(static_cast<uint64_t>(c["cluster"])) ||
      c["cluster"] > std::max<int64_t>(1, s.hidden)) {
    return StrCat("takes a cluster of a power of two up to the ", s.hidden,
                  " hidden units, here is ", c["cluster"]);
  }
  const RecurrentCut cut = CutOf(p, c);
  // Device code derives the rows of a cluster from the number of clusters, of which none may be
  // left without rows.
  if (cut.rows > kMaxRows || CeilDiv(std::max<int64_t>(1, s.batch), cut.rows) != cut.clusters) {
    return StrCat("takes clusters that share a batch of ", s.batch, " in parts of up to ", kMaxRows,
                  " rows, here are ", cut.clusters);
  }
  if (cut.SharedBytes(StorageOf(c)) > d.max_shared_bytes) {
    return StrCat("needs ", cut.SharedBytes(StorageOf(c)), " bytes of shared memory, there are ",
                  d.max_shared_bytes);
  }
  return RefuseParts(c, "threads", 32);
}

abi::LaunchConfig RecurrentClusterHost::Launch(const abi::Problem& p, const abi::Parameters& c) {
  const RecurrentCut cut = CutOf(p, c);
  const int64_t directions = abi::RecurrentShapeOf(p).directions;
  abi::LaunchConfig launch = Launch1d(directions * cut.clusters * cut.cluster, c["threads"]);
  launch.cluster[0] = static_cast<uint32_t>(cut.cluster);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(cut.SharedBytes(StorageOf(c)));
  return launch;
}

uint64_t RecurrentClusterHost::Workspace(const abi::Problem& p, const abi::Parameters& c) {
  if (StorageOf(c) != RecurrentStorage::kWorkspace) return 0;
  const RecurrentCut cut = CutOf(p, c);
  const int64_t each = cut.state_elements + cut.cluster * cut.block_elements;
  const int64_t all = abi::RecurrentShapeOf(p).directions * cut.clusters * each;
  return static_cast<uint64_t>(all * cut.element);
}

}  // namespace aicf::cuda
