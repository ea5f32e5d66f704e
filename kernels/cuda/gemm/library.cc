#include "kernels/cuda/gemm/library.h"

#include "kernels/cuda/gemm/matmul_layout.h"

namespace aicf::cuda {
namespace {

using abi::Problem;

std::string Supports(const Problem& p, const abi::DeviceSpec& d) {
  const std::string refusal = RefuseDevice(d);
  return refusal.empty() ? DescribeMatmul(p).status().message() : refusal;
}

}  // namespace

template <>
abi::KernelInfo RowOf<LibraryHost>(abi::Family family) {
  abi::KernelInfo row{};
  row.key = kLibraryKey;
  row.family = family;
  row.backend = abi::Backend::kLibrary;
  row.deterministic = true;
  row.supports = &Supports;
  row.workspace_bytes = [](const Problem&, const abi::DeviceSpec&) {
    return kLibraryWorkspaceBytes;
  };
  // The library allows the residual and the result to be the same matrix (C == D). It promises
  // nothing of the kind for a bias.
  row.in_place = [](const Problem& p, int input) {
    const Result<MatmulLayout> layout = DescribeMatmul(p);
    return layout.ok() && layout->residual_input == input && SameElements(p, input);
  };
  return row;
}

}  // namespace aicf::cuda
