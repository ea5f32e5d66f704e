#include "kernels/abi/tensor_map.h"

#include <algorithm>

#include "base/checked.h"

namespace aicf::abi {
namespace {

constexpr int64_t kMaxMapExtent = int64_t{1} << 32;
constexpr int64_t kMaxStrideBytes = int64_t{1} << 40;
constexpr int64_t kMaxBox = 256;
constexpr int64_t kMaxStep = 8;
constexpr int64_t kPieceBytes = 16;  // addresses and strides are multiples of this

const View* OperandOf(const TensorMap& map, const Problem& p) {
  if (map.operand < p.inputs.size()) return &p.inputs[map.operand];
  const size_t output = map.operand - p.inputs.size();
  return output < p.outputs.size() ? &p.outputs[output] : nullptr;
}

bool IsMoved(DType dtype) {
  const int64_t bytes = DTypeBytes(dtype);
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/// Most bytes that the box may have along the innermost axis in a swizzling mode; 0: no limit.
int64_t SpanOf(Swizzle swizzle) {
  constexpr int64_t kSpans[] = {0, 32, 64, 128};
  return kSpans[static_cast<int>(swizzle)];
}

std::string CheckAxis(const TensorMap& map, int axis, int64_t element) {
  if (map.extents[axis] < 1 || map.extents[axis] > kMaxMapExtent) {
    return StrCat("extent ", map.extents[axis], " of axis ", axis, " is not in 1 to 2^32");
  }
  if (map.box[axis] < 1 || map.box[axis] > kMaxBox) {
    return StrCat("a box of ", map.box[axis], " along axis ", axis, " is not in 1 to ", kMaxBox);
  }
  if (map.steps[axis] < 1 || map.steps[axis] > kMaxStep) {
    return StrCat("step ", map.steps[axis], " of axis ", axis, " is not in 1 to ", kMaxStep);
  }
  if (axis == 0) return map.strides[0] == 1 ? "" : "the innermost axis is not contiguous";
  int64_t bytes = 0;
  const bool fits = CheckedMul(map.strides[axis], element, &bytes);
  if (!fits || bytes < 0 || bytes >= kMaxStrideBytes || bytes % kPieceBytes != 0) {
    return StrCat("stride ", map.strides[axis], " of axis ", axis,
                  " is not a multiple of 16 bytes below 2^40");
  }
  return {};
}

std::string CheckInnerBox(const TensorMap& map, int64_t element) {
  const int64_t bytes = map.box[0] * element;
  if (bytes % kPieceBytes != 0) {
    return StrCat("the innermost box has ", bytes, " bytes, not a multiple of 16");
  }
  const int64_t span = SpanOf(map.swizzle);
  if (span != 0 && bytes > span) {
    return StrCat("the innermost box has ", bytes, " bytes, the swizzle allows ", span);
  }
  return {};
}

/// Checks that all elements of the map lie between the first and the last of the view.
std::string CheckReach(const TensorMap& map, const View& view, int64_t element) {
  const Result<Extent> extent = ExtentOf(view);
  if (!extent.ok()) return extent.status().message();
  int64_t last = map.offset;
  for (int d = 0; d < map.extents.rank(); ++d) {
    int64_t way = 0;
    if (!CheckedMul(map.extents[d] - 1, map.strides[d], &way) || !CheckedAdd(last, way, &last)) {
      return "its last element is out of range";
    }
  }
  int64_t begin = 0, end = 0;
  if (!CheckedMul(map.offset, element, &begin) || !CheckedAdd<int64_t>(last, 1, &last) ||
      !CheckedMul(last, element, &end)) {
    return "its last element is out of range";
  }
  if (begin >= extent->begin && end <= extent->end) return {};
  return StrCat("it spans bytes ", begin, " to ", end, " of an operand with bytes ", extent->begin,
                " to ", extent->end);
}

std::string CheckRanks(const TensorMap& map) {
  const int rank = map.extents.rank();
  if (rank < 1 || rank > kMaxTensorMapRank) return StrCat("it has ", rank, " axes, not 1 to 5");
  if (map.strides.rank() != rank || map.box.rank() != rank || map.steps.rank() != rank) {
    return "its lists are not of one length";
  }
  return {};
}

std::string CheckShape(const TensorMap& map, int64_t element) {
  for (int d = 0; d < map.extents.rank(); ++d) {
    std::string refusal = CheckAxis(map, d, element);
    if (!refusal.empty()) return refusal;
  }
  int64_t begin = 0;
  if (map.offset < 0 || !CheckedMul(map.offset, element, &begin) || begin % kPieceBytes != 0) {
    return StrCat("offset ", map.offset, " is not a multiple of 16 bytes");
  }
  return CheckInnerBox(map, element);
}

}  // namespace

int64_t BoxBytes(const TensorMap& map, DType dtype) {
  int64_t bytes = DTypeBytes(dtype);
  for (int d = 0; d < map.box.rank(); ++d) bytes *= CeilDiv(map.box[d], map.steps[d]);
  return bytes;
}

std::string CheckTensorMap(const TensorMap& map, const Problem& problem) {
  const View* view = OperandOf(map, problem);
  if (view == nullptr) return StrCat("operand ", map.operand, " is not there");
  if (!IsMoved(view->dtype)) return StrCat("does not move ", DTypeName(view->dtype));
  if (map.swizzle >= Swizzle::kCount || map.fill >= BoxFill::kCount) return "an unknown mode";
  if (map.tf32 && view->dtype != DType::kF32) return "rounds f32 alone to tf32";
  if (map.fill == BoxFill::kNan && !IsFloat(view->dtype)) return "fills integers with NaN";
  std::string refusal = CheckRanks(map);
  if (refusal.empty()) refusal = CheckShape(map, DTypeBytes(view->dtype));
  if (refusal.empty()) refusal = CheckReach(map, *view, DTypeBytes(view->dtype));
  return refusal;
}

}  // namespace aicf::abi
