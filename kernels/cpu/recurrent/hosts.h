/// Host functions of the recurrent kernels: what the rows of list.inc are made from.
#pragma once

#include "kernels/abi/registry.h"
#include "kernels/cpu/gemm/igemm_host.h"
#include "kernels/cpu/recurrent/fused.h"
#include "kernels/cpu/recurrent/recurrent.h"

namespace aicf::cpu::recurrent_hosts {

inline std::string FusedRefusal(const abi::Problem& p) {
  if (p.inputs[0].dtype != DType::kF32) return "computes f32 only";
  const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
  const auto contiguous = [](const abi::View& v) {
    return v.strides.back() == 1 || v.shape.back() == 1;
  };
  bool rows = contiguous(p.inputs[0]) && contiguous(p.outputs[0]);
  if (s.peepholes >= 0) rows = rows && contiguous(p.inputs[static_cast<size_t>(s.peepholes)]);
  if (s.bias >= 0) rows = rows && contiguous(p.inputs[static_cast<size_t>(s.bias)]);
  return rows ? "" : "needs gates, outputs and biases with contiguous units";
}

/// Predicted time: h * R at a quarter of the peak, since R streams from the second-level cache;
/// where R does not stay in a cache between steps, the time in which its bytes come from memory.
inline double FusedUs(const abi::Problem& p, const abi::DeviceSpec& d, abi::CpuIsa isa) {
  constexpr double kCacheBytes = 2e6;
  const double lanes = std::min(1.0, LanesOf(isa) / static_cast<double>(LanesOf(d.isa)));
  const double weights = 4.0 * static_cast<double>(abi::ElementsOf(p.inputs[1]));
  const double again = weights > kCacheBytes ? static_cast<double>(p.inputs[0].shape[0]) : 1;
  const double rate = d.fp32_flops_per_us * lanes * 0.25;
  if (rate <= 0 || d.bytes_per_us <= 0) return d.launch_us;
  const double bytes = abi::ByteCount(p) + weights * (again - 1);
  return d.launch_us + std::max(abi::FlopCount(p) / rate, bytes / d.bytes_per_us);
}

/// No input has the shape of the first output, so none can take its bytes.
struct RecurrentHostBase : CpuHostBase {
  static bool InPlace(const abi::Problem&, int) { return false; }
};

template <abi::CpuIsa kIsa>
struct RecurrentPackedHost : RecurrentHostBase {
  static constexpr bool kPacks = true;

  static std::string Refusal(const abi::Problem& p) { return FusedRefusal(p); }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return FusedWorkspace(p, LanesOf(kIsa));
  }
  static std::string_view Layout(const abi::Problem&) {
    return NameByLanes(LanesOf(kIsa), "cpu.recurrent.blocks4", "cpu.recurrent.blocks8",
                       "cpu.recurrent.blocks16");
  }
  static uint64_t PackedBytes(const abi::Problem& p) {
    return RecurrentPacking(p, LanesOf(kIsa)).bytes();
  }
  static void Pack(const abi::Problem& p, const void* buffer, void* packed) {
    const RecurrentPacking layout(p, LanesOf(kIsa));
    auto* to = static_cast<float*>(packed);
    layout.ForEachBlock([&](int64_t d, int pass, int64_t block) {
      PackRecurrentBlock(p, layout, d, pass, block, static_cast<const float*>(buffer), to);
    });
    FlushDenormals(to, layout.bytes() / sizeof(float));
  }
  static void Unpack(const abi::Problem& p, const void* packed, void* buffer) {
    const RecurrentPacking layout(p, LanesOf(kIsa));
    layout.ForEachBlock([&](int64_t d, int pass, int64_t block) {
      UnpackRecurrentBlock(p, layout, d, pass, block, static_cast<const float*>(packed),
                           static_cast<float*>(buffer));
    });
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    return FusedUs(p, d, kIsa);
  }
};

template <abi::CpuIsa kIsa>
struct RecurrentPanelsHost : RecurrentHostBase {
  static std::string Refusal(const abi::Problem& p) { return FusedRefusal(p); }
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    return RecurrentPacking(p, LanesOf(kIsa)).bytes() + FusedWorkspace(p, LanesOf(kIsa));
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    // Packing moves R an element at a time.
    return FusedUs(p, d, kIsa) + static_cast<double>(abi::ElementsOf(p.inputs[1])) / 1000;
  }
};

struct RecurrentRefHost : RecurrentHostBase {
  static uint64_t Workspace(const abi::Problem& p, const abi::DeviceSpec&) {
    const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
    return sizeof(double) * 4 * static_cast<uint64_t>(s.directions * s.batch * s.hidden);
  }
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    constexpr double kFlopsPerUs = 200;
    return d.launch_us + abi::FlopCount(p) / kFlopsPerUs;
  }
};

}  // namespace aicf::cpu::recurrent_hosts
