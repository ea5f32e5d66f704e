#include <utility>

#include "aicf/aicf.h"
#include "base/guard.h"
#include "runtime/budget.h"
#include "runtime/cpu/cpu_session.h"
#include "runtime/cuda/cuda_session.h"
#include "runtime/cuda/driver.h"
#include "runtime/device_choice.h"
#include "runtime/session_lanes.h"

namespace aicf {
namespace {

Result<std::unique_ptr<Session>> Dispatch(std::shared_ptr<const Program> program,
                                          const SessionOptions& options, size_t lanes) {
  if (program == nullptr) return Error(Code::kInvalidArgument, "the program is null");
  // Only a session on a CPU has this limit, but a wrong one is a mistake wherever it is given.
  AICF_RETURN_IF_ERROR(MostOperations(options.max_operations).status());
  AICF_ASSIGN_OR_RETURN(const int ordinal, ChooseDevice(*program, options.device));
  if (ordinal < 0) return CreateCpuSession(std::move(program), options);
  return cuda::CreateCudaSession(std::move(program), ordinal, options, nullptr, lanes);
}

}  // namespace

Status DeviceHealth() {
  return Guarded([] { return cuda::Driver::ProcessHealth(); });
}

Status Session::BindInput(std::string_view name, void* data, uint64_t bytes) {
  const Binding binding{Binding::Kind::kInput, name, data, bytes};
  return Bind({&binding, 1});
}

Status Session::BindOutput(std::string_view name, void* data, uint64_t bytes) {
  const Binding binding{Binding::Kind::kOutput, name, data, bytes};
  return Bind({&binding, 1});
}

Status Session::BindState(std::string_view name, void* data, uint64_t bytes) {
  const Binding binding{Binding::Kind::kState, name, data, bytes};
  return Bind({&binding, 1});
}

Result<std::unique_ptr<Session>> Session::Create(std::shared_ptr<const Program> program,
                                                 const SessionOptions& options) {
  return Guarded([&] { return Dispatch(std::move(program), options, 1); });
}

Result<std::unique_ptr<SessionBase>> CreateLanes(std::shared_ptr<const Program> program,
                                                 const SessionOptions& options, size_t lanes) {
  return Guarded([&]() -> Result<std::unique_ptr<SessionBase>> {
    AICF_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                          Dispatch(std::move(program), options, lanes));
    // Every executor derives from SessionBase.
    return std::unique_ptr<SessionBase>(static_cast<SessionBase*>(session.release()));
  });
}

}  // namespace aicf
