/// How a convolution of integers is read as products of cells: x channels-last, the channels of a
/// group in whole cells. Pure functions of the problem, used by the compiler and by the kernels
/// alike. Host code only.
#pragma once

#include "kernels/cpu/conv/pack.h"
#include "kernels/cpu/gemm/integer_pack.h"

namespace aicf::cpu {

/// x is read where it is.
inline bool ConvReadsCells(const abi::Problem& p, const ConvShape& s) {
  return ReadsCells(p.inputs[0], 1, s.channels, IntegerFormOf(p));
}

/// Bytes of x as cells.
inline uint64_t ConvCellBytes(const abi::Problem& p, const ConvShape& s) {
  const int64_t runs = s.channels > 0 ? ElementsOf(p.inputs[0]) / s.channels : 0;
  return static_cast<uint64_t>(runs * CellsOf(IntegerFormOf(p), s.channels)) * sizeof(float);
}

/// The matrices that the weights are packed as, one after the other [phase][group]: calls
/// f(matrix, panels, place), where place(tap, c, column) is an element's number in the buffer of
/// the weights.
template <class F>
void ForEachConvIntegerMatrix(const abi::Problem& p, int lanes, const F& f) {
  const int64_t channels = ConvShapeOf(p).channels;
  ForEachConvMatrix(
      p, lanes, false,
      [&](const Panels& panels, int64_t depth, int64_t columns, const auto& place) {
        const int64_t taps = channels > 0 ? depth / channels : 0;
        const IntegerMatrix m = {IntegerFormOf(p), FlipsX(p), taps, channels, columns};
        f(m, panels, [&](int64_t tap, int64_t c, int64_t column) {
          return place(tap * channels + c, column);
        });
      });
}

/// Bytes of all packed weights.
inline uint64_t ConvIntegerPackedBytes(const abi::Problem& p, int lanes) {
  int64_t cells = 0;
  ForEachConvIntegerMatrix(p, lanes,
                           [&](const IntegerMatrix& m, const Panels& panels, const auto&) {
                             cells += m.packed_cells(panels);
                           });
  return static_cast<uint64_t>(cells) * sizeof(float);
}

}  // namespace aicf::cpu
