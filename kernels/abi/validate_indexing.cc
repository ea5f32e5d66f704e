// Rules of the families that move elements by index: gather, scatter, sample, roi, nms; and scan.
#include "kernels/abi/validate_rules.h"

namespace aicf::abi {
namespace {

Status CheckIndices(const Problem& p, const View& v) {
  return IsInteger(v.dtype) ? OkStatus() : Bad(p, "indices are not integers");
}

Status CheckAxis(const Problem& p, int64_t axis, int rank) {
  if (axis >= 0 && axis < rank) return OkStatus();
  return Bad(p, "axis ", axis, " outside rank ", rank);
}

Status CheckTake(const Problem& p) {
  const auto& a = p.as<GatherAttrs>();
  const Dims &data = p.inputs[0].shape, &index = p.inputs[1].shape;
  if (data.rank() - 1 + index.rank() > kMaxRank) return Bad(p, "output rank above ", kMaxRank);
  Dims out;
  for (int i = 0; i < a.axis; ++i) out.push_back(data[i]);
  for (int64_t e : index) out.push_back(e);
  for (int i = static_cast<int>(a.axis) + 1; i < data.rank(); ++i) out.push_back(data[i]);
  return CheckSameShape(p, p.outputs[0], out, "the output");
}

// Checks indices that each replace the coordinate along `axis`: along no other axis may there be
// more of them than the data has positions.
Status CheckElementIndices(const Problem& p, int64_t axis) {
  const Dims &data = p.inputs[0].shape, &index = p.inputs[1].shape;
  if (data.rank() != index.rank()) return Bad(p, "ranks of data and indices differ");
  for (int d = 0; d < data.rank(); ++d) {
    if (d != axis && index[d] > data[d]) {
      return Bad(p, "indices have ", index[d], " positions along axis ", d, ", data ", data[d]);
    }
  }
  return OkStatus();
}

// The shape that indices select from the data, where the last axis of the indices holds the
// coordinates of one point and the first `batch` axes are common to both.
Result<Dims> PointsShape(const Problem& p, int64_t batch) {
  const Dims &data = p.inputs[0].shape, &index = p.inputs[1].shape;
  if (index.rank() < 1) return Bad(p, "indices have no axis for the coordinates");
  const int64_t n = index.back();
  const int leading = index.rank() - 1;
  if (batch < 0 || batch > leading || batch + n > data.rank()) {
    return Bad(p, batch, " batch axes and ", n, " coordinates for data of rank ", data.rank());
  }
  Dims out;
  for (int i = 0; i < leading; ++i) {
    if (i < batch && index[i] != data[i]) return Bad(p, "batch axis ", i, " differs");
    out.push_back(index[i]);
  }
  const int first = static_cast<int>(batch + n);
  if (leading + data.rank() - first > kMaxRank) return Bad(p, "rank above ", kMaxRank);
  for (int i = first; i < data.rank(); ++i) out.push_back(data[i]);
  return out;
}

}  // namespace

template <>
Status CheckRules<Family::kGather>(const Problem& p) {
  const auto& a = p.as<GatherAttrs>();
  AICF_RETURN_IF_ERROR(CheckIndices(p, p.inputs[1]));
  if (a.kind == GatherKind::kPoints) {
    AICF_ASSIGN_OR_RETURN(const Dims out, PointsShape(p, a.batch_axes));
    return CheckSameShape(p, p.outputs[0], out, "the output");
  }
  if (a.kind >= GatherKind::kCount) return Bad(p, "unknown kind");
  AICF_RETURN_IF_ERROR(CheckAxis(p, a.axis, p.inputs[0].shape.rank()));
  if (a.kind == GatherKind::kTake) return CheckTake(p);
  AICF_RETURN_IF_ERROR(CheckElementIndices(p, a.axis));
  return CheckSameShape(p, p.outputs[0], p.inputs[1].shape, "the output");
}

template <>
Status CheckRules<Family::kScatter>(const Problem& p) {
  const auto& a = p.as<ScatterAttrs>();
  if (a.kind >= ScatterKind::kCount || a.reduction >= ScatterReduction::kCount) {
    return Bad(p, "unknown kind");
  }
  AICF_RETURN_IF_ERROR(CheckIndices(p, p.inputs[1]));
  AICF_RETURN_IF_ERROR(CheckSameShape(p, p.outputs[0], p.inputs[0].shape, "the output"));
  for (const View* v : {&p.inputs[2], &p.outputs[0]}) {
    if (v->dtype != p.inputs[0].dtype) return Bad(p, "data, updates and output differ in dtype");
  }
  if (a.kind == ScatterKind::kPoints) {
    AICF_ASSIGN_OR_RETURN(const Dims updates, PointsShape(p, 0));
    return CheckSameShape(p, p.inputs[2], updates, "updates");
  }
  AICF_RETURN_IF_ERROR(CheckAxis(p, a.axis, p.inputs[0].shape.rank()));
  AICF_RETURN_IF_ERROR(CheckElementIndices(p, a.axis));
  return CheckSameShape(p, p.inputs[2], p.inputs[1].shape, "updates");
}

template <>
Status CheckRules<Family::kScan>(const Problem& p) {
  const auto& a = p.as<ScanAttrs>();
  if (a.kind >= ScanKind::kCount) return Bad(p, "unknown kind");
  AICF_RETURN_IF_ERROR(CheckAxis(p, a.axis, p.inputs[0].shape.rank()));
  if (p.outputs[0].dtype != p.inputs[0].dtype) return Bad(p, "x and output differ in dtype");
  return CheckSameShape(p, p.outputs[0], p.inputs[0].shape, "the output");
}

template <>
Status CheckRules<Family::kSample>(const Problem& p) {
  const auto& a = p.as<SampleAttrs>();
  const Dims &x = p.inputs[0].shape, &grid = p.inputs[1].shape;
  const int spatial = x.rank() - 2;
  if (a.mode >= ResizeMode::kCount || a.padding >= SamplePadding::kCount) {
    return Bad(p, "unknown mode");
  }
  if (spatial < 1 || spatial > 3) return Bad(p, "spatial rank ", spatial, ", expected 1 to 3");
  if (spatial == 3 && a.mode == ResizeMode::kCubic) return Bad(p, "cubic sampling of 3 axes");
  if (!IsFloat(p.inputs[1].dtype)) return Bad(p, "the grid is no float");
  if (grid.rank() != x.rank() || grid[0] != x[0] || grid.back() != spatial) {
    return Bad(p, "grid ", ToString(grid), " does not fit x ", ToString(x));
  }
  if (p.outputs[0].dtype != p.inputs[0].dtype) return Bad(p, "x and output differ in dtype");
  Dims out = {x[0], x[1]};
  for (int d = 0; d < spatial; ++d) out.push_back(grid[d + 1]);
  return CheckSameShape(p, p.outputs[0], out, "the output");
}

template <>
Status CheckRules<Family::kRoi>(const Problem& p) {
  const auto& a = p.as<RoiAttrs>();
  const Dims &x = p.inputs[0].shape, &boxes = p.inputs[1].shape, &y = p.outputs[0].shape;
  if (a.kind >= RoiKind::kCount) return Bad(p, "unknown kind");
  if (a.sampling_ratio < 0 || a.sampling_ratio > kMaxRoiSamples) {
    return Bad(p, "sampling ratio ", a.sampling_ratio, ", expected 0 to ", kMaxRoiSamples);
  }
  AICF_RETURN_IF_ERROR(CheckReal(p, "spatial scale", a.spatial_scale, kFiniteReal));
  if (x.rank() != 4 || y.rank() != 4 || boxes.rank() != 2 || boxes[1] != 4) {
    return Bad(p, "expects x of rank 4 and boxes of shape R x 4");
  }
  AICF_RETURN_IF_ERROR(CheckIndices(p, p.inputs[2]));
  AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[2], {boxes[0]}, "the batch index"));
  if (!IsFloat(p.inputs[0].dtype) || !IsFloat(p.inputs[1].dtype)) {
    return Bad(p, "x and boxes must be floats");
  }
  if (p.outputs[0].dtype != p.inputs[0].dtype) return Bad(p, "x and output differ in dtype");
  if (y[0] != boxes[0] || y[1] != x[1]) return Bad(p, "the output is not R x C x h x w");
  return OkStatus();
}

template <>
Status CheckRules<Family::kNms>(const Problem& p) {
  const Dims &boxes = p.inputs[0].shape, &scores = p.inputs[1].shape;
  if (p.outputs.size() != 2) return Bad(p, "needs two outputs");
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes[0] != scores[0] || boxes[2] != 4 ||
      boxes[1] != scores[2]) {
    return Bad(p, "boxes ", ToString(boxes), " do not fit scores ", ToString(scores));
  }
  static constexpr DType kInputs[] = {DType::kF32, DType::kF32, DType::kI64, DType::kF32,
                                      DType::kF32};
  for (size_t i = 0; i < 5; ++i) {
    if (p.inputs[i].dtype != kInputs[i]) return Bad(p, "operand ", i, " has another dtype");
    if (i > 1) AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[i], {1}, "a threshold"));
  }
  const View &selected = p.outputs[0], &count = p.outputs[1];
  if (selected.dtype != DType::kI64 || count.dtype != DType::kI64) {
    return Bad(p, "outputs are not i64");
  }
  if (selected.shape.rank() != 2 || selected.shape[1] != 3) {
    return Bad(p, "selected boxes have shape ", ToString(selected.shape), ", expected K x 3");
  }
  return CheckSameShape(p, count, {1}, "the count");
}

}  // namespace aicf::abi
