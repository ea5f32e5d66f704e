// Random problems of the families that move elements by index: gather, scatter, sample, roi, nms;
// and of scan.
#include <algorithm>

#include "kernels/cpu/expr/scalar_eval.h"
#include "tests/conformance/case_maker.h"

namespace aicf::conformance {
namespace {

const std::vector<DType> kIndexDType = {DType::kI64, DType::kI32, DType::kI64, DType::kU8};

}  // namespace

using abi::View;

void CaseMaker::FillSteps(size_t buffer, int64_t low, int64_t high, int64_t parts) {
  const size_t inputs = p_.inputs.size();
  const DType dtype = (buffer < inputs ? p_.inputs[buffer] : p_.outputs[buffer - inputs]).dtype;
  std::vector<std::byte>& bytes = case_.buffers[buffer];
  const auto item = static_cast<size_t>(DTypeBytes(dtype));
  for (size_t at = 0; at + item <= bytes.size(); at += item) {
    const double value = static_cast<double>(random_.Int(low, high)) / static_cast<double>(parts);
    cpu::StoreScalar(bytes.data() + at, dtype,
                     cpu::ScalarFromDouble(value, abi::ComputeDType(dtype)));
  }
}

void CaseMaker::FillIndices(size_t buffer) {
  int64_t longest = 1;
  for (int64_t e : p_.inputs[0].shape) longest = std::max(longest, e);
  const bool is_unsigned = KindOf(p_.inputs[buffer].dtype) == DTypeKind::kUnsigned;
  longest = std::min<int64_t>(longest, 100);
  FillSteps(buffer, is_unsigned ? 0 : -longest, longest);
}

template <>
void CaseMaker::Fresh<abi::Family::kGather>() {
  if (random_.OneIn(2)) return GatherTake();
  random_.OneIn(2) ? GatherElements() : GatherPoints();
  FillIndices(1);
}

void CaseMaker::GatherTake() {
  const Dims data = RandomShape(random_, 1, 4, options_.max_elements);
  abi::GatherAttrs a;
  a.axis = random_.Int(0, data.rank() - 1);
  const Dims index = RandomShape(random_, 0, 2, 40);
  Dims out;
  for (int d = 0; d < a.axis; ++d) out.push_back(data[d]);
  for (int64_t e : index) out.push_back(e);
  for (int d = static_cast<int>(a.axis) + 1; d < data.rank(); ++d) out.push_back(data[d]);
  p_.attrs = a;
  const DType dtype = random_.Pick(kAnyDType);
  const DType index_type = random_.Pick(std::vector<DType>{DType::kI64, DType::kI32, DType::kU8});
  p_.inputs = {In(dtype, data), In(index_type, index)};
  p_.core_inputs = 2;
  Finish(abi::ComputeDType(dtype), dtype, out);
}

void CaseMaker::GatherElements() {
  const Dims data = RandomShape(random_, 1, 4, options_.max_elements);
  const int axis = static_cast<int>(random_.Int(0, data.rank() - 1));
  Dims index = data;
  for (int d = 0; d < data.rank(); ++d) {
    index[d] = d == axis ? random_.Int(0, 12) : random_.Int(0, data[d]);
  }
  p_.attrs = abi::GatherAttrs{axis, abi::GatherKind::kElements, 0};
  const DType dtype = random_.Pick(kAnyDType);
  p_.inputs = {In(dtype, data), In(random_.Pick(kIndexDType), index)};
  p_.core_inputs = 2;
  Finish(abi::ComputeDType(dtype), dtype, index);
}

void CaseMaker::GatherPoints() {
  const Dims data = RandomShape(random_, 1, 4, options_.max_elements);
  const int64_t batch = random_.Int(0, std::min(2, data.rank() - 1));
  const int64_t n = random_.Int(0, data.rank() - batch);
  Dims index, out;
  for (int d = 0; d < batch; ++d) index.push_back(data[d]);
  for (int64_t k = random_.Int(0, 2); k > 0; --k) index.push_back(random_.Int(1, 6));
  out = index;
  index.push_back(n);
  for (int d = static_cast<int>(batch + n); d < data.rank(); ++d) out.push_back(data[d]);
  p_.attrs = abi::GatherAttrs{0, abi::GatherKind::kPoints, batch};
  const DType dtype = random_.Pick(kAnyDType);
  p_.inputs = {In(dtype, data), In(random_.Pick(kIndexDType), index)};
  p_.core_inputs = 2;
  Finish(abi::ComputeDType(dtype), dtype, out);
}

template <>
void CaseMaker::Fresh<abi::Family::kScatter>() {
  abi::ScatterAttrs a;
  Dims data = RandomShape(random_, 1, 4, options_.max_elements);
  if (random_.OneIn(6)) data = {random_.Int(1, 3), random_.Int(1000, 2500)};
  a.kind = random_.OneIn(2) ? abi::ScatterKind::kElements : abi::ScatterKind::kPoints;
  a.reduction = static_cast<abi::ScatterReduction>(random_.Int(0, 4));
  a.axis = random_.Int(0, data.rank() - 1);
  Dims index, updates;
  if (a.kind == abi::ScatterKind::kElements) {
    for (int d = 0; d < data.rank(); ++d) {
      index.push_back(d == a.axis ? random_.Int(0, 70) : random_.Int(0, data[d]));
    }
    updates = index;
  } else {
    const int64_t n = random_.Int(0, data.rank());
    for (int64_t k = random_.Int(0, 2); k > 0; --k) index.push_back(random_.Int(1, 9));
    updates = index;
    index.push_back(n);
    for (int d = static_cast<int>(n); d < data.rank(); ++d) updates.push_back(data[d]);
  }
  p_.attrs = a;
  const DType dtype = random_.Pick(kAnyDType);
  p_.inputs = {In(dtype, data), In(random_.Pick(kIndexDType), index), In(dtype, updates)};
  p_.core_inputs = 3;
  p_.outputs = {Out(dtype, data)};
  Fill();
  FillIndices(1);
}

template <>
void CaseMaker::Fresh<abi::Family::kScan>() {
  abi::ScanAttrs a;
  Dims shape = RandomShape(random_, 1, 4, options_.max_elements);
  // Sometimes lines are longer than what a block scans in one round.
  if (random_.OneIn(5)) shape = {random_.Int(1, 2), random_.Int(300, 5000)};
  a.kind = random_.OneIn(3) ? abi::ScanKind::kProd : abi::ScanKind::kSum;
  a.axis = random_.Int(0, shape.rank() - 1);
  a.exclusive = random_.OneIn(2);
  a.reverse = random_.OneIn(2);
  p_.attrs = a;
  const DType dtype = random_.Pick(kAnyDType);
  p_.inputs = {In(dtype, shape)};
  p_.core_inputs = 1;
  p_.outputs = {Out(dtype, shape)};
  Fill();
  if (a.kind == abi::ScanKind::kProd) {
    // Factors are near 1, because a product that leaves the range would depend on the order of its
    // factors.
    const bool is_unsigned = KindOf(dtype) == DTypeKind::kUnsigned;
    options_.whole_numbers ? FillSteps(0, is_unsigned ? 0 : -1, 1) : FillSteps(0, 127, 129, 128);
  }
  if (!options_.whole_numbers) case_.tolerance = {4, 4e-4};
  if (!options_.whole_numbers && a.kind == abi::ScanKind::kProd) case_.tolerance.ulp = 100;
}

template <>
void CaseMaker::Fresh<abi::Family::kSample>() {
  abi::SampleAttrs a;
  const int spatial = static_cast<int>(random_.Int(1, 3));
  a.mode = static_cast<abi::ResizeMode>(random_.Int(0, spatial == 3 ? 1 : 2));
  a.padding = static_cast<abi::SamplePadding>(random_.Int(0, 2));
  a.align_corners = random_.OneIn(2);
  p_.attrs = a;
  Dims x = {random_.Int(1, 2), random_.Int(1, 6)}, grid = {x[0]}, out = x;
  for (int d = 0; d < spatial; ++d) {
    x.push_back(random_.Int(1, 7));
    out.push_back(random_.Int(1, 7));
    grid.push_back(out[d + 2]);
  }
  grid.push_back(spatial);
  const DType dtype = random_.Pick(a.mode == abi::ResizeMode::kNearest ? kAnyDType : kFloatDType);
  p_.inputs = {In(dtype, x), In(random_.Pick(kFloatDType), grid)};
  p_.core_inputs = 2;
  p_.outputs = {Out(dtype, out)};
  Fill();
  FillSteps(1, -24, 24, 16);
  if (a.mode != abi::ResizeMode::kNearest) case_.tolerance = {2, 1e-5};
}

template <>
void CaseMaker::Fresh<abi::Family::kRoi>() {
  abi::RoiAttrs a;
  a.kind = static_cast<abi::RoiKind>(random_.Int(0, 2));
  a.spatial_scale = random_.OneIn(2) ? 1 : 0.37;
  a.sampling_ratio = random_.Int(0, 3);
  a.half_pixel = random_.OneIn(2);
  p_.attrs = a;
  const Dims x = {random_.Int(1, 3), random_.Int(1, 5), random_.Int(1, 9), random_.Int(1, 9)};
  const int64_t boxes = random_.Int(1, 5);
  const DType dtype = random_.Pick(kFloatDType);
  p_.inputs = {In(dtype, x), In(random_.OneIn(4) ? DType::kF64 : DType::kF32, {boxes, 4}),
               In(random_.OneIn(2) ? DType::kI64 : DType::kI32, {boxes})};
  p_.core_inputs = 3;
  p_.outputs = {Out(dtype, {boxes, x[1], random_.Int(1, 4), random_.Int(1, 4)})};
  Fill();
  FillSteps(1, -12, 60, 4);
  FillSteps(2, -1, x[0]);
  case_.tolerance = {2, 1e-5};
}

// There are few distinct scores and corners, so that some scores are equal and areas are exact.
template <>
void CaseMaker::Fresh<abi::Family::kNms>() {
  p_.attrs = abi::NmsAttrs{random_.OneIn(2)};
  const int64_t batches = random_.Int(1, 2), classes = random_.Int(1, 6);
  const int64_t boxes = random_.Int(1, random_.OneIn(3) ? 400 : 40);
  const int64_t rows = batches * classes * random_.Int(0, std::min<int64_t>(boxes, 20));
  p_.inputs = {In(DType::kF32, {batches, boxes, 4}), In(DType::kF32, {batches, classes, boxes}),
               In(DType::kI64, {1}, false), In(DType::kF32, {1}, false),
               In(DType::kF32, {1}, false)};
  p_.core_inputs = 5;
  p_.outputs = {Out(DType::kI64, {rows, 3}), Out(DType::kI64, {1})};
  Fill();
  FillSteps(0, 0, 80, 8);
  FillSteps(1, 0, 64, 64);
  FillSteps(2, -1, 12);
  FillSteps(3, 1, 15, 16);
  FillSteps(4, 0, 8, 16);
}

}  // namespace aicf::conformance
