/// Packing of convolution weights into the order of conv/layout.h. Host code only.
#pragma once

#include "kernels/cpu/conv/layout.h"

namespace aicf::cpu {

/// Element of the weights for output filter `o` and input channel `c` of group `g`, tap `t`.
inline float ConvWeight(const abi::Problem& p, const ConvShape& s, const void* buffer, int64_t g,
                        int64_t o, int64_t c, const int64_t* t) {
  const abi::View& w = p.inputs[1];
  const int64_t first = s.transposed ? g * s.channels + c : g * s.filters + o;
  const int64_t second = s.transposed ? o : c;
  int64_t at = w.offset + first * w.strides[0] + second * w.strides[1];
  for (int a = s.first_axis; a < 3; ++a) at += t[a] * w.strides[a - s.first_axis + 2];
  return LoadF32(buffer, w.dtype, at);
}

inline void PackConvWeights(const abi::Problem& p, int lanes, const void* buffer, float* packed) {
  const ConvShape s = ConvShapeOf(p);
  const bool planes = ConvSourceOf(p, s).planes;
  const bool tiled = ConvIsTiled(p, s);
  const Panels panels(ConvColumns(p, s), lanes);
  for (int64_t f = 0; f < ConvPhaseCount(p, s); ++f) {
    const ConvPhase phase = ConvPhaseOf(p, s, f);
    const int64_t depth = phase.taps() * s.channels;
    for (int64_t g = 0; g < s.groups; ++g, packed += panels.packed_floats(depth)) {
      const auto at = [&](int64_t k, int64_t column) {
        const int64_t c = planes ? k / phase.taps() : k % s.channels;
        int64_t tap = planes ? k % phase.taps() : k / s.channels;
        int64_t piece = column / s.filters;
        int64_t t[3];
        for (int a = 2; a >= 0; --a) {
          const int64_t i = tap % phase.window[a].count;
          tap /= phase.window[a].count;
          t[a] = phase.tap_first[a] + i * phase.tap_step[a];
          if (tiled) t[a] = piece % s.kernel[a];
          if (tiled) piece /= s.kernel[a];
        }
        return ConvWeight(p, s, buffer, g, column % s.filters, c, t);
      };
      for (int64_t panel = 0; panel < panels.count; ++panel) {
        PackPanel(panels, panel, depth, ConvColumns(p, s), at, packed);
      }
    }
  }
}

/// Depthwise: packed[panel][tap][channel in panel].
inline void PackDepthwiseWeights(const abi::Problem& p, int lanes, const void* buffer,
                                 float* packed) {
  const ConvShape s = ConvShapeOf(p);
  const Panels panels(s.groups, lanes, kDepthwiseVectors);
  const auto at = [&](int64_t k, int64_t channel) {
    int64_t t[3];
    for (int a = 2; a >= 0; k /= s.kernel[a--]) t[a] = k % s.kernel[a];
    return ConvWeight(p, s, buffer, channel, 0, 0, t);
  };
  const int64_t taps = s.kernel[0] * s.kernel[1] * s.kernel[2];
  for (int64_t panel = 0; panel < panels.count; ++panel) {
    PackPanel(panels, panel, taps, s.groups, at, packed);
  }
}

}  // namespace aicf::cpu
