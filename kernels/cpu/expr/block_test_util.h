/// EvalBlock of every instruction set that this machine runs. For tests.
#pragma once

#include <vector>

#include "kernels/abi/kernel.h"
#include "kernels/cpu/expr/block_eval.h"

namespace aicf::cpu {

struct NamedEval {
  const char* name;
  EvalBlockFn fn;
};

inline std::vector<NamedEval> RunnableEvals() {
  std::vector<NamedEval> evals = {{"baseline", &baseline::EvalBlock}};
  if (abi::HostIsa() >= abi::CpuIsa::kAvx2) evals.push_back({"avx2", &avx2::EvalBlock});
  if (abi::HostIsa() >= abi::CpuIsa::kAvx512) evals.push_back({"avx512", &avx512::EvalBlock});
  return evals;
}

}  // namespace aicf::cpu
