/// How a gemm of integers is read as products of cells. Pure functions of the problem, used by the
/// compiler (packing, workspace) and by the kernels alike. Host code only.
#pragma once

#include "base/checked.h"
#include "kernels/cpu/gemm/integer_pack.h"
#include "kernels/cpu/gemm/layout.h"

namespace aicf::cpu {

inline IntegerMatrix GemmIntegerMatrixOf(const abi::Problem& p) {
  const GemmShape s = GemmShapeOf(p);
  return {IntegerFormOf(p), FlipsX(p), 1, s.depth, s.columns};
}

/// A is read where it is.
inline bool GemmReadsCells(const abi::Problem& p) {
  const abi::View& a = p.inputs[0];
  return ReadsCells(a, a.shape.rank() - 1, a.shape.back(), IntegerFormOf(p));
}

/// Bytes of A as dense cells; a multiple of 64.
inline uint64_t GemmCellBytes(const abi::Problem& p) {
  if (GemmReadsCells(p)) return 0;
  const abi::View& a = p.inputs[0];
  const int64_t depth = a.shape.back();
  const int64_t rows = depth > 0 ? ElementsOf(a) / depth : 0;
  const int64_t cells = rows * CellsOf(IntegerFormOf(p), depth);
  return static_cast<uint64_t>(CeilDiv(cells * int64_t{sizeof(float)}, 64) * 64);
}

/// Bytes of all packed matrices of B.
inline uint64_t GemmIntegerPackedBytes(const abi::Problem& p, int lanes) {
  const IntegerMatrix m = GemmIntegerMatrixOf(p);
  const Panels panels(m.columns, lanes);
  return sizeof(float) * static_cast<uint64_t>(GemmMatricesOf(p).count * m.packed_cells(panels));
}

/// The place in the buffer of B of row k and column n of the matrix that begins at `offset`.
inline int64_t GemmPlace(const abi::Problem& p, int64_t offset, int64_t k, int64_t n) {
  const abi::View& b = p.inputs[1];
  const int rank = b.shape.rank();
  return offset + k * b.strides[rank - 2] + n * b.strides[rank - 1];
}

/// Packs panel `panel` of matrix number `index` of B; `packed` is the matrix's first byte.
inline void PackGemmIntegers(const abi::Problem& p, const Panels& panels, int64_t panel,
                             int64_t index, const void* buffer, void* packed) {
  const DType dtype = p.inputs[1].dtype;
  const int64_t offset = GemmMatrixOffset(p, index);
  PackIntegerPanel(
      GemmIntegerMatrixOf(p), panels, panel,
      [&](int64_t, int64_t k, int64_t n) {
        return LoadInteger(buffer, dtype, GemmPlace(p, offset, k, n));
      },
      packed);
}

}  // namespace aicf::cpu
