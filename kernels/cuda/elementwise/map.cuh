// cuda.elementwise.map: one vector of kVector results per thread, in the memory order of the first
// output. All operands of a vector are read before any result is written, so a result may overwrite
// an operand of the same elements.
#pragma once

namespace aicf {

AICF_DEVICE void Kernel(const Args& args) {
  const index_t first = (static_cast<index_t>(blockIdx.x) * kBlockX + threadIdx.x) * kVector;
  for (index_t i = first; i < kOutputCount0; i += kGridX * kBlockX * kVector) {
    if (kOutputCount0 % kVector == 0 || i + kVector <= kOutputCount0) {
      Epilogue::Store<kVector>(args, i);
    } else {
      for (index_t j = i; j < kOutputCount0; ++j) Epilogue::Store<1>(args, j);
    }
  }
}

}  // namespace aicf
