/// Host functions of the pool kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/pool/pool.h"

namespace aicf::cpu::pool_hosts {

struct VectorHost : CpuHostBase {
  static std::string Refusal(const abi::Problem& p) {
    const auto& attrs = p.as<abi::PoolAttrs>();
    const abi::View& x = p.inputs[0];
    if (attrs.kind == abi::PoolKind::kLp) return "does not form p-norms";
    const bool maximum = attrs.kind == abi::PoolKind::kMax;
    const bool floats = abi::ComputeDType(x.dtype) == DType::kF32 && !IsStorageOnly(x.dtype);
    if (!floats && !(maximum && IsByteInteger(x.dtype))) {
      return StrCat("pools f32, f16 and bf16, and maxima of 8 bits, not ", DTypeName(x.dtype));
    }
    const int last = x.shape.rank() - 1;
    const bool channels_last = x.strides[1] == 1 || x.shape[1] == 1;
    if (!channels_last && x.strides[last] != 1) {
      return "needs x contiguous along its channels or its last axis";
    }
    const int64_t reach = (attrs.kernel.back() - 1) * attrs.dilations.back() + 1;
    if (x.strides[last] == 1 && reach > 2048) return "has no window wider than 2048 columns";
    return {};
  }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::pool_hosts
