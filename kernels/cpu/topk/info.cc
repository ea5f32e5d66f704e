#include "kernels/cpu/common/host.h"
#include "kernels/cpu/topk/topk.h"

namespace aicf::cpu {
namespace {

struct HeapHost : CpuHostBase {
  static std::string Refusal(const abi::Problem& p) {
    if (p.inputs[0].dtype != DType::kF32) {
      return StrCat("sorts f32 only, not ", DTypeName(p.inputs[0].dtype));
    }
    return {};
  }
  /// k items for each line.
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return static_cast<uint64_t>(abi::ElementsOf(p.outputs[0])) * sizeof(TopKFloat);
  }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    const auto axis = static_cast<int>(p.as<abi::TopKAttrs>().axis);
    return static_cast<uint64_t>(p.inputs[0].shape[axis]) * sizeof(TopKItem);
  }
};

}  // namespace
}  // namespace aicf::cpu

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kTopK>() {
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, isa, host, function) HostRow<host, isa>(key, Family::kTopK),
#include "kernels/cpu/topk/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
