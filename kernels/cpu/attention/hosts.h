/// Host functions of the attention kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/cpu/attention/appended.h"
#include "kernels/cpu/attention/attention.h"
#include "kernels/cpu/attention/flash.h"
#include "kernels/cpu/gemm/igemm_host.h"

namespace aicf::cpu::attention_hosts {

/// No operand can be overwritten by the result: other rows may still have to read it.
struct AttentionHostBase : CpuHostBase {
  static bool InPlace(const abi::Problem&, int) { return false; }
};

template <abi::CpuIsa kIsa>
struct FlashHost : AttentionHostBase {
  static std::string Refusal(const abi::Problem& p) {
    if (!IsHalfOrSingle(p.inputs[0].dtype)) return "computes f32, f16 and bf16 only";
    if (!IsHalfOrSingle(p.outputs[0].dtype)) return "stores f32, f16 and bf16 only";
    return {};
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    const abi::AttentionShape s = abi::AttentionShapeOf(p);
    return sizeof(float) * static_cast<uint64_t>(FlashSlots(s) * FlashScratchOf(s).total);
  }
  /// Tiles of many rows reach a good part of the peak; few rows wait for the keys.
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    const bool few = FlashTilingOf(abi::AttentionShapeOf(p)).tile_rows <= kFlashFewRows;
    return IgemmUs(p, d, kIsa, abi::FlopCount(p), few ? 0.1 : 0.4, 0);
  }
};

struct ReferenceHost : AttentionHostBase {
  static constexpr bool kAppendsRows = true;

  /// Pools are appended to in place: all of them but the new rows stays as it is.
  static bool InPlace(const abi::Problem& p, int input) {
    return abi::AppendsRows(p) && (input == 1 || input == 2) && SameElements(p, input);
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return TurnedQueryBytes(p);
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    constexpr double kFlopsPerUs = 500;
    return d.launch_us + abi::FlopCount(p) / kFlopsPerUs;
  }
};

}  // namespace aicf::cpu::attention_hosts
