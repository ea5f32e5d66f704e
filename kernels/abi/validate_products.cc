// The rules of the families that move a window or multiply: gemm, conv, pool.
#include <algorithm>

#include "base/checked.h"
#include "kernels/abi/raw_dtype.h"
#include "kernels/abi/validate_rules.h"

namespace aicf::abi {
namespace {

// Span of a window along one axis: (kernel - 1) * dilation + 1; false beyond the limit.
bool WindowSpan(int64_t kernel, int64_t dilation, int64_t* span) {
  return CheckedMul(kernel - 1, dilation, span) && CheckedAdd<int64_t>(*span, 1, span) &&
         *span <= kMaxWindowReach;
}

// Positions of an axis with its padding; false beyond the limit.
bool PaddedExtent(int64_t extent, int64_t pads, int64_t* padded) {
  return CheckedAdd(extent, pads, padded) && *padded <= kMaxWindowReach;
}

// Where the last of `count` windows starts; false beyond the limit.
bool LastStart(int64_t count, int64_t stride, int64_t* start) {
  return CheckedMul(std::max<int64_t>(count - 1, 0), stride, start) && *start <= kMaxWindowReach;
}

template <class A>
Status CheckSpatial(const Problem& p, const A& a, int spatial) {
  if (spatial < 1 || spatial > 3) return Bad(p, "spatial rank ", spatial, ", expected 1 to 3");
  if (a.strides.rank() != spatial || a.dilations.rank() != spatial ||
      a.pads_begin.rank() != spatial || a.pads_end.rank() != spatial) {
    return Bad(p, "an attribute's rank is not the spatial rank ", spatial);
  }
  constexpr int64_t kLimit = int64_t{1} << 31;
  for (int d = 0; d < spatial; ++d) {
    if (a.strides[d] < 1 || a.strides[d] >= kLimit) return Bad(p, "stride ", a.strides[d]);
    if (a.dilations[d] < 1 || a.dilations[d] >= kLimit) return Bad(p, "dilation ", a.dilations[d]);
    if (a.pads_begin[d] < 0 || a.pads_begin[d] >= kLimit) return Bad(p, "pad ", a.pads_begin[d]);
    if (a.pads_end[d] < 0 || a.pads_end[d] >= kLimit) return Bad(p, "pad ", a.pads_end[d]);
  }
  return OkStatus();
}

Status CheckConvExtent(const Problem& p, const ConvAttrs& a, int d) {
  const int64_t in = p.inputs[0].shape[d + 2];
  const int64_t out = p.outputs[0].shape[d + 2];
  const int64_t kernel = p.inputs[1].shape[d + 2];
  int64_t span = 0;
  if (kernel < 1 || !WindowSpan(kernel, a.dilations[d], &span)) return Bad(p, "kernel ", kernel);
  // There is one window per position of the output, or of the input if transposed. All windows lie
  // in the other tensor with its padding.
  const int64_t grid = a.transposed ? in : out;
  const int64_t field = a.transposed ? out : in;
  int64_t padded = 0, reach = 0;
  if (!PaddedExtent(field, a.pads_begin[d] + a.pads_end[d], &padded) ||
      !LastStart(grid, a.strides[d], &reach)) {
    return Bad(p, "extent overflows along spatial axis ", d);
  }
  reach += span;
  // A transposed convolution may end in output padding; a window never leaves the padded field.
  if (grid > 0 && reach > padded) {
    return Bad(p, "windows leave the padded extent ", padded, " along spatial axis ", d);
  }
  return OkStatus();
}

}  // namespace

Status CheckHalves(const Problem& p, int64_t halves) {
  if (halves != 1 && halves != 2) return Bad(p, halves, " halves, expected 1 or 2");
  if (halves == 2 && p.epilogue.empty()) return Bad(p, "two halves without an epilogue");
  return OkStatus();
}

Status CheckRowNorm(const Problem& p) {
  if (!NormalizesRows(p)) return OkStatus();
  const View &a = p.inputs[0], &gain = p.inputs[2];
  AICF_RETURN_IF_ERROR(CheckReal(p, "epsilon", RowNormEpsilon(p).value, kFiniteReal));
  if (!IsData(a.dtype) || !IsData(gain.dtype)) {
    return Bad(p, "rows of ", DTypeName(a.dtype), " with a gain of ", DTypeName(gain.dtype),
               ", which are not both f32, f16 or bf16");
  }
  return CheckSameShape(p, gain, a.shape, "the gain");
}

namespace {

Status CheckBlockScales(const Problem& p) {
  const auto& attrs = p.as<GemmAttrs>();
  const int64_t terms = attrs.scale_terms, columns = attrs.scale_columns;
  constexpr int64_t kLimit = int64_t{1} << 31;
  if (terms < 0 || terms >= kLimit) return Bad(p, "scales of ", terms, " terms");
  if (columns < 1 || columns >= kLimit) return Bad(p, "scales of ", columns, " columns");
  if (terms == 0) return columns == 1 ? OkStatus() : Bad(p, "scales of columns without terms");
  const View &a = p.inputs[0], &b = p.inputs[1];
  if (NormalizesRows(p)) return Bad(p, "scales of rows that are normalised");
  // It suffices to look at A's dtype: a float only multiplies a float of the same dtype
  // (CanMultiply), and only floats have products in f32.
  if (ComputeDType(a.dtype) != DType::kF32) {
    return Bad(p, "scales of ", DTypeName(a.dtype), " x ", DTypeName(b.dtype),
               ", which are no floats with products in f32");
  }
  Dims of_a = a.shape, of_b = b.shape;
  const int last = of_a.rank() - 1;
  of_a[last] = of_b[last - 1] = CeilDiv(a.shape[last], terms);
  of_b[last] = CeilDiv(b.shape[last], columns);
  for (const size_t i : {2, 3}) {
    if (p.inputs[i].dtype != DType::kF32)
      return Bad(p, "scales are ", DTypeName(p.inputs[i].dtype), ", expected f32");
  }
  AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[2], of_a, "A's scales"));
  return CheckSameShape(p, p.inputs[3], of_b, "B's scales");
}

// Checks `parts`, the moments of parts of rows: `shape` is that of the rows, `each` the number of
// elements of a part. Where `each` is 0 there are no parts, and `parts` is nullptr.
Status CheckPartsOf(const Problem& p, std::string_view what, int64_t each, const Dims& shape,
                    const View* parts) {
  if (each == 0) return OkStatus();
  const int64_t length = shape.back();
  if (each < 0 || length == 0 || length % each != 0) {
    return Bad(p, "parts of ", each, " ", what, ", which do not make up ", length);
  }
  int64_t numbers = 0;
  if (!CheckedMul<int64_t>(length / each, 2, &numbers)) return Bad(p, "too many parts");
  if (parts->dtype != DType::kF32)
    return Bad(p, "moments of parts in ", DTypeName(parts->dtype), ", expected f32");
  Dims expected = shape;
  expected[expected.rank() - 1] = numbers;
  return CheckSameShape(p, *parts, expected, "the moments of parts");
}

Status CheckStoredParts(const Problem& p) {
  if (!StoresParts(p)) return OkStatus();
  if (StoresMoments(p)) return Bad(p, "stores both moments and moments of parts");
  if (p.outputs.size() < 2) return Bad(p, "moments of parts without an output of their own");
  const View& result = p.outputs[0];
  if (!IsData(result.dtype)) {
    return Bad(p, "moments of parts of ", DTypeName(result.dtype), ", not f32, f16 or bf16");
  }
  return CheckPartsOf(p, "columns", p.as<GemmAttrs>().part_columns, result.shape,
                      &p.outputs.back());
}

Status CheckMoments(const Problem& p) {
  const auto& attrs = p.as<GemmAttrs>();
  const int64_t stores = attrs.stores_moments;
  if (stores != 0 && stores != 1) return Bad(p, "moments stored ", stores, " times");
  if (!SeesMoments(p) && attrs.part_terms != 0) return Bad(p, "parts without moments");
  if (!SeesMoments(p)) return stores == 0 ? OkStatus() : Bad(p, "moments stored, but not seen");
  AICF_RETURN_IF_ERROR(CheckReal(p, "epsilon", attrs.moments_epsilon.value, kFiniteReal));
  if (NormalizesRows(p) || HasBlockScales(p)) {
    return Bad(p, "moments of rows that are normalised or have scales");
  }
  const View& a = p.inputs[0];
  if (!IsData(a.dtype)) return Bad(p, "moments of ", DTypeName(a.dtype), ", not f32, f16 or bf16");
  if (a.shape.back() == 0) return Bad(p, "moments of no terms");
  if (p.epilogue.empty()) return Bad(p, "moments without an epilogue");
  AICF_RETURN_IF_ERROR(
      CheckPartsOf(p, "terms", attrs.part_terms, a.shape, ReadsParts(p) ? &p.inputs[2] : nullptr));
  if (stores == 0) return OkStatus();
  Dims rows = a.shape;
  rows[rows.rank() - 1] = 2;
  if (p.outputs.size() < 2) return Bad(p, "moments without an output of their own");
  if (p.outputs.back().dtype != DType::kF32) {
    return Bad(p, "moments stored in ", DTypeName(p.outputs.back().dtype), ", expected f32");
  }
  return CheckSameShape(p, p.outputs.back(), rows, "the moments");
}

}  // namespace

template <>
Status CheckRules<Family::kGemm>(const Problem& p) {
  const Dims &a = p.inputs[0].shape, &b = p.inputs[1].shape, &c = p.outputs[0].shape;
  const int rank = c.rank();
  if (rank < 2 || a.rank() != rank || b.rank() != rank)
    return Bad(p, "A, B and output ranks differ");
  for (int d = 0; d < rank - 2; ++d) {
    if (a[d] != c[d] || b[d] != c[d]) return Bad(p, "batch axis ", d, " differs");
  }
  const int64_t halves = p.as<GemmAttrs>().halves;
  AICF_RETURN_IF_ERROR(CheckHalves(p, halves));
  // B's columns are halved instead of doubling the output's, since twice as many may overflow.
  const bool columns = b[rank - 1] / halves == c[rank - 1] && b[rank - 1] % halves == 0;
  if (a[rank - 2] != c[rank - 2] || !columns || a[rank - 1] != b[rank - 2]) {
    return Bad(p, "shapes ", ToString(a), " x ", ToString(b), " do not give ", ToString(c),
               halves == 2 ? " in two halves" : "");
  }
  if (!CanMultiply(p.inputs[0].dtype, p.inputs[1].dtype)) {
    return Bad(p, "A and B have dtypes that do not multiply");
  }
  AICF_RETURN_IF_ERROR(CheckBlockScales(p));
  AICF_RETURN_IF_ERROR(CheckMoments(p));
  AICF_RETURN_IF_ERROR(CheckStoredParts(p));
  return CheckRowNorm(p);
}

template <>
Status CheckRules<Family::kConv>(const Problem& p) {
  const auto& a = p.as<ConvAttrs>();
  const Dims &x = p.inputs[0].shape, &w = p.inputs[1].shape, &y = p.outputs[0].shape;
  if (x.rank() != w.rank() || x.rank() != y.rank())
    return Bad(p, "ranks of x, weights, output differ");
  AICF_RETURN_IF_ERROR(CheckSpatial(p, a, x.rank() - 2));
  if (a.group < 1) return Bad(p, "group ", a.group);
  int64_t grouped = 0;
  if (!CheckedMul(w[1], a.group, &grouped)) return Bad(p, "group ", a.group, " overflows");
  const int64_t in_channels = a.transposed ? w[0] : grouped;
  const int64_t out_channels = a.transposed ? grouped : w[0];
  if (x[0] != y[0]) return Bad(p, "batch of x and output differ");
  if (x[1] != in_channels || y[1] != out_channels || x[1] % a.group != 0 || y[1] % a.group != 0) {
    return Bad(p, "channels ", x[1], " -> ", y[1], " do not fit weights ", ToString(w), " in ",
               a.group, " groups");
  }
  if (!CanMultiply(p.inputs[0].dtype, p.inputs[1].dtype)) {
    return Bad(p, "x and weights have dtypes that do not multiply");
  }
  for (int d = 0; d < x.rank() - 2; ++d) AICF_RETURN_IF_ERROR(CheckConvExtent(p, a, d));
  return OkStatus();
}

template <>
Status CheckRules<Family::kPool>(const Problem& p) {
  const auto& a = p.as<PoolAttrs>();
  const Dims &x = p.inputs[0].shape, &y = p.outputs[0].shape;
  if (a.kind >= PoolKind::kCount) return Bad(p, "unknown kind");
  if (x.rank() != y.rank()) return Bad(p, "ranks of x and output differ");
  AICF_RETURN_IF_ERROR(CheckSpatial(p, a, x.rank() - 2));
  if (a.kernel.rank() != x.rank() - 2) return Bad(p, "kernel rank is not the spatial rank");
  if (x[0] != y[0] || x[1] != y[1]) return Bad(p, "batch or channels differ");
  if (a.kind == PoolKind::kLp && a.p < 1) return Bad(p, "exponent ", a.p);
  if (a.kind == PoolKind::kLp && !IsFloat(p.inputs[0].dtype)) {
    return Bad(p, "a p-norm of ", DTypeName(p.inputs[0].dtype), ", needs a float");
  }
  int64_t elements = 1;
  for (int d = 0; d < x.rank() - 2; ++d) {
    int64_t span = 0, start = 0, padded = 0;
    if (a.kernel[d] < 1 || !WindowSpan(a.kernel[d], a.dilations[d], &span)) {
      return Bad(p, "kernel ", a.kernel[d]);
    }
    elements *= a.kernel[d];  // cannot overflow: both factors are below 2^31
    if (elements > kMaxWindowReach)
      return Bad(p, "a window of more than ", kMaxWindowReach, " elements");
    if (!LastStart(y[d + 2], a.strides[d], &start) || start + span > kMaxWindowReach ||
        !PaddedExtent(x[d + 2], a.pads_begin[d] + a.pads_end[d], &padded)) {
      return Bad(p, "extent overflows");
    }
    if (y[d + 2] > 0 && start >= padded) {
      return Bad(p, "a window starts outside the padded extent along spatial axis ", d);
    }
  }
  return OkStatus();
}

}  // namespace aicf::abi
