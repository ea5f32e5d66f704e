#include "kernels/cuda/gemm/hopper.h"

#include <algorithm>

#include "kernels/cuda/common/hopper_shape.h"
#include "kernels/cuda/common/tiles.h"
#include "kernels/cuda/gemm/hopper_operand.h"

namespace aicf::cuda {
namespace {

using abi::Problem;

std::string RefuseShape(const abi::Parameters& c, DType operands, HopperForms forms) {
  const int64_t line = c["tile_k"] * DTypeBytes(operands);
  if (line != 128) return StrCat("takes 128 bytes along k, not ", line);
  return RefuseHopperTile(c, operands, forms);
}

// Number of blocks of a cluster that divide k among them; 1 where the set lacks the parameter.
int64_t SplitOf(const abi::Parameters& c) { return std::max<int64_t>(1, c["split"]); }

std::string RefuseSplit(const abi::Parameters& c, const ProductShape& s) {
  const int64_t split = SplitOf(c), steps = CeilDiv(s.length, c["tile_k"]);
  if (split == 1) return {};
  if (c["cluster"] != split || c["cluster_m"] != 1) {
    return StrCat("a cluster whose blocks share k has ", split, " of them and shares no operands");
  }
  if (c["ping_pong"] != 0) return "consumers that take turns sum all of k";
  return split <= steps ? "" : StrCat(split, " blocks share ", steps, " steps of k");
}

std::string RefuseCluster(const abi::Parameters& c) {
  const int64_t cluster = c["cluster"] / SplitOf(c), along_m = c["cluster_m"];
  if (cluster % along_m != 0) return "a cluster of no whole rows";
  if (along_m > 1 && cluster / along_m > 1) return "a cluster in both directions";
  if (c["blocks"] % c["cluster"] != 0) return "blocks that are no whole clusters";
  if (cluster > 1 && c["ahead"] != 0) return "blocks that share operands read nothing ahead";
  return {};
}

// Empty, or why the kernel does not take the product's scales of blocks
// (kernels/cuda/gemm/block_scales.cuh).
std::string RefuseScales(const Problem& p) {
  if (!HasBlockScales(p)) return {};
  const auto& attrs = p.as<abi::GemmAttrs>();
  const DType data = p.inputs[0].dtype;
  if (DTypeBytes(data) != 1)
    return StrCat("takes scales of float8 alone, not of ", DTypeName(data));
  if (attrs.scale_terms != 128)
    return StrCat("takes scales of 128 terms, not of ", attrs.scale_terms.value);
  if (attrs.scale_columns != 1 && attrs.scale_columns != 128) {
    return StrCat("takes scales of 1 or 128 columns, not of ", attrs.scale_columns.value);
  }
  if (SumInputs(p) > 1) return "takes no scales of two halves";
  for (const size_t i : {2, 3}) {
    if (p.inputs[i].dtype != DType::kF32)
      return StrCat("takes scales in f32, not in ", DTypeName(p.inputs[i].dtype));
  }
  return {};
}

std::string RefuseScaledTile(const Problem& p, const abi::Parameters& c) {
  if (!HasBlockScales(p)) return {};
  if (c["swap"] != 0) return "swapped tiles take no scales";
  if (c["promote"] == 0) return "sums of one stage have one scale, those of all have not";
  if (c["cluster"] != SplitOf(c)) return "blocks that share operands take no scales";
  if (p.as<abi::GemmAttrs>().scale_columns != 1) return {};
  // A thread holds the scales of its columns in registers, beside its sums.
  const int64_t most = c["consumers"] == 3 ? 128 : 192;
  const int64_t shares = c["ping_pong"] != 0 ? 1 : c["consumers"];
  const int64_t held = (c["tile_m"] / shares / 64 + 1) * (c["tile_n"] / 2) + c["tile_n"] / 4;
  return held <= most ? "" : StrCat(held, " sums and scales of a thread are above ", most);
}

// Empty, or why the kernel cannot give the epilogue the moments of A's rows
// (kernels/cuda/gemm/row_moments.cuh).
std::string RefuseMomentsOf(const Problem& p) {
  if (!SeesMoments(p)) return {};
  const DType data = p.inputs[0].dtype;
  if (DTypeBytes(data) != 2) return StrCat("sums up moments of 16 bits, not of ", DTypeName(data));
  if (ReadsParts(p)) return {};
  return HopperOperand(p, 0).along_k() ? "" : "sums up moments along k, which A's lines are not";
}

std::string RefuseMomentsTile(const Problem& p, const abi::Parameters& c) {
  if (!SeesMoments(p) || ReadsParts(p)) return {};
  if (c["swap"] != 0) return "swapped tiles sum up no moments";
  return SplitOf(c) == 1 ? "" : "blocks that share out k sum up no moments";
}

// Empty, or why the kernel cannot store the moments of parts of its results
// (kernels/cuda/gemm/store_parts.cuh).
std::string RefuseStoredPartsOf(const Problem& p) {
  if (!StoresParts(p)) return {};
  const int64_t columns = p.as<abi::GemmAttrs>().part_columns;
  if (columns != 64) return StrCat("stores moments of 64 columns, not of ", columns);
  if (SumInputs(p) > 1) return "stores no moments of results that are made of two halves";
  if (RowsInner(p)) return "stores moments of results that are contiguous along n alone";
  return {};
}

std::string RefuseStoredPartsTile(const Problem& p, const abi::Parameters& c) {
  if (!StoresParts(p)) return {};
  if (c["tile_n"] % 64 != 0) {
    return StrCat("a tile of ", c["tile_n"], " columns has no whole parts of 64");
  }
  // Warps join min(64, tile_m) lines at a time, as many as one part of the sums is expected
  // to have. Tiles above 64 that are no multiple of it have parts of fewer lines
  // (kStageColumns in common/hopper_sums.cuh).
  if (c["swap"] != 0 && SplitOf(c) == 1 && c["tile_m"] > 64 && c["tile_m"] % 64 != 0) {
    return StrCat("turned tiles of ", c["tile_m"], " rows store no moments of parts");
  }
  return c["vector"] > 1 ? "" : "stores moments of parts with runs of 2 results and more";
}

}  // namespace

int64_t HopperScaleBytes(const Problem& p, int64_t tile_m, int64_t tile_n) {
  if (!HasBlockScales(p)) return 0;
  const int64_t columns = p.as<abi::GemmAttrs>().scale_columns;
  // Columns that share a scale in every tile: tiles begin at multiples of tile_n, so that runs of
  // the largest power of two that divides it never reach from one scale into the next.
  const int64_t run = std::min(columns, tile_n & -tile_n);
  return 4 * (tile_m + CeilDiv(tile_n / run, int64_t{4}) * 4);
}

namespace {

// LiesInPieces in gemm/block_scales.cuh.
bool LiesInPieces(const abi::View& v, int axis, int other, int64_t extent) {
  constexpr int64_t kPiece = 4;
  bool pieces = v.strides[axis] == 1 && v.offset % kPiece == 0 && extent % kPiece == 0;
  pieces = pieces && (v.shape[other] == 1 || v.strides[other] % kPiece == 0);
  for (int d = 0; d + 2 < v.shape.rank(); ++d)
    pieces = pieces && (v.shape[d] == 1 || v.strides[d] % kPiece == 0);
  return pieces;
}

}  // namespace

bool FetchesScaleLines(const Problem& p) {
  const int last = p.outputs[0].shape.rank() - 1;
  const bool by_column = p.as<abi::GemmAttrs>().scale_columns == 1;
  return LiesInPieces(p.inputs[2], last - 1, last, p.outputs[0].shape[last - 1]) &&
         (!by_column || LiesInPieces(p.inputs[3], last, last - 1, p.outputs[0].shape[last]));
}

int64_t HopperMomentBytes(const Problem& p, const abi::Parameters& c) {
  // A consumer keeps the moments of the rows of A that it multiplies: all rows of a tile where
  // consumers have tiles of their own or divide the tile along n, otherwise a part of them.
  const bool all_rows = c["ping_pong"] != 0 || c["swap"] != 0;
  const int64_t rows = c["tile_m"] * (all_rows ? c["consumers"] : 1);
  return SeesMoments(p) ? rows * 2 * DTypeBytes(DType::kF32) : 0;
}

int64_t HopperPartBytes(const Problem& p, const abi::Parameters& c) {
  // Each of a consumer's four warps puts a mean and squares, 8 bytes, here for every line.
  const bool joins = StoresParts(p) && c["swap"] != 0 && SplitOf(c) == 1;
  return joins ? c["consumers"] * 4 * std::min<int64_t>(64, c["tile_m"]) * 8 : 0;
}

int64_t HopperSharedBytes(const Problem& p, const abi::Parameters& c) {
  const int64_t stage =
      (c["tile_m"] + c["tile_n"]) * 128 + 16 + HopperScaleBytes(p, c["tile_m"], c["tile_n"]);
  return 1024 + c["stages"] * stage + c["consumers"] * HopperStoreBytes(SplitOf(c), SumInputs(p)) +
         HopperMomentBytes(p, c) + HopperPartBytes(p, c);
}

std::string GemmHopperHost::Refusal(const Problem& p, const abi::DeviceSpec& d) {
  if (!d.warpgroup_products) return RefuseWithoutWarpgroups(d);
  if (std::string refusal = RefuseHopperTypes(p); !refusal.empty()) return refusal;
  const ProductShape s = ProductOf(p);
  if (s.rows == 0 || s.columns == 0 || s.length == 0 || s.batch == 0) return "the product is empty";
  for (int operand : {0, 1}) {
    std::string refusal = HopperOperand::Refusal(p, operand);
    if (!refusal.empty()) return StrCat("operand ", operand, " ", refusal);
  }
  if (std::string refusal = RefuseScales(p); !refusal.empty()) return refusal;
  if (std::string refusal = RefuseMomentsOf(p); !refusal.empty()) return refusal;
  return RefuseStoredPartsOf(p);
}

namespace {

std::string RefuseGemmHopperTile(const Problem& p, const abi::Parameters& c,
                                 const abi::DeviceSpec& d, HopperForms forms) {
  std::string shape = RefuseShape(c, p.inputs[0].dtype, forms);
  if (!shape.empty()) return shape;
  if (std::string refusal = RefuseSplit(c, ProductOf(p)); !refusal.empty()) return refusal;
  if (std::string refusal = RefuseCluster(c); !refusal.empty()) return refusal;
  if (std::string refusal = RefuseScaledTile(p, c); !refusal.empty()) return refusal;
  if (std::string refusal = RefuseMomentsTile(p, c); !refusal.empty()) return refusal;
  if (std::string refusal = RefuseStoredPartsTile(p, c); !refusal.empty()) return refusal;
  for (int operand : {0, 1}) {
    std::string refusal = HopperOperand(p, operand).RefuseTile(c);
    if (!refusal.empty()) return refusal;
  }
  if (std::string refusal = RefuseOddPower(c, "vector"); !refusal.empty()) return refusal;
  const int64_t shared = HopperSharedBytes(p, c);
  if (shared > d.max_shared_bytes) {
    return StrCat("it needs ", shared, " bytes of shared memory, there are ", d.max_shared_bytes);
  }
  return {};
}

}  // namespace

std::string GemmHopperHost::Refuse(const Problem& p, const abi::Parameters& c,
                                   const abi::DeviceSpec& d) {
  std::string refusal = RefuseGemmHopperTile(p, c, d, {});
  return refusal.empty() ? refusal : StrCat("does not take the tile: ", refusal);
}

std::string RefuseCutHopperTile(const Problem& p, const abi::Parameters& c,
                                const abi::DeviceSpec& d) {
  // Where results are contiguous along m, the lines of a tile would have to be cut instead.
  return RefuseGemmHopperTile(p, c, d, {.cut_rows = !RowsInner(p)});
}

abi::LaunchConfig GemmHopperHost::Launch(const Problem& p, const abi::Parameters& c) {
  abi::LaunchConfig launch = Launch1d(c["blocks"], 128 * (c["consumers"] + 1));
  launch.cluster[0] = static_cast<uint32_t>(c["cluster"]);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(HopperSharedBytes(p, c));
  return launch;
}

std::vector<abi::TensorMap> GemmHopperHost::TensorMaps(const Problem& p, const abi::Parameters& c) {
  return {HopperOperand(p, 0).Map(c), HopperOperand(p, 1).Map(c)};
}

}  // namespace aicf::cuda
