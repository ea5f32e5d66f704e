/// How a gemm is read as products over packed panels. Pure functions of the problem, used by the
/// compiler (packing, workspace) and by the kernels alike. Host code only.
#pragma once

#include <cstdint>

#include "kernels/cpu/gemm/igemm.h"
#include "kernels/cpu/gemm/panels.h"

namespace aicf::cpu {

struct GemmShape {
  int batch_rank = 0;
  int64_t rows = 0, columns = 0, depth = 0;
};

inline GemmShape GemmShapeOf(const abi::Problem& p) {
  const Dims& c = p.outputs[0].shape;
  const int rank = c.rank();
  return {rank - 2, c[rank - 2], c[rank - 1], p.inputs[0].shape[rank - 1]};
}

/// The number of distinct matrices of B, and how they are numbered: a step along batch axis i
/// changes the number by step[i] (0 where B is broadcast).
struct GemmMatrices {
  int64_t count = 1;
  int64_t step[kMaxRank] = {};
};

inline GemmMatrices GemmMatricesOf(const abi::Problem& p) {
  const abi::View& b = p.inputs[1];
  GemmMatrices m;
  for (int axis = b.shape.rank() - 3; axis >= 0; --axis) {
    if (b.strides[axis] == 0) continue;
    m.step[axis] = m.count;
    m.count *= b.shape[axis];
  }
  return m;
}

/// Element offset, the view's included, of matrix number `index` of B.
inline int64_t GemmMatrixOffset(const abi::Problem& p, int64_t index) {
  const abi::View& b = p.inputs[1];
  int64_t at = b.offset;
  for (int axis = b.shape.rank() - 3; axis >= 0; --axis) {
    if (b.strides[axis] == 0) continue;
    at += index % b.shape[axis] * b.strides[axis];
    index /= b.shape[axis];
  }
  return at;
}

/// Whether rows of A are read in place: they are f32 and contiguous along the depth.
inline bool GemmReadsA(const abi::Problem& p) {
  const abi::View& a = p.inputs[0];
  return a.dtype == DType::kF32 && (a.strides.back() == 1 || a.shape.back() == 1);
}

/// Whether B is read in place. With few rows and a wide B, each element of B is used in only one or
/// two tiles, so that packing it would cost more than it saves.
inline bool GemmReadsB(const abi::Problem& p, int lanes) {
  const abi::View& b = p.inputs[1];
  const GemmShape s = GemmShapeOf(p);
  return b.dtype == DType::kF32 && b.strides.back() == 1 && s.rows <= 16 && s.columns >= 8 * lanes;
}

/// Packed floats of one matrix.
inline int64_t GemmPackedFloats(const abi::Problem& p, int lanes) {
  const GemmShape s = GemmShapeOf(p);
  return Panels(s.columns, lanes).packed_floats(s.depth);
}

/// Workspace of the variant that packs at run time: packed B, then a dense copy of A.
inline int64_t GemmWorkspaceFloats(const abi::Problem& p, int lanes) {
  const int64_t b = GemmMatricesOf(p).count * GemmPackedFloats(p, lanes);
  return b + (GemmReadsA(p) ? 0 : ElementsOf(p.inputs[0]));
}

/// Whether cpu.gemm.blis writes the output directly, because no epilogue follows the product.
inline bool GemmBlisIsDirect(const abi::Problem& p) {
  return p.epilogue.empty() && p.outputs[0].dtype == DType::kF32;
}

/// Packs panel `panel` of a matrix with `columns` columns whose element (0, 0) is number `offset`
/// of the buffer of B.
inline void PackGemmPanel(const abi::Problem& p, const Panels& panels, int64_t panel,
                          int64_t columns, const void* buffer, int64_t offset, float* packed) {
  const abi::View& b = p.inputs[1];
  const GemmShape s = GemmShapeOf(p);
  const int64_t k_stride = b.strides[s.batch_rank], n_stride = b.strides[s.batch_rank + 1];
  if (b.dtype == DType::kF32) {
    const float* from = static_cast<const float*>(buffer) + offset;
    PackPanelF32(panels, panel, s.depth, columns, from, k_stride, n_stride, packed);
  } else {
    PackPanel(
        panels, panel, s.depth, columns,
        [&](int64_t k, int64_t n) {
          return LoadF32(buffer, b.dtype, offset + k * k_stride + n * n_stride);
        },
        packed);
  }
}

/// The inverse of PackGemmPanel, for all columns of the matrix whose element (0, 0) is number
/// `offset` of the buffer.
inline void UnpackGemmPanel(const abi::Problem& p, const Panels& panels, int64_t panel,
                            const float* packed, int64_t offset, void* buffer) {
  const abi::View& b = p.inputs[1];
  const GemmShape s = GemmShapeOf(p);
  const int64_t k_stride = b.strides[s.batch_rank], n_stride = b.strides[s.batch_rank + 1];
  UnpackPanel(panels, panel, s.depth, s.columns, packed, [&](int64_t k, int64_t n, float value) {
    StoreF32(buffer, b.dtype, offset + k * k_stride + n * n_stride, value);
  });
}

}  // namespace aicf::cpu
