/// Device functions for the fake driver: what a plan's kernels compute, on the reference kernels.
#pragma once

#include <vector>

#include "kernels/cpu/functions.h"
#include "runtime/cuda/fake_driver.h"
#include "schema/program.h"

namespace aicf::cuda::testing {

/// The step's device function: takes the addresses of its operands and of the workspace. `runs`,
/// when not null, counts its launches and outlives the function.
inline FakeFunction ReferenceFunction(const schema::Step& step, int* runs = nullptr) {
  const abi::Problem problem = step.problem;
  const size_t operands = step.inputs.size() + step.outputs.size();
  FakeFunction function;
  function.parameters = operands + 1;
  function.tensor_maps = step.tensor_maps.size();
  function.run = [problem, operands, runs](void** parameters) {
    std::vector<void*> buffers;
    for (size_t i = 0; i < operands; ++i) buffers.push_back(*static_cast<void**>(parameters[i]));
    cpu::RunSerial(abi::ReferenceKey(problem.family), problem, buffers.data());
    if (runs != nullptr) ++*runs;
  };
  return function;
}

/// What the device function behind abi::kGuardSymbol does.
inline FakeFunction GuardFunction() {
  FakeFunction guard;
  guard.parameters = 3;
  guard.last_bytes = 4;
  guard.run = [](void** parameters) {
    const auto handle = *static_cast<const CUgraphConditionalHandle*>(parameters[0]);
    const auto* value = *static_cast<const unsigned char* const*>(parameters[1]);
    const bool expected = *static_cast<const uint32_t*>(parameters[2]) != 0;
    Machine()->conditions[handle] = (*value != 0) == expected ? 1 : 0;
  };
  return guard;
}

/// Every step's function, by its symbol.
inline void AddReferenceFunctions(FakeMachine& machine, const schema::Program& program,
                                  int* runs = nullptr) {
  for (const schema::Step& step : program.steps) {
    machine.functions[step.symbol] = ReferenceFunction(step, runs);
  }
}

}  // namespace aicf::cuda::testing
