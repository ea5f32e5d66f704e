#include "kernels/cuda/blockgemm/decode.h"

#include <algorithm>

#include "kernels/cuda/blockgemm/gemv.h"
#include "kernels/cuda/common/tiles.h"

namespace aicf::cuda {
namespace {

using abi::MathMode;
using abi::Problem;

// Whether normalised rows are rounded more than the math mode allows. Rows of 16 bits are a single
// part in the fragments, so that what has been normalised is rounded to 16 bits again.
bool RoundsRowsTooFar(const Problem& p) {
  const DType x = p.inputs[0].dtype;
  if (x == DType::kF32) return false;
  return p.math != (x == DType::kBF16 ? MathMode::kBf16 : MathMode::kFp16);
}

// Bytes of the rows as numbers of 16 bits (StagedRows::kBytes).
int64_t StagedBytes(const Problem& p, const abi::Parameters& c) {
  const BlockChunk chunk = ChunkOf(p.as<abi::BlockGemmAttrs>().format);
  const int64_t rows = ProductOf(p).rows;
  const int64_t chunks = CeilDiv(ChunksOf(p), c["cluster"]);
  const int64_t x = BlockGemvColumns(p) * (RoundUp(chunks * chunk.depth / 32 * 64, 128) + 64);
  return x + RoundUp(chunks * chunk.groups * rows * 4, 16);
}

// Bytes of the row as integers (IntegerRows::kBytes).
int64_t IntegerBytes(const Problem& p, const abi::Parameters& c) {
  const int64_t copies = c["apart"] != 0 ? c["warps"] / c["along_k"] : 1;
  const int64_t squares = NormalizesRows(p) ? RoundUp(c["warps"] * 4, 16) : 0;
  return copies * BlockDecodeRowBytes(p, c["cluster"]) + squares;
}

// Turns whose sums are kept (kCellTurns). Without a batch those of two, as in older artifacts.
int64_t CellTurns(const Problem& p, const abi::Parameters& c) {
  const int64_t batch = std::max<int64_t>(1, c["batch"]);
  const ProductShape s = ProductOf(p);
  const int64_t panels = CeilDiv(s.result_columns(), int64_t{BlockChunk::kRows});
  const int64_t at_once = c["blocks"] / c["cluster"] * (c["warps"] / c["along_k"] / s.halves);
  const int64_t turns = CeilDiv(panels, std::max<int64_t>(1, at_once));
  return batch > 1 && turns <= batch ? turns : 2 * batch;
}

}  // namespace

int64_t BlockDecodeRowBytes(const Problem& p, int64_t cluster) {
  const BlockChunk chunk = ChunkOf(p.as<abi::BlockGemmAttrs>().format);
  constexpr int64_t kOfSet = 32 * 8 + 16 + 4 * 16;
  return CeilDiv(ChunksOf(p), cluster) * (chunk.groups / 4 * kOfSet);
}

int64_t BlockDecodeSharedBytes(const Problem& p, const abi::Parameters& c) {
  const BlockChunk chunk = ChunkOf(p.as<abi::BlockGemmAttrs>().format);
  const int64_t x = c["integers"] != 0 ? IntegerBytes(p, c) : StagedBytes(p, c);
  return x +
         c["warps"] * (c["stages"] * chunk.bytes() + CellTurns(p, c) * 16 * ProductOf(p).rows * 4);
}

std::string BlockDecodeHost::RefuseIntegers(const Problem& p) {
  if (ProductOf(p).rows != 1) return "makes integers of a single row alone";
  if (p.math == MathMode::kBf16 || p.math == MathMode::kFp16) return {};
  return "makes integers in the math modes bf16 and fp16 alone";
}

std::string BlockDecodeHost::Refusal(const Problem& p, const abi::DeviceSpec&) {
  const ProductShape s = ProductOf(p);
  const BlockFormat format = p.as<abi::BlockGemmAttrs>().format;
  if (s.rows < 1 || s.rows > kMaxRows) {
    return StrCat("is for 1 to ", kMaxRows, " rows, here are ", s.rows);
  }
  if (ChunkOf(format).groups == 0) {
    return StrCat("scales groups of elements, ", InfoOf(format).name, " has none");
  }
  if (s.halves > 1 && s.result_columns() % BlockChunk::kRows != 0) {
    return StrCat("takes halves of whole panels of ", BlockChunk::kRows, " columns, here are ",
                  s.result_columns());
  }
  if (NormalizesRows(p) && RoundsRowsTooFar(p)) {
    return "normalises rows of 16 bits only in the math mode of the same name";
  }
  if (s.columns == 0 || s.length == 0) return "the product is empty";
  if (ChunksOf(p) > (int64_t{1} << 20)) return "its rows of blocks are too long";
  return {};
}

std::string BlockDecodeHost::Refuse(const Problem& p, const abi::Parameters& c,
                                    const abi::DeviceSpec& d) {
  if (c["warps"] % c["along_k"] != 0) {
    return StrCat(c["along_k"], " warps along k do not divide ", c["warps"]);
  }
  if (c["warps"] / c["along_k"] % ProductOf(p).halves != 0) {
    return "a block has as many panels of the one half as of the other";
  }
  if (c["blocks"] % c["cluster"] != 0) return "takes whole clusters of blocks";
  if (c["cluster"] > 1 && NormalizesRows(p)) return "blocks that share out k normalise no rows";
  if (c["integers"] != 0) {
    if (std::string refusal = RefuseIntegers(p); !refusal.empty()) return refusal;
  }
  const int64_t shared = BlockDecodeSharedBytes(p, c);
  if (shared <= d.max_shared_bytes) return {};
  return StrCat("needs ", shared, " bytes of shared memory, there are ", d.max_shared_bytes);
}

abi::LaunchConfig BlockDecodeHost::Launch(const Problem& p, const abi::Parameters& c) {
  abi::LaunchConfig launch = Launch1d(c["blocks"], 32 * c["warps"]);
  launch.cluster[0] = static_cast<uint32_t>(c["cluster"]);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(BlockDecodeSharedBytes(p, c));
  return launch;
}

}  // namespace aicf::cuda
