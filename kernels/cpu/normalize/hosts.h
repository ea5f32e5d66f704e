/// Host functions of the normalize kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/normalize/group.h"
#include "kernels/cpu/normalize/normalize.h"

namespace aicf::cpu::normalize_hosts {

struct VectorHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.2;
  static std::string Refusal(const abi::Problem& p) {
    const abi::Expr& prologue = p.prologue;
    const DType dtype = prologue.empty() ? abi::ComputeDType(p.inputs[0].dtype)
                                         : prologue.nodes[prologue.results[0]].dtype;
    if (dtype != DType::kF32) return StrCat("normalises f32 values only, not ", DTypeName(dtype));
    return {};
  }
  /// Long groups are staged in the workspace where they cannot be normalised in the output itself.
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

}  // namespace aicf::cpu::normalize_hosts
