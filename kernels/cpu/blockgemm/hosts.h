/// Host functions of the kernels that multiply with weights in blocks.
#pragma once

#include "kernels/cpu/blockgemm/blockgemm.h"
#include "kernels/cpu/blockgemm/layout.h"
#include "kernels/cpu/common/reference_host.h"
#include "kernels/cpu/gemm/igemm_host.h"

namespace aicf::cpu::blockgemm_hosts {

/// cpu.blockgemm.columns_*
template <abi::CpuIsa kIsa>
struct BlockColumnsHost : CpuHostBase {
  static constexpr bool kPacks = true;
  static constexpr abi::Recovery kRecovery = abi::Recovery::kBits;

  static std::string Refusal(const abi::Problem& p) {
    const BlockFormat format = p.as<abi::BlockGemmAttrs>().format;
    if (SumInputs(p) > 1) return "takes no product in two halves";
    if (format == BlockFormat::kF32) return "takes no F32";
    if (p.inputs[0].shape.back() % BlockFieldsOf(format).elements != 0) {
      return StrCat("the depth is no multiple of ", kBlockGroup);
    }
    const BlockShape s = BlockShapeOf(p);
    if (s.rows == 0 || s.columns == 0 || s.depth == 0) return "there is nothing to multiply";
    return {};
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return BlockWorkspaceOf(p).bytes;
  }
  static std::string_view Layout(const abi::Problem&) { return kBlockLayout; }
  static uint64_t PackedBytes(const abi::Problem& p) {
    const BlockShape s = BlockShapeOf(p);
    return static_cast<uint64_t>(s.panels * s.panel_bytes);
  }
  static void Pack(const abi::Problem& p, const void* buffer, void* packed) {
    PackBlocks(p, buffer, packed);
  }
  static void Unpack(const abi::Problem& p, const void* packed, void* buffer) {
    UnpackBlocks(p, packed, buffer);
  }
  /// Measured on a Zen 5 with AVX-512: exact products of many rows reach 0.9 of the peak. Those of
  /// few rows reach a third of that, since few rows share the cost of decoding. Rounded products
  /// are three times as fast.
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    const double share = BlockShapeOf(p).rows <= 4 ? 0.3 : 0.8;
    const double faster = !RoundsBlockRows(p) ? 1 : kIsa == kAvx512 ? 3 : 1.5;
    return IgemmUs(p, d, kIsa, FlopCount(p), share * faster, 0);
  }
};

/// cpu.blockgemm.ref
struct BlockReferenceHost : ReferenceOnlyHost {
  static constexpr bool kNormalizesRows = true;
};

}  // namespace aicf::cpu::blockgemm_hosts
