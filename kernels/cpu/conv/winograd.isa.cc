#include "kernels/cpu/conv/winograd.h"

#include "kernels/cpu/gemm/microkernel.h"
#include "kernels/cpu/gemm/tile.h"

AICF_ISA_BEGIN
namespace {

constexpr int kIn = static_cast<int>(kWinogradIn), kOut = static_cast<int>(kWinogradOut);

constexpr float kA = kWinogradA, kB = kWinogradB, kA2 = kA * kA, kB2 = kB * kB;

// B^T applied to six values. Each of its rows holds the coefficients of a polynomial, not scaled,
// that is 0 at all points but one. The polynomials of a and -a have their even and odd parts in
// common.
AICF_INLINE void Forward(const Vec (&in)[kIn], Vec (&out)[kIn]) {
  const Vec product = Broadcast(kA2 * kB2), sum = Broadcast(-(kA2 + kB2));
  out[0] = Fma(product, in[0], Fma(sum, in[2], in[4]));
  const Vec even_a = Fma(Broadcast(-kB2), in[2], in[4]);
  const Vec odd_a = Broadcast(kA) * Fma(Broadcast(-kB2), in[1], in[3]);
  out[1] = even_a + odd_a;
  out[2] = even_a - odd_a;
  const Vec even_b = Fma(Broadcast(-kA2), in[2], in[4]);
  const Vec odd_b = Broadcast(kB) * Fma(Broadcast(-kA2), in[1], in[3]);
  out[3] = even_b + odd_b;
  out[4] = even_b - odd_b;
  out[5] = Fma(product, in[1], Fma(sum, in[3], in[5]));
}

// A^T applied to six values: row i holds the i-th powers of the points.
AICF_INLINE void Backward(const Vec (&in)[kIn], Vec (&out)[kOut]) {
  const Vec s1 = in[1] + in[2], d1 = in[1] - in[2], s2 = in[3] + in[4], d2 = in[3] - in[4];
  out[0] = in[0] + s1 + s2;
  out[1] = Fma(Broadcast(kB), d2, Broadcast(kA) * d1);
  out[2] = Fma(Broadcast(kB2), s2, Broadcast(kA2) * s1);
  out[3] = Fma(Broadcast(kB2 * kB), d2, Fma(Broadcast(kA2 * kA), d1, in[5]));
}

// A tile's place: image, and its first output position.
struct Place {
  int64_t image, row, column;
};

Place PlaceOf(const WinogradShape& s, int64_t tile) {
  const int64_t in_row = tile / s.tiles_w;
  return {in_row / s.tiles_h, in_row % s.tiles_h * kOut, tile % s.tiles_w * kOut};
}

// Loads one vector of channels of a tile of x; positions outside x are zeros.
template <bool kInside>
void LoadTile(const Winograd& w, const float* x, int64_t row, int64_t column, Mask lanes,
              Vec (&d)[kIn][kIn]) {
  for (int i = 0; i < kIn; ++i) {
    for (int j = 0; j < kIn; ++j) {
      const bool inside = kInside || (row + i >= 0 && row + i < w.height && column + j >= 0 &&
                                      column + j < w.width);
      d[i][j] = inside ? LoadMasked(x + i * w.row_stride + j * w.position_stride, lanes)
                       : Broadcast(0.0f);
    }
  }
}

// Computes V for one tile and one vector of channels.
AICF_INLINE void TransformInput(const Vec (&d)[kIn][kIn], int64_t plane, float* v) {
  Vec half[kIn][kIn];
  for (int j = 0; j < kIn; ++j) {
    const Vec column[kIn] = {d[0][j], d[1][j], d[2][j], d[3][j], d[4][j], d[5][j]};
    Vec out[kIn];
    Forward(column, out);
    for (int i = 0; i < kIn; ++i) half[i][j] = out[i];
  }
  for (int i = 0; i < kIn; ++i) {
    Vec out[kIn];
    Forward(half[i], out);
    for (int j = 0; j < kIn; ++j) Store(v + (i * kIn + j) * plane, out[j]);
  }
}

void InputStage(const Winograd& w, int64_t first, int64_t count, float* v) {
  const int64_t channels = w.igemm.depth;
  for (int64_t t = 0; t < count; ++t) {
    const Place place = PlaceOf(w.shape, first + t);
    const int64_t row = place.row - w.pad_h, column = place.column - w.pad_w;
    const bool inside = row >= 0 && column >= 0 && row + kIn <= w.height && column + kIn <= w.width;
    const float* x = w.igemm.x + place.image * w.igemm.x_outer_strides[0] + row * w.row_stride +
                     column * w.position_stride;
    for (int64_t c = 0; c < channels; c += kLanes) {
      const Mask lanes = FirstLanes(static_cast<int>(Smaller(kLanes, channels - c)));
      Vec d[kIn][kIn];
      if (inside) {
        LoadTile<true>(w, x + c, row, column, lanes, d);
      } else {
        LoadTile<false>(w, x + c, row, column, lanes, d);
      }
      TransformInput(d, w.shape.v_plane, v + t * w.shape.v_row + c);
    }
  }
}

// M = V * U, point by point.
void ProductStage(const Winograd& w, int64_t count, const float* v, float* m) {
  const Igemm& g = w.igemm;
  alignas(64) static constexpr float kNothing[kMaxPanelColumns] = {};
  for (int64_t point = 0; point < kWinogradPoints; ++point) {
    for (int64_t p = 0; p < g.panel_count; ++p) {
      const PanelPlace panel = PanelAt(g, p);
      const int64_t most = kTileRows[panel.vectors - 1], tiles = (count + most - 1) / most;
      const TileTap tap = {0, g.packed + point * w.u_point + panel.first_column * g.depth};
      TileCall call{};
      call.taps = &tap;
      call.tap_count = 1;
      call.row_stride = w.shape.v_row;
      call.depth = g.depth;
      call.b_stride = PackedColumns(panel);
      call.b_far = PackedColumns(panel) * g.depth;
      call.start = kNothing;
      call.out_stride = w.shape.m_row;
      call.last = FirstLanes(kLanes);
      for (int64_t t = 0; t < tiles; ++t) {
        const int64_t q = count * t / tiles, end = count * (t + 1) / tiles;
        call.x = v + point * w.shape.v_plane + q * w.shape.v_row;
        call.out = m + point * w.shape.m_plane + q * w.shape.m_row + panel.first_column;
        FindTile(panel.vectors, static_cast<int>(end - q), false)(call);
      }
    }
  }
}

// Computes the 4 x 4 outputs of one tile for one vector of columns and adds `start`. Output (i, j)
// goes to to[i] + j * step.
AICF_INLINE void TransformOutput(const float* m, int64_t plane, Vec start, float* const* to,
                                 int64_t step) {
  Vec half[kOut][kIn];
  for (int j = 0; j < kIn; ++j) {
    Vec column[kIn], out[kOut];
    for (int i = 0; i < kIn; ++i) column[i] = Load(m + (i * kIn + j) * plane);
    Backward(column, out);
    for (int i = 0; i < kOut; ++i) half[i][j] = out[i];
  }
  for (int i = 0; i < kOut; ++i) {
    Vec out[kOut];
    Backward(half[i], out);
    for (int j = 0; j < kOut; ++j) Store(to[i] + j * step, out[j] + start);
  }
}

// Neighbouring tiles of one row of tiles are finished together: four rows of up to 16 outputs.
constexpr int64_t kGroup = kMaxTileRows / kOut;

void FinishGroup(const Winograd& w, const Panel& panel, int64_t first, int64_t count,
                 const float* m) {
  const Igemm& g = w.igemm;
  alignas(64) float rows[kOut][kMaxTileRows * kMaxPanelColumns];
  const int64_t step = panel.vectors * kLanes;
  for (int64_t t = 0; t < count; ++t) {
    for (int j = 0; j < panel.vectors; ++j) {
      float* to[kOut];
      for (int i = 0; i < kOut; ++i) to[i] = rows[i] + t * kOut * step + j * kLanes;
      TransformOutput(m + t * w.shape.m_row + j * kLanes, w.shape.m_plane,
                      Load(panel.start + j * kLanes), to, step);
    }
  }
  const Place place = PlaceOf(w.shape, first);
  const int64_t out_rows = g.outer[g.outer_rank - 1];
  const auto width = static_cast<int>(Smaller(count * kOut, g.width - place.column));
  for (int64_t i = 0; i < kOut && place.row + i < out_rows; ++i) {
    Outer outer;
    EnterOuter(g, place.image * out_rows + place.row + i, &outer);
    FinishTile(g, panel, outer, place.column, width, rows[i]);
  }
}

void OutputStage(const Winograd& w, int64_t first, int64_t count, const float* m) {
  for (int64_t p = 0; p < w.igemm.panel_count; ++p) {
    Panel panel;
    EnterPanel(w.igemm, p, &panel);
    for (int64_t t = 0; t < count;) {
      const int64_t to_row_end = w.shape.tiles_w - (first + t) % w.shape.tiles_w;
      const int64_t group = Smaller(Smaller(kGroup, count - t), to_row_end);
      FinishGroup(w, panel, first + t, group, m + t * w.shape.m_row + panel.first_column);
      t += group;
    }
  }
}

}  // namespace

void RunWinogradBlock(const Winograd& w, int64_t block, float* slot) {
  const int64_t first = block * w.shape.block;
  const int64_t count = Smaller(w.shape.block, w.shape.tile_count - first);
  float* m = slot + kWinogradPoints * w.shape.v_plane;
  InputStage(w, first, count, slot);
  ProductStage(w, count, slot, m);
  OutputStage(w, first, count, m);
}

AICF_ISA_END
