/// Sizes and weights of the Winograd convolution F(4x4, 3x3): a 4 x 4 tile of outputs from a 6 x 6
/// tile of x with 36 products per channel pair instead of 144. Host code only.
///
/// With U = G w G^T, V = B^T d B (d: a tile of x) and M = sum over channels of U * V element by
/// element, the outputs are A^T M A. The points are 0, a, -a, b, -b and infinity, where a and b are
/// kWinogradA and kWinogradB (winograd.h, which also says what they mean for rounding errors).
#pragma once

#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/conv/pack.h"
#include "kernels/cpu/conv/winograd.h"

namespace aicf::cpu {

inline WinogradShape WinogradShapeOf(const ConvShape& s, int lanes) {
  WinogradShape w;
  w.tiles_h = CeilDiv(s.out[1], kWinogradOut);
  w.tiles_w = CeilDiv(s.out[2], kWinogradOut);
  w.tile_count = s.images * w.tiles_h * w.tiles_w;
  w.v_row = CeilDiv(s.channels, lanes) * lanes;
  w.m_row = CeilDiv(s.filters, lanes) * lanes;
  // A block's V and M stay in the second-level cache next to U.
  constexpr int64_t kBlockFloats = 160 * 1024;
  const int64_t per_tile = kWinogradPoints * (w.v_row + w.m_row);
  const int64_t most = std::clamp<int64_t>(kBlockFloats / std::max<int64_t>(1, per_tile), 14, 28);
  // Whole register tiles, unless one block does it all.
  w.block = w.tile_count <= most ? std::max<int64_t>(1, w.tile_count) : most / 14 * 14;
  // One vector more, so that the 36 planes do not all fall on the same cache sets.
  w.v_plane = w.block * w.v_row + lanes;
  w.m_plane = w.block * w.m_row + lanes;
  return w;
}

/// Whole vectors of channels are transformed, so the channels of a position must be contiguous.
inline ConvSource WinogradSourceOf(const abi::Problem& p) { return DepthwiseSourceOf(p); }

/// Floats of the copy of x at the start of the workspace, in whole vectors.
inline int64_t WinogradCopyFloats(const abi::Problem& p) {
  return CeilDiv(ElementsOf(p.inputs[0]), 16) * 16;
}

/// Floats of one slot of the workspace: what one thread works in.
inline int64_t WinogradSlotFloats(const WinogradShape& w) {
  return kWinogradPoints * (w.v_plane + w.m_plane);
}

inline int64_t WinogradBlocks(const WinogradShape& w) { return CeilDiv(w.tile_count, w.block); }

/// Most slots, and so threads, that the workspace is made for. The number is fixed because a plan
/// does not know how many threads will run it.
inline constexpr int64_t kWinogradSlots = 8;
inline int64_t WinogradSlots(const WinogradShape& w) {
  return std::min(kWinogradSlots, WinogradBlocks(w));
}

/// y = M x M^T.
template <int kRows, int kColumns>
void Transform(const double (&m)[kRows][kColumns], const double (&x)[kColumns][kColumns],
               double (&y)[kRows][kRows]) {
  double half[kRows][kColumns] = {};
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      for (int k = 0; k < kColumns; ++k) half[i][j] += m[i][k] * x[k][j];
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kRows; ++j) {
      y[i][j] = 0;
      for (int k = 0; k < kColumns; ++k) y[i][j] += half[i][k] * m[j][k];
    }
  }
}

/// Computes U of one filter and channel, point by point. Row i of G holds the powers of point i
/// divided by the product of its distances to the other points.
inline void WinogradWeights(const double (&w)[3][3], double (&u)[6][6]) {
  constexpr double a = kWinogradA, b = kWinogradB, a2 = a * a, b2 = b * b;
  constexpr double da = 2 * a2 * (a2 - b2), db = 2 * b2 * (b2 - a2);
  static constexpr double kG[6][3] = {{1 / (a2 * b2), 0, 0},      {1 / da, a / da, a2 / da},
                                      {1 / da, -a / da, a2 / da}, {1 / db, b / db, b2 / db},
                                      {1 / db, -b / db, b2 / db}, {0, 0, 1}};
  Transform(kG, w, u);
}

/// The inverse of WinogradWeights: w = R u R^T, where R is a left inverse of G. R uses those points
/// at which that is exact or loses least.
inline void WinogradWeightsBack(const double (&u)[6][6], double (&w)[3][3]) {
  constexpr double a = kWinogradA, b = kWinogradB, a2 = a * a, b2 = b * b;
  constexpr double da = 2 * a2 * (a2 - b2);
  static constexpr double kR[3][6] = {
      {a2 * b2, 0, 0, 0, 0, 0}, {0, da / (2 * a), -da / (2 * a), 0, 0, 0}, {0, 0, 0, 0, 0, 1}};
  Transform(kR, u, w);
}

/// packed[point][panel][channel][column in panel].
inline void PackWinogradWeights(const abi::Problem& p, int lanes, const void* buffer,
                                float* packed) {
  const ConvShape s = ConvShapeOf(p);
  const Panels panels(s.filters, lanes);
  const int64_t point_floats = panels.packed_floats(s.channels);
  std::fill(packed, packed + kWinogradPoints * point_floats, 0.0f);
  for (int64_t panel = 0; panel < panels.count; ++panel) {
    const int64_t first = panels.first_vector(panel) * lanes, width = panels.width(panel) * lanes;
    for (int64_t c = 0; c < s.channels; ++c) {
      for (int64_t o = first; o < std::min(first + width, s.filters); ++o) {
        double w[3][3], u[6][6];
        for (int64_t i = 0; i < 9; ++i) {
          const int64_t t[3] = {0, i / 3, i % 3};
          w[i / 3][i % 3] = static_cast<double>(ConvWeight(p, s, buffer, 0, o, c, t));
        }
        WinogradWeights(w, u);
        float* to = packed + first * s.channels + c * width + (o - first);
        for (int64_t i = 0; i < kWinogradPoints; ++i) {
          to[i * point_floats] = static_cast<float>(u[i / 6][i % 6]);
        }
      }
    }
  }
}

/// The inverse of PackWinogradWeights, as exactly as the rounded values of U allow.
inline void UnpackWinogradWeights(const abi::Problem& p, int lanes, const float* packed,
                                  void* buffer) {
  const ConvShape s = ConvShapeOf(p);
  const Panels panels(s.filters, lanes);
  const int64_t point_floats = panels.packed_floats(s.channels);
  for (int64_t panel = 0; panel < panels.count; ++panel) {
    const int64_t first = panels.first_vector(panel) * lanes, width = panels.width(panel) * lanes;
    for (int64_t c = 0; c < s.channels; ++c) {
      for (int64_t o = first; o < std::min(first + width, s.filters); ++o) {
        const float* from = packed + first * s.channels + c * width + (o - first);
        double w[3][3], u[6][6];
        for (int64_t i = 0; i < kWinogradPoints; ++i) {
          u[i / 6][i % 6] = static_cast<double>(from[i * point_floats]);
        }
        WinogradWeightsBack(u, w);
        for (int64_t i = 0; i < 9; ++i) {
          const int64_t t[3] = {0, i / 3, i % 3};
          StoreF32(buffer, p.inputs[1].dtype, ConvWeightPlace(p, s, 0, o, c, t),
                   static_cast<float>(w[i / 3][i % 3]));
        }
      }
    }
  }
}

}  // namespace aicf::cpu
