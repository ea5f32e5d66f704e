// Softmax, log-softmax, layer norm and RMS norm of one group of elements (a row) by kRowLanes
// threads. REQUIRES that the including file has defined kRowLanes, kRowsPerBlock, kWidth, kMostKept
// (elements that a lane may keep in registers), kMerges (whether the lanes of a layer norm exchange
// their sums only once, as a mean and the squared distances from it, instead of twice), Lane(),
// RowInBlock(), Finish() and
//   AllLanes<kCall>(value, op)   op over all lanes of a row, in a fixed order; every lane has the
//                                result. kCall tells the calls for one row apart.
#pragma once

#include "normalize/statistics.cuh"

namespace aicf {

constexpr index_t kLength = kDomainCount0;
constexpr index_t kRows = kDomainCount1;
constexpr index_t kStep = static_cast<index_t>(kRowLanes) * kWidth;
/// Vectors per lane. The elements of rows that are short enough stay in registers between the
/// passes (kKeep).
constexpr index_t kPerLane = (kLength + kStep - 1) / kStep;
constexpr bool kKeep = kPerLane * kWidth <= kMostKept;
/// Whether the epilogue's operands (such as a norm's scale and bias) are loaded together with the
/// row, which takes registers. If they were loaded later, their latency would be added.
constexpr bool kEarly = kKeep && kPerLane * kWidth * (kInputs - kCoreInputs) <= 32;
static_assert(kLength % kWidth == 0, "rows are whole vectors");

struct OpSum {
  AICF_DEVICE sum_t operator()(sum_t a, sum_t b) const { return a + b; }
};
struct OpLargest {
  AICF_DEVICE value_t operator()(value_t a, value_t b) const { return b <= a ? a : b; }
};

/// The lane's part of one row.
struct Row {
  const Args& args;
  index_t row;
  bool valid;  ///< threads beyond the last row repeat it, and store nothing
  value_t kept[kKeep ? kPerLane + 1 : 1][kWidth];
  Epilogue::Operands<kWidth> held[kEarly ? kPerLane + 1 : 1];

  AICF_DEVICE void LoadVector(value_t (&x)[kWidth], index_t i) const {
    element_t raw[kWidth];
    Prologue::Load<kWidth>(args, raw, i, row);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) x[j] = static_cast<value_t>(raw[j]);
  }
  AICF_DEVICE void Load() {
    if constexpr (kKeep) {
#pragma unroll
      for (index_t v = 0; v < kPerLane; ++v) {
        const index_t i = v * kStep + Lane() * kWidth;
        if (i >= kLength) continue;
        LoadVector(kept[v], i);
        if constexpr (kEarly) held[v].Load(args, i, row, 0);
      }
    }
  }
  /// Calls f(x, i, v) for every vector v of the lane.
  template <class F>
  AICF_DEVICE void Visit(F&& f) {
    if constexpr (kKeep) {
#pragma unroll
      for (index_t v = 0; v < kPerLane; ++v) {
        const index_t i = v * kStep + Lane() * kWidth;
        if (i < kLength) f(kept[v], i, v);
      }
    } else {
      for (index_t i = Lane() * kWidth; i < kLength; i += kStep) {
        value_t x[kWidth];
        LoadVector(x, i);
        f(x, i, 0);
      }
    }
  }
};

AICF_DEVICE value_t MaxOfRow(Row& row) {
  value_t largest = static_cast<value_t>(FromBits64(0xfff0000000000000ull));
  row.Visit([&](value_t(&x)[kWidth], index_t, index_t) {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) largest = OpLargest()(largest, x[j]);
  });
  return AllLanes<0>(largest, OpLargest());
}

/// Sum of term(x) over the row.
template <int kCall, class F>
AICF_DEVICE sum_t SumOfRow(Row& row, F&& term) {
  sum_t sum = 0;
  row.Visit([&](value_t(&x)[kWidth], index_t, index_t) {
    value_t piece = term(x[0]);
#pragma unroll
    for (int j = 1; j < kWidth; ++j) piece = piece + term(x[j]);
    sum += piece;
  });
  return AllLanes<kCall>(sum, OpSum());
}

template <class F>
AICF_DEVICE void StoreRow(Row& row, F&& result) {
  row.Visit([&](value_t(&x)[kWidth], index_t i, index_t v) {
    raw_t raw[kWidth];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) raw[j] = OpCast<raw_t>(result(x[j]));
    if (!row.valid) return;
    if constexpr (kEarly)
      Epilogue::Store<kWidth>(row.args, raw, row.held[v], i, row.row, 0);
    else
      Epilogue::Store<kWidth>(row.args, raw, i, row.row);
  });
}

/// e^(x - largest).
struct Powers {
  value_t largest, offset;

  AICF_DEVICE explicit Powers(value_t of)
      : largest(of), offset(-of * value_t(1.4426950408889634)) {}
  AICF_DEVICE value_t operator()(value_t x) const {
    if constexpr (kShortResults && kSingle) {
      return Exp2Approx(OpFma(x, value_t(1.4426950408889634), offset));
    } else {
      return OpExp(x - largest);
    }
  }
};

AICF_DEVICE void Softmax(Row& row) {
  const value_t largest = MaxOfRow(row);
  const Powers power(largest);
  if constexpr (attr_kind == kLogSoftmax) {
    const sum_t sum = SumOfRow<1>(row, power);
    const value_t log_sum = static_cast<value_t>(OpLog(sum));
    StoreRow(row, [&](value_t x) { return x - largest - log_sum; });
  } else if constexpr (kKeep) {
    row.Visit([&](value_t(&x)[kWidth], index_t, index_t) {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) x[j] = power(x[j]);
    });
    const Quotient part(static_cast<value_t>(SumOfRow<1>(row, [](value_t e) { return e; })));
    StoreRow(row, part);
  } else {
    const Quotient part(static_cast<value_t>(SumOfRow<1>(row, power)));
    StoreRow(row, [&](value_t x) { return part(power(x)); });
  }
}

/// sum / kLength.
AICF_DEVICE sum_t MeanOf(sum_t sum) {
  if constexpr (!kSingle) return sum / static_cast<sum_t>(kLength);
  return sum * static_cast<sum_t>(1.0 / static_cast<double>(kLength));
}

/// Combines what is known of two sets of elements into what is known of all of them.
struct OpMerge {
  AICF_DEVICE Deviations operator()(const Deviations& a, const Deviations& b) const {
    const sum_t count = a.count + b.count, apart = b.mean - a.mean;
    if (count == 0) return a;
    sum_t share;
    if constexpr (kSame<sum_t, float>)
      share = b.count * ReciprocalApprox(count);
    else
      share = b.count / count;
    return {count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share};
  }
};

/// Count, mean and squared distances of the lane's part of a row.
AICF_DEVICE Deviations OwnDeviations(Row& row) {
  sum_t count = 0, sum = 0, squares = 0;
  row.Visit([&](value_t(&x)[kWidth], index_t, index_t) {
    count += kWidth;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) sum += x[j];
  });
  const sum_t mean = count == 0 ? sum_t(0) : sum / count;
  const value_t shift = static_cast<value_t>(mean);
  row.Visit([&](value_t(&x)[kWidth], index_t, index_t) {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) squares += (x[j] - shift) * (x[j] - shift);
  });
  return {count, static_cast<sum_t>(shift), squares};
}

AICF_DEVICE void Moments(Row& row) {
  value_t shift = 0;
  sum_t squares;
  if constexpr (attr_kind == kLayerNorm && kMerges) {
    const Deviations all = AllLanes<0>(OwnDeviations(row), OpMerge());
    shift = static_cast<value_t>(all.mean);
    squares = all.squares;
  } else {
    if constexpr (attr_kind == kLayerNorm) {
      shift = static_cast<value_t>(MeanOf(SumOfRow<0>(row, [](value_t x) { return x; })));
    }
    squares = SumOfRow<1>(row, [&](value_t x) { return (x - shift) * (x - shift); });
  }
  const sum_t variance = MeanOf(squares) + static_cast<sum_t>(attr_epsilon);
  const Quotient scaled(OpSqrt(static_cast<value_t>(variance)));
  StoreRow(row, [&](value_t x) { return scaled(x - shift); });
}

AICF_DEVICE void Kernel(const Args& args) {
  // Every thread of a block takes every round: the barriers inside AllLanes are met by all.
  constexpr index_t kStride = kGridX / kClusterX * kRowsPerBlock;
  const index_t first = static_cast<index_t>(blockIdx.x) / kClusterX * kRowsPerBlock;
  for (index_t base = first; base < kRows; base += kStride) {
    const index_t own = base + RowInBlock();
    Row row{args, own < kRows ? own : kRows - 1, own < kRows};
    row.Load();
    if constexpr (attr_kind == kSoftmax || attr_kind == kLogSoftmax)
      Softmax(row);
    else
      Moments(row);
  }
  Finish();
}

}  // namespace aicf
