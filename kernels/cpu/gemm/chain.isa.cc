#include "kernels/cpu/gemm/chain.h"

#include "kernels/cpu/common/tile_functions.h"
#include "kernels/cpu/gemm/int_simd.h"

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

// RoundNearest for values of any magnitude. The baseline's RoundNearest needs |x| < 2^31; from 2^23
// on all values are whole and are left as they are.
AICF_INLINE Vec RoundAny(Vec v) {
#if defined(AICF_ISA_baseline)
  const Vec small = _mm_cmplt_ps(Magnitude(v), Broadcast(0x1p23f));
  const Vec rounded = CopySign(RoundNearest(_mm_and_ps(small, v)), v);
  return _mm_or_ps(_mm_and_ps(small, rounded), _mm_andnot_ps(small, v));
#else
  return RoundNearest(v);
#endif
}

// Where the vectors of an operand are. An operand with one value per row and column ends where the
// tile ends (ends_with_tile), so the last vector of each of its rows is loaded with a mask.
struct Source {
  const float* at;
  int64_t row_stride = 0;
  int64_t vector_stride = kLanes;
  bool ends_with_tile = false;
};

template <int kRows, int kVectors>
class Rows {
 public:
  Rows(const ChainCall& call, int row, Mask last) : call_(call), row_(row), last_(last) {}

  AICF_INLINE void Run(float* out, int64_t out_stride) {
    const float* tile = call_.tile + row_ * kVectors * kLanes;
    // A local variable, so that it stays in registers. As a member it would be in memory, since
    // there are pointers to other members of the object.
    Values values;
    if (call_.epilogue->from_integers) {
      values.Each([&](Vec, int r, int j) {
        const IntVec sum = LoadInts(tile + (r * kVectors + j) * kLanes);
        return FloatsOf(AddInts(sum, LoadInts(call_.start + j * kLanes)));
      });
    } else {
      values.Each([&](Vec, int r, int j) { return Load(tile + (r * kVectors + j) * kLanes); });
    }
    for (int s = 0; s < call_.epilogue->step_count; ++s) Apply(call_.epilogue->steps[s], values);
    values.Each([&](Vec v, int r, int j) {
      float* p = out + (row_ + r) * out_stride + j * kLanes;
      j + 1 < kVectors ? Store(p, v) : StoreMasked(p, last_, v);
      return v;
    });
  }

 private:
  using Values = Block<kRows, kVectors>;

  AICF_INLINE void Apply(const ChainStep& step, Values& values) {
    const Vec a = Broadcast(step.a), b = Broadcast(step.b);
    const Vec lo = Broadcast(step.lo), hi = Broadcast(step.hi);
    switch (step.op) {
      case ChainOp::kSave:
        return values.Each([&](Vec v, int r, int j) {
          Store(SavedAt(r, j), v);
          return v;
        });
      case ChainOp::kSwap:
        return values.Each([&](Vec v, int r, int j) {
          const Vec saved = Load(SavedAt(r, j));
          Store(SavedAt(r, j), v);
          return saved;
        });
      case ChainOp::kLinear:
        return values.Each([&](Vec v, int, int) { return Fma(v, a, b); });
      case ChainOp::kFma:
        return values.Each([&](Vec v, int, int) { return FmaRoundedOnce(v, a, b); });
      case ChainOp::kDivide:
        return values.Each([&](Vec v, int, int) { return v / a; });
      case ChainOp::kClamp:
        return values.Each([&](Vec v, int, int) { return Min(hi, Max(lo, v)); });
      case ChainOp::kGate:
        return values.Each([&, scale = Broadcast(step.x.number)](Vec v, int, int) {
          return v * Min(hi, Max(lo, FmaRoundedOnce(v, a, b))) * scale;
        });
      case ChainOp::kSigmoid:
        return values.Each([&](Vec v, int, int) { return Fma(Sigmoid(Fma(v, a, b)), lo, hi); });
      case ChainOp::kSilu:
        return values.Each([&](Vec v, int, int) { return v * Sigmoid(v); });
      case ChainOp::kTanh:
        return values.Each([&](Vec v, int, int) { return Fma(Tanh(Fma(v, a, b)), lo, hi); });
      case ChainOp::kErf:
        return values.Each([&](Vec v, int, int) { return Fma(Erf(Fma(v, a, b)), lo, hi); });
      case ChainOp::kRoundF16:
        return values.Each([&](Vec v, int, int) { return RoundToHalf(v); });
      case ChainOp::kRound:
        return values.Each([&](Vec v, int, int) { return RoundAny(v); });
      case ChainOp::kQuantize:
        // kNarrow would also truncate. That is not needed here: the rounded value plus the zero
        // point is already a whole number.
        return values.Each(
            [&](Vec v, int, int) { return NumberOrZero(Min(hi, Max(lo, RoundAny(v) + b))); });
      case ChainOp::kTable:
        return values.Each([&](Vec v, int, int) {
          return TableAt(call_.epilogue->table, And(IntsOf(v), RepeatInt(kChainTableEntries - 1)));
        });
      case ChainOp::kNarrow:
        return values.Each(
            [&](Vec v, int, int) { return WholePart(Min(hi, Max(lo, NumberOrZero(v)))); });
      case ChainOp::kMulSwapped:
        return values.Each([&](Vec v, int r, int j) { return v * Fma(Load(SavedAt(r, j)), a, b); });
      case ChainOp::kAdd:
        return EachWith(values, SourceOf(step.x, x_), [](Vec v, Vec x) { return v + x; });
      case ChainOp::kMul:
        return EachWith(values, SourceOf(step.x, x_), [](Vec v, Vec x) { return v * x; });
      case ChainOp::kFmaValue:
        return EachWith(values, SourceOf(step.x, x_), SourceOf(step.y, y_),
                        [](Vec v, Vec x, Vec y) { return FmaRoundedOnce(v, x, y); });
      case ChainOp::kFmaSum:
        return EachWith(values, SourceOf(step.x, x_), SourceOf(step.y, y_),
                        [](Vec v, Vec x, Vec y) { return FmaRoundedOnce(x, y, v); });
    }
  }

  AICF_INLINE float* SavedAt(int r, int j) { return saved_ + (r * kVectors + j) * kLanes; }

  // `room` is memory for operands that are not vectors of floats yet: a number is repeated there,
  // and bytes are converted to floats there.
  AICF_INLINE Source SourceOf(const ChainOperand& operand, float* room) {
    switch (operand.source) {
      case ChainSource::kNumber:
        Store(room, Broadcast(operand.number));
        return {room, 0, 0};
      case ChainSource::kSaved:
        return {saved_, kVectors * kLanes};
      case ChainSource::kColumns:
        return {call_.column_values[operand.index]};
      case ChainSource::kTensor:
        break;
    }
    const int64_t stride = call_.epilogue->inputs[operand.index].row_stride;
    if (operand.dequantises) {
      Dequantise(operand, stride, room);
      return {room, kVectors * kLanes};
    }
    return {call_.tensors[operand.index] + row_ * stride, stride, kLanes, true};
  }

  void Dequantise(const ChainOperand& operand, int64_t stride, float* to) {
    const TileOperand& input = call_.epilogue->inputs[operand.index];
    const bool is_signed = input.dtype == DType::kI8;
    const Vec shift = Broadcast(operand.shift), scale = Broadcast(operand.scale);
    const int last = call_.columns - (kVectors - 1) * kLanes;
    const auto* from = reinterpret_cast<const char*>(call_.tensors[operand.index]) + row_ * stride;
    for (int r = 0; r < kRows; ++r, from += stride) {
      for (int j = 0; j < kVectors; ++j, to += kLanes) {
        const Vec v = WidenBytes(from + j * kLanes, j + 1 < kVectors ? kLanes : last, is_signed);
        Store(to, (v + shift) * scale);
      }
    }
  }

  AICF_INLINE Vec Whole(const Source& s, int r, int j) {
    return Load(s.at + r * s.row_stride + j * s.vector_stride);
  }
  AICF_INLINE Vec InTile(const Source& s, int r, int j) {
    return j + 1 < kVectors ? Whole(s, r, j)
                            : LoadMasked(s.at + r * s.row_stride + j * s.vector_stride, last_);
  }

  template <class F>
  AICF_INLINE void EachWith(Values& values, const Source& x, const F& f) {
    if (x.ends_with_tile) {
      values.Each([&](Vec v, int r, int j) { return f(v, InTile(x, r, j)); });
    } else {
      values.Each([&](Vec v, int r, int j) { return f(v, Whole(x, r, j)); });
    }
  }
  // If one of the operands needs the mask, both are loaded with it: the lanes that it leaves out
  // are not stored anyway.
  template <class F>
  AICF_INLINE void EachWith(Values& values, const Source& x, const Source& y, const F& f) {
    if (x.ends_with_tile || y.ends_with_tile) {
      values.Each([&](Vec v, int r, int j) { return f(v, InTile(x, r, j), InTile(y, r, j)); });
    } else {
      values.Each([&](Vec v, int r, int j) { return f(v, Whole(x, r, j), Whole(y, r, j)); });
    }
  }

  const ChainCall& call_;
  const int row_;
  const Mask last_;
  alignas(64) float saved_[kRows * kVectors * kLanes];
  alignas(64) float x_[kRows * kVectors * kLanes], y_[kRows * kVectors * kLanes];
};

template <int kRows, int kVectors>
void RunRows(const ChainCall& call, int row, Mask last, float* out, int64_t out_stride) {
  Rows<kRows, kVectors>(call, row, last).Run(out, out_stride);
}

// Runs the steps on so many rows at a time that about eight vectors are in flight.
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

void EvalChain(const TileEpilogue& epilogue, float* values) {
  const ChainCall call = {&epilogue, values, kChainTableEntries / kLanes, 1, kLanes, nullptr,
                          nullptr,   nullptr};
  RunChain(call, nullptr, 0);
}

AICF_ISA_END
