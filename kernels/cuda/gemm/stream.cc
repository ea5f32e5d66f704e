#include "kernels/cuda/gemm/stream.h"

#include "kernels/cuda/gemm/hosts.h"

namespace aicf::cuda {
namespace {

using abi::Problem;

constexpr int64_t kVectorBytes = 16;
// What a lane may hold of the row (kMostHeld in gemm/stream.cuh).
constexpr int64_t kMostHeld = 64;

// Elements of the row that a lane holds where so many warps divide k.
int64_t HeldElements(const Problem& p, int64_t warps) {
  const int64_t piece = kVectorBytes / DTypeBytes(p.inputs[1].dtype);
  return CeilDiv(ProductOf(p).length, 32 * piece * warps) * piece;
}

bool IsFloatOfRow(DType t) { return t == DType::kF32 || t == DType::kF16 || t == DType::kBF16; }

// StreamRing::kBytes in gemm/stream.cuh.
int64_t SharedBytes(const Problem& p, const abi::Parameters& c) {
  const int64_t lines = c["columns"] * ProductOf(p).halves;
  const int64_t sums = c["stages"] * lines * c["warps"];
  const int64_t squares = abi::NormalizesRows(p) ? c["warps"] : 0;
  return c["stages"] * (lines * StreamColumnBytes(p) + 3 * 8) +
         CeilDiv(sums + squares, int64_t{2}) * 8;
}

}  // namespace

int64_t StreamColumnBytes(const Problem& p) {
  return ProductOf(p).length * DTypeBytes(p.inputs[1].dtype);
}

bool GemmStreamHost::HoldsRow(const Problem& p, int64_t warps) {
  return HeldElements(p, warps) <= kMostHeld;
}

std::string GemmStreamHost::Refusal(const Problem& p, const abi::DeviceSpec& d) {
  if (!d.warpgroup_products) return RefuseWithoutBulkCopies(d);
  // Products of floats have one dtype.
  const DType data = p.inputs[1].dtype;
  if (!IsFloatOfRow(data)) return "multiplies f32, f16 and bf16 only";
  const ProductShape s = ProductOf(p);
  if (s.rows != 1) return StrCat("is for one row, here are ", s.rows);
  if (s.batch != 1) return StrCat("is for a single product, here are ", s.batch);
  if (s.columns == 0 || s.length == 0) return "the product is empty";
  if (s.columns > (int64_t{1} << 30)) return "has too many columns";
  // A piece divides the column's length.
  if (GemvHost::MaxPiece(p, /*along_n=*/false) * DTypeBytes(data) != kVectorBytes) {
    return "takes columns of B that are contiguous along k, in whole vectors of 16 bytes";
  }
  if (!HoldsRow(p, kMostWarps)) return "has too long columns for its registers";
  const int64_t ring = SharedBytes(p, {{"columns", 1}, {"stages", 2}, {"warps", kMostWarps}});
  return ring <= d.max_shared_bytes ? "" : "has too long columns for its shared memory";
}

std::string GemmStreamHost::Refuse(const Problem& p, const abi::Parameters& c,
                                   const abi::DeviceSpec& d) {
  if (c["stages"] % c["groups"] != 0) return "has stages for each of its groups alike";
  if (c["flight"] > c["stages"]) return "has no more stages on their way than there are";
  if (c["warps"] * c["groups"] + 2 > 32) return "has more than 32 warps";
  if (!HoldsRow(p, c["warps"])) {
    return StrCat("a lane would hold ", HeldElements(p, c["warps"]),
                  " elements of the row, at most ", kMostHeld, " are allowed");
  }
  const int64_t shared = SharedBytes(p, c);
  if (shared > d.max_shared_bytes) {
    return StrCat("needs ", shared, " bytes of shared memory, there are ", d.max_shared_bytes);
  }
  return {};
}

abi::LaunchConfig GemmStreamHost::Launch(const Problem& p, const abi::Parameters& c) {
  abi::LaunchConfig launch = Launch1d(c["blocks"], 32);
  launch.block[1] = static_cast<uint32_t>(c["warps"] * c["groups"] + 2);
  launch.dynamic_shared_bytes = static_cast<uint32_t>(SharedBytes(p, c));
  return launch;
}

}  // namespace aicf::cuda
