/// Host functions of the convolutions of integers.
#pragma once

#include "kernels/cpu/conv/integer.h"
#include "kernels/cpu/conv/integer_layout.h"
#include "kernels/cpu/conv/product_host.h"
#include "kernels/cpu/gemm/integer_hosts.h"

namespace aicf::cpu::conv_hosts {

/// cpu.conv.integer_*
template <abi::CpuIsa kIsa>
struct ConvIntegerHost : CpuHostBase {
  static constexpr bool kPacks = true;
  static constexpr abi::Recovery kRecovery = abi::Recovery::kBits;

  static std::string Refusal(const abi::Problem& p) {
    if (std::string refusal = IntegerRefusal(p); !refusal.empty()) return refusal;
    const ConvShape s = ConvShapeOf(p);
    if (std::string refusal = ConvProductRefusal(p, s, 1); !refusal.empty()) return refusal;
    if (CellsOf(IntegerFormOf(p), s.channels) > kMaxPaddedDepth) {
      return StrCat("more than ", kMaxPaddedDepth, " cells of channels");
    }
    return {};
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    const ConvShape s = ConvShapeOf(p);
    return ConvReadsCells(p, s) ? 0 : ConvCellBytes(p, s);
  }
  static std::string_view Layout(const abi::Problem& p) {
    constexpr int kLanes = LanesOf(kIsa);
    if (IntegerFormOf(p) == IntegerForm::kWords) {
      return NameByLanes(kLanes, "cpu.conv.words4", "cpu.conv.words8", "cpu.conv.words16");
    }
    return FlipsX(p)
               ? NameByLanes(kLanes, "cpu.conv.signed_bytes4", "cpu.conv.signed_bytes8",
                             "cpu.conv.signed_bytes16")
               : NameByLanes(kLanes, "cpu.conv.bytes4", "cpu.conv.bytes8", "cpu.conv.bytes16");
  }
  static uint64_t PackedBytes(const abi::Problem& p) {
    return ElementsOf(p.inputs[1]) == 0 ? 0 : ConvIntegerPackedBytes(p, LanesOf(kIsa));
  }
  static void Pack(const abi::Problem& p, const void* buffer, void* packed) {
    const DType dtype = p.inputs[1].dtype;
    char* to = static_cast<char*>(packed);
    ForEachConvIntegerMatrix(p, LanesOf(kIsa),
                             [&](const IntegerMatrix& m, const Panels& panels, const auto& place) {
                               const auto at = [&](int64_t tap, int64_t c, int64_t column) {
                                 return LoadInteger(buffer, dtype, place(tap, c, column));
                               };
                               for (int64_t i = 0; i < panels.count; ++i)
                                 PackIntegerPanel(m, panels, i, at, to);
                               to += m.packed_cells(panels) * int64_t{sizeof(float)};
                             });
  }
  static void Unpack(const abi::Problem& p, const void* packed, void* buffer) {
    const DType dtype = p.inputs[1].dtype;
    const char* from = static_cast<const char*>(packed);
    ForEachConvIntegerMatrix(
        p, LanesOf(kIsa), [&](const IntegerMatrix& m, const Panels& panels, const auto& place) {
          const auto put = [&](int64_t tap, int64_t c, int64_t column, int32_t value) {
            StoreInteger(buffer, dtype, place(tap, c, column), value);
          };
          for (int64_t i = 0; i < panels.count; ++i) UnpackIntegerPanel(m, panels, i, from, put);
          from += m.packed_cells(panels) * int64_t{sizeof(float)};
        });
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    const ConvShape s = ConvShapeOf(p);
    abi::Problem core = p;
    core.epilogue = {};
    const double share = ConvProductShare(p, s, LanesOf(kIsa)) * IntegerSpeed(p, kIsa);
    const double copy = ConvReadsCells(p, s) ? 0 : 2.0 * static_cast<double>(ConvCellBytes(p, s));
    return IgemmUs(p, d, kIsa, FlopCount(core), share, copy) + TilesUs(p, s, d);
  }

 private:
  // The cost of tiles besides their products: about 30 ns each. With many small groups it
  // dominates.
  static double TilesUs(const abi::Problem& p, const ConvShape& s, const abi::DeviceSpec& d) {
    constexpr int64_t kRows = 9;
    const int64_t columns = CeilDiv(ConvColumns(p, s), 3 * LanesOf(kIsa));
    const double rows = static_cast<double>(s.images * s.groups * s.out[0] * s.out[1]);
    const double tiles = rows * static_cast<double>(columns * CeilDiv(s.out[2], kRows));
    return 0.03 * tiles / UsefulThreads(tiles * 10e3, d);
  }
};

}  // namespace aicf::cpu::conv_hosts
