#include <cmath>
#include <cstdlib>

#include "kernels/cuda/common/tile_choice.h"
#include "kernels/cuda/gemm/hosts.h"

namespace aicf::cuda {

using abi::Candidate;
using abi::DeviceSpec;
using abi::Problem;

// A vendor's kernel, with the algorithm that the library recommends.
template <>
std::vector<Candidate> CandidatesFor<LibraryHost>(const Problem& p, const DeviceSpec& d) {
  const bool tensor = p.math != abi::MathMode::kFp32 && p.math != abi::MathMode::kFp8;
  const double us =
      PredictUs({.bytes = abi::ByteCount(p),
                 .flops = abi::FlopCount(p),
                 .flops_per_us = tensor ? abi::TensorFlopsPerUs(d, p.math) : d.fp32_flops_per_us,
                 .blocks = static_cast<double>(d.sm_count),
                 .latency_us = 2.0},
                d);
  abi::Variant variant;
  variant.workspace_bytes = kLibraryWorkspaceBytes;
  return {{std::move(variant), us}};
}

namespace {

// Lanes along the axis of B that is contiguous.
bool PrefersN(const Problem& p) {
  const abi::View& b = p.inputs[1];
  const int n = b.shape.rank() - 1, k = n - 1;
  return std::abs(b.strides[n]) <= std::abs(b.strides[k]) || b.shape[k] == 1;
}

// Every block reads its rows, multiplies them with the gain and shares them before it multiplies
// them with B. In a decode step that is hidden while the weights of all blocks are on their way,
// but blocks of a second round ask for theirs late, by little for a single row. So a norm pays in
// products of thousands of columns, but not in one with a whole vocabulary. The times of several
// rows are older than those of a single one (bench/results/h200_language.md).
double RowNormUs(const Problem& p, double blocks, const DeviceSpec& d) {
  if (!NormalizesRows(p)) return 0;
  const double rounds = std::ceil(blocks / (2.0 * d.sm_count));
  const auto rows = static_cast<double>(ProductOf(p).rows);
  const double round_us = rows == 1 ? 0.15 : 1.5;
  return (rows == 1 ? 0.1 : 0.2 + 0.1 * rows) + round_us * (rounds - 1);
}

}  // namespace

template <>
std::vector<Candidate> CandidatesFor<GemvHost>(const Problem& p, const DeviceSpec& d) {
  constexpr int64_t kWarps = 8;
  const ProductShape s = ProductOf(p);
  const bool along_n = PrefersN(p) && !NormalizesRows(p);
  const auto cut = [&](int64_t piece) -> abi::Parameters {
    return {{"along_n", along_n ? 1 : 0}, {"piece", piece}, {"warps", kWarps}, {"ahead", 0}};
  };
  int64_t piece = GemvHost::MaxPiece(p, along_n);
  while (along_n && piece > 1 && s.result_columns() / (32 * piece) * s.batch < d.sm_count)
    piece /= 2;
  while (piece > 1 && !GemvHost::Refuse(p, cut(piece), d).empty()) piece /= 2;
  const double per_lane =
      static_cast<double>(s.length * s.halves) / static_cast<double>(along_n ? kWarps : 32 * piece);
  const double blocks = static_cast<double>(GemvHost::Launch(p, cut(piece)).grid[0]);
  // Alone it takes up to a quarter more than cuda.gemm.hopper for one row of 16 bits; in a chain of
  // launches, which a decode step is, up to 5 % less: its blocks have their weights under way in
  // registers, and leave room for those of the next kernel (bench/results/h200_language.md). Gate
  // and up of an 8B model (235 MB) are among these; of more bytes neither matters, and fewer it has
  // in less time anyway.
  constexpr double kSmallBytes = 4e6, kLargeBytes = 512e6;
  const bool chained = s.rows == 1 && !along_n && DTypeBytes(p.inputs[1].dtype) == 2 &&
                       abi::ByteCount(p) > kSmallBytes && abi::ByteCount(p) < kLargeBytes;
  // Each further row is as much arithmetic again, and with 8 of them that is most of a step of
  // SmolLM2-135M: 1536 x 576 takes 4.7 to 6.3 us in 16 bits, where cuda.gemm.hopper takes 3.2
  // (bench/results/h200_language.md). Fitted to the choice between the two with 2, 4 and 8 rows.
  // With norms in the product there is no such choice, and along n nothing was measured.
  const bool counts_rows = !along_n && DTypeBytes(p.inputs[1].dtype) == 2 && !NormalizesRows(p);
  const double rows_us = counts_rows ? per_lane * 0.09 * static_cast<double>(s.rows - 1) : 0;
  const double us = PredictUs({.bytes = abi::ByteCount(p),
                               .flops = abi::FlopCount(p),
                               .flops_per_us = d.fp32_flops_per_us / 3,
                               .bytes_share = 0.7,
                               .blocks = blocks,
                               .latency_us = 1.2 + per_lane * 0.03 + rows_us,
                               .blocks_per_sm = 8},
                              d);
  return {
      CandidateOf<GemvHost>(p, cut(piece), (chained ? 0.72 * us : us) + RowNormUs(p, blocks, d))};
}

template <>
std::vector<abi::Candidate> CandidatesFor<GemmTiledHost>(const abi::Problem& p,
                                                         const abi::DeviceSpec& d) {
  return TileCandidates<GemmTiledHost, false>(p, d);
}

// Every tile with B packed, where it can be, and as it is: only a constant B can be packed, which
// is not for the problem to say.
template <>
std::vector<abi::Candidate> CandidatesFor<GemmTensorHost>(const abi::Problem& p,
                                                          const abi::DeviceSpec& d) {
  std::vector<abi::Candidate> all;
  const bool packs = RefusePackedB(p).empty() && PackedBLayout(p).has_value();
  for (const TileChoice& choice : TilesFor(GemmTensorHost::kKey, true, p, d)) {
    const Tile tile(true, choice.parameters);
    for (int64_t packed = packs ? 1 : 0; packed >= 0; --packed) {
      std::vector<abi::Parameter> list(choice.parameters.begin(), choice.parameters.end());
      list.push_back({"packed_b", packed});
      const double us = packed != 0 ? PackedTileUs(tile, p, d, PackedBSaves(p))
                        : packs     ? ConvertedTileUs(tile, p, d)
                                    : TileUs(tile, p, d);
      all.push_back(CandidateOf<GemmTensorHost>(p, abi::Parameters(std::move(list)), us));
      all.back().row = StrCat(GemmTensorHost::kKey, "_", choice.text);
    }
  }
  return all;
}

}  // namespace aicf::cuda
