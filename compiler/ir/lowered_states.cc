#include "compiler/ir/lowered_states.h"

#include <set>

namespace aicf::ir {
namespace {

using schema::Role;

bool RolesFit(Role past, Role present) {
  return (past == Role::kInput && present == Role::kOutput) ||
         (past == Role::kState && present == Role::kState);
}

}  // namespace

Status CheckStates(const Lowered& lowered) {
  std::set<BufferId> taken;
  for (const LoweredState& s : lowered.states) {
    if (s.past >= lowered.buffers.size() || s.present >= lowered.buffers.size()) {
      return Error(Code::kInternal, "state %", s.past, " %", s.present, " does not exist");
    }
    const LoweredBuffer &past = lowered.buffers[s.past], &present = lowered.buffers[s.present];
    if (!taken.insert(s.past).second || !taken.insert(s.present).second) {
      return Error(Code::kInternal, "'", past.name, "' or '", present.name, "' is in two states");
    }
    if (!RolesFit(past.role, present.role)) {
      return Error(Code::kInternal, "state '", past.name, "' of ", RoleWithArticle(past.role),
                   " and ", RoleWithArticle(present.role));
    }
    if (past.dtype == present.dtype && past.shape == present.shape) continue;
    return Error(Code::kInternal, "state '", past.name, "' is ", DTypeName(past.dtype), " ",
                 ToString(past.shape), ", and '", present.name, "' ", DTypeName(present.dtype), " ",
                 ToString(present.shape));
  }
  for (BufferId b = 0; b < lowered.buffers.size(); ++b) {
    if (lowered.buffers[b].role != Role::kState || taken.contains(b)) continue;
    return Error(Code::kInternal, "buffer '", lowered.buffers[b].name, "' is of no state");
  }
  return OkStatus();
}

}  // namespace aicf::ir
