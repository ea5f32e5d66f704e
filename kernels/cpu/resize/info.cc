#include <cstdlib>

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/resize/plan.h"

namespace aicf::cpu {

int ResizeColumnAxis(const abi::View& out) {
  int column = -1;
  for (int axis = 0; axis < out.shape.rank(); ++axis) {
    if (out.shape[axis] < 2) continue;
    if (column < 0 || std::abs(out.strides[axis]) < std::abs(out.strides[column])) column = axis;
  }
  return column;
}

bool ResizeKeepsAxis(const abi::Problem& problem, int axis) {
  return problem.inputs[0].shape[axis] == problem.outputs[0].shape[axis] &&
         problem.as<abi::ResizeAttrs>().scales[static_cast<size_t>(axis)] == 1.0;
}

bool ResizeCopies(const abi::Problem& problem) {
  return problem.as<abi::ResizeAttrs>().mode == abi::ResizeMode::kNearest &&
         problem.epilogue.empty() && problem.inputs[0].dtype == problem.outputs[0].dtype;
}

uint64_t ResizeTapCount(const abi::Problem& problem) {
  uint64_t count = 0;
  for (int64_t extent : problem.outputs[0].shape) count += static_cast<uint64_t>(extent);
  return count;
}

namespace {

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

}  // namespace
}  // namespace aicf::cpu

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kResize>() {
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, isa, host, function) HostRow<host, isa>(key, Family::kResize),
#include "kernels/cpu/resize/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
