#include <algorithm>

#include "kernels/cuda/gemm/hosts.h"

namespace aicf::cuda {
namespace {

constexpr int64_t kStaticShared = 48 * 1024;
constexpr int64_t kMostWarps = 32;

// Static shared memory in which the warps' partial sums meet.
int64_t PartialBytes(const abi::Problem& p, const abi::Parameters& c) {
  if (c["along_n"] == 0) return 0;
  const ProductShape s = ProductOf(p);
  return c["warps"] * s.halves * s.rows * 32 * c["piece"] * 4;
}

// Empty, or why the kernel cannot normalise the rows of A. Rows times the gain lie in static shared
// memory, each with a sum for each of its warps (gemm/gained_rows.cuh).
std::string RefuseNormalizing(const abi::Problem& p) {
  if (!NormalizesRows(p)) return {};
  const abi::View& b = p.inputs[1];
  const int k = b.shape.rank() - 2;
  if (b.shape[k] > 1 && b.strides[k] != 1) {
    return "normalises rows only where B is contiguous along k";
  }
  const DType data = p.inputs[0].dtype;
  const bool rounds = p.math == abi::MathMode::kBf16 && data == DType::kBF16;
  const int64_t row = CeilDiv(std::max<int64_t>(1, b.shape[k]) * (rounds ? 2 : 4), 16) * 16;
  const int64_t rows = p.outputs[0].shape[k];
  const int64_t bytes = rows * (row + CeilDiv(CeilDiv(kMostWarps, rows) * 4, 16) * 16);
  if (bytes <= kStaticShared) return {};
  return StrCat("would need ", bytes, " bytes of static shared memory for its rows, at most ",
                kStaticShared, " are allowed");
}

}  // namespace

int64_t GemvHost::MaxPiece(const abi::Problem& p, bool along_n) {
  const abi::View& b = p.inputs[1];
  const int axis = b.shape.rank() - (along_n ? 1 : 2);
  Space space{b.shape, {Dims{axis}, {}}};
  for (int d = 0; d < b.shape.rank(); ++d) {
    if (d != axis && b.shape[d] != 1) space.groups[1].push_back(d);
  }
  int64_t piece = std::min<int64_t>(RunOf(b, space), 16 / DTypeBytes(b.dtype));
  // Along n each half must be whole pieces, so that the second half begins at a piece.
  const int64_t whole = b.shape[axis] / (along_n ? ProductOf(p).halves : 1);
  while (piece > 1 && whole % piece != 0) piece /= 2;
  return piece;
}

std::string GemvHost::Refusal(const abi::Problem& p, const abi::DeviceSpec&) {
  const ProductShape s = ProductOf(p);
  if (SumDType(p) != DType::kF32) return "multiplies f32, f16 and bf16 only";
  if (s.rows > kMaxRows || s.rows == 0) return StrCat("is for 1 to 8 rows, here are ", s.rows);
  if (s.columns > (int64_t{1} << 30) || s.batch > (int64_t{1} << 20)) return "has too many columns";
  return RefuseNormalizing(p);
}

std::string GemvHost::Refuse(const abi::Problem& p, const abi::Parameters& c,
                             const abi::DeviceSpec&) {
  const int64_t most = MaxPiece(p, c["along_n"] != 0);
  if (c["piece"] > most || !IsPowerOfTwo(static_cast<uint64_t>(c["piece"]))) {
    return StrCat("takes a piece of a power of two up to ", most, " elements, here is ",
                  c["piece"]);
  }
  if (c["ahead"] != 0 && c["along_n"] != 0) return "reads ahead only along k";
  if (c["along_n"] != 0 && NormalizesRows(p)) return "normalises rows only along k";
  if (PartialBytes(p, c) > kStaticShared) {
    return StrCat("needs ", PartialBytes(p, c), " bytes of static shared memory, at most ",
                  kStaticShared, " are allowed");
  }
  const ProductShape s = ProductOf(p);
  const int64_t blocks = CeilDiv(s.result_columns(), BlockColumns(c)) * s.batch;
  return blocks <= kMaxBlocks ? "" : "needs more blocks than a grid has";
}

abi::LaunchConfig GemvHost::Launch(const abi::Problem& p, const abi::Parameters& c) {
  const ProductShape s = ProductOf(p);
  const int64_t blocks =
      std::max<int64_t>(1, CeilDiv(s.result_columns(), BlockColumns(c))) * s.batch;
  abi::LaunchConfig launch = Launch1d(std::max<int64_t>(1, blocks), 32);
  launch.block[1] = static_cast<uint32_t>(c["warps"]);
  return launch;
}

}  // namespace aicf::cuda
