#include <algorithm>
#include <cstdlib>

#include "kernels/cuda/common/map_choice.h"
#include "kernels/cuda/copy/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

double CopyUs(const Problem& p, const DeviceSpec& d, double share, int64_t blocks) {
  return PredictUs({.bytes = abi::ByteCount(p),
                    .bytes_share = share,
                    .blocks = static_cast<double>(blocks),
                    .latency_us = 0.8,
                    .blocks_per_sm = 16},
                   d);
}

// Whether every piece moves in whole lines, both where it is read and where it is written.
bool WholeLines(const std::vector<CopyPiece>& pieces) {
  return std::ranges::all_of(pieces, [](const CopyPiece& piece) {
    const int inner = ContiguousAxis(piece.to);
    return inner >= 0 && std::abs(piece.from.strides[inner]) <= 1;
  });
}

}  // namespace

// Each piece gets enough threads to keep the device busy, but so few that each moves several
// vectors. If there are more threads than the device runs at once, each should have several loads
// in flight.
template <>
std::vector<Candidate> CandidatesFor<CopyPiecesHost>(const Problem& p, const DeviceSpec& d) {
  const int64_t many_threads = int64_t{d.threads_per_sm} * d.sm_count;
  std::vector<Candidate> candidates;
  for (int64_t unroll = 1; unroll <= 4; unroll *= 2) {
    const abi::Parameters parameters = {{"threads", kMapThreads},
                                        {"vector", kMaxVector},
                                        {"least_threads", kMapThreads * int64_t{d.sm_count}},
                                        {"unroll", unroll}};
    const int64_t blocks = CopyPiecesHost::Blocks(p, parameters);
    if (unroll > 1 && blocks * kMapThreads < many_threads) break;
    const double share = WholeLines(PiecesOf(p, parameters)) ? 0.85 : 0.25;
    const double faster = unroll == 2 ? 1.05 : unroll == 1 ? 0.95 : 1.0;
    candidates.push_back(
        CandidateOf<CopyPiecesHost>(p, parameters, CopyUs(p, d, share * faster, blocks)));
  }
  return candidates;
}

template <>
std::vector<Candidate> CandidatesFor<CopyTransposeHost>(const Problem& p, const DeviceSpec& d) {
  constexpr int64_t kTile = CopyTransposeHost::kTile;
  const Dims& shape = p.inputs[0].shape;
  const int from = ContiguousAxis(p.inputs[0]);
  const int to = ContiguousAxis(p.outputs[0]);
  const int64_t tiles = CeilDiv(shape[from], kTile) * CeilDiv(shape[to], kTile);
  const int64_t outer =
      abi::ElementsOf(p.inputs[0]) / std::max<int64_t>(1, shape[from] * shape[to]);
  const int64_t blocks = StridedGridFor(tiles * outer, 1);
  return {CandidateOf<CopyTransposeHost>(p, {{"tile_rows", 8}, {"blocks", blocks}},
                                         CopyUs(p, d, 0.7, blocks))};
}

namespace {

// Candidates of CopyFillHost and CopyConvertHost. Vectors come first, because finding the place of
// an element costs more than moving it. Where there are several times as many stores as a device
// has threads at once, a thread has up to `batch` of them, so that several loads of it are under
// way at a time.
template <class Host>
std::vector<Candidate> NeighboursOfOutput(const Problem& p, const DeviceSpec& d, int64_t batch) {
  std::vector<Candidate> all;
  const int64_t most = CopyFillHost::MaxVector(p);
  for (int64_t vector = most; vector >= 1; vector = vector > 1 ? 1 : 0) {
    const int64_t threads = abi::ElementsOf(p.outputs[0]) / vector;
    if (vector > 1 && threads < int64_t{256} * d.sm_count) continue;
    const int64_t at_once = int64_t{d.threads_per_sm} * d.sm_count;
    const int64_t own = std::clamp<int64_t>(threads / at_once, 1, batch);
    const int64_t blocks = std::min(StridedGridFor(CeilDiv(threads, own), kMapThreads),
                                    kMaxGridStride / (kMapThreads * vector * own));
    const double us = CopyUs(p, d, vector > 1 ? 0.5 : 0.4, blocks);
    all.push_back(CandidateOf<Host>(
        p, {{"threads", kMapThreads}, {"blocks", blocks}, {"vector", vector}}, us));
  }
  return all;
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<CopyFillHost>(const Problem& p, const DeviceSpec& d) {
  return NeighboursOfOutput<CopyFillHost>(p, d, 1);
}

template <>
std::vector<Candidate> CandidatesFor<CopyConvertHost>(const Problem& p, const DeviceSpec& d) {
  return NeighboursOfOutput<CopyConvertHost>(p, d, 4);
}

}  // namespace aicf::cuda
