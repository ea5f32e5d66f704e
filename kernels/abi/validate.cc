// ValidateProblem: the rules of every family, from first principles. Each rule's sentence is the error.
// The families that move elements by index are in validate_indexing.cc, the others here.
#include <algorithm>

#include "base/checked.h"
#include "kernels/abi/raw_dtype.h"
#include "kernels/abi/validate_rules.h"

namespace aicf::abi {
namespace {

Status CheckView(const Problem& p, std::string_view role, size_t i, const View& v) {
  if (!IsValid(v.dtype)) return Bad(p, role, " ", i, " has an unknown dtype");
  Result<Extent> extent = ExtentOf(v);
  if (!extent.ok()) return extent.status().WithContext(StrCat(role, " ", i));
  return OkStatus();
}

// No two elements of an output share an address: sorted by |stride|, each axis steps past the reach of
// all smaller ones. Sufficient for every layout the compiler makes.
bool IsInjective(const View& v) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // |stride|, extent
  for (int i = 0; i < v.shape.rank(); ++i) {
    if (v.shape[i] == 0) return true;
    if (v.shape[i] > 1) axes.emplace_back(v.strides[i] < 0 ? -v.strides[i] : v.strides[i], v.shape[i]);
  }
  std::sort(axes.begin(), axes.end());
  int64_t reach = 0;
  for (auto [stride, extent] : axes) {
    if (stride <= reach) return false;
    reach += stride * (extent - 1);
  }
  return true;
}

Status CheckAxes(const Problem& p, const Dims& axes, int rank) {
  for (int i = 0; i < axes.rank(); ++i) {
    if (axes[i] < 0 || axes[i] >= rank) return Bad(p, "axis ", axes[i], " outside rank ", rank);
    if (i > 0 && axes[i] <= axes[i - 1]) return Bad(p, "axes ", ToListString(axes), " not ascending");
  }
  return OkStatus();
}

Status CheckElementwise(const Problem& p) {
  if (p.core_inputs != static_cast<int>(p.inputs.size())) return Bad(p, "every input is a core input");
  if (p.epilogue.empty()) return Bad(p, "needs an expression");
  for (const View& v : p.inputs) {
    AICF_RETURN_IF_ERROR(CheckSameShape(p, v, p.outputs[0].shape, "an input"));
  }
  return OkStatus();
}

Status CheckCopy(const Problem& p) {
  const auto& a = p.as<CopyAttrs>();
  const View& out = p.outputs[0];
  if (a.starts.size() != p.inputs.size() || p.extra_inputs() != 0) {
    return Bad(p, a.starts.size(), " starts for ", p.inputs.size(), " pieces");
  }
  int64_t covered = 0;
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    const View& in = p.inputs[i];
    if (in.dtype != out.dtype) return Bad(p, "piece ", i, " has another dtype than the output");
    if (in.shape.rank() != out.shape.rank() || a.starts[i].rank() != out.shape.rank()) {
      return Bad(p, "piece ", i, " has another rank than the output");
    }
    for (int d = 0; d < out.shape.rank(); ++d) {
      // A negative start is a huge one to InRange.
      if (!InRange(a.starts[i][d], in.shape[d], out.shape[d])) {
        return Bad(p, "piece ", i, " leaves the output along axis ", d);
      }
    }
    if (!CheckedAdd(covered, ElementsOf(in), &covered)) return Bad(p, "pieces overflow");
  }
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      bool apart = ElementsOf(p.inputs[i]) == 0 || ElementsOf(p.inputs[j]) == 0;
      for (int d = 0; d < out.shape.rank(); ++d) {
        apart |= a.starts[i][d] + p.inputs[i].shape[d] <= a.starts[j][d] ||
                 a.starts[j][d] + p.inputs[j].shape[d] <= a.starts[i][d];
      }
      if (!apart) return Bad(p, "pieces ", j, " and ", i, " overlap");
    }
  }
  if (!a.has_fill && covered != ElementsOf(out)) {
    return Bad(p, "pieces cover ", covered, " of ", ElementsOf(out), " elements without a fill");
  }
  return OkStatus();
}

Dims ReducedShape(const Dims& shape, const Dims& axes) {
  Dims out = shape;
  for (int64_t a : axes) out[static_cast<int>(a)] = 1;
  return out;
}

Status CheckCoreShapes(const Problem& p) {
  if (p.core_inputs < 1) return Bad(p, "needs a core input");
  for (int i = 1; i < p.core_inputs; ++i) {
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[i], p.inputs[0].shape, "a core input"));
  }
  if (p.prologue.empty() && p.core_inputs != 1) return Bad(p, "several core inputs need a prologue");
  return OkStatus();
}

Status CheckReduce(const Problem& p) {
  AICF_RETURN_IF_ERROR(CheckCoreShapes(p));
  const auto& a = p.as<ReduceAttrs>();
  if (a.kind >= ReduceKind::kCount) return Bad(p, "unknown kind");
  const Dims& domain = p.inputs[0].shape;
  AICF_RETURN_IF_ERROR(CheckAxes(p, a.axes, domain.rank()));
  const bool arg = a.kind == ReduceKind::kArgMin || a.kind == ReduceKind::kArgMax;
  if (arg && a.axes.rank() != 1) return Bad(p, "argmin and argmax reduce one axis");
  if (arg) {
    if (domain[static_cast<int>(a.axes[0])] == 0 && *ElementCount(ReducedShape(domain, a.axes)) != 0) {
      return Bad(p, "argmin and argmax of nothing");
    }
  }
  return CheckSameShape(p, p.outputs[0], ReducedShape(domain, a.axes), "the output");
}

Status CheckGemm(const Problem& p) {
  const Dims &a = p.inputs[0].shape, &b = p.inputs[1].shape, &c = p.outputs[0].shape;
  const int rank = c.rank();
  if (rank < 2 || a.rank() != rank || b.rank() != rank) return Bad(p, "A, B and output ranks differ");
  for (int d = 0; d < rank - 2; ++d) {
    if (a[d] != c[d] || b[d] != c[d]) return Bad(p, "batch axis ", d, " differs");
  }
  if (a[rank - 2] != c[rank - 2] || b[rank - 1] != c[rank - 1] || a[rank - 1] != b[rank - 2]) {
    return Bad(p, "shapes ", ToString(a), " x ", ToString(b), " do not give ", ToString(c));
  }
  if (!CanMultiply(p.inputs[0].dtype, p.inputs[1].dtype)) {
    return Bad(p, "A and B have dtypes that do not multiply");
  }
  return OkStatus();
}

// Span of a window along one axis: (kernel - 1) * dilation + 1; false on overflow.
bool WindowSpan(int64_t kernel, int64_t dilation, int64_t* span) {
  return CheckedMul(kernel - 1, dilation, span) && CheckedAdd<int64_t>(*span, 1, span);
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
  // Along the axis, the smaller grid steps over the larger, padded one.
  const int64_t grid = a.transposed ? in : out;
  const int64_t field = a.transposed ? out : in;
  int64_t padded = 0, reach = 0;
  if (!CheckedAdd(field, a.pads_begin[d] + a.pads_end[d], &padded) ||
      !CheckedMul(std::max<int64_t>(grid - 1, 0), a.strides[d], &reach) ||
      !CheckedAdd(reach, span, &reach)) {
    return Bad(p, "extent overflows along spatial axis ", d);
  }
  // A transposed convolution may end in output padding; a window never leaves the padded field.
  if (grid > 0 && reach > padded) {
    return Bad(p, "windows leave the padded extent ", padded, " along spatial axis ", d);
  }
  return OkStatus();
}

Status CheckConv(const Problem& p) {
  const auto& a = p.as<ConvAttrs>();
  const Dims &x = p.inputs[0].shape, &w = p.inputs[1].shape, &y = p.outputs[0].shape;
  if (x.rank() != w.rank() || x.rank() != y.rank()) return Bad(p, "ranks of x, weights, output differ");
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

Status CheckPool(const Problem& p) {
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
  for (int d = 0; d < x.rank() - 2; ++d) {
    int64_t span = 0, start = 0;
    if (a.kernel[d] < 1 || !WindowSpan(a.kernel[d], a.dilations[d], &span)) {
      return Bad(p, "kernel ", a.kernel[d]);
    }
    if (!CheckedMul(std::max<int64_t>(y[d + 2] - 1, 0), a.strides[d], &start)) {
      return Bad(p, "extent overflows");
    }
    int64_t padded = 0;
    if (!CheckedAdd(x[d + 2], a.pads_begin[d] + a.pads_end[d], &padded)) {
      return Bad(p, "extent overflows");
    }
    if (y[d + 2] > 0 && start >= padded) {
      return Bad(p, "a window starts outside the padded extent along spatial axis ", d);
    }
  }
  return OkStatus();
}

Status CheckNormalize(const Problem& p) {
  AICF_RETURN_IF_ERROR(CheckCoreShapes(p));
  const auto& a = p.as<NormalizeAttrs>();
  if (a.kind >= NormalizeKind::kCount) return Bad(p, "unknown kind");
  if (a.axes.empty()) return Bad(p, "needs an axis");
  AICF_RETURN_IF_ERROR(CheckAxes(p, a.axes, p.inputs[0].shape.rank()));
  return CheckSameShape(p, p.outputs[0], p.inputs[0].shape, "the output");
}

Status CheckResize(const Problem& p) {
  const auto& a = p.as<ResizeAttrs>();
  const Dims &x = p.inputs[0].shape, &y = p.outputs[0].shape;
  if (a.mode >= ResizeMode::kCount || a.coordinates >= CoordinateMode::kCount ||
      a.nearest >= NearestMode::kCount) {
    return Bad(p, "unknown mode");
  }
  if (x.rank() != y.rank() || static_cast<int>(a.scales.size()) != x.rank()) {
    return Bad(p, "ranks of x, output and scales differ");
  }
  for (int d = 0; d < x.rank(); ++d) {
    if (!(a.scales[d] > 0)) return Bad(p, "scale ", a.scales[d], " along axis ", d);
    if (x[d] == 0 && y[d] != 0) return Bad(p, "resizes nothing along axis ", d);
  }
  return OkStatus();
}

Status CheckTopK(const Problem& p) {
  const auto& a = p.as<TopKAttrs>();
  if (p.outputs.size() != 2) return Bad(p, "needs two outputs");
  Dims expected = p.inputs[0].shape;
  if (a.axis < 0 || a.axis >= expected.rank()) return Bad(p, "axis ", a.axis);
  if (a.k < 0 || a.k > expected[static_cast<int>(a.axis)]) return Bad(p, "k ", a.k, " above the extent");
  expected[static_cast<int>(a.axis)] = a.k;
  if (p.outputs[0].dtype != p.inputs[0].dtype) return Bad(p, "values have another dtype than x");
  if (p.outputs[1].dtype != DType::kI64) return Bad(p, "indices are not i64");
  AICF_RETURN_IF_ERROR(CheckSameShape(p, p.outputs[0], expected, "the first output"));
  return CheckSameShape(p, p.outputs[1], expected, "the second output");
}

Status CheckFamily(const Problem& p) {
  switch (p.family) {
    case Family::kElementwise: return CheckElementwise(p);
    case Family::kCopy: return CheckCopy(p);
    case Family::kReduce: return CheckReduce(p);
    case Family::kGemm: return CheckGemm(p);
    case Family::kConv: return CheckConv(p);
    case Family::kPool: return CheckPool(p);
    case Family::kNormalize: return CheckNormalize(p);
    case Family::kGather: return CheckGather(p);
    case Family::kResize: return CheckResize(p);
    case Family::kTopK: return CheckTopK(p);
    case Family::kScatter: return CheckScatter(p);
    case Family::kScan: return CheckScan(p);
    case Family::kSample: return CheckSample(p);
    case Family::kRoi: return CheckRoi(p);
    case Family::kNms: return CheckNms(p);
    case Family::kRecurrent: return CheckRecurrent(p);
    case Family::kAttention: return CheckAttention(p);
  }
  return Bad(p, "unknown family");
}

std::vector<DType> DTypesOf(const std::vector<View>& views, size_t from, size_t to) {
  std::vector<DType> out;
  for (size_t i = from; i < to; ++i) out.push_back(views[i].dtype);
  return out;
}

Status CheckExpressions(const Problem& p) {
  const bool has_prologue = p.family == Family::kReduce || p.family == Family::kNormalize;
  if (!has_prologue && !p.prologue.empty()) return Bad(p, "this family has no prologue");
  if (!HasScore(p.family) && !p.score.empty()) return Bad(p, "this family has no score expression");
  if (has_prologue) {
    AICF_RETURN_IF_ERROR(ValidateExpr(p.prologue, DTypesOf(p.inputs, 0, p.core_inputs),
                                      p.inputs[0].shape.rank()));
    if (p.prologue.results.size() > 1) return Bad(p, "a prologue has one result");
  }
  if (!HasEpilogue(p.family)) {
    return p.epilogue.empty() ? OkStatus() : Bad(p, "this family has no epilogue");
  }
  std::vector<DType> inputs = DTypesOf(p.inputs, p.core_inputs, p.inputs.size());
  if (p.family == Family::kElementwise) {
    inputs = DTypesOf(p.inputs, 0, p.inputs.size());
  } else {
    inputs.insert(inputs.begin(), RawDType(p));
  }
  AICF_RETURN_IF_ERROR(ValidateExpr(p.epilogue, inputs, p.outputs[0].shape.rank()));
  const size_t results = p.epilogue.empty() ? 1 : p.epilogue.results.size();
  if (results != p.outputs.size()) return Bad(p, results, " results for ", p.outputs.size(), " outputs");
  for (size_t r = 0; r < results; ++r) {
    const DType value = p.epilogue.empty() ? inputs[0] : p.epilogue.nodes[p.epilogue.results[r]].dtype;
    if (ComputeDType(p.outputs[r].dtype) != value) {
      return Bad(p, "result ", r, " is ", DTypeName(value), " but its output is ",
                 DTypeName(p.outputs[r].dtype));
    }
  }
  return OkStatus();
}

Status CheckCounts(const Problem& p) {
  if (p.attrs.index() != static_cast<size_t>(p.family)) {
    return Error(Code::kBadArtifact, "step: attributes do not belong to the family");
  }
  if (p.math >= MathMode::kCount) return Bad(p, "unknown math mode");
  static constexpr int kCore[] = {
#define AICF_FAMILY(id, text, attrs, core) core,
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  };
  const int core = kCore[static_cast<int>(p.family)];
  const int inputs = static_cast<int>(p.inputs.size());
  if (p.core_inputs < 0 || p.core_inputs > inputs || (core >= 0 && p.core_inputs != core)) {
    return Bad(p, p.core_inputs, " core inputs of ", inputs, ", expected ", core);
  }
  if (p.outputs.empty() || p.outputs.size() > kMaxExprResults) {
    return Bad(p, p.outputs.size(), " outputs");
  }
  if (inputs > 56) return Bad(p, inputs, " inputs, limit 56");
  return OkStatus();
}

}  // namespace

Status ValidateProblem(const Problem& p) {
  AICF_RETURN_IF_ERROR(CheckCounts(p));
  for (size_t i = 0; i < p.inputs.size(); ++i) {
    AICF_RETURN_IF_ERROR(CheckView(p, "input", i, p.inputs[i]));
  }
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    AICF_RETURN_IF_ERROR(CheckView(p, "output", i, p.outputs[i]));
    if (!IsInjective(p.outputs[i])) return Bad(p, "output ", i, " writes one address twice");
    if (HasEpilogue(p.family) && p.outputs[i].shape != p.outputs[0].shape) {
      return Bad(p, "outputs have different shapes");
    }
  }
  AICF_RETURN_IF_ERROR(CheckFamily(p));
  for (size_t i = p.core_inputs; i < p.inputs.size() && HasEpilogue(p.family); ++i) {
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.inputs[i], p.outputs[0].shape, "an epilogue operand"));
  }
  return CheckExpressions(p);
}

}  // namespace aicf::abi
