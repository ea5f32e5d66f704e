// Every step by itself: problem, kernel, operands, workspace, launch, image.
#include <algorithm>

#include "base/checked.h"
#include "base/real_text.h"
#include "base/scanner.h"
#include "kernels/abi/instance_symbol.h"
#include "kernels/abi/operation_count.h"
#include "kernels/abi/packing.h"
#include "schema/magnitudes.h"
#include "schema/step_contents.h"
#include "schema/verify.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

using abi::Backend;

// Product of the extents that are not zero, so that 0 x 2^62 is no loophole.
bool IsModest(const abi::View& v) {
  int64_t count = 1;
  for (int64_t extent : v.shape) {
    if (extent > 1 && (!CheckedMul(count, extent, &count) || count > kMaxViewElements))
      return false;
  }
  const auto modest = [](int64_t x) { return x >= -kMaxViewElements && x <= kMaxViewElements; };
  bool all = modest(v.offset);
  for (int64_t stride : v.strides) all &= modest(stride);
  return all;
}

}  // namespace

Status CheckMagnitudes(const abi::Problem& p) {
  for (const std::vector<abi::View>* views : {&p.inputs, &p.outputs}) {
    for (const abi::View& v : *views) {
      if (IsModest(v)) continue;
      return Error(Code::kResource, "a view of shape ", ToString(v.shape), ", strides ",
                   ToListString(v.strides), " and offset ", v.offset, " passes ", kMaxViewElements,
                   " elements");
    }
  }
  return OkStatus();
}

namespace {

Status CheckProblem(const abi::Problem& p) {
  AICF_RETURN_IF_ERROR(CheckMagnitudes(p));
  return abi::ValidateProblem(p);
}

Status CheckKernel(const abi::DeviceSpec& device, const Step& s, const abi::VariantRef& variant,
                   const abi::KernelInfo** found) {
  // Most lookups end in the family's own table; the whole registry only tells which error it is.
  const abi::KernelInfo* kernel = nullptr;
  for (const abi::KernelInfo& k : abi::KernelsOf(s.problem.family)) {
    if (k.key != s.kernel) continue;
    kernel = &k;
    break;
  }
  if (kernel == nullptr && abi::FindKernel(s.kernel) == nullptr) {
    return Error(Code::kUnsupported, "unknown kernel ", Quote(s.kernel));
  }
  if (kernel == nullptr) {
    return Error(Code::kBadArtifact, "the kernel is not of the family ",
                 abi::FamilyName(s.problem.family));
  }
  if (!abi::RunsOn(*kernel, device)) {
    return Error(Code::kBadArtifact, "the kernel's backend is not that of the target ",
                 device.name);
  }
  const std::string refusal = abi::CheckVariant(*kernel, s.problem, variant, device);
  if (!refusal.empty()) {
    return Error(Code::kBadArtifact, "the kernel does not run its problem so: ", refusal);
  }
  *found = kernel;
  return OkStatus();
}

// A packed input: the buffer holds the kernel's own layout, so bytes are checked instead of the
// view, and the name of the layout where it is recorded.
Status CheckPacked(const VerifyContext& c, const Step& s, size_t k,
                   const abi::PackedLayout& layout) {
  const Program& p = c.program;
  const Buffer& b = p.buffers[s.inputs[k]];
  if (b.role != Role::kConstant || b.dtype != DType::kU8 || b.bytes != layout.bytes) {
    return Error(Code::kBadArtifact, "packed input ", k, ": ", Describe(p, s.inputs[k]), " is ",
                 RoleWithArticle(b.role), " of ", b.bytes, " bytes of ", DTypeName(b.dtype),
                 ", expected a constant of ", layout.bytes, " bytes of u8");
  }
  const std::optional<PackedOrigin>& origin = p.buffers[c.placements[s.inputs[k]].root].origin;
  if (!origin || origin->layout == layout.name) return OkStatus();
  return Error(Code::kBadArtifact, "packed input ", k, ": ", Describe(p, s.inputs[k]),
               " has the layout ", Quote(origin->layout), ", the kernel reads ",
               Quote(layout.name));
}

// A kernel that reads packed bytes as elements would take one layout for another, so this refuses
// it.
Status CheckUnpacked(const VerifyContext& c, const Step& s, size_t k) {
  const Program& p = c.program;
  const Buffer& root = p.buffers[c.placements[s.inputs[k]].root];
  if (!root.origin) return OkStatus();
  return Error(Code::kBadArtifact, "input ", k, ": ", Describe(p, s.inputs[k]),
               " is packed in the layout ", Quote(root.origin->layout),
               ", the kernel reads it as it is");
}

// A copy may read the bits of a buffer as another dtype of the same size: that is BitCast.
Status CheckView(const Program& p, std::string_view what, size_t k, uint32_t buffer,
                 const abi::View& view, bool copies = false) {
  const Buffer& b = p.buffers[buffer];
  const bool recast = copies && DTypeBytes(b.dtype) == DTypeBytes(view.dtype);
  if (b.dtype != view.dtype && !recast) {
    return Error(Code::kBadArtifact, what, " ", k, ": ", DTypeName(view.dtype), ", but ",
                 Describe(p, buffer), " is ", DTypeName(b.dtype));
  }
  const abi::Extent extent = ExtentOfValid(view);
  if (static_cast<uint64_t>(extent.end) <= b.bytes) return OkStatus();
  return Error(Code::kBadArtifact, what, " ", k, ": touches bytes up to ", extent.end, " of ",
               Describe(p, buffer), " with ", b.bytes);
}

Status CheckOperandCounts(const Program& p, const Step& s) {
  if (s.inputs.size() != s.problem.inputs.size() || s.outputs.size() != s.problem.outputs.size()) {
    return Error(Code::kBadArtifact, s.inputs.size(), " inputs and ", s.outputs.size(),
                 " outputs, the problem has ", s.problem.inputs.size(), " and ",
                 s.problem.outputs.size());
  }
  for (const std::vector<uint32_t>* list : {&s.inputs, &s.outputs}) {
    for (uint32_t buffer : *list) {
      if (buffer >= p.buffers.size())
        return Error(Code::kBadArtifact, "buffer ", buffer, " of ", p.buffers.size());
    }
  }
  return OkStatus();
}

// What a kernel reads before it waits for the kernel before it may be written by no other step: it
// has to be a constant, a meta, or a state of which VerifyState proves that.
Status CheckAhead(const Program& p, const Step& s, const abi::KernelInfo& kernel, size_t k) {
  const Buffer& b = p.buffers[s.inputs[k]];
  if (b.role == Role::kConstant || b.role == Role::kMeta || IsState(b)) return OkStatus();
  if (!abi::ReadsAhead(kernel, s.problem, s.parameters, k)) return OkStatus();
  return Error(Code::kBadArtifact, "input ", k, ": ", Describe(p, s.inputs[k]), " is ",
               RoleWithArticle(b.role),
               ", expected a constant, a meta or a state from before the replay: it is read before "
               "the kernel waits");
}

Status CheckOperands(const VerifyContext& c, const Step& s, const abi::KernelInfo& kernel) {
  const Program& p = c.program;
  AICF_RETURN_IF_ERROR(CheckOperandCounts(p, s));
  uint32_t packed_mask = 0;
  for (size_t k = 0; k < s.inputs.size(); ++k) {
    AICF_RETURN_IF_ERROR(CheckAhead(p, s, kernel, k));
    const auto layout = abi::LayoutOf(kernel, s.problem, s.parameters, k);
    if (!layout) {
      AICF_RETURN_IF_ERROR(CheckUnpacked(c, s, k));
      AICF_RETURN_IF_ERROR(CheckView(p, "input", k, s.inputs[k], s.problem.inputs[k],
                                     s.problem.family == abi::Family::kCopy));
      continue;
    }
    if (k >= 32) return Error(Code::kBadArtifact, "input ", k, " cannot be packed");
    packed_mask |= uint32_t{1} << k;
    AICF_RETURN_IF_ERROR(CheckPacked(c, s, k, *layout));
  }
  if (s.packed_inputs != packed_mask) {
    return Error(Code::kBadArtifact, "packed inputs ", s.packed_inputs, ", the kernel packs ",
                 packed_mask);
  }
  for (size_t k = 0; k < s.outputs.size(); ++k) {
    AICF_RETURN_IF_ERROR(CheckView(p, "output", k, s.outputs[k], s.problem.outputs[k]));
  }
  return OkStatus();
}

Status CheckWorkspace(const VerifyContext& c, const Step& s) {
  if (s.workspace_offset % kBufferAlignment != 0) {
    return Error(Code::kBadArtifact, "workspace offset ", s.workspace_offset,
                 " is not a multiple of ", kBufferAlignment);
  }
  if (InRange(s.workspace_offset, s.workspace_bytes, c.program.arena_bytes)) return OkStatus();
  return Error(Code::kBadArtifact, "workspace of ", s.workspace_bytes, " bytes at ",
               s.workspace_offset, " leaves the arena of ", c.program.arena_bytes);
}

// The architecture's limits guard against a defect of the kernel's own check, which comes first.
Status CheckInstance(const abi::DeviceSpec& device, const Step& s, const abi::KernelInfo& kernel,
                     const abi::VariantRef& variant) {
  if (kernel.backend != Backend::kCuda) return OkStatus();
  AICF_RETURN_IF_ERROR(CheckLaunchLimits(s.launch, device));
  if (abi::IsInstanceSymbol(s.symbol, kernel.key, s.problem, variant)) return OkStatus();
  return Error(Code::kBadArtifact, "symbol ", Quote(s.symbol),
               " is not the instance of this problem and variant");
}

Status CheckImage(const Program& p, const Step& s) {
  if (s.inputs.size() + s.outputs.size() + 1 > abi::kMaxDevicePointers) {
    return Error(Code::kBadArtifact, s.inputs.size() + s.outputs.size(), " operands, limit ",
                 abi::kMaxDevicePointers - 1);
  }
  // A plan without any device code executes on the CPU reference only.
  const bool plan_only = p.images.empty() && s.image == -1;
  if (plan_only || (s.image >= 0 && static_cast<size_t>(s.image) < p.images.size())) {
    return OkStatus();
  }
  return Error(Code::kBadArtifact, "image ", s.image, " of ", p.images.size());
}

// Fields that belong to one backend are at their defaults on the others.
Status CheckBackendFields(const Program& p, const Step& s, const abi::KernelInfo& kernel) {
  if (kernel.backend == Backend::kCuda) {
    AICF_RETURN_IF_ERROR(CheckImage(p, s));
  } else if (s.image != -1 || !s.symbol.empty()) {
    return Error(Code::kBadArtifact, "image or symbol on a kernel that is not cuda.*");
  }
  if (kernel.backend == Backend::kLibrary && (s.algorithm.empty() || s.library_version == 0)) {
    return Error(Code::kBadArtifact, "a library's kernel without algorithm or library version");
  }
  if (kernel.backend != Backend::kLibrary && (!s.algorithm.empty() || s.library_version != 0)) {
    return Error(Code::kBadArtifact, "an algorithm on a kernel that is no library's");
  }
  return OkStatus();
}

Status CheckGuards(const Program& p, const Step& s) {
  for (const Guard& g : s.guards) {
    if (g.buffer >= p.buffers.size())
      return Error(Code::kBadArtifact, "guard ", g.buffer, " of ", p.buffers.size());
    const Buffer& b = p.buffers[g.buffer];
    if (b.dtype != DType::kBool || b.bytes != 1 || b.role == Role::kConstant) {
      return Error(Code::kBadArtifact, "guard ", Describe(p, g.buffer), " is ",
                   RoleWithArticle(b.role), " of ", b.bytes, " bytes of ", DTypeName(b.dtype),
                   ", expected one bool that is no constant");
    }
  }
  if (s.guards.size() > kMaxGuards)
    return Error(Code::kBadArtifact, s.guards.size(), " guards, limit ", kMaxGuards);
  return OkStatus();
}

// A graph that skips or repeats steps needs the function that reads their conditions on the device.
Status CheckGuardImage(const Program& p, const abi::DeviceSpec& device) {
  const bool guarded =
      std::any_of(p.steps.begin(), p.steps.end(), [](const Step& s) { return !s.guards.empty(); });
  const bool loops = std::any_of(p.entry_points.begin(), p.entry_points.end(),
                                 [](const EntryPoint& e) { return !e.loops.empty(); });
  const bool needed = (guarded || loops) && device.backend == Backend::kCuda && !p.images.empty();
  const bool present = p.guard_image >= 0 && static_cast<size_t>(p.guard_image) < p.images.size();
  if (needed ? present : p.guard_image == -1) return OkStatus();
  return Error(Code::kBadArtifact, "guard image ", p.guard_image, " of ", p.images.size(),
               needed ? "" : " in a program without guards and loops on a device");
}

Status CheckPlace(const VerifyContext& c, const Step& s, const abi::KernelInfo& kernel) {
  AICF_RETURN_IF_ERROR(CheckOperands(c, s, kernel));
  AICF_RETURN_IF_ERROR(CheckGuards(c.program, s));
  AICF_RETURN_IF_ERROR(CheckWorkspace(c, s));
  return CheckBackendFields(c.program, s, kernel);
}

}  // namespace

Status CheckLaunchLimits(const abi::LaunchConfig& l, const abi::DeviceSpec& device) {
  constexpr uint32_t kMaxGrid[3] = {0x7fffffff, 65535, 65535};
  constexpr uint32_t kMaxBlock[3] = {1024, 1024, 64};
  constexpr uint64_t kMaxThreads = 1024;
  const auto most_blocks = static_cast<uint64_t>(device.max_cluster);
  uint64_t threads = 1;
  uint64_t cluster = 1;
  for (int d = 0; d < 3; ++d) {
    if (l.grid[d] < 1 || l.grid[d] > kMaxGrid[d])
      return Error(Code::kBadArtifact, "grid ", abi::ExtentText(l.grid));
    if (l.block[d] < 1 || l.block[d] > kMaxBlock[d])
      return Error(Code::kBadArtifact, "block ", abi::ExtentText(l.block));
    if (l.cluster[d] < 1 || l.cluster[d] > most_blocks || l.grid[d] % l.cluster[d] != 0) {
      return Error(Code::kBadArtifact, "cluster ", abi::ExtentText(l.cluster), " in grid ",
                   abi::ExtentText(l.grid));
    }
    threads *= l.block[d];
    cluster *= l.cluster[d];
  }
  if (threads > kMaxThreads)
    return Error(Code::kBadArtifact, "block ", abi::ExtentText(l.block), " above ", kMaxThreads);
  if (cluster > most_blocks)
    return Error(Code::kBadArtifact, "cluster ", abi::ExtentText(l.cluster), " above ",
                 most_blocks);
  if (l.dynamic_shared_bytes > static_cast<uint64_t>(device.max_shared_bytes)) {
    return Error(Code::kBadArtifact, l.dynamic_shared_bytes, " bytes of shared memory, limit ",
                 device.max_shared_bytes);
  }
  return OkStatus();
}

namespace {

// What an origin says is proven where a step reads the buffer, or one in its place, in its kernel's
// own layout (CheckPacked). Where no step does, nothing would prove it, so the origin is refused.
Status CheckOrigins(const VerifyContext& c) {
  const Program& p = c.program;
  std::vector<bool> packed(p.buffers.size(), false);
  for (const Step& s : p.steps) {
    for (size_t k = 0; k < s.inputs.size(); ++k) {
      if (s.IsPacked(k)) packed[c.placements[s.inputs[k]].root] = true;
    }
  }
  for (uint32_t i = 0; i < p.buffers.size(); ++i) {
    if (!p.buffers[i].origin || packed[i]) continue;
    return Error(Code::kBadArtifact, Describe(p, i), ": has the layout ",
                 Quote(p.buffers[i].origin->layout), ", which no step reads");
  }
  return OkStatus();
}

Status CheckOperations(const Program& p) {
  for (const EntryPoint& e : p.entry_points) {
    double operations = 0;
    for (uint32_t i = e.first_step; i < e.first_step + e.step_count; ++i) {
      operations += abi::OperationCount(p.steps[i].problem);
      if (operations <= kMaxOperations) continue;
      return Error(Code::kResource, "entry point ", Quote(e.name), ": ", RealText(operations),
                   " operations up to ", DescribeStep(p, i), ", limit ", RealText(kMaxOperations));
    }
  }
  return OkStatus();
}

// The code of all checks of a step is larger than a processor's first-level cache, so that going
// from step to step would fetch it anew for each. A few steps at a time, whose data that cache
// holds, pass one check after the other instead. Of several errors the one of the earlier check is
// named.
constexpr uint32_t kStepsAtATime = 12;

// Equal contents are checked once: what is legal for one of them is legal for all.
class StepVerifier {
 public:
  explicit StepVerifier(VerifyContext& context)
      : c_(context), steps_(context.program.steps), contents_(context.program) {
    c_.kernels.resize(steps_.size());
  }

  Status Run() {
    const auto count = static_cast<uint32_t>(steps_.size());
    for (uint32_t i = 0; i < count; i += kStepsAtATime) {
      AICF_RETURN_IF_ERROR(CheckFew(i, std::min(count, i + kStepsAtATime)));
    }
    return OkStatus();
  }

 private:
  Status CheckFew(uint32_t begin, uint32_t end) {
    few_.clear();
    fresh_.clear();
    for (uint32_t i = begin; i < end; ++i) {
      few_.push_back(i);
      equal_[i - begin] = contents_.Find(i);
      if (equal_[i - begin] == i) fresh_.push_back(i);
    }
    // The first three follow from a step's content alone, whatever buffers it names.
    const auto problem = [](const Step& s, uint32_t) { return CheckProblem(s.problem); };
    const auto kernel = [this](const Step& s, uint32_t i) {
      return CheckKernel(c_.device, s, VariantRefOf(s), &c_.kernels[i]);
    };
    const auto instance = [this](const Step& s, uint32_t i) {
      return CheckInstance(c_.device, s, *c_.kernels[i], VariantRefOf(s));
    };
    AICF_RETURN_IF_ERROR(ForEach(fresh_, problem));
    AICF_RETURN_IF_ERROR(ForEach(fresh_, kernel));
    AICF_RETURN_IF_ERROR(ForEach(fresh_, instance));
    return ForEach(few_, [this, begin](const Step& s, uint32_t i) {
      c_.kernels[i] = c_.kernels[equal_[i - begin]];
      return CheckPlace(c_, s, *c_.kernels[i]);
    });
  }

  // Check(step, its index).
  template <class Check>
  Status ForEach(const std::vector<uint32_t>& list, Check check) const {
    for (uint32_t i : list) {
      Status status = check(steps_[i], i);
      if (!status.ok()) return status.WithContext(DescribeStep(c_.program, i));
    }
    return OkStatus();
  }

  VerifyContext& c_;
  const std::vector<Step>& steps_;
  StepContents contents_;
  std::vector<uint32_t> few_, fresh_;   // steps that are looked at now; those of new content
  uint32_t equal_[kStepsAtATime] = {};  // of each of the few, the step that has its content
};

}  // namespace

Status VerifySteps(VerifyContext& context) {
  const Program& p = context.program;
  AICF_RETURN_IF_ERROR(StepVerifier(context).Run());
  AICF_RETURN_IF_ERROR(CheckOrigins(context));
  AICF_RETURN_IF_ERROR(CheckOperations(p));
  return CheckGuardImage(p, context.device);
}

}  // namespace aicf::schema
