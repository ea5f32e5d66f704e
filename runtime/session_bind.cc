// Memory of the caller in place of the session's own.
#include <algorithm>

#include "base/guard.h"
#include "runtime/session_base.h"
#include "runtime/session_names.h"

namespace aicf {
namespace {

std::string_view NameOf(Binding::Kind kind) {
  switch (kind) {
    case Binding::Kind::kInput:
      return "input";
    case Binding::Kind::kOutput:
      return "output";
    default:
      return "state";
  }
}

}  // namespace

Result<uint32_t> SessionBase::BoundBuffer(const Binding& binding) const {
  const std::string_view what = NameOf(binding.kind);
  switch (binding.kind) {
    case Binding::Kind::kInput: {
      AICF_ASSIGN_OR_RETURN(const size_t i, FindTensor(what, binding.name, info().inputs));
      return entry().inputs[i];
    }
    case Binding::Kind::kOutput: {
      AICF_ASSIGN_OR_RETURN(const size_t i, FindTensor(what, binding.name, info().outputs));
      return entry().outputs[i];
    }
    case Binding::Kind::kState: {
      AICF_ASSIGN_OR_RETURN(const size_t i, FindTensor(what, binding.name, states()));
      return states_[i];
    }
  }
  return Error(Code::kInvalidArgument, "a binding of kind ", static_cast<int>(binding.kind));
}

Status SessionBase::CheckBinding(const Binding& binding, uint32_t buffer) const {
  if (binding.data == nullptr) return OkStatus();
  const schema::Buffer& b = plan().buffers[buffer];
  const std::string_view what = NameOf(binding.kind);
  if (binding.bytes != b.bytes) {
    return Error(Code::kInvalidArgument, what, " '", b.name, "': expected ", b.bytes, " bytes (",
                 DTypeName(b.dtype), " ", ToString(b.shape), "), got ", binding.bytes);
  }
  if (reinterpret_cast<uintptr_t>(binding.data) % binding_alignment() != 0) {
    return Error(Code::kInvalidArgument, what, " '", b.name, "': the memory at ",
                 reinterpret_cast<uintptr_t>(binding.data), " is not aligned to ",
                 binding_alignment(), " bytes");
  }
  if (!Owns(static_cast<const std::byte*>(binding.data), binding.bytes)) return OkStatus();
  return Error(Code::kInvalidArgument, what, " '", b.name,
               "': the memory is this session's own; bind nullptr to go back to it");
}

Status SessionBase::CheckApart(const BoundMemory& bound, const schema::EntryPoint& entry) const {
  std::vector<uint32_t> buffers = states_;
  buffers.insert(buffers.end(), entry.inputs.begin(), entry.inputs.end());
  buffers.insert(buffers.end(), entry.outputs.begin(), entry.outputs.end());
  const auto address = [&](uint32_t b) { return reinterpret_cast<uintptr_t>(bound[roots_[b]]); };
  std::erase_if(buffers,
                [&](uint32_t b) { return address(b) == 0 || plan().buffers[b].bytes == 0; });
  std::ranges::sort(buffers, {}, address);
  for (size_t i = 1; i < buffers.size(); ++i) {
    const schema::Buffer& below = plan().buffers[buffers[i - 1]];
    if (address(buffers[i - 1]) + below.bytes <= address(buffers[i])) continue;
    return Error(Code::kInvalidArgument, "'", below.name, "' and '",
                 plan().buffers[buffers[i]].name, "' are bound to overlapping memory");
  }
  return OkStatus();
}

Status SessionBase::Bind(std::span<const Binding> bindings) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    BoundMemory next = bound_;
    std::vector<uint32_t> named;
    bool states = false;
    for (const Binding& binding : bindings) {
      AICF_ASSIGN_OR_RETURN(const uint32_t buffer, BoundBuffer(binding));
      AICF_RETURN_IF_ERROR(CheckBinding(binding, buffer));
      if (std::ranges::find(named, buffer) != named.end()) {
        return Error(Code::kInvalidArgument, NameOf(binding.kind), " '", binding.name,
                     "' is bound twice in one call");
      }
      named.push_back(buffer);
      next[roots_[buffer]] = static_cast<std::byte*>(binding.data);
      states = states || binding.kind == Binding::Kind::kState;
    }
    for (const schema::EntryPoint& e : plan().entry_points) {
      if (states || &e == &entry()) AICF_RETURN_IF_ERROR(CheckApart(next, e));
    }
    AICF_RETURN_IF_ERROR(CheckIdle());
    if (next == bound_) return OkStatus();
    AICF_RETURN_IF_ERROR(Rebind(next, states));
    bound_ = std::move(next);
    return OkStatus();
  });
}

}  // namespace aicf
