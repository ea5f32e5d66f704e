#include "kernels/cuda/blockgemm/gemv.h"

#include "kernels/cuda/common/tiles.h"

namespace aicf::cuda {
namespace {

using abi::MathMode;
using abi::Problem;

// The number of 16-bit parts of an element of A; PartsOfX of fragments.cuh computes the same.
int64_t PartsOfX(const Problem& p) {
  const BlockFormat format = p.as<abi::BlockGemmAttrs>().format;
  const DType x = p.inputs[0].dtype;
  const bool wide = format == BlockFormat::kBF16 || format == BlockFormat::kF32;
  const bool to_half = x == DType::kF16 || (x == DType::kF32 && p.math == MathMode::kFp16);
  if (!wide && to_half) return 1;
  if (x != DType::kF32) return x == DType::kF16 ? 2 : 1;
  return p.math == MathMode::kFp32 ? 3 : p.math == MathMode::kFp16 ? 2 : 1;
}

bool HasMinimum(const Problem& p) {
  const BlockFormat format = p.as<abi::BlockGemmAttrs>().format;
  return format == BlockFormat::kQ4_1 || format == BlockFormat::kQ5_1 ||
         format == BlockFormat::kQ2_K || format == BlockFormat::kQ4_K ||
         format == BlockFormat::kQ5_K;
}

}  // namespace

int64_t BlockGemvColumns(const Problem& p) { return ProductOf(p).rows * PartsOfX(p); }

int64_t BlockGemvSharedBytes(const Problem& p, const abi::Parameters& c) {
  const BlockChunk chunk = ChunkOf(p.as<abi::BlockGemmAttrs>().format);
  const int64_t rows = ProductOf(p).rows, columns = BlockGemvColumns(p);
  const int64_t chunks = CeilDiv(ChunksOf(p), c["cluster"]);
  const int64_t x = columns * (RoundUp(chunks * chunk.depth / 32 * 64, 128) + 64);
  const int64_t groups = chunks * chunk.groups, with_minimum = HasMinimum(p) ? rows : 0;
  const int64_t sums = RoundUp(groups * (RoundUp(columns, 2) + with_minimum) * 4, 16);
  const int64_t cells = 16 * (columns + with_minimum) * 4;
  return x + sums + c["warps"] * (c["stages"] * chunk.bytes() + 2 * cells);
}

std::string BlockGemvHost::Refusal(const Problem& p, const abi::DeviceSpec&) {
  const ProductShape s = ProductOf(p);
  if (s.rows < 1 || s.rows > kMaxRows) {
    return StrCat("is for 1 to ", kMaxRows, " rows, here are ", s.rows);
  }
  if (BlockGemvColumns(p) > kMaxColumns) {
    return StrCat("takes A as at most ", kMaxColumns, " rows of 16 bits, here are ",
                  BlockGemvColumns(p));
  }
  if (s.halves > 1) return "takes no product in two halves";
  if (s.columns == 0 || s.length == 0) return "the product is empty";
  if (ChunksOf(p) > (int64_t{1} << 20)) return "its rows of blocks are too long";
  return {};
}

std::string BlockGemvHost::Refuse(const Problem& p, const abi::Parameters& c,
                                  const abi::DeviceSpec& d) {
  if (c["warps"] % c["along_k"] != 0) {
    return StrCat(c["along_k"], " warps along k do not divide ", c["warps"]);
  }
  if (c["blocks"] % c["cluster"] != 0) return "takes whole clusters of blocks";
  const int64_t shared = BlockGemvSharedBytes(p, c);
  if (shared <= d.max_shared_bytes) return {};
  return StrCat("needs ", shared, " bytes of shared memory, there are ", d.max_shared_bytes);
}

abi::LaunchConfig BlockGemvHost::Launch(const Problem& p, const abi::Parameters& c) {
  abi::LaunchConfig launch = Launch1d(c["blocks"], 32 * c["warps"]);
  launch.cluster[0] = static_cast<uint32_t>(c["cluster"]);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(BlockGemvSharedBytes(p, c));
  return launch;
}

}  // namespace aicf::cuda
