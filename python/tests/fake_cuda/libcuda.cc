// A libcuda.so.1 made of host memory, so that the Python package's CUDA paths run without a GPU: every
// driver function is a jump to the fake driver's (runtime/cuda/fake_driver.h), and a program's device
// functions are reference kernels. Tests only: found by LD_LIBRARY_PATH, never installed.
#include <string>

#include "aicf/aicf.h"
#include "runtime/cuda/fake_driver.h"
#include "runtime/cuda/fake_functions.h"
#include "schema/artifact.h"

// Where the exported functions jump to.
#define AICF_CUDA_FN(name, symbol, params) extern "C" { [[gnu::used]] void* aicf_fake_##name = nullptr; }
#include "runtime/cuda/driver_functions.def"
#undef AICF_CUDA_FN

#define AICF_CUDA_FN(name, symbol, params)                                                \
  asm(".pushsection .text\n.globl " symbol "\n.type " symbol ", @function\n" symbol       \
      ":\n  movq aicf_fake_" #name "@GOTPCREL(%rip), %rax\n  jmp *(%rax)\n.popsection\n");
#include "runtime/cuda/driver_functions.def"
#undef AICF_CUDA_FN

namespace aicf::cuda::testing {
namespace {

/// Fills the table when the library is opened. Never taken apart: the runtime never closes a driver.
[[gnu::constructor]] void FillTable() {
  Machine() = new FakeMachine();
  const DriverApi api = FakeApi();
#define AICF_CUDA_FN(name, symbol, params) aicf_fake_##name = reinterpret_cast<void*>(api.name);
#include "runtime/cuda/driver_functions.def"
#undef AICF_CUDA_FN
}

}  // namespace
}  // namespace aicf::cuda::testing

/// Makes the device functions of an artifact known; 0 when it could be read.
extern "C" [[gnu::visibility("default")]] int aicf_fake_add(const char* path) {
  const auto program = aicf::Program::Load(path);
  if (!program.ok()) return 1;
  using aicf::cuda::testing::Machine;
  aicf::cuda::testing::AddReferenceFunctions(*Machine(), (*program)->artifact().program());
  return 0;
}

/// The first thing that a correct runtime never does; "" while there is none.
extern "C" [[gnu::visibility("default")]] const char* aicf_fake_problem() {
  return aicf::cuda::testing::Machine()->problem.c_str();
}
