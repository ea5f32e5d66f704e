// cuda.nms.greedy: each block of the one cluster handles one pair of batch and class at a time. It
// gathers the candidates (the boxes above the score threshold) in their order. Then it takes the
// best remaining candidate, again and again, while every thread drops those of its own candidates
// that the box taken before covers. When the cluster has done all pairs, it writes the rows. The
// test whether a box covers another is that of kernels/cpu/nms/boxes.h, operation by operation.
#pragma once

#include "common/block.cuh"

namespace aicf {

constexpr index_t kBoxes = In1::extent(2);
constexpr index_t kPairs = In1::extent(0) * In1::extent(1);
constexpr index_t kClasses = In1::extent(1) > 0 ? In1::extent(1) : 1;
constexpr index_t kRows = Out0::extent(0);
constexpr index_t kPlanned = kPairs == 0 ? 0 : kRows / (kPairs == 0 ? 1 : kPairs);
constexpr index_t kMost = kPlanned < kBoxes ? kPlanned : kBoxes;
constexpr int kWarps = kBlockX / 32;

struct Box {
  float x_low, y_low, x_high, y_high;
};

/// The workspace: the candidates of each block, then the selected boxes of each pair, then the
/// number of these.
struct Scratch {
  float* score;
  Box* box;
  i32* index;  ///< -1: taken or covered
  i32* selected;
  i32* counts;
};
AICF_DEVICE Scratch ScratchOf(const Args& args) {
  constexpr index_t kRoom = (kBoxes + 3) / 4 * 4;  // keeps the boxes aligned
  char* const base = static_cast<char*>(args.workspace);
  char* const own = base + static_cast<i64>(blockIdx.x) * kRoom * 24;
  Scratch s;
  s.box = reinterpret_cast<Box*>(own);
  s.score = reinterpret_cast<float*>(own + static_cast<i64>(kRoom) * 16);
  s.index = reinterpret_cast<i32*>(own + static_cast<i64>(kRoom) * 20);
  s.selected = reinterpret_cast<i32*>(base + static_cast<i64>(kGridX) * kRoom * 24);
  s.counts = s.selected + static_cast<i64>(kPairs) * kMost;
  return s;
}

AICF_DEVICE float Least(float a, float b) { return b < a ? b : a; }
AICF_DEVICE float Most(float a, float b) { return a < b ? b : a; }

AICF_DEVICE Box BoxAt(const Args& args, index_t batch, index_t i) {
  const float* p = static_cast<const float*>(args.in[0]) + In0::kOffset + batch * In0::stride(0) +
                   i * In0::stride(1);
  const float v[4] = {p[0], p[In0::stride(2)], p[2 * In0::stride(2)], p[3 * In0::stride(2)]};
  if constexpr (attr_center_point_box) {
    const float half_width = v[2] / 2, half_height = v[3] / 2;
    return {v[0] - half_width, v[1] - half_height, v[0] + half_width, v[1] + half_height};
  } else {
    return {Least(v[1], v[3]), Least(v[0], v[2]), Most(v[1], v[3]), Most(v[0], v[2])};
  }
}

AICF_DEVICE bool Covers(const Box& a, const Box& b, float overlap) {
  const float width = Least(a.x_high, b.x_high) - Most(a.x_low, b.x_low);
  const float height = Least(a.y_high, b.y_high) - Most(a.y_low, b.y_low);
  if (!(width > 0) || !(height > 0)) return false;
  const float common = width * height;
  const float area_a = (a.x_high - a.x_low) * (a.y_high - a.y_low);
  const float area_b = (b.x_high - b.x_low) * (b.y_high - b.y_low);
  const float all = area_a + area_b - common;
  if (!(common > 0) || !(area_a > 0) || !(area_b > 0) || !(all > 0)) return false;
  return common / all > overlap;
}

/// Number of threads before this one with `flag`; *all counts those of the block.
AICF_DEVICE int CountBefore(bool flag, int* all) {
  __shared__ int warps[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const u32 bits = __ballot_sync(0xffffffffu, flag);
  __syncthreads();  // the counts may still be read for the previous chunk
  if (lane == 0) warps[warp] = __popc(bits);
  __syncthreads();
  int before = __popc(bits & ((1u << lane) - 1));
  *all = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    if (w < warp) before += warps[w];
    *all += warps[w];
  }
  return before;
}

/// Puts the boxes above the threshold `least` into the block's scratch memory, in their order;
/// returns their number.
AICF_DEVICE index_t GatherCandidates(const Args& args, const Scratch& s, index_t pair,
                                     float least) {
  const index_t batch = pair / kClasses;
  const float* scores = static_cast<const float*>(args.in[1]) + In1::kOffset +
                        batch * In1::stride(0) + pair % kClasses * In1::stride(1);
  index_t count = 0;
  for (index_t base = 0; base < kBoxes; base += kBlockX) {
    const index_t i = base + threadIdx.x;
    const float score = i < kBoxes ? scores[i * In1::stride(2)] : 0;
    const bool taken = i < kBoxes && score > least;
    int all = 0;
    const index_t at = count + CountBefore(taken, &all);
    if (taken) {
      s.score[at] = score;
      s.index[at] = static_cast<i32>(i);
      s.box[at] = BoxAt(args, batch, i);
    }
    count += all;
  }
  __syncthreads();
  return count;
}

struct Best {
  float score;
  i32 at;  ///< place among the candidates, which are in the order of their indices; -1: none
};
AICF_DEVICE Best Better(const Best& a, const Best& b) {
  if (a.at < 0) return b;
  if (b.at < 0) return a;
  if (a.score != b.score) return a.score > b.score ? a : b;
  return a.at < b.at ? a : b;
}
AICF_DEVICE Best BestOfBlock(Best own) {
  __shared__ Best warps[kWarps];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) own = Better(own, ShuffleXor(own, step));
  __syncthreads();  // the slots may still be read for the previous box
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < kWarps; ++w) own = Better(own, warps[w]);
  return own;
}

AICF_DEVICE void SelectPair(const Args& args, const Scratch& s, index_t pair, index_t limit,
                            float overlap, float least) {
  const index_t candidates = GatherCandidates(args, s, pair, least);
  index_t count = 0;
  Box last = {};
  while (count < limit) {
    Best own = {0, -1};
    for (index_t i = threadIdx.x; i < candidates; i += kBlockX) {
      if (s.index[i] < 0) continue;
      if (count > 0 && Covers(last, s.box[i], overlap)) {
        s.index[i] = -1;
      } else {
        own = Better(own, Best{s.score[i], static_cast<i32>(i)});
      }
    }
    const Best best = BestOfBlock(own);
    if (best.at < 0) break;
    last = s.box[best.at];
    // Only the thread that owns a candidate reads and writes its index.
    if (best.at % kBlockX == static_cast<int>(threadIdx.x)) {
      s.selected[static_cast<i64>(pair) * kMost + count] = s.index[best.at];
      s.index[best.at] = -1;
    }
    ++count;
  }
  if (threadIdx.x == 0) s.counts[pair] = static_cast<i32>(count);
  __syncthreads();  // the next pair's candidates take the place of these
}

AICF_DEVICE void StoreRow(const Args& args, index_t row, i64 batch, i64 of, i64 box) {
  i64* to = static_cast<i64*>(args.out[0]) + Out0::kOffset + row * Out0::stride(0);
  to[0] = batch;
  to[Out0::stride(1)] = of;
  to[2 * Out0::stride(1)] = box;
}

AICF_DEVICE void WriteRows(const Args& args, const Scratch& s) {
  index_t row = 0;
  for (index_t pair = 0; pair < kPairs; ++pair) {
    const index_t count = s.counts[pair];
    if (pair % kGridX == static_cast<index_t>(blockIdx.x)) {
      for (index_t i = threadIdx.x; i < count; i += kBlockX) {
        StoreRow(args, row + i, pair / kClasses, pair % kClasses,
                 s.selected[static_cast<i64>(pair) * kMost + i]);
      }
    }
    row += count;
  }
  const index_t first = static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x;
  for (index_t i = row + first; i < kRows; i += kGridX * kBlockX) StoreRow(args, i, -1, -1, -1);
  if (first == 0) static_cast<i64*>(args.out[1])[Out1::kOffset] = row;
}

AICF_DEVICE void Kernel(const Args& args) {
  const Scratch s = ScratchOf(args);
  const i64 asked = static_cast<const i64*>(args.in[2])[In2::kOffset];
  const index_t limit = static_cast<index_t>(asked < 0 ? 0 : asked > kMost ? kMost : asked);
  const float overlap = static_cast<const float*>(args.in[3])[In3::kOffset];
  const float least = static_cast<const float*>(args.in[4])[In4::kOffset];
  for (index_t pair = blockIdx.x; pair < kPairs; pair += kGridX) {
    SelectPair(args, s, pair, limit, overlap, least);
  }
  if constexpr (kClusterX > 1)
    ClusterBarrier();
  else
    __syncthreads();
  WriteRows(args, s);
}

}  // namespace aicf
