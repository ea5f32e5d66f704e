/// Host functions of the topk kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/topk/topk.h"

namespace aicf::cpu::topk_hosts {

struct HeapHost : CpuHostBase {
  static std::string Refusal(const abi::Problem& p) {
    if (p.inputs[0].dtype != DType::kF32) {
      return StrCat("sorts f32 only, not ", DTypeName(p.inputs[0].dtype));
    }
    return {};
  }
  /// The workspace holds k items for each line.
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

}  // namespace aicf::cpu::topk_hosts
