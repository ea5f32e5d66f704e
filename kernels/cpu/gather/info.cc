#include "kernels/cpu/common/host.h"

namespace aicf::cpu {
namespace {

/// True when the last `axes` axes of the view are dense.
bool EndsDense(const abi::View& view, int axes) {
  int64_t expected = 1;
  for (int d = view.shape.rank() - 1; d >= view.shape.rank() - axes; --d) {
    if (view.shape[d] != 1 && view.strides[d] != expected) return false;
    expected *= view.shape[d];
  }
  return true;
}

struct RowsHost : CpuHostBase {
  static std::string Refusal(const abi::Problem& p) {
    if (!p.epilogue.empty() || p.outputs.size() != 1) return "applies no epilogue";
    const abi::View& data = p.inputs[0];
    if (data.dtype != p.outputs[0].dtype) return "does not convert";
    const int inner = data.shape.rank() - 1 - static_cast<int>(p.as<abi::GatherAttrs>().axis);
    if (!EndsDense(data, inner)) return "needs the table's rows contiguous";
    if (!EndsDense(p.outputs[0], inner)) return "needs the output's rows contiguous";
    return {};
  }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace
}  // namespace aicf::cpu

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kGather>() {
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, isa, host, function) HostRow<host, isa>(key, Family::kGather),
#include "kernels/cpu/gather/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
