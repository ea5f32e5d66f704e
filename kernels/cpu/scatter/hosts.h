/// Host functions of the scatter kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/common/host.h"
#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/scatter/combine.h"
#include "kernels/cpu/scatter/scatter.h"

namespace aicf::cpu::scatter_hosts {

/// Updates in place leave every other element as it is.
struct ScatterHost : CpuHostBase {
  static bool InPlace(const abi::Problem& p, int input) {
    return input == 0 && SameElements(p, input);
  }
};

/// Every index names the same element.
inline bool RepeatsOne(const abi::View& v) {
  for (int d = 0; d < v.shape.rank(); ++d) {
    if (v.shape[d] > 1 && v.strides[d] != 0) return false;
  }
  return true;
}

struct DenseHost : ScatterHost {
  static constexpr double kBytesShare = 0.3;
  static std::string Why(const abi::Problem& p, abi::ScatterKind kind) {
    const auto& a = p.as<abi::ScatterAttrs>();
    if (a.kind != kind) return "does not update this kind of target";
    if (!IsPlainIndex(p.inputs[1])) return "needs indices of i32 or i64";
    if (!IsDense(p.outputs[0]) || !(IsDense(p.inputs[0]) || RepeatsOne(p.inputs[0]))) {
      return "needs the output dense, and the data dense or one element";
    }
    if (!IsPlainCombine(p.inputs[0].dtype, a.reduction)) {
      return StrCat("does not combine ", DTypeName(p.inputs[0].dtype));
    }
    return {};
  }
};

struct ElementsHost : DenseHost {
  static std::string Refusal(const abi::Problem& p) { return Why(p, abi::ScatterKind::kElements); }
};

struct RowsHost : DenseHost {
  static std::string Refusal(const abi::Problem& p) {
    std::string why = Why(p, abi::ScatterKind::kPoints);
    if (!why.empty()) return why;
    const abi::View& updates = p.inputs[2];
    const int row = updates.shape.rank() - (p.inputs[1].shape.rank() - 1);
    return EndsDense(updates, row) ? "" : "needs the rows of the updates contiguous";
  }
};

struct ReferenceHost : ScatterHost {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::scatter_hosts
