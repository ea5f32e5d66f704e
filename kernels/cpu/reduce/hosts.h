/// Host functions of the reduce kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/reduce/plan.h"
#include "kernels/cpu/reduce/reduce.h"

namespace aicf::cpu::reduce_hosts {

struct VectorHost : CpuHostBase {
  static std::string Refusal(const abi::Problem& p) {
    const abi::Expr& prologue = p.prologue;
    const DType dtype = prologue.empty() ? abi::ComputeDType(p.inputs[0].dtype)
                                         : prologue.nodes[prologue.results[0]].dtype;
    if (dtype != DType::kF32) return StrCat("reduces f32 values only, not ", DTypeName(dtype));
    if (p.as<abi::ReduceAttrs>().kind == abi::ReduceKind::kProd) return "does not form products";
    return {};
  }
  /// Partial results, then the raw result when an epilogue or a conversion follows.
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    const auto partials = static_cast<uint64_t>(ReducePartials(p)) * sizeof(double);
    return partials + static_cast<uint64_t>(abi::ElementsOf(p.outputs[0])) * sizeof(int64_t);
  }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::reduce_hosts
