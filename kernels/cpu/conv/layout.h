/// How a convolution is read as matrix products: where x comes from, the phases of a transposed
/// convolution, and the packed order of the weights. Pure functions of the problem, used by the
/// compiler (packing, workspace) and by the kernels alike. Host code only.
#pragma once

#include <cstdint>
#include <numeric>

#include "kernels/cpu/gemm/igemm.h"
#include "kernels/cpu/gemm/panels.h"

namespace aicf::cpu {

/// The problem with exactly three spatial axes; missing outer ones have extent 1.
struct ConvShape {
  int64_t images = 0, groups = 1;
  int64_t channels = 0, filters = 0;  ///< per group
  int first_axis = 0;  ///< spatial axis a >= first_axis is tensor axis a - first_axis + 2
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, pad[3] = {0, 0, 0};
  bool transposed = false;
};

inline ConvShape ConvShapeOf(const abi::Problem& p) {
  const auto& attrs = p.as<abi::ConvAttrs>();
  const Dims &x = p.inputs[0].shape, &w = p.inputs[1].shape, &y = p.outputs[0].shape;
  ConvShape s;
  s.images = x[0];
  s.groups = attrs.group;
  s.channels = x[1] / attrs.group;
  s.filters = y[1] / attrs.group;
  s.first_axis = 5 - x.rank();
  s.transposed = attrs.transposed;
  for (int a = s.first_axis, d = 0; a < 3; ++a, ++d) {
    s.in[a] = x[d + 2];
    s.out[a] = y[d + 2];
    s.kernel[a] = w[d + 2];
    s.stride[a] = attrs.strides[d];
    s.dilation[a] = attrs.dilations[d];
    s.pad[a] = attrs.pads_begin[d];
  }
  return s;
}

/// Stride of spatial axis a (0 for a missing one).
inline int64_t SpatialStride(const ConvShape& s, const Dims& strides, int a) {
  return a < s.first_axis ? 0 : strides[a - s.first_axis + 2];
}

/// Output positions along the axis that the products take as rows: the last one, or the one before
/// it where the last is a single position (igemm_plan.cc, RotateRows).
inline int64_t ConvRowLength(const ConvShape& s) {
  for (int a = 2; a > 0; --a) {
    if (s.out[a] != 1 || s.kernel[a] != 1 || s.pad[a] != 0) return s.out[a];
  }
  return s.out[0];
}

/// How the kernels read x.
struct ConvSource {
  bool planes =
      false;  ///< few channels, each a plane; else the channels of a position are contiguous
  bool copy = false;  ///< reads a dense f32 copy of that layout in the workspace; else in place
};

inline ConvSource ConvSourceOf(const abi::Problem& p, const ConvShape& s) {
  const abi::View& x = p.inputs[0];
  const bool f32 = x.dtype == DType::kF32;
  if (s.channels == 1 || x.strides[1] == 1) return {false, !f32};
  const int64_t taps = s.channels * s.kernel[0] * s.kernel[1] * s.kernel[2];
  if (s.channels <= 4 && taps <= 256) return {true, !f32};
  return {false, true};
}

inline bool ConvReadsPlanes(const abi::Problem& p) {
  return ConvSourceOf(p, ConvShapeOf(p)).planes;
}

/// Whether there is one filter per channel, which reads only that channel.
inline bool ConvIsDepthwise(const ConvShape& s) {
  return s.groups > 1 && s.channels == 1 && s.filters == 1 && !s.transposed;
}

/// Depthwise kernels read all channels of a position side by side.
inline ConvSource DepthwiseSourceOf(const abi::Problem& p) {
  const abi::View& x = p.inputs[0];
  return {false, x.dtype != DType::kF32 || x.strides[1] != 1};
}

/// Bytes of the copy.
inline uint64_t ConvCopyBytes(const abi::Problem& p) {
  return static_cast<uint64_t>(ElementsOf(p.inputs[0])) * sizeof(float);
}

/// A part of the output that one product computes: along each spatial axis the output positions
/// out_first + q * out_step, q < out_count, and the weights' taps tap_first + i * tap_step,
/// i < window[a].count, that contribute to them. A transposed convolution that is not tiled has one
/// phase for each remainder of the output positions modulo the strides.
struct ConvPhase {
  WindowAxis window[3];  ///< x_stride is left 0
  int64_t tap_first[3] = {}, tap_step[3] = {1, 1, 1};
  int64_t out_first[3] = {}, out_step[3] = {1, 1, 1}, out_count[3] = {};
  int64_t taps() const { return window[0].count * window[1].count * window[2].count; }
};

/// A transposed convolution whose windows tile the output: every weight tap is a block of columns
/// of one product.
inline bool ConvIsTiled(const abi::Problem& p, const ConvShape& s) {
  if (!s.transposed || p.outputs.size() != 1) return false;
  for (int a = 0; a < 3; ++a) {
    if (s.kernel[a] != s.stride[a] || s.dilation[a] != 1 || s.pad[a] != 0) return false;
    if (s.out[a] != s.in[a] * s.stride[a]) return false;
    for (size_t k = p.core_inputs; k < p.inputs.size(); ++k) {
      if (s.out[a] > 1 && SpatialStride(s, p.inputs[k].strides, a) != 0) return false;
    }
  }
  return s.kernel[0] * s.kernel[1] * s.kernel[2] <= kMaxPieces;
}

inline int64_t ConvPhaseCount(const abi::Problem& p, const ConvShape& s) {
  if (!s.transposed || ConvIsTiled(p, s)) return 1;
  return s.stride[0] * s.stride[1] * s.stride[2];
}

// Sets axis `a` of the phase of a transposed convolution whose outputs are at f, f + stride, ...
inline void SetTransposedAxis(const ConvShape& s, int a, int64_t f, ConvPhase* phase) {
  const int64_t stride = s.stride[a], dilation = s.dilation[a];
  const int64_t step = stride / std::gcd(stride, dilation);
  int64_t tap = 0;
  while (tap < step && (f + s.pad[a] - tap * dilation) % stride != 0) ++tap;
  WindowAxis& w = phase->window[a];
  w.count = tap == step || tap >= s.kernel[a] ? 0 : (s.kernel[a] - 1 - tap) / step + 1;
  w.first = (f + s.pad[a] - tap * dilation) / stride;
  w.step = -step * dilation / stride;
  w.stride = 1;
  w.extent = s.in[a];
  phase->tap_first[a] = tap;
  phase->tap_step[a] = step;
  phase->out_first[a] = f;
  phase->out_step[a] = stride;
  phase->out_count[a] = f < s.out[a] ? (s.out[a] - 1 - f) / stride + 1 : 0;
}

inline ConvPhase ConvPhaseOf(const abi::Problem& p, const ConvShape& s, int64_t index) {
  ConvPhase phase;
  const bool tiled = ConvIsTiled(p, s);
  for (int a = 2; a >= 0; --a) {
    WindowAxis& w = phase.window[a];
    if (tiled) {
      w.extent = phase.out_count[a] = s.in[a];
      phase.out_step[a] = s.stride[a];
    } else if (s.transposed) {
      SetTransposedAxis(s, a, index % s.stride[a], &phase);
      index /= s.stride[a];
    } else {
      w = {s.kernel[a], -s.pad[a], s.dilation[a], s.stride[a], s.in[a], 0};
      phase.out_count[a] = s.out[a];
    }
  }
  return phase;
}

/// Columns of the products of one group.
inline int64_t ConvColumns(const abi::Problem& p, const ConvShape& s) {
  return ConvIsTiled(p, s) ? s.filters * s.kernel[0] * s.kernel[1] * s.kernel[2] : s.filters;
}

/// Floats of all packed weights: [phase][group][panel][plane, tap, channel][column].
inline int64_t ConvPackedFloats(const abi::Problem& p, const ConvShape& s, int lanes) {
  const Panels panels(ConvColumns(p, s), lanes);
  int64_t floats = 0;
  for (int64_t f = 0; f < ConvPhaseCount(p, s); ++f) {
    floats += s.groups * panels.packed_floats(ConvPhaseOf(p, s, f).taps() * s.channels);
  }
  return floats;
}

}  // namespace aicf::cpu
