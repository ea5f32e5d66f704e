// cuda.recurrent.cluster: the whole sequence in one launch. A cluster of kClusterX blocks walks one
// direction of kRows rows of the batch; each block owns a slice of the hidden units. In each step,
// every group of kLanes threads multiplies a row of R with the state and adds up the products, and
// then one thread per unit applies the gates. The blocks meet, and each copies the units that the
// others have computed from their shared memory. Blocks of a cluster are resident together, so that
// waiting cannot deadlock; every sum has a fixed order.
//
// If the states do not fit into shared memory, kDynamicShared is 0: they are in the workspace and
// are exchanged through it. R stays in shared memory from step to step if it fits.
#pragma once

#include "recurrent/cell.cuh"

namespace aicf {

constexpr int kWide = 16 / static_cast<int>(sizeof(value_t));  ///< elements per access
constexpr index_t kPitch = (kHidden + kWide - 1) / kWide * kWide;
constexpr index_t kBlocks = kClusterX;
constexpr int kRows = MaxOf(1, static_cast<int>((kBatch + kClusters - 1) / kClusters));
constexpr index_t kUnits = (kHidden + kBlocks - 1) / kBlocks;

// Sizes in elements: the states of the cluster (each block has a copy of them in shared memory),
// then what each block has for itself. A state is [kRows][kPitch], zero beyond the last unit.
constexpr index_t kStateSize = kRows * kPitch;
constexpr index_t kStateElements = (kResetsFirst ? 3 : 2) * kStateSize;
constexpr index_t kWeightElements = kGates * kUnits * kPitch;
constexpr index_t kBlockElements =
    ((kGates + 1) * kRows * kUnits + kWide - 1) / kWide * kWide;  // what follows is aligned
constexpr bool kInShared = kDynamicShared > 0;
constexpr bool kKeepsWeights =
    kInShared && kDynamicShared >= static_cast<i64>(sizeof(value_t)) *
                                       (kStateElements + kBlockElements + kWeightElements);

/// Threads that share one sum (kLanes), and the number of accesses that each of them makes
/// (kAccesses).
AICF_DEVICE constexpr int LanesFor(index_t accesses) {
  int lanes = 1;
  while (lanes < 32 && lanes < accesses) lanes *= 2;
  return lanes;
}
constexpr int kLanes = LanesFor(kPitch / kWide);
constexpr int kGroups = kBlockX / kLanes;
constexpr index_t kAccesses = (kPitch / kWide + kLanes - 1) / kLanes;
/// Sums that a thread works on side by side, to hide the latency of its loads.
constexpr int kAtOnce = MaxOf(1, 4 / kRows);
/// Units to which one thread applies the gates.
constexpr int kItems = static_cast<int>((kRows * kUnits + kBlockX - 1) / kBlockX);

struct Cell {
  value_t* states;   ///< two that are read and written in turns, then the reset state
  value_t* weights;  ///< [kGates][kUnits][kPitch], with kKeepsWeights
  value_t* cells;    ///< [kRows][kUnits]
  value_t* sums;     ///< [kGates][kRows][kUnits]
  index_t rank;      ///< of the block in its cluster
  index_t first;     ///< first unit of the block
  index_t direction;
  index_t first_row;  ///< of the batch

  AICF_DEVICE value_t* State(index_t number) const { return states + number * kStateSize; }
  AICF_DEVICE bool HasRow(index_t row) const { return first_row + row < kBatch; }
  AICF_DEVICE bool HasUnit(index_t unit) const { return first + unit < kHidden; }
};

AICF_DEVICE Cell MakeCell(const Args& args) {
  Cell cell;
  const index_t block = blockIdx.x, cluster = block / kBlocks;
  cell.rank = block % kBlocks;
  cell.first = cell.rank * kUnits;
  cell.direction = kDirections == 1 ? 0 : cluster / kClusters;
  cell.first_row = cluster % kClusters * kRows;
  value_t* own;
  if constexpr (kInShared) {
    cell.states = reinterpret_cast<value_t*>(DynamicShared());
    cell.weights = cell.states + kStateElements;
    own = cell.weights + (kKeepsWeights ? kWeightElements : 0);
  } else {
    cell.states = static_cast<value_t*>(args.workspace) +
                  cluster * (kStateElements + kBlocks * kBlockElements);
    cell.weights = nullptr;
    own = cell.states + kStateElements + cell.rank * kBlockElements;
  }
  cell.cells = own;
  cell.sums = own + kRows * kUnits;
  return cell;
}

/// All threads of all blocks of the cluster meet here. After it they see what the others have
/// written to the states.
AICF_DEVICE void Meet() {
  if constexpr (kBlocks == 1)
    __syncthreads();
  else if constexpr (kInShared)
    ClusterSharedBarrier();
  else
    ClusterBarrier();
}

/// kWide weights from unit k on of a row of R; zeros beyond the last unit.
AICF_DEVICE void LoadWeights(const Args& args, index_t direction, index_t row, index_t k,
                             value_t (&w)[kWide]) {
  typedef In1::S S;
  if constexpr (In1::stride(2) == 1 && In1::run(2) >= kWide && kHidden % kWide == 0) {
    const S* p = ElementOf<In1>(args.in[1], direction, row, k);
    const Pack<S, kWide> pack = *reinterpret_cast<const Pack<S, kWide>*>(p);
#pragma unroll
    for (int j = 0; j < kWide; ++j) w[j] = Widen(pack.v[j]);
  } else {
#pragma unroll
    for (int j = 0; j < kWide; ++j) {
      w[j] =
          k + j < kHidden ? Widen(*ElementOf<In1>(args.in[1], direction, row, k + j)) : value_t(0);
    }
  }
}

AICF_DEVICE void KeepWeights(const Args& args, const Cell& cell) {
  for (index_t i = threadIdx.x; i < kWeightElements / kWide; i += kBlockX) {
    const index_t k = i % (kPitch / kWide) * kWide, row = i / (kPitch / kWide);
    const index_t unit = row % kUnits;
    value_t w[kWide] = {};
    if (cell.HasUnit(unit)) {
      LoadWeights(args, cell.direction, row / kUnits * kHidden + cell.first + unit, k, w);
    }
#pragma unroll
    for (int j = 0; j < kWide; ++j) cell.weights[i * kWide + j] = w[j];
  }
}

/// Fills the first state and, in the others, the elements that are no unit's.
AICF_DEVICE void Begin(const Args& args, const Cell& cell) {
  for (index_t i = threadIdx.x; i < kStateSize; i += kBlockX) {
    const index_t k = i % kPitch, b = cell.first_row + i / kPitch;
    // In the workspace the blocks share one state, and each of them writes all of it: with equal
    // values.
    value_t h = 0;
    if (k < kHidden && b < kBatch) h = Widen(*ElementOf<In2>(args.in[2], cell.direction, b, k));
    cell.State(0)[i] = h;
    if (k >= kHidden || b >= kBatch) {
      cell.State(1)[i] = 0;
      if constexpr (kResetsFirst) cell.State(2)[i] = 0;
    }
  }
  for (index_t i = threadIdx.x; i < kRows * kUnits; i += kBlockX) {
    const index_t row = i / kUnits, unit = i % kUnits;
    if (!cell.HasRow(row) || !cell.HasUnit(unit)) continue;
    cell.cells[i] = OptionalAt<kIsLstm, In3>(args.in[MinOf(3, kInputs - 1)], cell.direction,
                                             cell.first_row + row, cell.first + unit);
  }
  if constexpr (kKeepsWeights) KeepWeights(args, cell);
  Meet();
}

AICF_DEVICE void LoadState(const value_t* state, index_t row, index_t k, value_t (&h)[kWide]) {
  const Pack<value_t, kWide> pack =
      *reinterpret_cast<const Pack<value_t, kWide>*>(state + row * kPitch + k);
#pragma unroll
  for (int j = 0; j < kWide; ++j) h[j] = pack.v[j];
}

/// sums[gate] = state * R for gates [kFirst, kFirst + kCount) of the block's units.
template <int kFirst, int kCount>
AICF_DEVICE void Multiply(const Args& args, const Cell& cell, const value_t* state) {
  constexpr index_t kColumns = kCount * kUnits;
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  // Every thread takes every round: the exchanges inside are met by whole warps.
  for (index_t base = 0; base < kColumns; base += kGroups * kAtOnce) {
    value_t sum[kAtOnce][kRows] = {};
#pragma unroll 4
    for (index_t a = 0; a < kAccesses; ++a) {
      const index_t k = (a * kLanes + lane) * kWide;
      if (k >= kPitch) break;
      value_t h[kRows][kWide];
#pragma unroll
      for (int r = 0; r < kRows; ++r) LoadState(state, r, k, h[r]);
#pragma unroll
      for (int n = 0; n < kAtOnce; ++n) {
        const index_t column = base + n * kGroups + group, unit = column % kUnits;
        if (column >= kColumns || !cell.HasUnit(unit)) continue;
        const index_t gate = kFirst + column / kUnits;
        value_t w[kWide];
        if constexpr (kKeepsWeights) {
          LoadState(cell.weights, gate * kUnits + unit, k, w);
        } else {
          LoadWeights(args, cell.direction, gate * kHidden + cell.first + unit, k, w);
        }
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
#pragma unroll
          for (int j = 0; j < kWide; ++j) sum[n][r] = OpFma(h[r][j], w[j], sum[n][r]);
        }
      }
    }
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      const index_t column = base + n * kGroups + group;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        value_t total = sum[n][r];
#pragma unroll
        for (int step = kLanes / 2; step > 0; step /= 2) total += ShuffleXor(total, step);
        if (lane != 0 || column >= kColumns) continue;
        const index_t gate = kFirst + column / kUnits;
        cell.sums[(gate * kRows + r) * kUnits + column % kUnits] = total;
      }
    }
  }
  __syncthreads();
}

/// Copies the units of the other blocks into this block's copy of a state, which is complete then.
AICF_DEVICE void Gather(const Cell& cell, value_t* state) {
  if constexpr (kInShared && kBlocks > 1) {
    for (index_t i = threadIdx.x; i < kRows * kHidden; i += kBlockX) {
      const index_t k = i % kHidden, owner = k / kUnits;
      value_t* element = state + i / kHidden * kPitch + k;
      if (owner != cell.rank) *element = LoadCluster(element, static_cast<int>(owner));
    }
    __syncthreads();
  }
}

/// One unit of one row at step t.
struct Unit {
  index_t row, unit;
  index_t b, j;  ///< in the batch, in the hidden units
  index_t own;   ///< row * kUnits + unit
  bool exists;
  value_t x[kGates];

  AICF_DEVICE value_t Sum(const Cell& cell, int gate) const {
    return x[gate] + cell.sums[(gate * kRows + row) * kUnits + unit];
  }
};

AICF_DEVICE void LoadUnits(const Args& args, const Cell& cell, index_t t, Unit (&units)[kItems]) {
#pragma unroll
  for (int n = 0; n < kItems; ++n) {
    Unit& u = units[n];
    u.own = static_cast<index_t>(n) * kBlockX + threadIdx.x;
    u.row = u.own / kUnits;
    u.unit = u.own % kUnits;
    u.b = cell.first_row + u.row;
    u.j = cell.first + u.unit;
    u.exists = u.row < kRows && cell.HasRow(u.row) && cell.HasUnit(u.unit);
    if (!u.exists) continue;
#pragma unroll
    for (int g = 0; g < kGates; ++g) {
      u.x[g] = Widen(*ElementOf<In0>(args.in[0], t, cell.direction, u.b, g * kHidden + u.j));
    }
  }
}

AICF_DEVICE value_t PeepholeOf(const Args& args, const Cell& cell, const Unit& u, int gate) {
  return OptionalAt<attr_peepholes, In4>(args.in[MinOf(kPeepholeInput, kInputs - 1)],
                                         cell.direction, gate * kHidden + u.j);
}

AICF_DEVICE value_t LstmUnit(const Args& args, const Cell& cell, const Unit& u) {
  const index_t d = cell.direction;
  const value_t c = cell.cells[u.own];
  const value_t i = ApplyGate(d, 0, OpFma(PeepholeOf(args, cell, u, 0), c, u.Sum(cell, 0)));
  value_t f = value_t(1) - i;
  if constexpr (!attr_input_forget) {
    f = ApplyGate(d, 0, OpFma(PeepholeOf(args, cell, u, 2), c, u.Sum(cell, 2)));
  }
  const value_t next = OpFma(f, c, i * ApplyGate(d, 1, u.Sum(cell, 3)));
  const value_t o = ApplyGate(d, 0, OpFma(PeepholeOf(args, cell, u, 1), next, u.Sum(cell, 1)));
  cell.cells[u.own] = next;
  return o * ApplyFunction(d, 2, next);
}

AICF_DEVICE value_t GruUnit(const Args& args, const Cell& cell, const Unit& u, value_t h) {
  const index_t d = cell.direction;
  const value_t z = ApplyGate(d, 0, u.Sum(cell, 0));
  value_t hidden;
  if constexpr (kResetsFirst) {
    hidden = u.Sum(cell, 2);
  } else {
    const value_t bias = OptionalAt < kIsGru && !kResetsFirst,
                  In3 > (args.in[MinOf(kBiasInput, kInputs - 1)], d, u.j);
    const value_t product = cell.sums[(2 * kRows + u.row) * kUnits + u.unit] + bias;
    hidden = OpFma(ApplyGate(d, 0, u.Sum(cell, 1)), product, u.x[2]);
  }
  const value_t n = ApplyGate(d, 1, hidden);
  return OpFma(z, h - n, n);
}

/// Computes the reset state, which the hidden gate multiplies.
AICF_DEVICE void Reset(const Cell& cell, const Unit (&units)[kItems], const value_t* from,
                       value_t* to) {
#pragma unroll
  for (int n = 0; n < kItems; ++n) {
    const Unit& u = units[n];
    if (!u.exists) continue;
    const index_t at = u.row * kPitch + u.j;
    to[at] = ApplyGate(cell.direction, 0, u.Sum(cell, 1)) * from[at];
  }
}

AICF_DEVICE void Finish(const Args& args, const Cell& cell, const Unit (&units)[kItems], index_t t,
                        const value_t* from, value_t* to) {
#pragma unroll
  for (int n = 0; n < kItems; ++n) {
    const Unit& u = units[n];
    if (!u.exists) continue;
    const index_t at = u.row * kPitch + u.j;
    const bool active = t < SequenceLength(args, u.b);
    value_t h = from[at];
    if (active) {
      if constexpr (kIsLstm) {
        h = LstmUnit(args, cell, u);
      } else if constexpr (kIsGru) {
        h = GruUnit(args, cell, u, h);
      } else {
        h = ApplyGate(cell.direction, 0, u.Sum(cell, 0));
      }
    }
    to[at] = h;
    StoreTo<Out0>(args.out[0], active ? h : value_t(0), t, cell.direction, u.b, u.j);
  }
}

/// Rows beyond the batch take part with a state of zeros and store nothing.
AICF_DEVICE void Step(const Args& args, const Cell& cell, index_t t, index_t number) {
  value_t* from = cell.State(number % 2);
  value_t* to = cell.State((number + 1) % 2);
  Unit units[kItems];
  LoadUnits(args, cell, t, units);  // the loads are under way while the products are formed
  if constexpr (kResetsFirst) {
    value_t* reset = cell.State(2);
    Multiply<0, 2>(args, cell, from);
    Reset(cell, units, from, reset);
    Meet();
    Gather(cell, reset);
    Multiply<2, 1>(args, cell, reset);
  } else {
    Multiply<0, kGates>(args, cell, from);
  }
  Finish(args, cell, units, t, from, to);
  Meet();
}

template <bool kHas, class X>
AICF_DEVICE void StoreCell(const Args& args, value_t c, index_t d, index_t b, index_t j) {
  if constexpr (kHas) StoreTo<X>(args.out[2], c, d, b, j);
}
struct Out2;

AICF_DEVICE void End(const Args& args, const Cell& cell) {
  for (index_t i = threadIdx.x; i < kRows * kUnits; i += kBlockX) {
    const index_t row = i / kUnits, unit = i % kUnits;
    if (!cell.HasRow(row) || !cell.HasUnit(unit)) continue;
    const index_t b = cell.first_row + row, j = cell.first + unit;
    const bool ran = SequenceLength(args, b) > 0;
    const value_t h = cell.State(kSteps % 2)[row * kPitch + j];
    StoreTo<Out1>(args.out[1], ran ? h : value_t(0), cell.direction, b, j);
    StoreCell<kIsLstm, Out2>(args, ran ? cell.cells[i] : value_t(0), cell.direction, b, j);
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  const Cell cell = MakeCell(args);
  const bool backwards = attr_direction == kReverseDirection || cell.direction == 1;
  Begin(args, cell);
  for (index_t i = 0; i < kSteps; ++i) {
    Step(args, cell, backwards ? kSteps - 1 - i : i, i);
    // After the last step no block reads another's memory, so that blocks may exit one by one.
    if (i + 1 < kSteps) Gather(cell, cell.State((i + 1) % 2));
  }
  End(args, cell);
}

}  // namespace aicf
