// Random problems of the families that map, move and reduce elements.
#include <algorithm>

#include "tests/conformance/case_maker.h"

namespace aicf::conformance {
namespace {

Dims Axes(Random& random, int rank, bool at_least_one) {
  Dims axes;
  for (int d = 0; d < rank; ++d) {
    if (random.OneIn(2)) axes.push_back(d);
  }
  if (axes.empty() && at_least_one) axes.push_back(random.Int(0, rank - 1));
  return axes;
}

}  // namespace

using abi::View;

template <>
void CaseMaker::Fresh<abi::Family::kElementwise>() {
  p_.attrs = abi::ElementwiseAttrs{};
  const Dims shape = RandomShape(random_, 0, 5, options_.max_elements);
  std::vector<DType> inputs, results;
  const int64_t count = random_.Int(0, 4), outputs = random_.Int(1, 3);
  for (int64_t k = 0; k < count; ++k) {
    inputs.push_back(random_.Pick(kAnyDType));
    p_.inputs.push_back(In(inputs.back(), shape));
  }
  for (int64_t r = 0; r < outputs; ++r) {
    results.push_back(random_.Pick(kAnyDType));
    p_.outputs.push_back(Out(results.back(), shape));
  }
  p_.core_inputs = static_cast<int>(count);
  p_.epilogue =
      RandomExpr(random_, inputs, results, shape.rank(), static_cast<int>(random_.Int(1, 14)));
  Fill();
}

template <>
void CaseMaker::Fresh<abi::Family::kCopy>() {
  abi::CopyAttrs a;
  const Dims shape = RandomShape(random_, 0, 5, options_.max_elements);
  const DType dtype = random_.Pick(kAnyDType);
  p_.outputs = {Out(dtype, shape)};
  a.has_fill = random_.OneIn(2);
  if (a.has_fill) a.fill = static_cast<double>(random_.Int(0, 3));
  // The output is cut into pieces along one axis. With a fill, pieces may be missing or smaller
  // than their part.
  const int axis = shape.rank() == 0 ? -1 : static_cast<int>(random_.Int(0, shape.rank() - 1));
  int64_t at = 0;
  const int64_t end = axis < 0 ? 1 : shape[axis];
  while (at < end) {
    const int64_t length = random_.OneIn(2) ? end - at : random_.Int(1, end - at);
    Dims start = Dims::Filled(shape.rank(), 0), piece = shape;
    if (axis >= 0) {
      start[axis] = at;
      piece[axis] = length;
    }
    for (int d = 0; a.has_fill && d < shape.rank(); ++d) {
      const int64_t cut = random_.OneIn(3) ? random_.Int(0, piece[d]) : 0;
      start[d] += cut;
      piece[d] -= cut;
    }
    at += length;
    if (a.has_fill && random_.OneIn(4)) continue;
    p_.inputs.push_back(In(dtype, piece));
    a.starts.push_back(start);
  }
  p_.attrs = a;
  p_.core_inputs = static_cast<int>(p_.inputs.size());
  // A copy of a single whole piece gets no epilogue: it may be a transpose, and few cases are.
  const bool several = p_.inputs.size() > 1 || (a.has_fill && !p_.inputs.empty());
  if (several && random_.OneIn(2)) ConvertCopied(dtype, shape);
  Fill();
}

// Gives the copy an epilogue, which reads nothing but what is copied.
void CaseMaker::ConvertCopied(DType dtype, const Dims& shape) {
  std::vector<DType> results;
  p_.outputs.clear();
  const int64_t outputs = random_.OneIn(3) ? 2 : 1;
  for (int64_t r = 0; r < outputs; ++r) {
    results.push_back(random_.Pick(kAnyDType));
    p_.outputs.push_back(Out(results.back(), shape));
  }
  p_.epilogue =
      RandomExpr(random_, {dtype}, results, shape.rank(), static_cast<int>(random_.Int(1, 8)));
}

// Adds core inputs of the shape and, often, a prologue over them. Returns the prologue's dtype.
DType CaseMaker::Cores(const Dims& shape, const std::vector<DType>& dtypes) {
  std::vector<DType> inputs;
  const int64_t count = random_.OneIn(3) ? random_.Int(2, 3) : 1;
  for (int64_t k = 0; k < count; ++k) {
    inputs.push_back(random_.Pick(dtypes));
    p_.inputs.push_back(In(inputs.back(), shape));
  }
  p_.core_inputs = static_cast<int>(count);
  if (count == 1 && random_.OneIn(2)) return abi::ComputeDType(inputs[0]);
  const DType value = abi::ComputeDType(inputs[0]);
  abi::ExprBuilder b;
  uint16_t v = b.Input(0, value);
  for (size_t k = 1; k < inputs.size(); ++k) {
    const uint16_t x = b.Cast(b.Input(static_cast<int>(k), abi::ComputeDType(inputs[k])), value);
    v = b.Binary(value == DType::kBool ? abi::ExprOp::kMax : abi::ExprOp::kAdd, v, x);
  }
  if (value != DType::kBool) v = b.Unary(abi::ExprOp::kAbs, v);
  p_.prologue = b.Finish({v});
  return value;
}

template <>
void CaseMaker::Fresh<abi::Family::kReduce>() {
  abi::ReduceAttrs a;
  a.kind = static_cast<abi::ReduceKind>(random_.Int(0, 6));
  const bool arg = a.kind >= abi::ReduceKind::kArgMin;
  const Dims shape = RandomShape(random_, arg ? 1 : 0, 5, options_.max_elements);
  a.axes = arg ? Dims{random_.Int(0, shape.rank() - 1)} : Axes(random_, shape.rank(), false);
  a.last_index = random_.OneIn(2);
  Dims out = shape;
  for (int64_t axis : a.axes) out[static_cast<int>(axis)] = 1;
  if (arg && shape[static_cast<int>(a.axes[0])] == 0) a.kind = abi::ReduceKind::kSum;
  p_.attrs = a;
  const DType element = Cores(shape, a.kind == abi::ReduceKind::kProd ? kFloatDType : kAnyDType);
  const bool still_arg = a.kind >= abi::ReduceKind::kArgMin;
  const DType raw = still_arg ? DType::kI64 : element;
  // A mean or a product is rounded, so that a discontinuous operator after it could give another
  // result.
  const bool exact = options_.whole_numbers && a.kind != abi::ReduceKind::kProd &&
                     a.kind != abi::ReduceKind::kMean;
  if (exact) {
    Finish(raw, raw, out);
  } else {
    AddBias(raw, raw, out);
    Fill();
    case_.tolerance = {4, options_.whole_numbers ? 0 : 1e-5 * 40};
  }
}

template <>
void CaseMaker::Fresh<abi::Family::kNormalize>() {
  abi::NormalizeAttrs a;
  a.kind = static_cast<abi::NormalizeKind>(random_.Int(0, 3));
  const Dims shape = RandomShape(random_, 1, 4, options_.max_elements);
  a.axes = Axes(random_, shape.rank(), true);
  a.epsilon = random_.OneIn(2) ? 1e-5 : 0.125;
  p_.attrs = a;
  const DType raw = Cores(shape, kFloatDType);
  AddBias(raw, p_.inputs[0].dtype, shape);
  Fill();
  case_.tolerance = {2, 4e-6};
}

template <>
void CaseMaker::Fresh<abi::Family::kResize>() {
  abi::ResizeAttrs a;
  a.mode = static_cast<abi::ResizeMode>(random_.Int(0, 2));
  a.coordinates = static_cast<abi::CoordinateMode>(random_.Int(0, 5));
  a.nearest = static_cast<abi::NearestMode>(random_.Int(0, 3));
  a.exclude_outside = random_.OneIn(2);
  const int rank = static_cast<int>(random_.Int(1, 4));
  Dims x, y;
  for (int d = 0; d < rank; ++d) {
    x.push_back(random_.Int(1, 9));
    const bool kept = d < rank - 2 || random_.OneIn(4);
    // An axis is resized to a size, or by a scale whose product with the extent is no integer.
    double exact = static_cast<double>(random_.Int(11, 190)) / 100;
    const auto by_scale = static_cast<int64_t>(exact * static_cast<double>(x[d]));
    y.push_back(kept ? x[d] : random_.OneIn(2) && by_scale > 0 ? by_scale : random_.Int(1, 17));
    if (y[d] != by_scale) exact = static_cast<double>(y[d]) / static_cast<double>(x[d]);
    a.scales.push_back(kept ? 1.0 : static_cast<double>(static_cast<float>(exact)));
  }
  p_.attrs = a;
  const DType dtype =
      a.mode == abi::ResizeMode::kNearest ? random_.Pick(kAnyDType) : random_.Pick(kFloatDType);
  p_.inputs = {In(dtype, x)};
  p_.core_inputs = 1;
  if (a.mode == abi::ResizeMode::kNearest) return Finish(abi::ComputeDType(dtype), dtype, y);
  AddBias(abi::ComputeDType(dtype), dtype, y);
  Fill();
  case_.tolerance = {1, 1e-5};
}

template <>
void CaseMaker::Fresh<abi::Family::kTopK>() {
  abi::TopKAttrs a;
  const Dims shape = RandomShape(random_, 1, 4, options_.max_elements);
  a.axis = random_.Int(0, shape.rank() - 1);
  const int axis = static_cast<int>(a.axis);
  a.k = random_.Int(0, shape[axis]);
  a.largest = random_.OneIn(2);
  p_.attrs = a;
  const DType dtype = random_.Pick(kAnyDType);
  Dims out = shape;
  out[axis] = a.k;
  p_.inputs = {In(dtype, shape)};
  p_.core_inputs = 1;
  p_.outputs = {Out(dtype, out), Out(DType::kI64, out)};
  Fill();
}

}  // namespace aicf::conformance
