// What sessions of every kind do with states and metas.
#include <algorithm>

#include "runtime/guard.h"
#include "runtime/session_base.h"
#include "runtime/session_names.h"

namespace aicf {
namespace {

// The index of the named tensor, whose whole memory the caller gives.
Result<size_t> FindGiven(std::string_view what, std::string_view name,
                         const std::vector<TensorInfo>& tensors, const void* data, uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(const size_t index, FindTensor(what, name, tensors));
  AICF_RETURN_IF_ERROR(CheckMemory(what, tensors[index], tensors[index].shape, data, bytes));
  return index;
}

}  // namespace

Status SessionBase::SetMeta(std::string_view name, const void* data, uint64_t bytes) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindGiven("meta", name, info().metas, data, bytes));
    return StoreMeta(index, data, bytes);
  });
}

Status SessionBase::ResetStates() {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_RETURN_IF_ERROR(CheckIdle());
    for (size_t i = 0; i < states_.size(); ++i) {
      AICF_RETURN_IF_ERROR(StoreState(states_[i], seeds_[i].empty() ? nullptr : seeds_[i].data()));
    }
    return OkStatus();
  });
}

Status SessionBase::SeedState(std::string_view name, const void* data, uint64_t bytes) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindGiven("state", name, states(), data, bytes));
    const auto* from = static_cast<const std::byte*>(data);
    seeds_[index].assign(from, from + bytes);
    return OkStatus();
  });
}

Status SessionBase::ExportState(std::string_view name, void* data, uint64_t bytes) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindGiven("state", name, states(), data, bytes));
    AICF_RETURN_IF_ERROR(CheckIdle());
    return bytes == 0 ? OkStatus() : LoadState(states_[index], data);
  });
}

Status SessionBase::ImportState(std::string_view name, const void* data, uint64_t bytes) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindGiven("state", name, states(), data, bytes));
    AICF_RETURN_IF_ERROR(CheckIdle());
    return bytes == 0 ? OkStatus() : StoreState(states_[index], data);
  });
}

Result<void*> SessionBase::StatePointer(std::string_view name) {
  return Guarded([&]() -> Result<void*> {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindTensor("state", name, states()));
    return StateAddress(states_[index]);
  });
}

Result<std::unique_ptr<Session>> SessionBase::Fork() {
  return Guarded([&]() -> Result<std::unique_ptr<Session>> {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_RETURN_IF_ERROR(CheckIdle());
    AICF_ASSIGN_OR_RETURN(std::unique_ptr<SessionBase> fork, Duplicate());
    fork->seeds_ = seeds_;
    return std::unique_ptr<Session>(std::move(fork));
  });
}

}  // namespace aicf
