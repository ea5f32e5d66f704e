// What sessions of every kind do with states and metas.
#include <algorithm>

#include "base/guard.h"
#include "runtime/session_base.h"
#include "runtime/session_names.h"

namespace aicf {
namespace {

// Finds the named tensor's index, and checks that the caller's tensor has its dtype and whole
// shape.
Result<size_t> FindGiven(std::string_view what, std::string_view name,
                         const std::vector<TensorInfo>& tensors, const ConstTensor& given) {
  AICF_ASSIGN_OR_RETURN(const size_t index, FindTensor(what, name, tensors));
  AICF_RETURN_IF_ERROR(CheckTensor(what, tensors[index], tensors[index].shape, given));
  return index;
}

}  // namespace

Status SessionBase::SetMeta(std::string_view name, const ConstTensor& given) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindGiven("meta", name, info().metas, given));
    return StoreMeta(index, given.data, given.bytes);
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

Status SessionBase::SeedState(std::string_view name, const ConstTensor& given) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindGiven("state", name, states(), given));
    const auto* from = static_cast<const std::byte*>(given.data);
    seeds_[index].assign(from, from + given.bytes);
    return OkStatus();
  });
}

Status SessionBase::ExportState(std::string_view name, const MutableTensor& given) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    const ConstTensor described{given.dtype, given.shape, given.data, given.bytes};
    AICF_ASSIGN_OR_RETURN(const size_t index, FindGiven("state", name, states(), described));
    AICF_RETURN_IF_ERROR(CheckIdle());
    return given.bytes == 0 ? OkStatus() : LoadState(states_[index], given.data);
  });
}

Status SessionBase::ImportState(std::string_view name, const ConstTensor& given) {
  return Guarded([&]() -> Status {
    const Claim claim(busy_);
    AICF_RETURN_IF_ERROR(claim.status());
    AICF_ASSIGN_OR_RETURN(const size_t index, FindGiven("state", name, states(), given));
    AICF_RETURN_IF_ERROR(CheckIdle());
    return given.bytes == 0 ? OkStatus() : StoreState(states_[index], given.data);
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
