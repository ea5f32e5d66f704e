/// Host functions of the append kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/abi/append.h"
#include "kernels/cpu/append/append.h"
#include "kernels/cpu/append/heads.h"
#include "kernels/cpu/common/host.h"
#include "kernels/cpu/common/indices.h"

namespace aicf::cpu::append_hosts {

/// A cache may be updated in place: all of it but the new rows stays as it is.
struct AppendHost : CpuHostBase {
  static bool InPlace(const abi::Problem& p, int input) {
    const auto k = static_cast<size_t>(input);
    return (k == abi::kAppendKeys || k == abi::kAppendValues) && SameElements(p, input);
  }
};

struct HeadsHost : AppendHost {
  static constexpr double kBytesShare = 0.3;
  static std::string Refusal(const abi::Problem& p) {
    const int64_t head = abi::AppendShapeOf(p).head;
    if (head > kMostHead) {
      return StrCat("takes heads of at most ", kMostHead, " elements, here are ", head);
    }
    for (size_t k = 0; k < p.inputs.size(); ++k) {
      const abi::View& v = p.inputs[k];
      if (k == abi::kAppendPlaces) continue;
      if (!EndsDense(v, 1)) return StrCat("needs the last axis of operand ", k, " dense");
      if (k >= abi::kAppendCosine && v.dtype != DType::kF32) {
        return StrCat("needs cosines and sines of f32, not ", DTypeName(v.dtype));
      }
    }
    for (const abi::View& v : p.outputs) {
      if (!EndsDense(v, 1)) return "needs the last axis of its outputs dense";
    }
    return {};
  }
};

struct ReferenceHost : AppendHost {
  static constexpr double kFlopsShare = 0.002;
  static constexpr double kBytesShare = 0.02;
};

}  // namespace aicf::cpu::append_hosts
