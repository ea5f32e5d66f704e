// cuda.copy.pieces: every piece gets its own blocks, which walk it in the output's memory order.
#pragma once

namespace aicf {

template <class From, class To, int V>
AICF_DEVICE void CopyRun(const Args& args, int input, index_t i) {
  typedef typename To::S S;
  constexpr int N = PieceOf<S>(V, MinOf(From::kRun, To::kRun));
  const S* from = static_cast<const S*>(args.in[input]);
  S* to = static_cast<S*>(args.out[0]);
  Pack<S, N> packs[V / N];
#pragma unroll
  for (int j = 0; j < V; j += N) {
    packs[j / N] = *reinterpret_cast<const Pack<S, N>*>(from + From::at(i + j));
  }
#pragma unroll
  for (int j = 0; j < V; j += N) {
    *reinterpret_cast<Pack<S, N>*>(to + To::at(i + j)) = packs[j / N];
  }
}

struct CopyPieceOfBlock {
  const Args& args;

  template <class P>
  AICF_DEVICE void operator()(P) const {
    const index_t block = static_cast<index_t>(blockIdx.x) - P::kFirst;
    if (block < 0 || block >= P::kBlocks) return;
    constexpr int V = P::kVector;
    for (index_t i = (block * kBlockX + threadIdx.x) * V; i < P::kCount;
         i += P::kBlocks * kBlockX * V) {
      if (P::kCount % V == 0 || i + V <= P::kCount) {
        CopyRun<typename P::From, typename P::To, V>(args, P::kInput, i);
      } else {
        for (index_t j = i; j < P::kCount; ++j) {
          CopyRun<typename P::From, typename P::To, 1>(args, P::kInput, j);
        }
      }
    }
  }
};

AICF_DEVICE void Kernel(const Args& args) { ForEachPiece(CopyPieceOfBlock{args}); }

}  // namespace aicf
