/// Host functions of the resize kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/resize/plan.h"
#include "kernels/cpu/resize/resize.h"

namespace aicf::cpu::resize_hosts {

struct VectorHost : CpuHostBase {
  static std::string Refusal(const abi::Problem& p) {
    if (ResizeCopies(p)) return {};
    const abi::View& x = p.inputs[0];
    if (abi::ComputeDType(x.dtype) != DType::kF32 || IsStorageOnly(x.dtype)) {
      return StrCat("resamples f32, f16 and bf16 only, not ", DTypeName(x.dtype));
    }
    const int column = ResizeColumnAxis(p.outputs[0]);
    int64_t products = 1;
    const int64_t taps = p.as<abi::ResizeAttrs>().mode == abi::ResizeMode::kCubic ? 4 : 2;
    for (int axis = 0; axis < x.shape.rank(); ++axis) {
      if (axis != column && !ResizeKeepsAxis(p, axis)) products *= taps;
    }
    if (products > kMaxBlend) return StrCat("sums at most ", kMaxBlend, " elements");
    if (column >= 0 && x.shape[column] > 1 && x.strides[column] != 1) {
      return "needs x contiguous along the output's innermost axis";
    }
    if (column >= 0 && !ResizeKeepsAxis(p, column) && x.shape[column] > kResizeRow) {
      return StrCat("needs rows of at most ", kResizeRow, " elements");
    }
    return {};
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return ResizeTapCount(p) * sizeof(ResizeTap);
  }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::resize_hosts
