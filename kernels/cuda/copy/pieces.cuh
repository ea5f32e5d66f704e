// cuda.copy.pieces: every piece gets its own blocks, which walk it in the output's memory order,
// kUnroll vectors per thread at a time.
#pragma once

namespace aicf {

/// V elements of a piece from index i on, between their load and their store.
template <class From, class To, int V>
struct HeldPiece {
  typedef typename To::S S;
  static constexpr int N = PieceOf<S>(V, MinOf(From::kRun, To::kRun));
  Pack<S, N> packs[V / N];

  AICF_DEVICE void Load(const Args& args, int input, index_t i) {
    const S* from = static_cast<const S*>(args.in[input]);
#pragma unroll
    for (int j = 0; j < V; j += N) {
      packs[j / N] = *reinterpret_cast<const Pack<S, N>*>(from + From::at(i + j));
    }
  }
  AICF_DEVICE void Store(const Args& args, index_t i) const {
    S* to = static_cast<S*>(args.out[0]);
#pragma unroll
    for (int j = 0; j < V; j += N) {
      *reinterpret_cast<Pack<S, N>*>(to + To::at(i + j)) = packs[j / N];
    }
  }
};

struct CopyPieceOfBlock {
  const Args& args;

  /// One vector, or what is left of the piece.
  template <class P>
  AICF_DEVICE void CopyRest(index_t i) const {
    constexpr int V = P::kVector;
    if (i + V <= P::kCount) {
      HeldPiece<typename P::From, typename P::To, V> run;
      run.Load(args, P::kInput, i);
      run.Store(args, i);
    } else {
      for (; i < P::kCount; ++i) {
        HeldPiece<typename P::From, typename P::To, 1> one;
        one.Load(args, P::kInput, i);
        one.Store(args, i);
      }
    }
  }

  template <class P>
  AICF_DEVICE void operator()(P) const {
    const index_t block = static_cast<index_t>(blockIdx.x) - P::kFirst;
    if (block < 0 || block >= P::kBlocks) return;
    constexpr int V = P::kVector;
    constexpr index_t kApart = static_cast<index_t>(kBlockX) * V;
    constexpr index_t kPerBlock = kApart * kUnroll;
    for (index_t i = block * kPerBlock + static_cast<index_t>(threadIdx.x) * V; i < P::kCount;
         i += P::kBlocks * kPerBlock) {
      if (i + (kUnroll - 1) * kApart + V <= P::kCount) {
        HeldPiece<typename P::From, typename P::To, V> runs[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) runs[u].Load(args, P::kInput, i + u * kApart);
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) runs[u].Store(args, i + u * kApart);
      } else {
        for (int u = 0; u < kUnroll; ++u) CopyRest<P>(i + u * kApart);
      }
    }
  }
};

AICF_DEVICE void Kernel(const Args& args) { ForEachPiece(CopyPieceOfBlock{args}); }

}  // namespace aicf
