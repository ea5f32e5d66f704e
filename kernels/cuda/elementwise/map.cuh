// cuda.elementwise.map: kUnroll vectors of kVector results per thread, in the memory order of the
// first output. A thread reads all operands of its vectors before it writes a result: that keeps
// more loads in flight, and lets a result overwrite an operand of the same elements.
#pragma once

namespace aicf {

/// Elements between a thread's vectors, so that neighbouring threads take neighbouring vectors.
constexpr index_t kApart = static_cast<index_t>(kBlockX) * kVector;

AICF_DEVICE void StoreVectors(const Args& args, index_t first) {
  Epilogue::Operands<kVector> held[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) held[u].Load(args, first + u * kApart, 0, 0);
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    Epilogue::Store<kVector>(args, held[u], first + u * kApart, 0, 0);
  }
}

/// The same where the last results may not be a whole vector.
AICF_DEVICE void StoreRest(const Args& args, index_t first) {
  for (index_t i = first; i < first + kUnroll * kApart; i += kApart) {
    if (i + kVector <= kOutputCount0) {
      Epilogue::Store<kVector>(args, i);
    } else {
      for (index_t j = i; j < kOutputCount0; ++j) Epilogue::Store<1>(args, j);
    }
  }
}

AICF_DEVICE void Kernel(const Args& args) {
  constexpr index_t kPerBlock = kApart * kUnroll;
  const index_t first =
      static_cast<index_t>(blockIdx.x) * kPerBlock + static_cast<index_t>(threadIdx.x) * kVector;
  for (index_t i = first; i < kOutputCount0; i += kGridX * kPerBlock) {
    if (kOutputCount0 % kPerBlock == 0 || i + (kUnroll - 1) * kApart + kVector <= kOutputCount0) {
      StoreVectors(args, i);
    } else {
      StoreRest(args, i);
    }
  }
}

}  // namespace aicf
