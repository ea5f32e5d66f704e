/// Host functions of the products of integers.
#pragma once

#include "kernels/cpu/gemm/gemm_cost.h"
#include "kernels/cpu/gemm/integer.h"
#include "kernels/cpu/gemm/integer_layout.h"

namespace aicf::cpu {

/// How many times as fast as f32 the products are. With AVX-512, bytes are at least twice as fast,
/// and four times where the processor has VNNI; the prediction does not know whether it has, and
/// takes a value between.
inline double IntegerSpeed(const abi::Problem& p, abi::CpuIsa isa) {
  const bool bytes = IntegerFormOf(p) == IntegerForm::kBytes;
  return isa == kAvx512 && bytes ? 3.0 : 1.2;
}

namespace gemm_hosts {

/// cpu.gemm.integer_*
template <abi::CpuIsa kIsa>
struct GemmIntegerHost : CpuHostBase {
  static constexpr bool kPacks = true;
  static constexpr abi::Recovery kRecovery = abi::Recovery::kBits;

  static std::string Refusal(const abi::Problem& p) { return IntegerRefusal(p); }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return GemmCellBytes(p);
  }
  /// The packed order depends on the form, and the numbers from which sums start on whether A is
  /// signed.
  static std::string_view Layout(const abi::Problem& p) {
    constexpr int kLanes = LanesOf(kIsa);
    if (IntegerFormOf(p) == IntegerForm::kWords) {
      return NameByLanes(kLanes, "cpu.gemm.words4", "cpu.gemm.words8", "cpu.gemm.words16");
    }
    return FlipsX(p)
               ? NameByLanes(kLanes, "cpu.gemm.signed_bytes4", "cpu.gemm.signed_bytes8",
                             "cpu.gemm.signed_bytes16")
               : NameByLanes(kLanes, "cpu.gemm.bytes4", "cpu.gemm.bytes8", "cpu.gemm.bytes16");
  }
  static uint64_t PackedBytes(const abi::Problem& p) {
    return ElementsOf(p.inputs[1]) == 0 ? 0 : GemmIntegerPackedBytes(p, LanesOf(kIsa));
  }
  static void Pack(const abi::Problem& p, const void* buffer, void* packed) {
    ForEachMatrix(p, [&](const IntegerMatrix&, const Panels& panels, int64_t index, int64_t at) {
      for (int64_t panel = 0; panel < panels.count; ++panel) {
        PackGemmIntegers(p, panels, panel, index, buffer, static_cast<char*>(packed) + at);
      }
    });
  }
  static void Unpack(const abi::Problem& p, const void* packed, void* buffer) {
    const DType dtype = p.inputs[1].dtype;
    ForEachMatrix(p, [&](const IntegerMatrix& m, const Panels& panels, int64_t index, int64_t at) {
      const int64_t offset = GemmMatrixOffset(p, index);
      for (int64_t panel = 0; panel < panels.count; ++panel) {
        UnpackIntegerPanel(m, panels, panel, static_cast<const char*>(packed) + at,
                           [&](int64_t, int64_t k, int64_t n, int32_t value) {
                             StoreInteger(buffer, dtype, GemmPlace(p, offset, k, n), value);
                           });
      }
    });
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    const double copy = 2.0 * static_cast<double>(GemmCellBytes(p));
    const double share = GemmShare(p, LanesOf(kIsa)) * IntegerSpeed(p, kIsa);
    return IgemmUs(p, d, kIsa, GemmFlops(p), share, copy);
  }

 private:
  // f(matrix, panels, number of the matrix, its first byte)
  template <class F>
  static void ForEachMatrix(const abi::Problem& p, const F& f) {
    const IntegerMatrix m = GemmIntegerMatrixOf(p);
    const Panels panels(m.columns, LanesOf(kIsa));
    const int64_t bytes = m.packed_cells(panels) * int64_t{sizeof(float)};
    for (int64_t i = 0; i < GemmMatricesOf(p).count; ++i) f(m, panels, i, i * bytes);
  }
};

/// cpu.gemm.integer_panels_*
template <abi::CpuIsa kIsa>
struct GemmIntegerPanelsHost : CpuHostBase {
  static std::string Refusal(const abi::Problem& p) { return IntegerRefusal(p); }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return GemmCellBytes(p) + GemmIntegerPackedBytes(p, LanesOf(kIsa));
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    // An element of B takes about a nanosecond to pack.
    const double pack_us = static_cast<double>(GemmIntegerPackedBytes(p, LanesOf(kIsa))) / 1000;
    return GemmIntegerHost<kIsa>::Cost(p, d) + pack_us;
  }
};

}  // namespace gemm_hosts
}  // namespace aicf::cpu
