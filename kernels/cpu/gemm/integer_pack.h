/// The packed order of B for products of integers, packing and unpacking. Host code only.
///
/// packed[panel] = start[column] (i32), then [tap, cell][column] of four bytes or two words, zero
/// where there is no element. Panels are those of panels.h. `start` is the number from which a
/// column's sums start. If x is i8, the tiles read it as u8, which makes every value larger by 128,
/// so `start` is -128 times the sum of the column. Otherwise it is 0.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/cpu/gemm/integer_cells.h"
#include "kernels/cpu/gemm/panels.h"

namespace aicf::cpu {

/// One matrix of B: `taps` times `depth` rows.
struct IntegerMatrix {
  IntegerForm form = IntegerForm::kNone;
  bool flip = false;  ///< x is i8 (kBytes only)
  int64_t taps = 1, depth = 0, columns = 0;

  int64_t tap_cells() const { return CellsOf(form, depth); }
  /// Rows of a packed panel: one of start numbers, and those of cells.
  int64_t rows() const { return taps * tap_cells() + 1; }
  int64_t packed_cells(const Panels& panels) const { return panels.packed_floats(rows()); }
};

/// Whether x is i8 in products of bytes, so that the tiles read it as the u8 x + 128.
inline bool FlipsX(const abi::Problem& p) {
  return IntegerFormOf(p) == IntegerForm::kBytes && p.inputs[0].dtype == DType::kI8;
}

/// Element i of a buffer of i8, u8 or i16.
inline int32_t LoadInteger(const void* data, DType dtype, int64_t i) {
  if (dtype == DType::kI8) return static_cast<const int8_t*>(data)[i];
  if (dtype == DType::kU8) return static_cast<const uint8_t*>(data)[i];
  return static_cast<const int16_t*>(data)[i];
}

inline void StoreInteger(void* data, DType dtype, int64_t i, int32_t value) {
  if (dtype == DType::kI16) {
    static_cast<int16_t*>(data)[i] = static_cast<int16_t>(value);
  } else {
    static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(value);
  }
}

/// Calls f(tap, c, column, place) for every value of a panel in packed order, where place is its
/// byte (or pair of bytes) from the start of the panel, c may be beyond the depth and column beyond
/// the columns.
template <class F>
void ForEachPanelValue(const IntegerMatrix& m, const Panels& panels, int64_t panel, const F& f) {
  const int64_t first = panels.first_vector(panel) * panels.lanes;
  const int64_t width = panels.width(panel) * panels.lanes;
  const int64_t per_cell = ValuesPerCell(m.form), bytes = int64_t{sizeof(float)} / per_cell;
  int64_t place = width * int64_t{sizeof(float)};
  for (int64_t tap = 0; tap < m.taps; ++tap) {
    for (int64_t cell = 0; cell < m.tap_cells(); ++cell) {
      for (int64_t column = first; column < first + width; ++column) {
        for (int64_t i = 0; i < per_cell; ++i, place += bytes) {
          f(tap, cell * per_cell + i, column, place);
        }
      }
    }
  }
}

/// Packs one panel; at(tap, c, column) is an element.
template <class At>
void PackIntegerPanel(const IntegerMatrix& m, const Panels& panels, int64_t panel, const At& at,
                      void* packed) {
  const int64_t first = panels.first_vector(panel) * panels.lanes;
  const int64_t width = panels.width(panel) * panels.lanes;
  char* out = static_cast<char*>(packed) + first * m.rows() * int64_t{sizeof(float)};
  // Sums wrap like those of the products.
  uint32_t sums[kMaxPanelColumns] = {};
  ForEachPanelValue(m, panels, panel, [&](int64_t tap, int64_t c, int64_t column, int64_t place) {
    const int32_t value = c < m.depth && column < m.columns ? at(tap, c, column) : 0;
    sums[column - first] += static_cast<uint32_t>(value);
    const auto word = static_cast<int16_t>(value);
    std::memcpy(out + place, &word, m.form == IntegerForm::kBytes ? 1 : sizeof(word));
  });
  for (int64_t c = 0; c < width; ++c) {
    const uint32_t start = m.flip ? uint32_t{0} - 128u * sums[c] : 0;
    std::memcpy(out + c * int64_t{sizeof(start)}, &start, sizeof(start));
  }
}

/// The inverse: put(tap, c, column, value) for every element of the matrix in the panel.
template <class Put>
void UnpackIntegerPanel(const IntegerMatrix& m, const Panels& panels, int64_t panel,
                        const void* packed, const Put& put) {
  const int64_t first = panels.first_vector(panel) * panels.lanes;
  const char* from = static_cast<const char*>(packed) + first * m.rows() * int64_t{sizeof(float)};
  ForEachPanelValue(m, panels, panel, [&](int64_t tap, int64_t c, int64_t column, int64_t place) {
    if (c >= m.depth || column >= m.columns) return;
    int16_t word = 0;
    if (m.form == IntegerForm::kBytes) {
      word = static_cast<int8_t>(from[place]);
    } else {
      std::memcpy(&word, from + place, sizeof(word));
    }
    put(tap, c, column, word);
  });
}

}  // namespace aicf::cpu
