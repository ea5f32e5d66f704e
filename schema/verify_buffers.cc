// Counts, names, roles, buffers' bytes, storage.
#include <algorithm>
#include <set>
#include <string_view>

#include "base/checked.h"
#include "schema/verify.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

Status CheckLimit(std::string_view what, uint64_t found, uint64_t limit) {
  if (found <= limit) return OkStatus();
  return Error(Code::kResource, "program: ", found, " ", what, ", limit ", limit);
}

// Whether the image's code is the target's.
bool IsFor(const Image& image, std::string_view target) {
  constexpr std::string_view kDevices = "cuda:";
  return target.starts_with(kDevices) && target.substr(kDevices.size()) == image.arch;
}

// What the program is made for. A name such as "cpu" would mean another device on another machine.
Status CheckTarget(VerifyContext& context) {
  const Program& p = context.program;
  if (p.math >= abi::MathMode::kCount) return Error(Code::kBadArtifact, "unknown math mode");
  AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice(p.target));
  if (context.device.name != p.target) {
    return Error(Code::kBadArtifact, "target '", p.target, "' is not exact, expected '",
                 context.device.name, "'");
  }
  const bool cuda = context.device.backend == abi::Backend::kCuda;
  if (!cuda && !p.images.empty()) {
    return Error(Code::kBadArtifact, "a program for ", p.target, " holds device images");
  }
  for (size_t i = 0; i < p.images.size(); ++i) {
    if (!IsFor(p.images[i], p.target)) {
      return Error(Code::kBadArtifact, "image ", i, " is for ", p.images[i].arch,
                   ", the program for ", p.target);
    }
  }
  return OkStatus();
}

Status CheckBuffer(const Program& p, uint32_t index) {
  const Buffer& b = p.buffers[index];
  if (!IsValid(b.dtype) || b.role >= Role::kCount || b.storage >= Storage::kCount) {
    return Error(Code::kBadArtifact, Describe(p, index), ": unknown dtype, role or storage");
  }
  const std::optional<int64_t> count = ElementCount(b.shape);
  int64_t bytes = 0;
  if (!count || !CheckedMul(*count, DTypeBytes(b.dtype), &bytes)) {
    return Error(Code::kBadArtifact, Describe(p, index), ": illegal shape ", ToString(b.shape));
  }
  if (b.bytes != static_cast<uint64_t>(bytes)) {
    return Error(Code::kBadArtifact, Describe(p, index), ": ", b.bytes, " bytes, expected ", bytes,
                 " for ", DTypeName(b.dtype), " ", ToString(b.shape));
  }
  return OkStatus();
}

// Checks that the condition of each loop is one carried bool, and that the ranges of the loops
// nest.
Result<LoopTree> CheckLoops(const Program& p, const EntryPoint& e) {
  for (const Loop& loop : e.loops) {
    if (loop.condition >= p.buffers.size()) {
      return Error(Code::kBadArtifact, "a loop's condition is buffer ", loop.condition, " of ",
                   p.buffers.size());
    }
    const Buffer& b = p.buffers[loop.condition];
    if (b.dtype == DType::kBool && b.bytes == 1 && b.role == Role::kCarried) continue;
    return Error(Code::kBadArtifact, "a loop's condition ", Describe(p, loop.condition), " is ",
                 RoleWithArticle(b.role), " of ", b.bytes, " bytes of ", DTypeName(b.dtype),
                 ", expected one carried bool");
  }
  return LoopTree::Build(e);
}

// Entry points cut the steps into consecutive ranges: no step is in two or in none of them.
Status CheckEntryPoints(VerifyContext& context) {
  const Program& p = context.program;
  if (p.entry_points.empty()) return Error(Code::kBadArtifact, "program: no entry point");
  std::set<std::string_view> names;
  uint64_t next = 0;
  for (const EntryPoint& e : p.entry_points) {
    if (e.name.empty() || !names.insert(e.name).second) {
      return Error(Code::kBadArtifact, "entry point '", e.name, "': empty or repeated name");
    }
    if (e.first_step != next || !InRange(e.first_step, e.step_count, p.steps.size())) {
      return Error(Code::kBadArtifact, "entry point '", e.name, "': ", e.step_count, " steps from ",
                   e.first_step, ", expected a range that starts at ", next, " within ",
                   p.steps.size());
    }
    next += e.step_count;
    const auto in_entry = [&](const Status& s) {
      return s.ok() ? s : s.WithContext(StrCat("entry point '", e.name, "'"));
    };
    AICF_RETURN_IF_ERROR(in_entry(VerifyInterface(p, e)));
    Result<LoopTree> loops = CheckLoops(p, e);
    if (!loops.ok()) return in_entry(loops.status());
    context.loops.push_back(*std::move(loops));
  }
  if (next == p.steps.size()) return OkStatus();
  return Error(Code::kBadArtifact, "program: ", p.steps.size() - next,
               " steps belong to no entry point");
}

uint64_t SizeOf(const Program& p, Storage space) {
  if (space == Storage::kState) return p.state_bytes;
  return space == Storage::kWeights ? p.weights_bytes : p.arena_bytes;
}

std::string_view NameOf(Storage space) {
  if (space == Storage::kState) return "state block";
  return space == Storage::kWeights ? "weights" : "arena";
}

// Constants, and only they, lie in the weights; states, and only they, in the state block.
Storage SpaceFor(Role role) {
  if (role == Role::kState) return Storage::kState;
  return role == Role::kConstant ? Storage::kWeights : Storage::kArena;
}

Status PlaceDirect(const Program& p, uint32_t index, Placement& placement) {
  const Buffer& b = p.buffers[index];
  const uint64_t size = SizeOf(p, b.storage);
  if (b.offset % kBufferAlignment != 0) {
    return Error(Code::kBadArtifact, Describe(p, index), ": offset ", b.offset,
                 " is not a multiple of ", kBufferAlignment);
  }
  if (!InRange(b.offset, b.bytes, size)) {
    return Error(Code::kBadArtifact, Describe(p, index), ": ", b.bytes, " bytes at ", b.offset,
                 " leave the ", NameOf(b.storage), " of ", size);
  }
  if (b.alias_of != 0) {
    return Error(Code::kBadArtifact, Describe(p, index), ": alias_of without alias storage");
  }
  placement = {b.offset, b.offset + b.bytes, index, b.storage};
  return OkStatus();
}

Status CheckAlias(const Program& p, uint32_t index) {
  const Buffer& b = p.buffers[index];
  if (b.alias_of >= p.buffers.size()) {
    return Error(Code::kBadArtifact, Describe(p, index), ": alias of buffer ", b.alias_of, " of ",
                 p.buffers.size());
  }
  if (b.offset != 0) {
    return Error(Code::kBadArtifact, Describe(p, index), ": an alias with offset ", b.offset);
  }
  const uint64_t expected = p.buffers[b.alias_of].bytes;
  if (b.bytes == expected) return OkStatus();
  return Error(Code::kBadArtifact, Describe(p, index), ": ", b.bytes, " bytes, alias of ",
               Describe(p, b.alias_of), " of ", expected, " bytes");
}

enum class Mark : uint8_t { kNew, kOnChain, kPlaced };

// Follows the chain from `index` to a placed or direct buffer and places every buffer on it. Each
// buffer is walked once over all calls.
Status PlaceChain(VerifyContext& context, std::vector<Mark>& marks, uint32_t index) {
  const Program& p = context.program;
  std::vector<uint32_t> chain;
  while (marks[index] == Mark::kNew && p.buffers[index].storage == Storage::kAlias) {
    AICF_RETURN_IF_ERROR(CheckAlias(p, index));
    marks[index] = Mark::kOnChain;
    chain.push_back(index);
    index = p.buffers[index].alias_of;
  }
  if (marks[index] == Mark::kOnChain) {
    return Error(Code::kBadArtifact, Describe(p, index), ": its aliases form a cycle");
  }
  if (marks[index] == Mark::kNew) {
    AICF_RETURN_IF_ERROR(PlaceDirect(p, index, context.placements[index]));
    marks[index] = Mark::kPlaced;
  }
  for (uint32_t link : chain) {
    context.placements[link] = context.placements[index];
    marks[link] = Mark::kPlaced;
  }
  return OkStatus();
}

}  // namespace

Status CheckCountLimits(uint64_t steps, uint64_t buffers, uint64_t entry_points) {
  AICF_RETURN_IF_ERROR(CheckLimit("steps", steps, kMaxSteps));
  AICF_RETURN_IF_ERROR(CheckLimit("buffers", buffers, kMaxBuffers));
  return CheckLimit("entry points", entry_points, kMaxEntryPoints);
}

Status VerifyCounts(VerifyContext& context) {
  const Program& p = context.program;
  AICF_RETURN_IF_ERROR(CheckCountLimits(p.steps.size(), p.buffers.size(), p.entry_points.size()));
  AICF_RETURN_IF_ERROR(CheckLimit("arena bytes", p.arena_bytes, kMaxMemoryBytes));
  AICF_RETURN_IF_ERROR(CheckLimit("weights bytes", p.weights_bytes, kMaxMemoryBytes));
  AICF_RETURN_IF_ERROR(CheckLimit("state bytes", p.state_bytes, kMaxMemoryBytes));
  AICF_RETURN_IF_ERROR(CheckTarget(context));
  if (p.arena_lower_bound > p.arena_bytes) {
    return Error(Code::kBadArtifact, "program: arena of ", p.arena_bytes,
                 " bytes below its lower bound ", p.arena_lower_bound);
  }
  for (uint32_t i = 0; i < p.buffers.size(); ++i) AICF_RETURN_IF_ERROR(CheckBuffer(p, i));
  return CheckEntryPoints(context);
}

Status VerifyStorage(VerifyContext& context) {
  const Program& p = context.program;
  context.placements.resize(p.buffers.size());
  std::vector<Mark> marks(p.buffers.size(), Mark::kNew);
  for (uint32_t i = 0; i < p.buffers.size(); ++i) {
    AICF_RETURN_IF_ERROR(PlaceChain(context, marks, i));
    const Storage space = context.placements[i].space;
    if (space != SpaceFor(p.buffers[i].role)) {
      return Error(Code::kBadArtifact, Describe(p, i), ": ", RoleWithArticle(p.buffers[i].role),
                   " stored in the ", NameOf(space));
    }
  }
  return OkStatus();
}

}  // namespace aicf::schema
