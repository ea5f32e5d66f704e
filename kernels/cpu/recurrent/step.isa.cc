#include "kernels/cpu/recurrent/step.h"

#include "kernels/cpu/recurrent/cell_functions.h"

AICF_ISA_BEGIN
namespace {

// Accumulators of a tile: rows times gates, within the register file beside the weights.
template <int kGates>
constexpr int kMaxRows = (kLanes == 16 ? 24 : 8) / kGates;

// Most rows of a group. The tiles of a group all use one piece of the weights, while it is in the
// first-level cache, before they go on to the next piece; their sums are kept in memory in between.
constexpr int kGroupRows = 24;
constexpr int64_t kPieceBytes = 24 * 1024;

/// acc[r][g] += sum over k of x[r][k] * w[k][g]. With few rows there are few sums, and each
/// addition would have to wait for the previous one: k is then split among several partial sums,
/// which are added at the end.
template <int kGates, int kRows>
AICF_INLINE void Multiply(const float* w, const float* x, int64_t x_row, int64_t depth,
                          Vec (&acc)[kRows][kGates]) {
  constexpr int kSplit = kRows * kGates >= 8 ? 1 : kRows * kGates >= 4 ? 2 : 4;
  Vec part[kSplit][kRows][kGates];
#pragma GCC unroll 4
  for (int s = 0; s < kSplit; ++s) {
#pragma GCC unroll 24
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int g = 0; g < kGates; ++g) part[s][r][g] = Broadcast(0.0f);
    }
  }
  const auto add = [&](int s, int64_t k) {
    Vec weights[kGates];
#pragma GCC unroll 4
    for (int g = 0; g < kGates; ++g) weights[g] = Load(w + (k * kGates + g) * kLanes);
#pragma GCC unroll 24
    for (int r = 0; r < kRows; ++r) {
      const Vec h = Broadcast(x[r * x_row + k]);
#pragma GCC unroll 4
      for (int g = 0; g < kGates; ++g) part[s][r][g] = Fma(h, weights[g], part[s][r][g]);
    }
  };
  int64_t k = 0;
  for (; k + kSplit <= depth; k += kSplit) {
#pragma GCC unroll 4
    for (int s = 0; s < kSplit; ++s) add(s, k + s);
  }
  for (; k < depth; ++k) add(0, k);
#pragma GCC unroll 24
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int g = 0; g < kGates; ++g) {
      Vec sum = part[0][r][g];
#pragma GCC unroll 4
      for (int s = 1; s < kSplit; ++s) sum = sum + part[s][r][g];
      acc[r][g] = acc[r][g] + sum;
    }
  }
}

/// One row's units [first, first + kLanes), of which `mask` exist.
struct UnitBlock {
  const CellStep& s;
  int64_t row;
  int64_t first;
  Mask mask;

  AICF_INLINE Vec Gate(int g) const {
    return LoadMasked(s.gates + row * s.gates_row + g * s.hidden + first, mask);
  }
  AICF_INLINE float* State(float* rows) const { return rows + row * s.state_row + first; }
  AICF_INLINE const float* State(const float* rows) const {
    return rows + row * s.state_row + first;
  }
  AICF_INLINE Vec Apply(int f, Vec x) const {
    if (s.clip > 0) x = Max(Broadcast(-s.clip), Min(Broadcast(s.clip), x));
    return ApplyFunction(s.f[f], x);
  }
  AICF_INLINE Vec Peephole(int g, Vec x, Vec c) const {
    if (s.peepholes == nullptr) return x;
    return Fma(LoadMasked(s.peepholes + g * s.hidden + first, mask), c, x);
  }
  /// Stores the new state. Lanes beyond the last unit are padding of the row and stay zero.
  AICF_INLINE void Finish(Vec h) const {
    StoreMasked(State(s.h_out), mask, h);
    StoreMasked(s.y + row * s.y_row + first, mask, h);
  }
  void Skip() const {
    if (s.resets_first && s.pass == 0) return;
    StoreMasked(State(s.h_out), mask, Load(State(s.h_in)));
    StoreMasked(s.y + row * s.y_row + first, mask, Broadcast(0.0f));
  }
};

AICF_INLINE void FinishUnits(const UnitBlock& u, const Vec (&acc)[4]) {  // LSTM: i o f c
  const CellStep& s = u.s;
  const Vec c = Load(u.State(s.c));
  const Vec i = u.Apply(0, u.Peephole(0, acc[0] + u.Gate(0), c));
  const Vec f =
      s.input_forget ? Broadcast(1.0f) - i : u.Apply(0, u.Peephole(2, acc[2] + u.Gate(2), c));
  const Vec next = Fma(f, c, i * u.Apply(1, acc[3] + u.Gate(3)));
  const Vec o = u.Apply(0, u.Peephole(1, acc[1] + u.Gate(1), next));
  StoreMasked(u.State(s.c), u.mask, next);
  u.Finish(o * ApplyFunction(s.f[2], next));
}

AICF_INLINE void FinishUnits(const UnitBlock& u, const Vec (&acc)[3]) {  // GRU: z r h
  const CellStep& s = u.s;
  const Vec z = u.Apply(0, acc[0] + u.Gate(0));
  const Vec r = u.Apply(0, acc[1] + u.Gate(1));
  const Vec product = acc[2] + LoadMasked(s.bias + u.first, u.mask);
  const Vec n = u.Apply(1, Fma(r, product, u.Gate(2)));
  u.Finish(Fma(z, Load(u.State(s.h_in)) - n, n));
}

AICF_INLINE void FinishUnits(const UnitBlock& u, const Vec (&acc)[2]) {  // GRU: z r
  const CellStep& s = u.s;
  const Vec r = u.Apply(0, acc[1] + u.Gate(1));
  StoreMasked(u.State(s.update), u.mask, u.Apply(0, acc[0] + u.Gate(0)));
  StoreMasked(u.State(s.reset), u.mask, r * Load(u.State(s.h_in)));
}

AICF_INLINE void FinishUnits(const UnitBlock& u, const Vec (&acc)[1]) {  // RNN; GRU: h
  const CellStep& s = u.s;
  if (s.cell == abi::CellKind::kRnn) return u.Finish(u.Apply(0, acc[0] + u.Gate(0)));
  const Vec n = u.Apply(1, acc[0] + u.Gate(2));
  u.Finish(Fma(LoadMasked(u.State(s.update), u.mask), Load(u.State(s.h_in)) - n, n));
}

/// The part [k, k_end) of a tile's sums over k. After the last part the gates are applied. Between
/// parts, the sums of row r are kept at sums + r * kGates * kLanes.
struct Part {
  int64_t k, k_end;
  float* sums;
};

template <int kGates, int kRows>
void RunTile(const CellStep& s, int64_t row, int64_t block, const Part& part) {
  Vec acc[kRows][kGates];
#pragma GCC unroll 24
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int g = 0; g < kGates; ++g) {
      acc[r][g] = part.k == 0 ? Broadcast(0.0f) : Load(part.sums + (r * kGates + g) * kLanes);
    }
  }
  const float* x = (s.pass == 1 ? s.reset : s.h_in) + row * s.state_row + part.k;
  const float* w = s.packed + block * s.block_floats + part.k * kGates * kLanes;
  Multiply<kGates, kRows>(w, x, s.state_row, part.k_end - part.k, acc);
  if (part.k_end < s.hidden) {
#pragma GCC unroll 24
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int g = 0; g < kGates; ++g) Store(part.sums + (r * kGates + g) * kLanes, acc[r][g]);
    }
    return;
  }
  const int64_t first = block * kLanes;
  const int64_t left = s.hidden - first;
  const Mask mask = FirstLanes(left < kLanes ? static_cast<int>(left) : kLanes);
#pragma GCC unroll 1
  for (int r = 0; r < kRows; ++r) {
    const UnitBlock units{s, row + r, first, mask};
    if (s.active != nullptr && !s.active[row + r]) {
      units.Skip();
    } else {
      FinishUnits(units, acc[r]);
    }
  }
}

template <int kGates, int kRows>
void RunTileOf(int64_t rows, const CellStep& s, int64_t row, int64_t block, const Part& part) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return RunTileOf<kGates, kRows - 1>(rows, s, row, block, part);
  }
  RunTile<kGates, kRows>(s, row, block, part);
}

/// At most kGroupRows rows of one block of units, in tiles of nearly equal height.
template <int kGates>
void RunGroup(const CellStep& s, int64_t row, int64_t rows, int64_t block) {
  alignas(64) float sums[kGroupRows * kGates * kLanes];
  const int64_t tiles = (rows + kMaxRows<kGates> - 1) / kMaxRows<kGates>;
  const int64_t whole = kPieceBytes / static_cast<int64_t>(sizeof(float) * kGates * kLanes);
  const int64_t piece = tiles == 1 ? s.hidden : whole;
  for (int64_t k = 0; k < s.hidden; k += piece) {
    const int64_t k_end = k + piece < s.hidden ? k + piece : s.hidden;
    for (int64_t t = 0, done = 0; t < tiles; ++t) {
      const int64_t height = rows / tiles + (t < rows % tiles ? 1 : 0);
      const Part part{k, k_end, sums + done * kGates * kLanes};
      RunTileOf<kGates, kMaxRows<kGates>>(height, s, row + done, block, part);
      done += height;
    }
  }
}

template <int kGates>
void RunBlocks(const CellStep& s, int64_t row_begin, int64_t row_end, int64_t begin, int64_t end) {
  for (int64_t block = begin; block < end; ++block) {
    for (int64_t row = row_begin; row < row_end; row += kGroupRows) {
      const int64_t left = row_end - row;
      RunGroup<kGates>(s, row, left < kGroupRows ? left : kGroupRows, block);
    }
  }
}

}  // namespace

void RunCellStep(const CellStep& s, int64_t row_begin, int64_t row_end, int64_t block_begin,
                 int64_t block_end) {
  if (s.cell == abi::CellKind::kLstm) {
    return RunBlocks<4>(s, row_begin, row_end, block_begin, block_end);
  }
  if (s.cell == abi::CellKind::kRnn || s.pass == 1) {
    return RunBlocks<1>(s, row_begin, row_end, block_begin, block_end);
  }
  if (s.resets_first) return RunBlocks<2>(s, row_begin, row_end, block_begin, block_end);
  return RunBlocks<3>(s, row_begin, row_end, block_begin, block_end);
}

AICF_ISA_END
