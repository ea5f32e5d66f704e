// Candidates of cuda.blockgemm.gemv. The predictions follow from bytes and instructions; the
// numbers are estimates for Hopper. Only the factor between them and the times of chains of
// launches is measured (bench/results/h200_language.md).
#include <algorithm>
#include <cmath>

#include "kernels/cuda/blockgemm/hosts.h"
#include "kernels/cuda/common/choice.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::Problem;

// Warps for which a multiprocessor has registers. Beside what a chunk takes, every lane has sums
// for the fragments' columns (of a group, of a chunk and of all of k) and corrections.
int64_t WarpsPerSm(const Problem& p) {
  const int64_t tiles = CeilDiv(BlockGemvColumns(p), int64_t{8});
  return 65536 / 32 / std::min<int64_t>(255, 72 + 2 * ProductOf(p).rows + 16 * tiles);
}

// Stages of a warp's ring: one more than the chunks that it asks for ahead. Those of a whole
// multiprocessor are some 64 KiB, which is its share of the memory bandwidth times the latency of
// memory, with a reserve.
int64_t StagesFor(const BlockChunk& chunk) {
  return std::clamp<int64_t>(1 + CeilDiv(int64_t{4096}, int64_t{chunk.bytes()}), 2, 8);
}

// Instructions per lane for one element of B: those that decode it, and its share of those for
// scales and sums.
double SlotsPerElement(BlockFormat format, int64_t rows) {
  const double more = 0.1 * static_cast<double>(rows - 1);
  switch (format) {
    case BlockFormat::kF32:
      return 6 + more;
    case BlockFormat::kF16:
    case BlockFormat::kBF16:
      return 2 + more;
    case BlockFormat::kQ8_0:
    case BlockFormat::kQ5_0:
    case BlockFormat::kQ5_1:
    case BlockFormat::kQ5_K:
    case BlockFormat::kQ2_K:
      return 3 + more;
    case BlockFormat::kQ3_K:
    case BlockFormat::kQ6_K:
      return 3.8 + more;
    default:
      return 2.3 + more;
  }
}

struct Cut {
  int64_t warps, along_k, cluster;
};

/// The predicted time of one way to cut the product.
class GemvCost {
 public:
  GemvCost(const Problem& p, const DeviceSpec& d, const Cut& cut)
      : p_(p),
        d_(d),
        cut_(cut),
        format_(p.as<abi::BlockGemmAttrs>().format),
        chunk_(ChunkOf(format_)) {
    parameters_ = With(cut.cluster);
    const int64_t shared = std::max<int64_t>(1, BlockGemvSharedBytes(p, parameters_) + 1024);
    resident_ = std::clamp<int64_t>(d.shared_bytes_per_sm / shared, 1,
                                    std::max<int64_t>(1, WarpsPerSm(p) / cut.warps));
    const int64_t groups = CeilDiv(PanelsOf(p), cut.warps / cut.along_k);
    const int64_t slots = std::max<int64_t>(1, d.sm_count * resident_ / cut.cluster);
    turns_ = CeilDiv(groups, slots);
    // The grid has no more clusters than these turns need: then all clusters but the last have
    // equal work.
    blocks_ = CeilDiv(groups, turns_) * cut.cluster;
    parameters_ = With(blocks_);
  }

  const abi::Parameters& parameters() const { return parameters_; }

  double Us() const {
    const double together = std::ceil(static_cast<double>(blocks_) / d_.sm_count);
    const int64_t part = CeilDiv(ChunksOf(p_), cut_.cluster);
    const auto units = static_cast<double>(turns_ * CeilDiv(part, cut_.along_k));
    const double warps = together * static_cast<double>(cut_.warps);
    const double bytes = warps * units * chunk_.bytes();
    const double ahead = std::min(units, static_cast<double>(StagesFor(chunk_) - 1));
    constexpr double kLatencyUs = 0.8;
    const double reach =
        std::min(d_.bytes_per_us * 0.9 / d_.sm_count, warps * ahead * chunk_.bytes() / kLatencyUs);
    const double elements = warps * units * chunk_.depth * BlockChunk::kRows;
    // Few warps leave gaps between dependent instructions.
    const double issued = 0.85 * std::min(1.0, warps / 12);
    const double lanes_per_us = d_.fp32_flops_per_us / 2 / d_.sm_count * issued;
    const double compute = elements * SlotsPerElement(format_, ProductOf(p_).rows) / lanes_per_us;
    constexpr int64_t kFewRows = 8;  // up to which the model was measured
    const double few = cut_.cluster > 1 ? 1.6 : 1.25;
    const double measured = ProductOf(p_).rows > kFewRows ? few * kManyRowsShare : few;
    return measured *
           (d_.launch_us + Start(together, part) + Ends() + std::max(bytes / reach, compute));
  }

 private:
  abi::Parameters With(int64_t blocks) const {
    return {{"warps", cut_.warps},     {"along_k", cut_.along_k}, {"stages", StagesFor(chunk_)},
            {"cluster", cut_.cluster}, {"blocks", blocks},        {"ahead", 0}};
  }
  // The time until the first bytes of B arrive, and until A has been read from the L2 cache.
  double Start(double together, int64_t part) const {
    constexpr double kBytesPerUs = 30e3;
    const double of_a = static_cast<double>(ProductOf(p_).rows * part * chunk_.depth) *
                        static_cast<double>(DTypeBytes(p_.inputs[0].dtype));
    return 1.2 + together * of_a / kBytesPerUs;
  }
  // The time in which the sums of several warps or blocks meet, turn by turn.
  double Ends() const {
    const double each = cut_.cluster > 1 ? 0.9 : cut_.along_k > 1 ? 0.25 : 0.1;
    return each * (1 + static_cast<double>(turns_ - 1) / static_cast<double>(resident_));
  }

  const Problem& p_;
  const DeviceSpec& d_;
  const Cut cut_;
  const BlockFormat format_;
  const BlockChunk chunk_;
  abi::Parameters parameters_;
  int64_t resident_ = 1, turns_ = 1, blocks_ = 1;
};

}  // namespace

template <>
std::vector<abi::Candidate> CandidatesFor<BlockGemvHost>(const Problem& p, const DeviceSpec& d) {
  constexpr size_t kMost = 4;
  std::vector<abi::Candidate> all;
  for (int64_t warps : {8, 4, 16}) {
    for (int64_t along_k = 1; along_k <= warps; along_k *= 2) {
      for (int64_t cluster = 1; cluster <= std::min(8, d.max_cluster); cluster *= 2) {
        // Every warp gets a chunk, unless there are fewer chunks than a block has warps.
        const int64_t shares = along_k * cluster;
        if (shares > 1 && shares > ChunksOf(p)) continue;
        const GemvCost cost(p, d, {warps, along_k, cluster});
        if (!BlockGemvHost::Refuse(p, cost.parameters(), d).empty()) continue;
        all.push_back(CandidateOf<BlockGemvHost>(p, cost.parameters(), cost.Us()));
      }
    }
  }
  std::ranges::stable_sort(all, {}, &abi::Candidate::cost_us);
  if (all.size() > kMost) all.resize(kMost);
  return all;
}

}  // namespace aicf::cuda
