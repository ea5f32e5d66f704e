#include "compiler/passes/storage/narrow_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/float16.h"
#include "base/status.h"

namespace aicf::storage {
namespace {

uint16_t Rounded(float value, DType narrow) {
  return narrow == DType::kF16 ? F32ToF16(value) : F32ToBF16(value);
}

float Widened(uint16_t bits, DType narrow) {
  return narrow == DType::kF16 ? F16ToF32(bits) : BF16ToF32(bits);
}

// The largest relative error (root of the mean square) that is accepted: four times that of numbers
// in the normal range.
double MostError(DType narrow) { return narrow == DType::kF16 ? 8e-4 : 6.5e-3; }

std::string Short(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

}  // namespace

double LargestOf(DType narrow) {
  return narrow == DType::kF16 ? 65504.0 : static_cast<double>(BF16ToF32(0x7f7f));
}

std::string LosesDigits(const ir::Tensor& tensor, DType narrow) {
  double largest = 0, values = 0, errors = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const auto value = tensor.at<float>(i);
    if (!std::isfinite(value)) continue;
    const float back = Widened(Rounded(value, narrow), narrow);
    largest = std::max(largest, static_cast<double>(std::fabs(value)));
    if (!std::isfinite(back)) continue;
    const double exact = value, error = back - exact;
    values += exact * exact;
    errors += error * error;
  }
  if (largest > LargestOf(narrow)) {
    return StrCat("it reaches ", Short(largest), ", above ", Short(LargestOf(narrow)));
  }
  const double error = values > 0 ? std::sqrt(errors / values) : 0;
  if (error <= MostError(narrow)) return "";
  return StrCat("its relative error would be ", Short(error), ", above ", Short(MostError(narrow)));
}

ir::Tensor Narrowed(const ir::Tensor& tensor, DType narrow) {
  std::vector<uint16_t> out(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = Rounded(tensor.at<float>(static_cast<int64_t>(i)), narrow);
  }
  return ir::Tensor::FromValues<uint16_t>(narrow, tensor.shape(), out);
}

}  // namespace aicf::storage
