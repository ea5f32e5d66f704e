// What an entry point shows its caller: lists of tensors, outputs' extents, padded axes.
#include <algorithm>
#include <set>
#include <string_view>

#include "base/checked.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

using NameSet = std::set<std::string_view>;

// One list of an entry point's interface: indices, roles, names that `taken` does not hold.
Status CheckInterface(const Program& p, const std::vector<uint32_t>& list, Role expected,
                      NameSet& taken) {
  const std::string_view what = RoleName(expected);
  for (uint32_t index : list) {
    if (index >= p.buffers.size()) {
      return Error(Code::kBadArtifact, what, " buffer ", index, " of ", p.buffers.size());
    }
    const Role role = p.buffers[index].role;
    if (role != expected) {
      return Error(Code::kBadArtifact, Describe(p, index), ": ", RoleWithArticle(role),
                   " is listed as ", RoleWithArticle(expected));
    }
    if (p.buffers[index].name.empty() || !taken.insert(p.buffers[index].name).second) {
      return Error(Code::kBadArtifact, Describe(p, index), ": empty or repeated ", what, " name");
    }
  }
  return OkStatus();
}

// Names are unique among what the caller writes (inputs and metas), and among what he reads
// (outputs).
Status CheckInterfaces(const Program& p, const EntryPoint& e) {
  NameSet written, read;
  AICF_RETURN_IF_ERROR(CheckInterface(p, e.inputs, Role::kInput, written));
  AICF_RETURN_IF_ERROR(CheckInterface(p, e.metas, Role::kMeta, written));
  return CheckInterface(p, e.outputs, Role::kOutput, read);
}

// Counts come after the model's outputs and are nothing else; each is one i64.
Status CheckExtents(const Program& p, const EntryPoint& e) {
  const size_t model = e.model_outputs();
  std::vector<bool> counted(e.outputs.size(), false);
  for (size_t i = 0; i < e.extents.size(); ++i) {
    const OutputExtent& x = e.extents[i];
    if (x.output >= model || (i > 0 && x.output <= e.extents[i - 1].output)) {
      return Error(Code::kBadArtifact, "extent ", i, " names output ", x.output, " of ", model,
                   ", expected each at most once, ascending");
    }
    const Buffer& output = p.buffers[e.outputs[x.output]];
    if (x.axis >= static_cast<uint32_t>(output.shape.rank())) {
      return Error(Code::kBadArtifact, Describe(p, e.outputs[x.output]), ": extent of axis ",
                   x.axis, " outside rank ", output.shape.rank());
    }
    if (x.count >= e.outputs.size()) {
      return Error(Code::kBadArtifact, "count ", x.count, " of ", e.outputs.size(), " outputs");
    }
    const Buffer& count = p.buffers[e.outputs[x.count]];
    if (count.dtype != DType::kI64 || count.bytes != 8) {
      return Error(Code::kBadArtifact, Describe(p, e.outputs[x.count]), ": a count of ",
                   count.bytes, " bytes of ", DTypeName(count.dtype), ", expected one i64");
    }
    counted[x.count] = true;
  }
  for (size_t o = model; o < counted.size(); ++o) {
    if (counted[o]) continue;
    return Error(Code::kBadArtifact, Describe(p, e.outputs[o]), ": behind the counts, but is none");
  }
  return OkStatus();
}

// The axes that paddings have named so far, each as tensor and axis. None is named twice: two
// paddings of one axis would contradict each other.
using Axes = std::set<std::pair<uint32_t, uint32_t>>;

Status CheckPaddedInputs(const Program& p, const EntryPoint& e, const Padding& padding, Axes& seen,
                         uint64_t* extent) {
  for (size_t i = 0; i < padding.inputs.size(); ++i) {
    const PaddedInput& x = padding.inputs[i];
    if (x.input >= e.inputs.size()) {
      return Error(Code::kBadArtifact, "padding of input ", x.input, " of ", e.inputs.size());
    }
    const Buffer& b = p.buffers[e.inputs[x.input]];
    if (x.axis >= static_cast<uint32_t>(b.shape.rank())) {
      return Error(Code::kBadArtifact, Describe(p, e.inputs[x.input]), ": padding of axis ", x.axis,
                   " outside rank ", b.shape.rank());
    }
    const auto found = static_cast<uint64_t>(b.shape[static_cast<int>(x.axis)]);
    if (i == 0) *extent = found;
    const bool ascending =
        i == 0 || std::pair(padding.inputs[i - 1].input, padding.inputs[i - 1].axis) <
                      std::pair(x.input, x.axis);
    if (found != *extent || !ascending || !seen.emplace(x.input, x.axis).second) {
      return Error(Code::kBadArtifact, Describe(p, e.inputs[x.input]), ": padding of axis ", x.axis,
                   " with extent ", found, ", expected each axis once, ascending, of extent ",
                   *extent);
    }
  }
  return OkStatus();
}

Status CheckPaddedOutputs(const Program& p, const EntryPoint& e, const Padding& padding, Axes& seen,
                          uint64_t extent) {
  for (size_t i = 0; i < padding.outputs.size(); ++i) {
    const PaddedOutput& x = padding.outputs[i];
    if (x.output >= e.model_outputs()) {
      return Error(Code::kBadArtifact, "padding shrinks output ", x.output, " of ",
                   e.model_outputs());
    }
    const Buffer& b = p.buffers[e.outputs[x.output]];
    const bool axis = x.axis < static_cast<uint32_t>(b.shape.rank());
    const bool ascending =
        i == 0 || std::pair(padding.outputs[i - 1].output, padding.outputs[i - 1].axis) <
                      std::pair(x.output, x.axis);
    if (!axis || !ascending || !seen.emplace(x.output, x.axis).second) {
      return Error(Code::kBadArtifact, Describe(p, e.outputs[x.output]), ": padding shrinks axis ",
                   x.axis, " of rank ", b.shape.rank(), ", expected each axis once, ascending");
    }
    const auto found = static_cast<uint64_t>(b.shape[static_cast<int>(x.axis)]);
    if (x.factor == 0 || extent - padding.min > found / x.factor) {
      return Error(Code::kBadArtifact, Describe(p, e.outputs[x.output]), ": axis ", x.axis, " of ",
                   found, " positions loses ", x.factor, " for each of ", extent - padding.min);
    }
  }
  return OkStatus();
}

Status CheckPaddings(const Program& p, const EntryPoint& e) {
  Axes inputs, outputs;
  for (size_t i = 0; i < e.paddings.size(); ++i) {
    const Padding& padding = e.paddings[i];
    uint64_t extent = 0;
    AICF_RETURN_IF_ERROR(CheckPaddedInputs(p, e, padding, inputs, &extent));
    if (padding.min < 1 || padding.min >= extent) {  // no inputs: the extent is 0
      return Error(Code::kBadArtifact, "padding ", i, " from ", padding.min, " to ", extent,
                   " positions of ", padding.inputs.size(), " inputs");
    }
    AICF_RETURN_IF_ERROR(CheckPaddedOutputs(p, e, padding, outputs, extent));
  }
  return OkStatus();
}

}  // namespace

Status VerifyInterface(const Program& program, const EntryPoint& entry) {
  AICF_RETURN_IF_ERROR(CheckInterfaces(program, entry));
  AICF_RETURN_IF_ERROR(CheckExtents(program, entry));
  return CheckPaddings(program, entry);
}

}  // namespace aicf::schema
