/// Host functions of the gemm variants.
#pragma once

#include "kernels/cpu/gemm/blis.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/gemm_cost.h"
#include "kernels/cpu/gemm/igemm_host.h"
#include "kernels/cpu/gemm/integer_hosts.h"
#include "kernels/cpu/gemm/layout.h"
#include "kernels/cpu/gemm/ref.h"

namespace aicf::cpu::gemm_hosts {

/// cpu.gemm.packed_*
template <abi::CpuIsa kIsa>
struct GemmPackedHost : CpuHostBase {
  static constexpr bool kPacks = true;

  static std::string Refusal(const abi::Problem& p) { return IgemmRefusal(p); }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return GemmReadsA(p) ? 0 : sizeof(float) * static_cast<uint64_t>(ElementsOf(p.inputs[0]));
  }
  static std::string_view Layout(const abi::Problem&) {
    return NameByLanes(LanesOf(kIsa), "cpu.gemm.panels4", "cpu.gemm.panels8", "cpu.gemm.panels16");
  }
  static uint64_t PackedBytes(const abi::Problem& p) {
    return sizeof(float) *
           static_cast<uint64_t>(GemmMatricesOf(p).count * GemmPackedFloats(p, LanesOf(kIsa)));
  }
  static void Pack(const abi::Problem& p, const void* buffer, void* packed) {
    const GemmShape s = GemmShapeOf(p);
    const Panels panels(s.columns, LanesOf(kIsa));
    float* to = static_cast<float*>(packed);
    for (int64_t m = 0; m < GemmMatricesOf(p).count; ++m, to += panels.packed_floats(s.depth)) {
      for (int64_t panel = 0; panel < panels.count; ++panel) {
        PackGemmPanel(p, panels, panel, s.columns, buffer, GemmMatrixOffset(p, m), to);
      }
    }
    FlushDenormals(static_cast<float*>(packed), PackedBytes(p) / sizeof(float));
  }
  static void Unpack(const abi::Problem& p, const void* packed, void* buffer) {
    const GemmShape s = GemmShapeOf(p);
    const Panels panels(s.columns, LanesOf(kIsa));
    const float* from = static_cast<const float*>(packed);
    for (int64_t m = 0; m < GemmMatricesOf(p).count; ++m, from += panels.packed_floats(s.depth)) {
      for (int64_t panel = 0; panel < panels.count; ++panel) {
        UnpackGemmPanel(p, panels, panel, from, GemmMatrixOffset(p, m), buffer);
      }
    }
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    const double copy = GemmReadsA(p) ? 0 : 8.0 * static_cast<double>(ElementsOf(p.inputs[0]));
    return IgemmUs(p, d, kIsa, GemmFlops(p), GemmShare(p, LanesOf(kIsa)), copy);
  }
};

/// cpu.gemm.panels_*
template <abi::CpuIsa kIsa>
struct GemmPanelsHost : CpuHostBase {
  static std::string Refusal(const abi::Problem& p) { return GemmPackedHost<kIsa>::Refusal(p); }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return sizeof(float) * static_cast<uint64_t>(GemmWorkspaceFloats(p, LanesOf(kIsa)));
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    // Packing reads and writes each matrix of B once, at about one vector per two cycles.
    const double packed = static_cast<double>(GemmMatricesOf(p).count) *
                          static_cast<double>(GemmPackedFloats(p, LanesOf(kIsa)));
    const double pack_us = GemmReadsB(p, LanesOf(kIsa)) ? 0 : packed / (125 * LanesOf(kIsa));
    return GemmPackedHost<kIsa>::Cost(p, d) + pack_us;
  }
};

/// cpu.gemm.blis
struct GemmBlisHost : CpuHostBase {
  static std::string Refusal(const abi::Problem& p) {
    if (p.inputs[0].dtype != DType::kF32) return "computes f32 only";
    if (SumInputs(p) > 1) return "takes no product in two halves";
    if (p.extra_inputs() > kMaxEpilogueInputs) {
      return StrCat("more than ", kMaxEpilogueInputs, " epilogue operands");
    }
    if (p.epilogue.empty() && p.outputs[0].dtype != DType::kF32) return "writes f32 only";
    for (const abi::View* v : {&p.inputs[0], &p.inputs[1], &p.outputs[0]}) {
      const int rank = v->shape.rank();
      for (int axis = rank - 2; axis < rank; ++axis) {
        if (v->shape[axis] > 1 && v->strides[axis] <= 0) {
          return "a matrix has a zero or negative stride";
        }
      }
    }
    return {};
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    if (GemmBlisIsDirect(p)) return 0;
    return sizeof(float) * static_cast<uint64_t>(ElementsOf(p.outputs[0]));
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    // Measured: 90 GFLOP/s of a core that does 240 with AVX-512, and some microseconds per call.
    constexpr double kCallUs = 3;
    const double raw =
        GemmBlisIsDirect(p) ? 0 : 8.0 * static_cast<double>(ElementsOf(p.outputs[0]));
    const abi::CpuIsa isa = std::min(d.isa, abi::CpuIsa::kAvx2);
    return kCallUs + IgemmUs(p, d, isa, GemmFlops(p), 0.9 * GemmShare(p, LanesOf(isa)), raw);
  }
};

}  // namespace aicf::cpu::gemm_hosts
