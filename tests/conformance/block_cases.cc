// Random problems of the families that read blocks of quantised elements: dequantize, blockgemm.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <ranges>

#include "base/float16.h"
#include "kernels/cpu/expr/scalar_eval.h"
#include "tests/conformance/case_maker.h"

namespace aicf::conformance {
namespace {

const std::vector<DType> kRows = {DType::kF32, DType::kF32, DType::kF16, DType::kBF16};

/// The bytes of a block at which its f16 numbers begin.
std::vector<size_t> HalvesOf(BlockFormat format) {
  switch (format) {
    case BlockFormat::kQ4_1:
    case BlockFormat::kQ5_1:
    case BlockFormat::kQ4_K:
    case BlockFormat::kQ5_K:
      return {0, 2};
    case BlockFormat::kQ2_K:
      return {80, 82};
    case BlockFormat::kQ3_K:
      return {108};
    case BlockFormat::kQ6_K:
      return {208};
    default:
      return {0};
  }
}

bool IsElement(BlockFormat format) { return InfoOf(format).elements == 1; }

DType ElementOf(BlockFormat format) {
  if (format == BlockFormat::kF32) return DType::kF32;
  return format == BlockFormat::kF16 ? DType::kF16 : DType::kBF16;
}

/// An upper bound for the elements of FillBlocks. It is larger for K formats (256 elements a
/// block), where codes are also multiplied by the scales of groups.
double LargestElement(BlockFormat format, bool whole) {
  if (IsElement(format)) return whole ? 4 : 1;
  return (InfoOf(format).elements == 256 ? 4096 : 132) * (whole ? 1.0 : 0x1p-6);
}

/// Rounding error of a product in the math mode, relative to the largest magnitudes of its factors.
double RoundingOf(abi::MathMode math) {
  switch (math) {
    case abi::MathMode::kInt8:
      return 1.0 / 127;
    case abi::MathMode::kFp16:
      return 0x1p-10;
    case abi::MathMode::kBf16:
      return 0x1p-7;
    default:
      return 0;
  }
}

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

abi::View CaseMaker::BlockView(BlockFormat format, const Dims& rows, int64_t length) {
  const BlockFormatInfo& info = InfoOf(format);
  Dims shape = rows;
  shape.push_back(length / info.elements * info.bytes);
  abi::View v = abi::DenseView(DType::kU8, shape);
  v.offset = random_.OneIn(3) ? random_.Int(1, 20) : 0;
  std::vector<int> order;
  for (int axis = 0; axis < rows.rank(); ++axis) order.push_back(axis);
  if (random_.OneIn(3)) std::ranges::reverse(order);
  int64_t stride = shape.back() + (random_.OneIn(3) ? random_.Int(1, 9) : 0);
  for (int axis : std::views::reverse(order)) {
    const int64_t extent = std::max<int64_t>(1, shape[axis]);
    const bool repeats = random_.OneIn(9), backwards = random_.OneIn(6);
    v.strides[axis] = repeats ? 0 : backwards ? -stride : stride;
    if (backwards && !repeats) v.offset += (extent - 1) * stride;
    if (!repeats) stride *= extent;
  }
  return v;
}

void CaseMaker::FillBlocks(size_t buffer, BlockFormat format) {
  const bool whole = options_.whole_numbers;
  if (!IsElement(format)) FillSteps(buffer, 0, 255);
  const abi::View& view = p_.inputs[buffer];
  std::vector<std::byte>& bytes = case_.buffers[buffer];
  const auto block = static_cast<int64_t>(InfoOf(format).bytes);
  Dims blocks = view.shape;
  blocks[blocks.rank() - 1] /= block;
  const int64_t count = ElementCount(blocks).value_or(0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = view.offset, rest = i;
    for (int axis = blocks.rank() - 1; axis >= 0; --axis) {
      const int64_t step = view.strides[axis] * (axis == blocks.rank() - 1 ? block : 1);
      at += rest % blocks[axis] * step;
      rest /= blocks[axis];
    }
    std::byte* to = bytes.data() + at;
    if (IsElement(format)) {
      const double value = static_cast<double>(random_.Int(-4, 4)) * (whole ? 1 : 0.23);
      cpu::StoreScalar(to, ElementOf(format), cpu::ScalarFromDouble(value, DType::kF32));
      continue;
    }
    for (size_t half : HalvesOf(format)) {
      const double scale = whole ? 1 : 0x1p-6 * (0.25 + 0.75 * random_.Real(0, 1));
      const uint16_t bits = F32ToF16(static_cast<float>(scale));
      std::memcpy(to + half, &bits, sizeof bits);
    }
  }
}

template <>
void CaseMaker::Fresh<abi::Family::kDequantize>() {
  const auto format = static_cast<BlockFormat>(random_.Int(0, kBlockFormatCount - 1));
  const int64_t length = InfoOf(format).elements * random_.Int(random_.OneIn(20) ? 0 : 1, 4);
  Dims shape = RandomShape(random_, 0, 3, std::max<int64_t>(1, options_.max_elements / 256));
  p_.attrs = abi::DequantizeAttrs{format};
  p_.inputs = {BlockView(format, shape, length)};
  p_.core_inputs = 1;
  shape.push_back(length);
  Finish(DType::kF32, random_.Pick(kRows), shape);
  FillBlocks(0, format);
  if (!options_.whole_numbers) case_.tolerance = {2, 0x1p-22 * LargestElement(format, false)};
}

template <>
void CaseMaker::Fresh<abi::Family::kBlockGemm>() {
  const auto format = static_cast<BlockFormat>(random_.Int(0, kBlockFormatCount - 1));
  const int64_t elements = InfoOf(format).elements;
  const int64_t most = elements == 256 ? 3 : elements == 32 ? 12 : 70;
  const int64_t length = elements * random_.Int(random_.OneIn(25) ? 0 : 1, most);
  abi::BlockGemmAttrs attrs{format};
  // Halves only where they are asked for, because kernels for many rows do not take them.
  attrs.halves = std::max<int64_t>(1, options_.halves);
  int64_t n = random_.Int(1, random_.OneIn(3) ? 150 : 40);
  if (options_.columns > 0) n = random_.Int(options_.columns / 2, options_.columns * 2);
  // Two thirds of these cases have halves of whole panels, which the kernels with halves take.
  if (attrs.halves == 2 && !random_.OneIn(3)) n = RoundUp(n, 16);
  Dims rows = {options_.rows > 0 ? options_.rows : random_.Int(1, random_.OneIn(3) ? 40 : 6)};
  if (random_.OneIn(3)) rows = {random_.Int(1, 3), rows[0]};
  const bool whole = options_.whole_numbers;
  p_.math = random_.Pick(options_.math);
  if (p_.math == abi::MathMode::kTf32 || p_.math == abi::MathMode::kFp8) {
    p_.math = abi::MathMode::kFp32;
  }
  if (p_.math == abi::MathMode::kFp32 && length % 32 == 0 && random_.OneIn(2)) {
    p_.math = abi::MathMode::kInt8;
  }
  Dims a = rows, out = rows;
  a.push_back(length);
  out.push_back(n);
  p_.inputs = {MatrixView(random_.Pick(kRows), a), BlockView(format, {n * attrs.halves}, length)};
  p_.core_inputs = 2;
  if (options_.row_norm) {
    attrs.rms_epsilon = random_.OneIn(3) ? 0 : 0x1p-12;
    p_.inputs.push_back(Gain());
    p_.core_inputs = 3;
  }
  p_.attrs = attrs;
  // Whole numbers are exact in 16 bits, except in blocks of 256, whose elements have more digits.
  // Where sums are rounded, the epilogue must have no discontinuous operator.
  const bool is_rounded =
      p_.math == abi::MathMode::kInt8 || (p_.math != abi::MathMode::kFp32 && elements == 256);
  if (whole && is_rounded) {
    AddBias(DType::kF32, DType::kF32, out);
    Fill();
  } else {
    Finish(DType::kF32, DType::kF32, out);
  }
  FillBlocks(1, format);
  // Four standard deviations of the rounding of the sum, plus what the math mode rounds; 8-bit
  // integers round by at most half a step of 1/127.
  const double largest = LargestElement(format, whole) * (whole ? 4 : 1);
  const double root = std::sqrt(static_cast<double>(length) + 16);
  if (!whole || is_rounded || elements == 256) {
    case_.tolerance = {2, largest * root * (0x1p-22 + RoundingOf(p_.math))};
  }
  // A normalised value is at most the square root of the number of values.
  if (options_.row_norm) case_.tolerance.absolute *= 1 + root;
}

}  // namespace aicf::conformance
