#include <algorithm>

#include "kernels/abi/attention.h"
#include "kernels/cuda/common/host.h"

namespace aicf::cuda {
namespace {

using abi::DeviceSpec;
using abi::LaunchConfig;
using abi::MathMode;
using abi::Problem;

constexpr int64_t kMaxHead = 256;

/// Rows of all query heads that read one key head, as the kernels pack them.
int64_t PackedRows(const abi::AttentionShape& s) { return s.rows * s.group(); }

int64_t Tiles(const abi::AttentionShape& s, int64_t rows) {
  return s.batch * s.key_heads * CeilDiv(PackedRows(s), rows);
}

struct AttentionHost : CudaHostBase {
  /// Other rows still read what a row's output would overwrite.
  static bool InPlace(const Problem&, int) { return false; }
  static std::string Refusal(const Problem& p, const DeviceSpec&) {
    const abi::AttentionShape s = abi::AttentionShapeOf(p);
    if (s.head < 1 || s.value_head < 1) return "takes heads of at least one element";
    if (s.head > kMaxHead || s.value_head > kMaxHead) {
      return StrCat("takes heads of at most ", kMaxHead, " elements");
    }
    return {};
  }
  static double Predict(const Problem& p, const DeviceSpec& d, const LaunchConfig& launch,
                        double flops_per_us, double key_us) {
    const abi::AttentionShape s = abi::AttentionShapeOf(p);
    // A tile walks over its keys one block after the other.
    const double pairs = std::max(1.0, static_cast<double>(s.batch * s.query_heads * s.rows));
    const double keys = abi::ScoreCount(p) / pairs;
    return PredictUs({.bytes = abi::ByteCount(p),
                      .flops = abi::FlopCount(p),
                      .flops_per_us = flops_per_us,
                      .blocks = static_cast<double>(launch.grid[0]),
                      .latency_us = 2 + keys * key_us,
                      .blocks_per_sm = 2},
                     d);
  }
};

/// attention/tensor.cuh.
struct TensorHost : AttentionHost {
  static constexpr std::string_view kKey = "cuda.attention.tensor";
  static constexpr std::string_view kSource = "attention/tensor.cuh";
  static constexpr int64_t kWarpRows = 16, kMostWarps = 4;

  static std::string Refusal(const Problem& p, const DeviceSpec& d) {
    if (p.math != MathMode::kTf32 && p.math != MathMode::kFp16 && p.math != MathMode::kBf16) {
      return StrCat("the math mode is ", abi::MathModeName(p.math),
                    ", tensor cores multiply in tf32, fp16 or bf16");
    }
    const DType data = p.inputs[0].dtype;
    if (data == DType::kF64) return "would narrow f64";
    if ((p.math == MathMode::kFp16 && data == DType::kBF16) ||
        (p.math == MathMode::kBf16 && data == DType::kF16)) {
      return StrCat("math mode ", abi::MathModeName(p.math), " would narrow ", DTypeName(data),
                    " values");
    }
    return AttentionHost::Refusal(p, d);
  }
  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) {
    const abi::AttentionShape s = abi::AttentionShapeOf(p);
    const bool word = p.math == MathMode::kTf32;
    const int64_t warps = std::clamp<int64_t>(CeilDiv(PackedRows(s), kWarpRows), 1, kMostWarps);
    const int64_t rows = warps * kWarpRows, step = word ? 32 : 64, pad = word ? 4 : 8;
    const int64_t head = CeilDiv(s.head, 16) * 16 + pad,
                  value = CeilDiv(s.value_head, 16) * 16 + pad;
    LaunchConfig l = Launch1d(GridFor(Tiles(s, rows), 1), 32);
    l.block[1] = static_cast<uint32_t>(warps);
    l.dynamic_shared_bytes =
        static_cast<uint32_t>(((rows + step) * head + step * value) * (word ? 4 : 2));
    return l;
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    // mma.sync reaches about half of what the newer instructions do; tf32 is half as fast.
    const double share = p.math == MathMode::kTf32 ? 0.15 : 0.3;
    return Predict(p, d, Launch(p, d), d.tensor_flops_per_us * share, 0.02);
  }
};

/// attention/general.cuh.
struct GeneralHost : AttentionHost {
  static constexpr std::string_view kKey = "cuda.attention.general";
  static constexpr std::string_view kSource = "attention/general.cuh";
  static constexpr int64_t kThreadRows = 4, kStep = 32;

  static LaunchConfig Launch(const Problem& p, const DeviceSpec&) {
    const abi::AttentionShape s = abi::AttentionShapeOf(p);
    const bool wide = p.inputs[0].dtype == DType::kF64;
    const int64_t rows = wide || PackedRows(s) <= 16 ? 16 : 64;
    const int64_t head = s.head | 1, value = s.value_head | 1;
    LaunchConfig l = Launch1d(GridFor(Tiles(s, rows), 1), 16);
    l.block[1] = static_cast<uint32_t>(rows / kThreadRows);
    const int64_t elements = (rows + kStep) * head + kStep * value + rows * (kStep + 1);
    l.dynamic_shared_bytes = static_cast<uint32_t>(elements * (wide ? 8 : 4));
    return l;
  }
  static double CostUs(const Problem& p, const DeviceSpec& d) {
    const double share = p.inputs[0].dtype == DType::kF64 ? 0.15 : 0.3;
    return Predict(p, d, Launch(p, d), d.fp32_flops_per_us * share, 0.05);
  }
};

}  // namespace
}  // namespace aicf::cuda

namespace aicf::abi {

template <>
std::span<const KernelInfo> CudaKernels<Family::kAttention>() {
  static const KernelInfo rows[] = {cuda::CudaRow<cuda::TensorHost>(Family::kAttention),
                                    cuda::CudaRow<cuda::GeneralHost>(Family::kAttention)};
  return rows;
}

}  // namespace aicf::abi
