// In place of runtime/cpu/ in the library for services that run CUDA artifacts only: every way to
// the CPU ends in an error that names the library which has it.
#include "runtime/cpu/cpu_session.h"
#include "runtime/cpu/cpu_steps.h"

namespace aicf {
namespace {

Status NoCpuKernels() {
  return Error(Code::kUnsupported, "this library is built without CPU kernels; use libaicf.so");
}

}  // namespace

Result<std::unique_ptr<Session>> CreateCpuSession(std::shared_ptr<const Program> program,
                                                  const SessionOptions&) {
  return Error(Code::kDevice, "device 'cpu': this library is built without CPU kernels (artifact ",
               program->target(), "); use libaicf.so, or a CUDA artifact on 'cuda:N'");
}

Result<std::unique_ptr<StepByStep>> CreateCpuSteps(std::shared_ptr<const Program>, size_t, int) {
  return NoCpuKernels();
}

Result<std::unique_ptr<StepByStep>> CreateReferenceSteps(std::shared_ptr<const Program>, size_t,
                                                         int, std::span<const UnpackedInput>) {
  return NoCpuKernels();
}

}  // namespace aicf
