/// What the host classes of the product kernels share (gemm, conv, attention, recurrent).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "kernels/abi/kernel.h"
#include "kernels/cpu/common/host.h"
#include "kernels/cpu/gemm/igemm.h"
#include "kernels/cpu/gemm/panels.h"

namespace aicf::cpu {

/// Empty, or why no vector variant takes the problem.
inline std::string IgemmRefusal(const abi::Problem& p) {
  if (!IsHalfOrSingle(p.inputs[0].dtype)) return "computes f32, f16 and bf16 only";
  if (SumInputs(p) > 1) return "takes no product in two halves";
  if (p.extra_inputs() > kMaxEpilogueInputs) {
    return StrCat("more than ", kMaxEpilogueInputs, " epilogue operands");
  }
  return {};
}

/// The host class of the references, which compute one scalar product at a time, in double.
struct RefHost : CpuHostBase {
  static constexpr bool kNormalizesRows = true;
  static constexpr bool kTakesBlockScales = true;
  static constexpr bool kSeesMoments = true;
  static constexpr bool kStoresParts = true;
  static double Cost(const abi::Problem& p, const abi::DeviceSpec& d) {
    constexpr double kFlopsPerUs = 500;
    return d.launch_us + FlopCount(p) / kFlopsPerUs;
  }
};

/// Threads that a step of this much arithmetic uses (igemm_plan.cc cuts the work).
inline double UsefulThreads(double flops, const abi::DeviceSpec& d) {
  return std::clamp(flops / 400e3, 1.0, static_cast<double>(std::max(1, d.threads)));
}

/// Predicted time in microseconds: that of `flops` at `share` of the rate that `isa` reaches on the
/// device, but no less than the time to move the bytes.
inline double IgemmUs(const abi::Problem& p, const abi::DeviceSpec& d, abi::CpuIsa isa,
                      double flops, double share, double extra_bytes) {
  const double lanes = std::min(1.0, LanesOf(isa) / static_cast<double>(LanesOf(d.isa)));
  const double rate = d.fp32_flops_per_us * lanes * share * UsefulThreads(flops, d);
  const double bytes = ByteCount(p) + extra_bytes;
  const double epilogue =
      static_cast<double>(abi::ElementsOf(p.outputs[0])) * abi::Flops(p.epilogue);
  if (rate <= 0 || d.bytes_per_us <= 0) return d.launch_us;
  return d.launch_us + std::max(flops / rate, bytes / d.bytes_per_us) + epilogue / (rate * 2);
}

}  // namespace aicf::cpu
