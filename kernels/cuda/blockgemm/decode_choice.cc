// Candidates of cuda.blockgemm.decode. The constants are fitted to chains of launches over distinct
// weights on an H100 (bench/results/h200_language.md).
#include <algorithm>
#include <cmath>

#include "kernels/cuda/blockgemm/chunk_cost.h"
#include "kernels/cuda/blockgemm/hosts.h"
#include "kernels/cuda/common/choice.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::Problem;

// Stages where a warp has many chunks. Two of them are asked for before the rows are. They take so
// much memory that the next kernel's block starts when this one's has ended, which does not pay for
// few chunks.
constexpr int64_t kStagesOfMany = 4, kFewChunks = 4;

/// How a block's warps share a product's panels and chunks, and what they multiply.
struct DecodeCut {
  int64_t warps, along_k, stages, cluster, integers, batch = 1, apart = 0;
};

// Turns after which warps meet: the more the better, as long as their sums take little memory.
int64_t BatchFor(const Problem& p, const DecodeCut& cut) {
  constexpr int64_t kMost = 8, kBytes = 8192;
  const int64_t of_turn = cut.warps * BlockChunk::kRows * ProductOf(p).rows * 4;
  return std::clamp<int64_t>(kBytes / of_turn, 1, kMost);
}

// Whether every warp brings its own part of the row. Each then begins as soon as that is there, and
// the block's warps need not meet. Where several warps multiply the same part, each has a copy, of
// a short row alone: a layer of Llama-3-8B in Q4_K takes 0.5 us less where its products have rows
// of 11 KB of their own, two copies of them in gate and up, and two copies of the 38 KB of its down
// product cost 2 us.
int64_t ApartFor(const Problem& p, const DecodeCut& cut) {
  constexpr int64_t kMostCopied = 16 * 1024;
  if (cut.integers == 0) return 0;
  const int64_t copies = cut.warps / cut.along_k - 1;
  return copies * BlockDecodeRowBytes(p, cut.cluster) <= kMostCopied ? 1 : 0;
}

class DecodeCost {
 public:
  /// `together`: the number of blocks on each multiprocessor that the grid is sized for.
  DecodeCost(const Problem& p, const DeviceSpec& d, const DecodeCut& cut, int64_t together)
      : p_(p), d_(d), cut_(cut), chunk_(ChunkOf(p.as<abi::BlockGemmAttrs>().format)) {
    const int64_t groups = CeilDiv(PanelsOf(p), cut.warps / cut.along_k);
    const int64_t clusters = std::max<int64_t>(1, d.sm_count * together / cut.cluster);
    turns_ = CeilDiv(groups, clusters);
    // The grid has no more blocks than these turns need: then all blocks but the last have equal
    // work.
    blocks_ = CeilDiv(groups, turns_) * cut.cluster;
    // With `ahead`, one stage is asked for before the rows are, because these have to wait for all
    // that was asked for earlier.
    parameters_ = {{"warps", cut.warps},
                   {"along_k", cut.along_k},
                   {"stages", cut.stages},
                   {"cluster", cut.cluster},
                   {"blocks", blocks_},
                   {"ahead", 0},
                   {"integers", cut.integers},
                   {"batch", cut.batch},
                   {"early", cut.stages == kStagesOfMany ? 2 : 1},
                   {"apart", cut.apart}};
    const int64_t registers = 65536 / (32 * cut.warps * (Rows() == 1 ? 80 : 104));
    const int64_t shared = BlockDecodeSharedBytes(p, parameters_) + 1024;
    room_ = std::max<int64_t>(1, std::min(registers, d.shared_bytes_per_sm / shared));
  }

  const abi::Parameters& parameters() const { return parameters_; }
  /// Whether a multiprocessor has room for as many blocks as the grid is sized for.
  bool Fits(int64_t together) const { return room_ >= together; }
  /// Chunks that a warp multiplies in all.
  int64_t Units() const { return turns_ * CeilDiv(Part(), cut_.along_k); }

  double Us() const {
    const int64_t each = CeilDiv(blocks_, int64_t{d_.sm_count});
    const auto waves = static_cast<double>(CeilDiv(each, room_));
    const double reading = Bytes() / Reach(std::min(each, room_));
    const double computing = Computing(each);
    return d_.launch_us + 1.3 + Start() + std::max(reading, computing) +
           0.1 * std::min(reading, computing) + 0.6 * (waves - 1) + (cut_.cluster > 1 ? 2 : 0);
  }

 private:
  int64_t Part() const { return CeilDiv(ChunksOf(p_), cut_.cluster); }
  double Bytes() const { return static_cast<double>(PanelsOf(p_) * ChunksOf(p_)) * chunk_.bytes(); }
  double Rows() const { return RowColumnsOf(chunk_.depth, ProductOf(p_).rows); }
  // Bytes per us that reading reaches, limited by how many bytes are under way at once.
  double Reach(int64_t resident) const {
    constexpr double kLatencyUs = 0.85;
    constexpr double kPort = 5e4;  // bytes that a multiprocessor is given in a us
    const auto ahead = static_cast<double>(std::min(Units(), cut_.stages - 1) * chunk_.bytes());
    const auto warps =
        static_cast<double>(std::min<int64_t>(d_.sm_count, blocks_) * resident * cut_.warps);
    const double port = kPort * static_cast<double>(std::min<int64_t>(d_.sm_count, blocks_));
    return std::min({0.97 * d_.bytes_per_us, port, warps * ahead / kLatencyUs});
  }
  double Computing(int64_t each) const {
    const BlockFormat format = p_.as<abi::BlockGemmAttrs>().format;
    const ChunkCost cost = ChunkCostOf(format, ProductOf(p_).rows, cut_.integers != 0);
    return cost.Us(static_cast<double>(each * cut_.warps * Units()),
                   static_cast<double>(std::min(each, room_) * cut_.warps));
  }
  // Every block first brings A into the form that it multiplies. A block that normalises rows also
  // reads the gain, and, but for integers, its threads synchronise twice.
  double Start() const {
    const auto elements = static_cast<double>(ProductOf(p_).rows * Part() * chunk_.depth);
    if (cut_.integers != 0) return 0.1e-3 * elements;
    return 0.17e-3 * elements + (NormalizesRows(p_) ? 0.4 + 0.05e-3 * elements : 0);
  }

  const Problem& p_;
  const DeviceSpec& d_;
  const DecodeCut cut_;
  const BlockChunk chunk_;
  abi::Parameters parameters_;
  int64_t room_ = 1, turns_ = 1, blocks_ = 1;
};

std::vector<abi::Candidate> CandidatesWith(int64_t integers, const Problem& p,
                                           const DeviceSpec& d) {
  struct Size {
    int64_t warps, stages, together;
  };
  std::vector<abi::Candidate> all;
  for (const Size& size : {Size{16, kStagesOfMany, 1}, Size{16, 3, 1}, Size{16, 2, 1},
                           Size{8, 5, 2}, Size{8, 5, 1}, Size{8, 3, 3}, Size{8, 3, 1}}) {
    // Where several shares of k are predicted to be equal, the largest is preferred: the panels of
    // a block then lie close together.
    for (int64_t along_k = size.warps; along_k >= 1; along_k /= 2) {
      for (int64_t cluster = 1; cluster <= std::min(2, d.max_cluster); ++cluster) {
        // Every warp gets a chunk, unless there are fewer chunks than a block has warps.
        const int64_t shares = along_k * cluster;
        if (shares > 1 && shares > ChunksOf(p)) continue;
        DecodeCut cut = {size.warps, along_k, size.stages, cluster, integers};
        cut.batch = BatchFor(p, cut);
        const auto fits = [&](const DecodeCost& cost) {
          return BlockDecodeHost::Refuse(p, cost.parameters(), d).empty() &&
                 (size.together == 1 || cost.Fits(size.together));
        };
        cut.apart = ApartFor(p, cut);
        // Copies of the row, or the sums of a batch, may be what leaves no room.
        if (!fits({p, d, cut, size.together})) cut.apart = 0;
        if (!fits({p, d, cut, size.together})) cut.batch = 1;
        const DecodeCost cost(p, d, cut, size.together);
        if (!fits(cost)) continue;
        const bool many = integers != 0 && cost.Units() > kFewChunks;
        if (size.stages == kStagesOfMany && !many) continue;
        all.push_back(CandidateOf<BlockDecodeHost>(p, cost.parameters(), cost.Us()));
      }
    }
  }
  return all;
}

}  // namespace

// A row becomes integers wherever that is legal, because the same bits of B are then unpacked by
// fewer instructions; but not where a long row of integers leaves no room for the rings.
template <>
std::vector<abi::Candidate> CandidatesFor<BlockDecodeHost>(const Problem& p, const DeviceSpec& d) {
  constexpr size_t kMost = 6;
  std::vector<abi::Candidate> all;
  if (BlockDecodeHost::RefuseIntegers(p).empty()) all = CandidatesWith(1, p, d);
  if (all.empty()) all = CandidatesWith(0, p, d);
  std::ranges::stable_sort(all, {}, &abi::Candidate::cost_us);
  const auto same = [](const abi::Candidate& a, const abi::Candidate& b) {
    return a.variant.parameters == b.variant.parameters;
  };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  if (all.size() > kMost) all.resize(kMost);
  return all;
}

}  // namespace aicf::cuda
