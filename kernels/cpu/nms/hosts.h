/// Host functions of the nms kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/nms/nms.h"

namespace aicf::cpu::nms_hosts {

struct SortedHost : CpuHostBase {
  static constexpr double kBytesShare = 0.05;
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return NmsSortedWorkspace(p);
  }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kBytesShare = 0.001;
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return static_cast<uint64_t>(NmsExtents(p).boxes);
  }
};

}  // namespace aicf::cpu::nms_hosts
