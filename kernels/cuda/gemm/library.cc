#include "kernels/cuda/gemm/library.h"

#include "kernels/cuda/common/host.h"
#include "kernels/cuda/gemm/matmul_layout.h"

namespace aicf::cuda {
namespace {

using abi::Problem;

std::string Supports(const Problem& p, const abi::DeviceSpec& d) {
  const std::string refusal = RefuseDevice(d);
  return refusal.empty() ? DescribeMatmul(p).status().message() : refusal;
}

double CostUs(const Problem& p, const abi::DeviceSpec& d) {
  const bool tensor = p.math != abi::MathMode::kFp32 && p.math != abi::MathMode::kFp8;
  const double tf32 = p.math == abi::MathMode::kTf32 ? 0.5 : 1.0;
  return PredictUs({.bytes = abi::ByteCount(p),
                    .flops = abi::FlopCount(p),
                    .flops_per_us = tensor ? d.tensor_flops_per_us * tf32 : d.fp32_flops_per_us,
                    .blocks = static_cast<double>(d.sm_count),
                    .latency_us = 2.0},
                   d);
}

}  // namespace

abi::KernelInfo LibraryRow() {
  abi::KernelInfo row{};
  row.key = "cublaslt.matmul";
  row.family = abi::Family::kGemm;
  row.backend = abi::Backend::kLibrary;
  row.deterministic = true;
  row.supports = &Supports;
  row.workspace_bytes = [](const Problem&, const abi::DeviceSpec&) {
    return kLibraryWorkspaceBytes;
  };
  // The library takes equal matrices for the residual and the result (C == D), and promises nothing
  // for a bias.
  row.in_place = [](const Problem& p, int input) {
    const Result<MatmulLayout> layout = DescribeMatmul(p);
    return layout.ok() && layout->residual_input == input && SameElements(p, input);
  };
  row.cost_us = &CostUs;
  return row;
}

}  // namespace aicf::cuda
