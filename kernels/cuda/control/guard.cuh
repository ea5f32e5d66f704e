// Decides whether a conditional node of the graph runs. Compiled alone, with no header and outside
// any namespace: the declaration is that of the device runtime, which the driver resolves when it
// loads the code. The symbol is abi::kGuardSymbol.
#pragma once

extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);

extern "C" __global__ void aicf_guard(unsigned long long handle, const unsigned char* value,
                                      unsigned int expected) {
  cudaGraphSetConditional(handle, (*value != 0) == (expected != 0) ? 1 : 0);
}
