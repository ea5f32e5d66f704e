#include "kernels/cpu/gemm/chain.h"

#include "kernels/cpu/gemm/vec_math.h"

AICF_ISA_BEGIN
namespace {

// kRows x kVectors values in registers.
template <int kRows, int kVectors>
struct Block {
  Vec v[kRows][kVectors];

  template <class F>
  AICF_INLINE void Each(const F& f) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) v[r][j] = f(v[r][j], r, j);
    }
  }
};

AICF_INLINE Vec LoadOperand(const float* p, int j, int vectors, Mask last) {
  return j + 1 < vectors ? Load(p + j * kLanes) : LoadMasked(p + j * kLanes, last);
}

template <int kRows, int kVectors>
void ApplyTensor(const ChainCall& call, const ChainStep& step, int row, Mask last,
                 Block<kRows, kVectors>& block) {
  const int64_t stride = call.epilogue->inputs[step.operand].row_stride;
  const float* p = call.tensors[step.operand] + row * stride;
  if (step.op == ChainOp::kAddTensor) {
    block.Each(
        [&](Vec v, int r, int j) { return v + LoadOperand(p + r * stride, j, kVectors, last); });
  } else {
    block.Each(
        [&](Vec v, int r, int j) { return v * LoadOperand(p + r * stride, j, kVectors, last); });
  }
}

template <int kRows, int kVectors>
void ApplyStep(const ChainCall& call, const ChainStep& step, int row, Mask last,
               Block<kRows, kVectors>& block) {
  const Vec a = Broadcast(step.a), b = Broadcast(step.b);
  const Vec lo = Broadcast(step.lo), hi = Broadcast(step.hi);
  switch (step.op) {
    case ChainOp::kLinear:
      return block.Each([&](Vec v, int, int) { return Fma(v, a, b); });
    case ChainOp::kClamp:
      return block.Each([&](Vec v, int, int) { return Min(hi, Max(lo, v)); });
    case ChainOp::kGate:
      return block.Each([&](Vec v, int, int) { return v * Min(hi, Max(lo, Fma(v, a, b))); });
    case ChainOp::kSigmoid:
      return block.Each([&](Vec v, int, int) { return Sigmoid(v); });
    case ChainOp::kSilu:
      return block.Each([&](Vec v, int, int) { return v * Sigmoid(v); });
    case ChainOp::kCubic:
      return block.Each([&](Vec v, int, int) { return v * Fma(v * v, b, a); });
    case ChainOp::kTanh:
      return block.Each([&](Vec v, int, int) { return Tanh(v); });
    case ChainOp::kErf:
      return block.Each([&](Vec v, int, int) { return Erf(v); });
    case ChainOp::kGateSigmoid:
      return block.Each([&](Vec v, int, int) { return v * lo * Sigmoid(v * Fma(v * v, b, a)); });
    case ChainOp::kGateErf:
      return block.Each([&](Vec v, int, int) { return v * Fma(lo, Erf(v * a), hi); });
    case ChainOp::kRoundF16:
      return block.Each([&](Vec v, int, int) { return RoundToHalf(v); });
    case ChainOp::kAddColumns: {
      const float* p = call.column_values[step.operand];
      return block.Each([&](Vec v, int, int j) { return v + Load(p + j * kLanes); });
    }
    case ChainOp::kMulColumns: {
      const float* p = call.column_values[step.operand];
      return block.Each([&](Vec v, int, int j) { return v * Load(p + j * kLanes); });
    }
    case ChainOp::kAddTensor:
    case ChainOp::kMulTensor:
      return ApplyTensor(call, step, row, last, block);
  }
}

template <int kRows, int kVectors>
void RunRows(const ChainCall& call, int row, Mask last, float* out, int64_t out_stride) {
  Block<kRows, kVectors> block;
  const float* tile = call.tile + row * kVectors * kLanes;
  block.Each([&](Vec, int r, int j) { return Load(tile + (r * kVectors + j) * kLanes); });
  const TileEpilogue& e = *call.epilogue;
  for (int s = 0; s < e.step_count; ++s) ApplyStep(call, e.steps[s], row, last, block);
  block.Each([&](Vec v, int r, int j) {
    float* p = out + (row + r) * out_stride + j * kLanes;
    j + 1 < kVectors ? Store(p, v) : StoreMasked(p, last, v);
    return v;
  });
}

// As many rows at a time as keep about eight vectors in flight.
template <int kVectors>
void RunAll(const ChainCall& call, float* out, int64_t out_stride) {
  constexpr int kGroup = kVectors == 1 ? 8 : kVectors == 2 ? 4 : kVectors == 3 ? 3 : 2;
  const Mask last = FirstLanes(call.columns - (kVectors - 1) * kLanes);
  int row = 0;
  for (; row + kGroup <= call.rows; row += kGroup) {
    RunRows<kGroup, kVectors>(call, row, last, out, out_stride);
  }
  constexpr int kHalf = kVectors == 1 ? 3 : 2;
  for (; row + kHalf <= call.rows; row += kHalf) {
    RunRows<kHalf, kVectors>(call, row, last, out, out_stride);
  }
  for (; row < call.rows; ++row) RunRows<1, kVectors>(call, row, last, out, out_stride);
}

}  // namespace

void RunChain(const ChainCall& call, float* out, int64_t out_stride) {
  if (out == nullptr) {
    out = call.tile;
    out_stride = call.vectors * kLanes;
  }
  switch (call.vectors) {
    case 1:
      return RunAll<1>(call, out, out_stride);
    case 2:
      return RunAll<2>(call, out, out_stride);
    case 3:
      return RunAll<3>(call, out, out_stride);
    default:
      return RunAll<4>(call, out, out_stride);
  }
}

namespace {

void StoreF32(const float* tile, int64_t tile_stride, int rows, int columns, float* out,
              int64_t row_stride, int64_t col_stride) {
  if (col_stride == 1 && columns >= kLanes / 2) {
    for (int r = 0; r < rows; ++r, tile += tile_stride, out += row_stride) {
      int c = 0;
      for (; c + kLanes <= columns; c += kLanes) Store(out + c, Load(tile + c));
      if (c < columns) StoreMasked(out + c, FirstLanes(columns - c), Load(tile + c));
    }
    return;
  }
  // Column by column: neighbours in memory are the rows, or there is no neighbour.
  for (int c = 0; c < columns; ++c, ++tile, out += col_stride) {
    const float* from = tile;
    float* to = out;
    for (int r = 0; r < rows; ++r, from += tile_stride, to += row_stride) *to = *from;
  }
}

}  // namespace

void StoreTile(const float* tile, int64_t tile_stride, int rows, int columns, void* out,
               DType dtype, int64_t row_stride, int64_t col_stride) {
  if (dtype == DType::kF32) {
    return StoreF32(tile, tile_stride, rows, columns, static_cast<float*>(out), row_stride,
                    col_stride);
  }
  for (int r = 0; r < rows; ++r, tile += tile_stride) {
    uint16_t* p = static_cast<uint16_t*>(out) + r * row_stride;
    int c = 0;
    if (dtype == DType::kF16 && col_stride == 1) {
      for (; c + kLanes <= columns; c += kLanes) NarrowHalf(p + c, Load(tile + c));
    }
    for (; c < columns; ++c) {
      p[c * col_stride] = dtype == DType::kF16 ? F32ToF16(tile[c]) : F32ToBF16(tile[c]);
    }
  }
}

AICF_ISA_END
