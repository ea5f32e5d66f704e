#include <charconv>
#include <utility>

#include "aicf/aicf.h"
#include "runtime/cuda/cuda_session.h"
#include "runtime/guard.h"
#if AICF_WITH_CPU
#include "runtime/cpu/cpu_session.h"
#endif

namespace aicf {
namespace {

/// What a device name means. ordinal -1: the CPU.
Result<int> ParseDevice(std::string_view device, bool cuda_artifact) {
  if (device.empty()) return cuda_artifact ? 0 : -1;
  if (device == "cpu") return -1;
  if (device == "cuda") return 0;
  constexpr std::string_view kPrefix = "cuda:";
  if (device.starts_with(kPrefix)) {
    const std::string_view digits = device.substr(kPrefix.size());
    unsigned ordinal = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
    if (error == std::errc() && end == digits.data() + digits.size() && ordinal < 1024) {
      return static_cast<int>(ordinal);
    }
  }
  return Error(Code::kInvalidArgument, "device '", device, "': expected 'cpu' or 'cuda:N'");
}

Result<std::unique_ptr<Session>> CreateOnCpu(std::shared_ptr<const Program> program,
                                             const SessionOptions& options) {
#if AICF_WITH_CPU
  return CreateCpuSession(std::move(program), options);
#else
  (void)options;
  return Error(Code::kDevice, "device 'cpu': this library is built without CPU kernels (artifact ",
               program->target(), "); use libaicf.so, or a CUDA artifact on 'cuda:N'");
#endif
}

Result<std::unique_ptr<Session>> Dispatch(std::shared_ptr<const Program> program,
                                          const SessionOptions& options) {
  if (program == nullptr) return Error(Code::kInvalidArgument, "the program is null");
  const bool cuda_artifact = program->target().starts_with("cuda");
  AICF_ASSIGN_OR_RETURN(const int ordinal, ParseDevice(options.device, cuda_artifact));
  if (ordinal < 0) return CreateOnCpu(std::move(program), options);
  if (!cuda_artifact) {
    return Error(Code::kDevice, "the artifact is compiled for ", program->target(),
                 " and cannot run on '", options.device,
                 "'; compile the model with aicf-compile --target=cuda, or use device 'cpu'");
  }
  return cuda::CreateCudaSession(std::move(program), ordinal, options);
}

}  // namespace

Result<std::unique_ptr<Session>> Session::Create(std::shared_ptr<const Program> program,
                                                 const SessionOptions& options) {
  return Guarded([&] { return Dispatch(std::move(program), options); });
}

}  // namespace aicf
