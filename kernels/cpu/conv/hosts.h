/// Host functions of the convolution variants.
#pragma once

#include "kernels/cpu/conv/igemm.h"
#include "kernels/cpu/conv/integer_hosts.h"
#include "kernels/cpu/conv/pack.h"
#include "kernels/cpu/conv/product_host.h"
#include "kernels/cpu/conv/ref.h"
#include "kernels/cpu/conv/winograd.h"
#include "kernels/cpu/conv/winograd_layout.h"

namespace aicf::cpu::conv_hosts {

/// cpu.conv.igemm_*
template <abi::CpuIsa kIsa>
struct ConvIgemmHost : CpuHostBase {
  static constexpr bool kPacks = true;

  static std::string Refusal(const abi::Problem& p) {
    if (std::string refusal = IgemmRefusal(p); !refusal.empty()) return refusal;
    const ConvShape s = ConvShapeOf(p);
    const int64_t planes = ConvSourceOf(p, s).planes ? s.channels : 1;
    if (std::string refusal = ConvProductRefusal(p, s, planes); !refusal.empty()) return refusal;
    if (s.channels > kMaxPaddedDepth) return StrCat("more than ", kMaxPaddedDepth, " channels");
    return {};
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return ConvSourceOf(p, ConvShapeOf(p)).copy ? ConvCopyBytes(p) : 0;
  }
  /// The packed order of the weights' rows depends on how x is read, and so does the layout's name.
  static std::string_view Layout(const abi::Problem& p) {
    constexpr int kLanes = LanesOf(kIsa);
    return ConvSourceOf(p, ConvShapeOf(p)).planes
               ? NameByLanes(kLanes, "cpu.conv.planes4", "cpu.conv.planes8", "cpu.conv.planes16")
               : NameByLanes(kLanes, "cpu.conv.taps4", "cpu.conv.taps8", "cpu.conv.taps16");
  }
  static uint64_t PackedBytes(const abi::Problem& p) {
    return sizeof(float) *
           static_cast<uint64_t>(ConvPackedFloats(p, ConvShapeOf(p), LanesOf(kIsa)));
  }
  static void Pack(const abi::Problem& p, const void* buffer, void* packed) {
    ForEachConvMatrix(p, LanesOf(kIsa), ConvReadsPlanes(p), WeightPacker(p, buffer, packed));
    FlushDenormals(static_cast<float*>(packed), PackedBytes(p) / sizeof(float));
  }
  static void Unpack(const abi::Problem& p, const void* packed, void* buffer) {
    ForEachConvMatrix(p, LanesOf(kIsa), ConvReadsPlanes(p), WeightUnpacker(p, packed, buffer));
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    const ConvShape s = ConvShapeOf(p);
    abi::Problem core = p;
    core.epilogue = {};
    const double copy = ConvSourceOf(p, s).copy ? 8.0 * ConvCopyBytes(p) : 0;
    return IgemmUs(p, d, kIsa, FlopCount(core), ConvProductShare(p, s, LanesOf(kIsa)), copy);
  }
};

/// cpu.conv.depthwise_*
template <abi::CpuIsa kIsa>
struct ConvDepthwiseHost : CpuHostBase {
  static constexpr bool kPacks = true;

  static std::string Refusal(const abi::Problem& p) {
    const bool integers = IntegerFormOf(p) != IntegerForm::kNone;
    std::string refusal = integers ? IntegerRefusal(p) : IgemmRefusal(p);
    if (!refusal.empty()) return refusal;
    const ConvShape s = ConvShapeOf(p);
    if (integers && !SumsAreExact(p, s.kernel[0] * s.kernel[1] * s.kernel[2])) {
      return "sums of integers that may not be exact in f32";
    }
    if (!ConvIsDepthwise(s)) return "needs one filter and one channel per group, not transposed";
    if (s.kernel[0] * s.kernel[1] * s.kernel[2] > kMaxTaps) {
      return StrCat("more than ", kMaxTaps, " taps");
    }
    return {};
  }
  // Whether f32 holds every sum of up to `taps` products of the operands' integers exactly.
  static bool SumsAreExact(const abi::Problem& p, int64_t taps) {
    const auto largest = [](DType d) { return DTypeBytes(d) == 2 ? int64_t{32768} : int64_t{255}; };
    const int64_t product = largest(p.inputs[0].dtype) * largest(p.inputs[1].dtype);
    return taps < (int64_t{1} << 24) / product;
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return DepthwiseSourceOf(p).copy ? ConvCopyBytes(p) : 0;
  }
  static std::string_view Layout(const abi::Problem&) {
    return NameByLanes(LanesOf(kIsa), "cpu.conv.depthwise4", "cpu.conv.depthwise8",
                       "cpu.conv.depthwise16");
  }
  static uint64_t PackedBytes(const abi::Problem& p) {
    const ConvShape s = ConvShapeOf(p);
    const Panels panels(s.groups, LanesOf(kIsa), kDepthwiseVectors);
    return sizeof(float) *
           static_cast<uint64_t>(panels.packed_floats(s.kernel[0] * s.kernel[1] * s.kernel[2]));
  }
  static void Pack(const abi::Problem& p, const void* buffer, void* packed) {
    ForEachDepthwiseMatrix(p, LanesOf(kIsa), WeightPacker(p, buffer, packed));
    FlushDenormals(static_cast<float*>(packed), PackedBytes(p) / sizeof(float));
  }
  static void Unpack(const abi::Problem& p, const void* packed, void* buffer) {
    ForEachDepthwiseMatrix(p, LanesOf(kIsa), WeightUnpacker(p, packed, buffer));
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    abi::Problem core = p;
    core.epilogue = {};
    // For bytes the factor is 2.25: the f32 copy is written and read, and its source, a quarter of
    // its size, is read once more.
    const double factor = IsFloat(p.inputs[0].dtype) ? 8.0 : 2.25;
    const double copy = DepthwiseSourceOf(p).copy ? factor * ConvCopyBytes(p) : 0;
    return IgemmUs(p, d, kIsa, FlopCount(core), 0.3, copy);
  }
};

/// cpu.conv.winograd_*
template <abi::CpuIsa kIsa>
struct ConvWinogradHost : CpuHostBase {
  static constexpr bool kPacks = true;

  static std::string Refusal(const abi::Problem& p) {
    if (std::string refusal = IgemmRefusal(p); !refusal.empty()) return refusal;
    const ConvShape s = ConvShapeOf(p);
    if (s.groups != 1 || s.transposed) return "needs one group, not transposed";
    for (int a = 0; a < 3; ++a) {
      if (s.kernel[a] != (a == 0 ? 1 : 3)) return "needs a 3 x 3 window";
      if (s.stride[a] != 1 || s.dilation[a] != 1) return "needs stride and dilation 1";
    }
    if (s.first_axis != 1) return "needs two spatial axes";
    if (s.channels < 16) return "fewer than 16 channels gain less than the transform costs";
    return {};
  }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    const WinogradShape w = WinogradShapeOf(ConvShapeOf(p), LanesOf(kIsa));
    const int64_t copy = WinogradSourceOf(p).copy ? WinogradCopyFloats(p) : 0;
    return sizeof(float) * static_cast<uint64_t>(copy + WinogradSlots(w) * WinogradSlotFloats(w));
  }
  static constexpr abi::Recovery kRecovery = abi::Recovery::kTransformed;
  static std::string_view Layout(const abi::Problem&) {
    return NameByLanes(LanesOf(kIsa), "cpu.conv.winograd4", "cpu.conv.winograd8",
                       "cpu.conv.winograd16");
  }
  static uint64_t PackedBytes(const abi::Problem& p) {
    const ConvShape s = ConvShapeOf(p);
    return sizeof(float) * kWinogradPoints *
           static_cast<uint64_t>(Panels(s.filters, LanesOf(kIsa)).packed_floats(s.channels));
  }
  static void Pack(const abi::Problem& p, const void* buffer, void* packed) {
    PackWinogradWeights(p, LanesOf(kIsa), buffer, static_cast<float*>(packed));
    FlushDenormals(static_cast<float*>(packed), PackedBytes(p) / sizeof(float));
  }
  static void Unpack(const abi::Problem& p, const void* packed, void* buffer) {
    UnpackWinogradWeights(p, LanesOf(kIsa), static_cast<const float*>(packed), buffer);
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    const ConvShape s = ConvShapeOf(p);
    const WinogradShape w = WinogradShapeOf(s, LanesOf(kIsa));
    const double tiles = static_cast<double>(w.tile_count);
    const double products = 2.0 * kWinogradPoints * static_cast<double>(s.channels * w.m_row);
    // The transforms take about 3 operations per point and value of x or M, in whole vectors.
    const double transforms = 6.0 * kWinogradPoints * static_cast<double>(w.v_row + w.m_row);
    const double row = static_cast<double>(std::min(w.block, w.tile_count));
    const double share = 0.7 * std::min(1.0, row / 6);
    // U, four times the weights, comes from memory once (a model's weights do not stay in a cache
    // from one inference to the next), then from the outer caches or, if large, memory again.
    const auto u_bytes = static_cast<double>(PackedBytes(p));
    const double again = static_cast<double>(WinogradBlocks(w) - 1) * (u_bytes > 16e6 ? 1.0 : 0.2);
    const double u = u_bytes * (1.6 + again) / d.bytes_per_us;
    const double copy = WinogradSourceOf(p).copy ? 8.0 * ConvCopyBytes(p) : 0;
    return IgemmUs(p, d, kIsa, tiles * (products + transforms), std::max(share, 0.01), copy) +
           u / UsefulThreads(tiles * products, d);
  }
};

}  // namespace aicf::cpu::conv_hosts
