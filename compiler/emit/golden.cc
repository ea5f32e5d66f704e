#include "compiler/emit/golden.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/passes/lower/lower.h"
#include "schema/golden.h"

namespace aicf {
namespace {

using schema::Buffer;
using schema::EntryPoint;
using schema::Program;

/// The dtype that NumPy's files hold elements of `dtype` in.
DType FileDType(DType dtype) {
  if (dtype == DType::kBF16) return DType::kU16;
  if (!IsStorageOnly(dtype)) return dtype;
  return KindOf(dtype) == DTypeKind::kSigned ? DType::kI8 : DType::kU8;
}

bool Holds(const ir::Tensor& tensor, DType dtype) {
  return tensor.dtype() == dtype || tensor.dtype() == FileDType(dtype);
}

std::string Found(const ir::Tensor& t) {
  return StrCat(DTypeName(t.dtype()), " ", ToString(t.shape()));
}

std::string Expected(const Buffer& b) { return StrCat(DTypeName(b.dtype), " ", ToString(b.shape)); }

class Attacher {
 public:
  Attacher(const Program& program, const std::vector<const ir::Lowered*>& lowered)
      : program_(program), lowered_(lowered) {}

  Status Add(const GoldenSpec& spec) {
    schema::GoldenSample sample;
    AICF_ASSIGN_OR_RETURN(sample.entry, EntryOf(spec));
    const EntryPoint& entry = program_.entry_points[sample.entry];
    sample.atol = spec.atol;
    sample.rtol = spec.rtol;
    sample.rel = spec.rel;
    if (!spec.atol && !spec.rtol && !spec.rel) sample.atol = sample.rtol = kGoldenTolerance;
    for (uint32_t b : entry.inputs) {
      const Buffer& buffer = program_.buffers[b];
      sample.inputs.push_back(As(buffer, spec.tensors.find(buffer.name)->second));
    }
    for (uint32_t b : entry.metas) {
      const Buffer& buffer = program_.buffers[b];
      const auto given = spec.tensors.find(buffer.name);
      if (given != spec.tensors.end()) sample.inputs.push_back(As(buffer, given->second));
    }
    AICF_RETURN_IF_ERROR(AddGiven(spec, entry, sample));
    if (sample.outputs.empty()) AICF_RETURN_IF_ERROR(AddComputed(entry, sample));
    golden_.samples.push_back(std::move(sample));
    return OkStatus();
  }

  const schema::Golden& golden() const { return golden_; }

 private:
  static schema::GoldenTensor As(const Buffer& buffer, const ir::Tensor& tensor) {
    return {buffer.name, buffer.dtype, tensor.shape(), tensor.bytes()};
  }

  /// Errors: what the last entry point looked at lacks; with one, that is the one.
  Result<uint32_t> EntryOf(const GoldenSpec& spec) const {
    Status why;
    for (uint32_t e = 0; e < program_.entry_points.size(); ++e) {
      why = Serves(program_.entry_points[e], spec);
      if (why.ok()) return e;
    }
    if (program_.entry_points.size() == 1) return why;
    return Error(Code::kInvalidArgument, "no entry point has inputs of these shapes (of '",
                 program_.entry_points.back().name, "': ", why.message(), ")");
  }

  Status Serves(const EntryPoint& entry, const GoldenSpec& spec) const {
    for (uint32_t b : entry.inputs) {
      const Buffer& buffer = program_.buffers[b];
      const auto given = spec.tensors.find(buffer.name);
      if (given == spec.tensors.end()) {
        return Error(Code::kInvalidArgument, "input '", buffer.name, "' is not given");
      }
      AICF_RETURN_IF_ERROR(Fits("input", buffer, given->second));
    }
    for (uint32_t b : entry.metas) {
      const Buffer& buffer = program_.buffers[b];
      const auto given = spec.tensors.find(buffer.name);
      if (given != spec.tensors.end()) {
        AICF_RETURN_IF_ERROR(Fits("meta", buffer, given->second));
      }
    }
    return OkStatus();
  }

  static Status Fits(std::string_view what, const Buffer& buffer, const ir::Tensor& given) {
    if (Holds(given, buffer.dtype) && given.shape() == buffer.shape) return OkStatus();
    return Error(Code::kInvalidArgument, what, " '", buffer.name, "' is ", Found(given),
                 ", expected ", Expected(buffer));
  }

  Status AddGiven(const GoldenSpec& spec, const EntryPoint& entry, schema::GoldenSample& sample) {
    std::set<std::string, std::less<>> known;
    for (const schema::GoldenTensor& t : sample.inputs) known.insert(t.name);
    for (size_t o = 0; o < entry.model_outputs(); ++o) {
      const Buffer& buffer = program_.buffers[entry.outputs[o]];
      const auto given = spec.tensors.find(buffer.name);
      if (given == spec.tensors.end() || !known.insert(buffer.name).second) continue;
      if (!Holds(given->second, buffer.dtype) || !MayHave(entry, o, given->second.shape())) {
        return Error(Code::kInvalidArgument, "output '", buffer.name, "' is ", Found(given->second),
                     ", expected ", Expected(buffer));
      }
      sample.outputs.push_back(As(buffer, given->second));
    }
    for (const auto& [name, tensor] : spec.tensors) {
      if (known.contains(name)) continue;
      return Error(Code::kInvalidArgument, "the model has no input or output '", name, "'");
    }
    return OkStatus();
  }

  bool MayHave(const EntryPoint& entry, size_t output, Dims shape) const {
    const Dims& whole = program_.buffers[entry.outputs[output]].shape;
    const schema::OutputExtent* extent = entry.ExtentOf(output);
    if (extent != nullptr && shape.rank() == whole.rank()) {
      const int axis = static_cast<int>(extent->axis);
      if (shape[axis] <= whole[axis]) shape[axis] = whole[axis];
    }
    return shape == whole;
  }

  Status AddComputed(const EntryPoint& entry, schema::GoldenSample& sample) {
    sample.origin = schema::GoldenOrigin::kReference;
    std::vector<ir::Tensor> inputs;
    const ir::Lowered& lowered = *lowered_[sample.entry];
    for (ir::BufferId b : lowered.inputs) inputs.push_back(InputOf(lowered.buffers[b], sample));
    AICF_ASSIGN_OR_RETURN(std::vector<ir::Tensor> outputs, Interpret(lowered, inputs));
    DropStates(lowered, outputs);
    for (size_t o = 0; o < entry.model_outputs(); ++o) {
      const schema::OutputExtent* extent = entry.ExtentOf(o);
      computed_.push_back(extent == nullptr ? outputs[o]
                                            : Cut(outputs[o], static_cast<int>(extent->axis),
                                                  outputs[extent->count].IntAt(0)));
      sample.outputs.push_back(As(program_.buffers[entry.outputs[o]], computed_.back()));
    }
    return OkStatus();
  }

  /// As the sample has it; a state, or a meta that is not given, is zero, as in a fresh session.
  static ir::Tensor InputOf(const ir::LoweredBuffer& input, const schema::GoldenSample& sample) {
    for (const schema::GoldenTensor& t : sample.inputs) {
      if (t.name == input.name) return {t.dtype, t.shape, t.data, nullptr};
    }
    const int64_t bytes = *ElementCount(input.shape) * DTypeBytes(input.dtype);
    return ir::Tensor::Own(input.dtype, input.shape,
                           std::vector<std::byte>(static_cast<size_t>(bytes)));
  }

  /// The outputs that the entry point has.
  static void DropStates(const ir::Lowered& lowered, std::vector<ir::Tensor>& outputs) {
    size_t o = 0;
    std::erase_if(outputs, [&](const ir::Tensor&) {
      const ir::BufferId b = lowered.outputs[o++];
      return std::ranges::any_of(lowered.states,
                                 [b](const ir::LoweredState& s) { return s.present == b; });
    });
  }

  /// The first `count` positions along an axis.
  static ir::Tensor Cut(const ir::Tensor& whole, int axis, int64_t count) {
    Dims shape = whole.shape();
    const int64_t extent = shape[axis];
    shape[axis] = std::clamp<int64_t>(count, 0, extent);
    const int64_t rows = *ElementCount(Dims(std::span(shape.begin(), shape.begin() + axis)));
    const auto row = rows == 0 ? 0 : whole.bytes().size() / static_cast<size_t>(rows);
    const size_t kept =
        extent == 0 ? 0 : row / static_cast<size_t>(extent) * static_cast<size_t>(shape[axis]);
    std::vector<std::byte> bytes;
    for (int64_t r = 0; r < rows; ++r) {
      const auto from = whole.bytes().subspan(static_cast<size_t>(r) * row, kept);
      bytes.insert(bytes.end(), from.begin(), from.end());
    }
    return ir::Tensor::Own(whole.dtype(), shape, std::move(bytes));
  }

  const Program& program_;
  const std::vector<const ir::Lowered*>& lowered_;
  schema::Golden golden_;
  std::vector<ir::Tensor> computed_;  ///< owns what the samples point to
};

}  // namespace

Status AttachGolden(const std::vector<GoldenSpec>& specs,
                    const std::vector<const ir::Lowered*>& lowered, schema::Contents& contents) {
  if (specs.empty()) return OkStatus();
  if (specs.size() > schema::kMaxGoldenSamples) {
    return Error(Code::kInvalidArgument, "--golden: ", specs.size(), " samples, at most ",
                 schema::kMaxGoldenSamples);
  }
  Attacher attacher(contents.program, lowered);
  for (size_t i = 0; i < specs.size(); ++i) {
    const Status added = attacher.Add(specs[i]);
    if (!added.ok()) return added.WithContext(StrCat("--golden, sample ", i + 1));
  }
  contents.golden = schema::EncodeGolden(attacher.golden());
  return OkStatus();
}

}  // namespace aicf
