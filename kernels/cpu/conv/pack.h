/// Packing of convolution weights into the order of conv/layout.h, and back. Host code only.
#pragma once

#include "kernels/cpu/conv/layout.h"

namespace aicf::cpu {

/// Number, in its buffer, of the weight for output filter `o` and input channel `c` of group `g`,
/// tap `t`.
inline int64_t ConvWeightPlace(const abi::Problem& p, const ConvShape& s, int64_t g, int64_t o,
                               int64_t c, const int64_t* t) {
  const abi::View& w = p.inputs[1];
  const int64_t first = s.transposed ? g * s.channels + c : g * s.filters + o;
  const int64_t second = s.transposed ? o : c;
  int64_t at = w.offset + first * w.strides[0] + second * w.strides[1];
  for (int a = s.first_axis; a < 3; ++a) at += t[a] * w.strides[a - s.first_axis + 2];
  return at;
}

inline float ConvWeight(const abi::Problem& p, const ConvShape& s, const void* buffer, int64_t g,
                        int64_t o, int64_t c, const int64_t* t) {
  return LoadF32(buffer, p.inputs[1].dtype, ConvWeightPlace(p, s, g, o, c, t));
}

/// The matrices that the weights are packed as, one after the other: calls
/// matrix(panels, depth, columns, place), where place(k, column) is an element's number in the
/// buffer of the weights. Row k is of channel k / taps where `planes`, else of tap k / channels.
template <class Matrix>
void ForEachConvMatrix(const abi::Problem& p, int lanes, bool planes, Matrix matrix) {
  const ConvShape s = ConvShapeOf(p);
  const bool tiled = ConvIsTiled(p, s);
  const Panels panels(ConvColumns(p, s), lanes);
  for (int64_t f = 0; f < ConvPhaseCount(p, s); ++f) {
    const ConvPhase phase = ConvPhaseOf(p, s, f);
    for (int64_t g = 0; g < s.groups; ++g) {
      matrix(panels, phase.taps() * s.channels, ConvColumns(p, s), [&](int64_t k, int64_t column) {
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
        return ConvWeightPlace(p, s, g, column % s.filters, c, t);
      });
    }
  }
}

/// A depthwise convolution has one such matrix: packed[panel][tap][channel in panel].
template <class Matrix>
void ForEachDepthwiseMatrix(const abi::Problem& p, int lanes, Matrix matrix) {
  const ConvShape s = ConvShapeOf(p);
  const Panels panels(s.groups, lanes, kDepthwiseVectors);
  const int64_t taps = s.kernel[0] * s.kernel[1] * s.kernel[2];
  matrix(panels, taps, s.groups, [&](int64_t k, int64_t channel) {
    int64_t t[3];
    for (int a = 2; a >= 0; k /= s.kernel[a--]) t[a] = k % s.kernel[a];
    return ConvWeightPlace(p, s, channel, 0, 0, t);
  });
}

/// Function object for ForEachConvMatrix and ForEachDepthwiseMatrix that packs the weights.
class WeightPacker {
 public:
  WeightPacker(const abi::Problem& p, const void* buffer, void* packed)
      : dtype_(p.inputs[1].dtype), buffer_(buffer), packed_(static_cast<float*>(packed)) {}

  template <class Place>
  void operator()(const Panels& panels, int64_t depth, int64_t columns, const Place& place) {
    const auto at = [&](int64_t k, int64_t c) { return LoadF32(buffer_, dtype_, place(k, c)); };
    for (int64_t panel = 0; panel < panels.count; ++panel) {
      PackPanel(panels, panel, depth, columns, at, packed_);
    }
    packed_ += panels.packed_floats(depth);
  }

 private:
  DType dtype_;
  const void* buffer_;
  float* packed_;
};

/// Function object for ForEachConvMatrix and ForEachDepthwiseMatrix that unpacks the weights.
class WeightUnpacker {
 public:
  WeightUnpacker(const abi::Problem& p, const void* packed, void* buffer)
      : dtype_(p.inputs[1].dtype), packed_(static_cast<const float*>(packed)), buffer_(buffer) {}

  template <class Place>
  void operator()(const Panels& panels, int64_t depth, int64_t columns, const Place& place) {
    for (int64_t panel = 0; panel < panels.count; ++panel) {
      UnpackPanel(panels, panel, depth, columns, packed_, [&](int64_t k, int64_t c, float value) {
        StoreF32(buffer_, dtype_, place(k, c), value);
      });
    }
    packed_ += panels.packed_floats(depth);
  }

 private:
  DType dtype_;
  const float* packed_;
  void* buffer_;
};

}  // namespace aicf::cpu
