#include "kernels/cpu/common/host.h"
#include "kernels/cpu/normalize/group.h"

namespace aicf::cpu {

int64_t GroupElements(const abi::Problem& problem) {
  int64_t elements = 1;
  for (int64_t axis : problem.as<abi::NormalizeAttrs>().axes) {
    elements *= problem.outputs[0].shape[static_cast<int>(axis)];
  }
  return elements;
}

bool GroupInOutput(const abi::Problem& problem) {
  const abi::View& out = problem.outputs[0];
  if (!problem.epilogue.empty() || out.dtype != DType::kF32) return false;
  const Dims& axes = problem.as<abi::NormalizeAttrs>().axes;
  int64_t expected = 1;
  for (int i = axes.rank() - 1; i >= 0; --i) {
    const int axis = static_cast<int>(axes[i]);
    if (out.shape[axis] == 1) continue;
    if (out.strides[axis] != expected) return false;
    expected *= out.shape[axis];
  }
  return true;
}

namespace {

struct VectorHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.2;
  static std::string Refusal(const abi::Problem& p) {
    const abi::Expr& prologue = p.prologue;
    const DType dtype = prologue.empty() ? abi::ComputeDType(p.inputs[0].dtype)
                                         : prologue.nodes[prologue.results[0]].dtype;
    if (dtype != DType::kF32) return StrCat("normalises f32 values only, not ", DTypeName(dtype));
    return {};
  }
  /// A long group that cannot be normalised in its output is staged.
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    if (GroupInOutput(p) || GroupElements(p) <= kStagedGroup) return 0;
    return static_cast<uint64_t>(abi::ElementsOf(p.outputs[0])) * sizeof(float);
  }
  /// The statistics of a group are complete before its first element is written; from then on the
  /// output at a point needs the inputs at that point only.
  static bool InPlace(const abi::Problem& p, int input) { return SameElements(p, input); }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
  /// The statistics of a group are complete before its first element is written; from then on the
  /// output at a point needs the inputs at that point only.
  static bool InPlace(const abi::Problem& p, int input) { return SameElements(p, input); }
};

}  // namespace
}  // namespace aicf::cpu

namespace aicf::abi {

template <>
std::span<const KernelInfo> CpuKernels<Family::kNormalize>() {
  using namespace cpu;  // NOLINT(google-build-using-namespace): the rows name host functions there
  static const KernelInfo rows[] = {
#define AICF_CPU_KERNEL(key, isa, host, function) HostRow<host, isa>(key, Family::kNormalize),
#include "kernels/cpu/normalize/list.inc"
#undef AICF_CPU_KERNEL
  };
  return rows;
}

}  // namespace aicf::abi
