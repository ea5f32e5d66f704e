#include "compiler/passes/quantize/samples.h"

#include <algorithm>
#include <cmath>

namespace aicf::quantize {
namespace {

bool IsZeroWithoutSample(const ir::Lowered& lowered, ir::BufferId b) {
  return lowered.buffers[b].role == schema::Role::kMeta ||
         std::ranges::any_of(lowered.states,
                             [b](const ir::LoweredState& s) { return s.past == b; });
}

// Files hold bf16 and smaller types as their bits.
bool Holds(const ir::Tensor& t, DType dtype) {
  return t.dtype() == dtype || ((dtype == DType::kBF16 || IsStorageOnly(dtype)) &&
                                !IsFloat(t.dtype()) && DTypeBytes(t.dtype()) == DTypeBytes(dtype));
}

// How many tensors of the input's shape `expected` a sample's tensor of shape `found` holds, one
// after the other along its first axis; 0: it does not fit.
int64_t PiecesOf(const Dims& found, const Dims& expected) {
  if (found == expected) return 1;
  if (expected.rank() == 0 || found.rank() != expected.rank() || expected[0] == 0) return 0;
  Dims rest = found;
  rest[0] = expected[0];
  if (rest != expected || found[0] % expected[0] != 0) return 0;
  return found[0] / expected[0];
}

ir::Tensor Piece(const ir::Tensor& all, const ir::LoweredBuffer& input, int64_t piece) {
  const size_t bytes = ir::BytesOf(input);
  const auto from = all.bytes().subspan(static_cast<size_t>(piece) * bytes, bytes);
  return ir::Tensor::Own(input.dtype, input.shape, {from.begin(), from.end()});
}

std::string TextOf(DType dtype, const Dims& shape) {
  return StrCat(DTypeName(dtype), " ", ToString(shape));
}

Status CheckFinite(const ir::Tensor& t, const std::string& input) {
  if (!IsFloat(t.dtype())) return OkStatus();
  for (int64_t i = 0; i < t.count(); ++i) {
    if (std::isfinite(t.FloatAt(i))) continue;
    return Error(Code::kInvalidArgument, "input '", input, "': element ", i, " is ", t.FloatAt(i),
                 ", expected a finite number");
  }
  return OkStatus();
}

// The name that a file of this input has: a file's name holds no '/'.
std::string FileNameOf(std::string input) {
  std::ranges::replace(input, '/', '_');
  return input;
}

// One sample while it is fitted.
class Fitter {
 public:
  Fitter(const ir::Lowered& lowered, const NamedTensors& tensors)
      : lowered_(lowered), tensors_(tensors) {}

  Status Find() {
    std::vector<ir::BufferId> needed;
    for (const ir::BufferId b : lowered_.inputs) {
      if (!IsZeroWithoutSample(lowered_, b)) needed.push_back(b);
    }
    if (tensors_.contains("") && needed.size() != 1) {
      return Error(Code::kInvalidArgument,
                   "a file alone is a sample of a model with one input, and ", "this one has ",
                   needed.size(), ": give NAME:FILE.npy for each, or a folder for each sample");
    }
    for (const ir::BufferId b : lowered_.inputs) AICF_RETURN_IF_ERROR(FindInput(b));
    for (const auto& [name, tensor] : tensors_) {
      if (name.empty() || IsInput(name)) continue;
      return Error(Code::kInvalidArgument, "the model has no input '", name, "'");
    }
    return OkStatus();
  }

  std::vector<FittedSample> Take(const std::string& name) const {
    std::vector<FittedSample> samples;
    for (int64_t piece = 0; piece < std::max<int64_t>(pieces_, 1); ++piece) {
      FittedSample sample{name, {}};
      for (size_t i = 0; i < found_.size(); ++i) {
        const ir::LoweredBuffer& input = lowered_.buffers[lowered_.inputs[i]];
        const bool whole = found_[i].shape() == input.shape;
        sample.inputs.push_back(Piece(found_[i], input, whole ? 0 : piece));
      }
      samples.push_back(std::move(sample));
    }
    return samples;
  }

 private:
  bool IsInput(const std::string& name) const {
    return std::ranges::any_of(lowered_.inputs, [&](ir::BufferId b) {
      const std::string& input = lowered_.buffers[b].name;
      return input == name || FileNameOf(input) == name;
    });
  }

  Status FindInput(ir::BufferId b) {
    const ir::LoweredBuffer& input = lowered_.buffers[b];
    auto given = tensors_.find(input.name);
    if (given == tensors_.end()) given = tensors_.find(FileNameOf(input.name));
    const bool zero = IsZeroWithoutSample(lowered_, b);
    if (given == tensors_.end() && !zero) given = tensors_.find("");
    if (given == tensors_.end()) {
      if (!zero) {
        return Error(Code::kInvalidArgument, "input '", input.name, "' is missing, expected ",
                     TextOf(input.dtype, input.shape));
      }
      found_.push_back(
          ir::Tensor::Own(input.dtype, input.shape, std::vector<std::byte>(ir::BytesOf(input))));
      return OkStatus();
    }
    const ir::Tensor& t = given->second;
    const int64_t pieces = Holds(t, input.dtype) ? PiecesOf(t.shape(), input.shape) : 0;
    if (pieces == 0 || (pieces > 1 && pieces_ > 1 && pieces != pieces_)) {
      return Error(Code::kInvalidArgument, "input '", input.name, "': expected ",
                   TextOf(input.dtype, input.shape), pieces == 0 ? "" : " as often as the others",
                   ", found ", TextOf(t.dtype(), t.shape()));
    }
    AICF_RETURN_IF_ERROR(CheckFinite(t, input.name));
    pieces_ = std::max(pieces_, pieces);
    found_.push_back(t);
    return OkStatus();
  }

  const ir::Lowered& lowered_;
  const NamedTensors& tensors_;
  std::vector<ir::Tensor> found_;
  int64_t pieces_ = 0;
};

}  // namespace

Result<std::vector<FittedSample>> FitSample(const ir::Lowered& lowered,
                                            const CalibrationSample& sample) {
  Fitter fitter(lowered, sample.tensors);
  const Status status = fitter.Find();
  if (!status.ok()) return status.WithContext(sample.name);
  return fitter.Take(sample.name);
}

}  // namespace aicf::quantize
