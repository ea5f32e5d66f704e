#include "compiler/passes/lowered/scaled_weights.h"

#include "compiler/ir/views.h"
#include "compiler/passes/storage/narrow_tensor.h"

namespace aicf {
namespace {

// The first matrix of the batch, [K, N].
abi::View MatrixOf(const abi::View& view) {
  const int k = view.shape.rank() - 2;
  return {view.dtype,
          {view.shape[k], view.shape[k + 1]},
          {view.strides[k], view.strides[k + 1]},
          view.offset};
}

ir::LoweredBuffer VectorNamed(std::string name, const std::vector<double>& values) {
  const std::vector<float> rounded(values.begin(), values.end());
  const Dims shape = {static_cast<int64_t>(values.size())};
  ir::LoweredBuffer buffer;
  buffer.name = std::move(name);
  buffer.shape = shape;
  buffer.role = schema::Role::kConstant;
  buffer.constant = ir::Tensor::FromValues<float>(DType::kF32, shape, rounded);
  return buffer;
}

}  // namespace

std::vector<double> LastAxisOf(const ir::LoweredBuffer& constant, const abi::View& view) {
  const int last = view.shape.rank() - 1;
  std::vector<double> out;
  for (int64_t k = 0; k < view.shape[last]; ++k)
    out.push_back(constant.constant.FloatAt(view.offset + k * view.strides[last]));
  return out;
}

std::string ScaledWeights::Refusal(const ir::LoweredBuffer& buffer, const abi::View& view) {
  if (!buffer.constant.has_data()) return StrCat("weights: '", buffer.name, "' is no constant");
  for (int d = 0; d + 2 < view.shape.rank(); ++d) {
    if (view.shape[d] != 1 && view.strides[d] != 0)
      return StrCat("weights: '", buffer.name, "' has a matrix for each of the batch");
  }
  const bool stored = view.dtype == DType::kF16 || view.dtype == DType::kBF16;
  if (!stored)
    return StrCat("dtype: '", buffer.name, "' is ", DTypeName(view.dtype), ", not of 16 bits");
  const abi::View matrix = MatrixOf(view);
  return ir::CoversWhole(matrix, buffer.constant.count())
             ? ""
             : StrCat("weights: '", buffer.name, "' is read in part");
}

ScaledWeights::ScaledWeights(const ir::LoweredBuffer& buffer, const abi::View& view,
                             const std::vector<double>& gain, const std::vector<double>& shift) {
  const abi::View matrix = MatrixOf(view);
  const int64_t terms = matrix.shape[0], columns = matrix.shape[1];
  const auto place = [&](int64_t k, int64_t n) {
    return matrix.offset + k * matrix.strides[0] + n * matrix.strides[1];
  };
  const ir::Tensor& old = buffer.constant;
  ir::Tensor stored = old;
  if (!gain.empty()) {
    std::vector<float> scaled(static_cast<size_t>(old.count()));
    for (int64_t k = 0; k < terms; ++k) {
      const double factor = gain[static_cast<size_t>(k)];
      for (int64_t n = 0; n < columns; ++n) {
        const int64_t at = place(k, n);
        scaled[static_cast<size_t>(at)] = static_cast<float>(factor * old.FloatAt(at));
      }
    }
    const auto wide = ir::Tensor::FromValues<float>(DType::kF32, old.shape(), scaled);
    const std::string lost = storage::LosesDigits(wide, view.dtype);
    if (!lost.empty()) {
      refusal_ = StrCat("weights: '", buffer.name, "' with their gain: ", lost);
      return;
    }
    stored = storage::Narrowed(wide, view.dtype);
  }
  std::vector<double> sums(static_cast<size_t>(columns)), shifted(static_cast<size_t>(columns));
  for (int64_t k = 0; k < terms; ++k) {
    for (int64_t n = 0; n < columns; ++n) {
      sums[static_cast<size_t>(n)] += stored.FloatAt(place(k, n));
      if (!shift.empty())
        shifted[static_cast<size_t>(n)] += shift[static_cast<size_t>(k)] * old.FloatAt(place(k, n));
    }
  }
  weights_ = buffer;
  if (!gain.empty()) weights_.name += " with gain";
  weights_.constant = stored;
  sums_ = VectorNamed(StrCat(weights_.name, " summed"), sums);
  shifted_ = VectorNamed(StrCat(buffer.name, " of the shift"), shifted);
}

}  // namespace aicf
