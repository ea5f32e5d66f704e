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

/// Whether everything that is not updated can be copied as one run of bytes, or filled with one
/// element: the output fills its memory without gaps, its axes in any order, and the data lie in
/// the same order or repeat one element.
inline bool CopiesWhole(const abi::Problem& p) {
  const abi::View &data = p.inputs[0], &out = p.outputs[0];
  if (!IsPermutedDense(out)) return false;
  if (RepeatsOne(data)) return true;
  for (int d = 0; d < data.shape.rank(); ++d) {
    if (data.shape[d] > 1 && data.strides[d] != out.strides[d]) return false;
  }
  return true;
}

struct DenseHost : ScatterHost {
  static constexpr double kBytesShare = 0.3;
  static std::string Why(const abi::Problem& p, abi::ScatterKind kind) {
    const auto& a = p.as<abi::ScatterAttrs>();
    if (a.kind != kind) return "does not update this kind of target";
    if (!IsPlainIndex(p.inputs[1])) return "needs indices of i32 or i64";
    if (!CopiesWhole(p)) return "needs the output dense, and the data in its order or one element";
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
  static std::string Refusal(const abi::Problem& p) { return Why(p, abi::ScatterKind::kPoints); }
};

struct ReferenceHost : ScatterHost {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::scatter_hosts
