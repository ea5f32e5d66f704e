#include "python/src/session.h"

#include <utility>

#include "runtime/cuda/device.h"
#include "runtime/device_choice.h"

namespace aicf::python {
namespace {

namespace nb = nanobind;

bool IsDense(const nb::ndarray<nb::ro>& array) {
  int64_t step = 1;
  for (size_t d = array.ndim(); d-- > 0;) {
    if (array.shape(d) == 0) return true;
    if (array.shape(d) != 1 && array.stride(d) != step) return false;
    step *= static_cast<int64_t>(array.shape(d));
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<LiveSession>> LiveSession::Create(std::shared_ptr<const Program> program,
                                                         const SessionOptions& options) {
  auto live = std::make_unique<LiveSession>();
  AICF_ASSIGN_OR_RETURN(live->ordinal_, ChooseDevice(*program, options.device));
  AICF_ASSIGN_OR_RETURN(live->session_, Session::Create(program, options));
  live->program_ = std::move(program);
  return live;
}

Result<std::unique_ptr<LiveSession>> LiveSession::Fork() {
  auto live = std::make_unique<LiveSession>();
  AICF_ASSIGN_OR_RETURN(live->session_, session_->Fork());
  live->program_ = program_;
  live->ordinal_ = ordinal_;
  return live;
}

LiveSession::BoundKey LiveSession::KeyOf(Binding::Kind kind, const std::string& name) const {
  return {kind, kind == Binding::Kind::kState ? 0 : session_->selected_entry(), name};
}

nb::object LiveSession::BoundTo(Binding::Kind kind, const std::string& name) const {
  const auto found = bound_.find(KeyOf(kind, name));
  return found == bound_.end() ? nb::none() : found->second;
}

void LiveSession::KeepBound(Binding::Kind kind, const std::string& name, nb::object given) {
  if (given.is_none()) {
    bound_.erase(KeyOf(kind, name));
  } else {
    bound_[KeyOf(kind, name)] = std::move(given);
  }
}

Status LiveSession::AwaitDefaultStream() const {
  if (ordinal_ < 0) return OkStatus();
  AICF_ASSIGN_OR_RETURN(cuda::Driver * driver, cuda::Driver::Get());
  AICF_ASSIGN_OR_RETURN(const auto device, cuda::Device::Retain(*driver, ordinal_));
  const cuda::ContextScope scope(*device);
  AICF_RETURN_IF_ERROR(scope.status());
  return driver->Check(driver->StreamSynchronize(cuda::CUstream{nullptr}),
                       "waiting for the default stream");
}

nb::dlpack::device LiveSession::device() const {
  if (ordinal_ < 0) return {nb::device::cpu::value, 0};
  return {nb::device::cuda::value, ordinal_};
}

Result<ForeignTensor> Examine(const nb::ndarray<nb::ro>& array) {
  ForeignTensor tensor;
  AICF_ASSIGN_OR_RETURN(tensor.dtype, FromDlpack(array.dtype()));
  Shape shape;
  for (size_t d = 0; d < array.ndim(); ++d) shape.push_back(static_cast<int64_t>(array.shape(d)));
  AICF_ASSIGN_OR_RETURN(tensor.shape, ToDims(shape));
  if (!IsDense(array)) {
    return Error(Code::kInvalidArgument, "the tensor of shape ", ToString(tensor.shape),
                 " is not dense and row-major; make a contiguous copy of it first");
  }
  tensor.data = array.data();
  tensor.bytes = array.nbytes();
  const int device = array.device_type();
  tensor.on_host = device == nb::device::cpu::value || device == nb::device::cuda_host::value;
  tensor.device = {device, array.device_id()};
  tensor.owner = array;
  return tensor;
}

}  // namespace aicf::python
