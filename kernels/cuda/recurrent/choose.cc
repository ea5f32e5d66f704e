#include <algorithm>

#include "kernels/abi/recurrent.h"
#include "kernels/cuda/common/choice.h"
#include "kernels/cuda/recurrent/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

using Host = RecurrentClusterHost;

// As many blocks as it takes to make the slice of the weights that each of them keeps small enough.
int64_t ClusterFor(const Problem& p, const abi::RecurrentShape& s, const DeviceSpec& d) {
  constexpr int64_t kSliceBytes = 48 * 1024;
  const int64_t most = std::min<int64_t>(Host::kMaxCluster, d.max_cluster);
  int64_t cluster = 1;
  const auto slice = [&] {
    const RecurrentCut cut(p, cluster, 1);
    return cut.weight_elements * cut.element;
  };
  while (cluster < most && cluster * 2 <= s.hidden && slice() > kSliceBytes) {
    cluster *= 2;
  }
  return cluster;
}

// Cuts the batch into parts of at most `rows` rows, one for each cluster.
RecurrentCut CutInto(const Problem& p, const abi::RecurrentShape& s, int64_t cluster,
                     int64_t rows) {
  return RecurrentCut(p, cluster, std::max<int64_t>(1, CeilDiv(s.batch, rows)));
}

RecurrentStorage StorageFor(const RecurrentCut& cut, const abi::RecurrentShape& s,
                            const DeviceSpec& d) {
  if (cut.SharedBytes(RecurrentStorage::kStates) > d.max_shared_bytes) {
    return RecurrentStorage::kWorkspace;
  }
  // With a single step every weight is used once, so that copying it first would only cost.
  const bool keeps =
      s.steps > 1 && cut.SharedBytes(RecurrentStorage::kWeights) <= d.max_shared_bytes;
  return keeps ? RecurrentStorage::kWeights : RecurrentStorage::kStates;
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<RecurrentClusterHost>(const Problem& p, const DeviceSpec& d) {
  const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
  const int64_t cluster = ClusterFor(p, s, d);
  const int64_t at_once = std::max<int64_t>(1, d.sm_count / (cluster * s.directions));
  RecurrentCut cut =
      CutInto(p, s, cluster, std::clamp<int64_t>(CeilDiv(s.batch, at_once), 1, Host::kMaxRows));
  if (cut.SharedBytes(RecurrentStorage::kStates) > d.max_shared_bytes) {
    cut = CutInto(p, s, cluster, 1);
  }
  if (cut.clusters > Host::kMaxClusters) return {};
  const int64_t threads = s.gates * cut.units > 64 ? 512 : 256;
  // The time of a step: reading its weights (from the L2 cache unless they stay in shared memory),
  // about 60 bytes per nanosecond and multiprocessor, and a meeting of the blocks.
  const double weights = static_cast<double>(cut.weight_elements * cut.element);
  const double step = weights / 60e3 + (cut.cluster > 1 ? 1.0 : 0.5);
  const double us = PredictUs({.bytes = abi::ByteCount(p),
                               .bytes_share = 0.2,
                               .blocks = static_cast<double>(s.directions * cut.clusters * cluster),
                               .latency_us = 2 + static_cast<double>(s.steps) * step,
                               .blocks_per_sm = 1},
                              d);
  return {CandidateOf<Host>(p,
                            {{"cluster", cut.cluster},
                             {"clusters", cut.clusters},
                             {"storage", static_cast<int64_t>(StorageFor(cut, s, d))},
                             {"threads", threads}},
                            us)};
}

}  // namespace aicf::cuda
