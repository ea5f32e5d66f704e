/// Host functions of the gather kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/gather/gather.h"

namespace aicf::cpu::gather_hosts {

inline std::string MovesOnly(const abi::Problem& p) {
  if (!p.epilogue.empty()) return "applies no epilogue";
  if (p.inputs[0].dtype != p.outputs[0].dtype) return "does not convert";
  return {};
}

struct RowsHost : CpuHostBase {
  static std::string Refusal(const abi::Problem& p) {
    std::string refusal = MovesOnly(p);
    if (!refusal.empty()) return refusal;
    if (p.as<abi::GatherAttrs>().kind == abi::GatherKind::kElements)
      return "moves no single elements";
    const int inner = GatherRowRank(p);
    if (!EndsDense(p.inputs[0], inner)) return "needs the table's rows contiguous";
    if (!EndsDense(p.outputs[0], inner)) return "needs the output's rows contiguous";
    return {};
  }
};

struct ElementsHost : CpuHostBase {
  static constexpr double kBytesShare = 0.2;
  static std::string Refusal(const abi::Problem& p) {
    if (p.as<abi::GatherAttrs>().kind != abi::GatherKind::kElements) return "moves single elements";
    if (!IsPlainIndex(p.inputs[1])) return "needs indices of i32 or i64";
    return MovesOnly(p);
  }
};

struct ReferenceHost : CpuHostBase {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::gather_hosts
