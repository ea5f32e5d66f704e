// Resize with antialias or a crop: one product with a constant matrix per axis that changes, or a
// gather where each result is one element.
#include <algorithm>
#include <cmath>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/infer/not_constant.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"
#include "compiler/passes/composite/resize_weights.h"

namespace aicf {
namespace {

template <class E>
struct NamedMode {
  std::string_view text;
  E value;
};

constexpr NamedMode<abi::ResizeMode> kResizeModes[] = {{"nearest", abi::ResizeMode::kNearest},
                                                       {"linear", abi::ResizeMode::kLinear},
                                                       {"cubic", abi::ResizeMode::kCubic}};

// tf_crop_and_resize computes coordinates from the crop (AxisResize::crop), not by the mode in its
// row.
constexpr NamedMode<abi::CoordinateMode> kCoordinateModes[] = {
    {"half_pixel", abi::CoordinateMode::kHalfPixel},
    {"pytorch_half_pixel", abi::CoordinateMode::kPytorchHalfPixel},
    {"align_corners", abi::CoordinateMode::kAlignCorners},
    {"asymmetric", abi::CoordinateMode::kAsymmetric},
    {"half_pixel_symmetric", abi::CoordinateMode::kHalfPixelSymmetric},
    {"tf_half_pixel_for_nn", abi::CoordinateMode::kTfHalfPixelForNN},
    {"tf_crop_and_resize", abi::CoordinateMode::kHalfPixel}};

constexpr NamedMode<abi::NearestMode> kNearestModes[] = {
    {"round_prefer_floor", abi::NearestMode::kRoundPreferFloor},
    {"round_prefer_ceil", abi::NearestMode::kRoundPreferCeil},
    {"floor", abi::NearestMode::kFloor},
    {"ceil", abi::NearestMode::kCeil}};

template <class E, size_t N>
Status Read(const ir::Node& node, std::string_view key, std::string_view fallback,
            const NamedMode<E> (&names)[N], E* out) {
  const std::string text = node.Str(key, fallback);
  const auto* name = std::ranges::find(names, text, &NamedMode<E>::text);
  if (name == std::end(names)) return Error(Code::kBadModel, key, " is '", text, "'");
  *out = name->value;
  return OkStatus();
}

// Reads the attributes that all axes share.
Status ReadAttributes(const ir::Node& node, AxisResize* axis) {
  AICF_RETURN_IF_ERROR(Read(node, "mode", "nearest", kResizeModes, &axis->attrs.mode));
  AICF_RETURN_IF_ERROR(Read(node, "coordinate_transformation_mode", "half_pixel", kCoordinateModes,
                            &axis->attrs.coordinates));
  AICF_RETURN_IF_ERROR(
      Read(node, "nearest_mode", "round_prefer_floor", kNearestModes, &axis->attrs.nearest));
  axis->attrs.cubic_a = node.Float("cubic_coeff_a", -0.75);
  axis->attrs.exclude_outside = node.Int("exclude_outside", 0) != 0;
  axis->antialias = node.Int("antialias", 0) != 0;
  axis->crop = node.Str("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  return OkStatus();
}

// The crop of each axis: all begins, then all ends, of the axes that the node names.
Status ReadRoi(const Composer& c, std::vector<AxisResize>& axes) {
  if (!c.Has(1)) return Error(Code::kBadModel, "tf_crop_and_resize without a roi");
  const ir::Value& roi = c.graph().values[c.In(1)];
  std::vector<int64_t> named = AxesFrom(0, static_cast<int>(axes.size()));
  if (c.node().Has("axes")) named = c.node().Ints("axes");
  if (!roi.is_constant()) return ir::NotConstant(c.graph(), c.In(1), "roi");
  const auto count = static_cast<int64_t>(named.size());
  if (roi.constant.count() != 2 * count || !IsFloat(roi.dtype)) {
    return Error(Code::kBadModel, "roi has ", roi.constant.count(), " elements for ", count,
                 " axes");
  }
  for (int64_t i = 0; i < count; ++i) {
    AICF_ASSIGN_OR_RETURN(const int a, ir::NormalizeAxis(named[static_cast<size_t>(i)],
                                                         static_cast<int>(axes.size())));
    const double begin = roi.constant.FloatAt(i), end = roi.constant.FloatAt(i + count);
    if (!std::isfinite(begin) || !std::isfinite(end))
      return Error(Code::kBadModel, "roi of axis ", a, " is from ", begin, " to ", end);
    axes[static_cast<size_t>(a)].roi_begin = begin;
    axes[static_cast<size_t>(a)].roi_end = end;
  }
  return OkStatus();
}

Result<std::vector<AxisResize>> ReadAxes(const Composer& c) {
  const Dims in = c.Shape(c.In(0));
  AxisResize shared;
  AICF_RETURN_IF_ERROR(ReadAttributes(c.node(), &shared));
  AICF_ASSIGN_OR_RETURN(const ir::ResizeSpec spec, ir::ResolveResize(c.graph(), c.node()));
  std::vector<AxisResize> axes(static_cast<size_t>(in.rank()), shared);
  if (shared.crop) AICF_RETURN_IF_ERROR(ReadRoi(c, axes));
  const bool from_scales = c.Has(2) && ElementCount(c.Shape(c.In(2))) != 0;
  for (int d = 0; d < in.rank(); ++d) {
    AxisResize& a = axes[static_cast<size_t>(d)];
    a.in = in[d];
    a.out = spec.output[d];
    a.attrs.scales = {spec.scales[static_cast<size_t>(d)]};
    // The scales enlarge the crop, not the whole axis, so the output follows from the length of the
    // crop.
    if (shared.crop && from_scales) {
      const double out =
          std::floor(static_cast<double>(a.in) * (a.roi_end - a.roi_begin) * a.attrs.scales[0]);
      // Also false for NaN.
      const bool fits = out >= 0 && out <= static_cast<double>(kMaxTableElements);
      if (!fits) return Error(Code::kBadModel, "axis ", d, " goes from ", a.in, " to ", out);
      a.out = static_cast<int64_t>(out);
    }
    if (a.out < 0 || a.out > kMaxTableElements || a.in > kMaxTableElements ||
        (a.in == 0 && a.out != 0)) {
      return Error(Code::kBadModel, "axis ", d, " goes from ", a.in, " to ", a.out);
    }
  }
  return axes;
}

bool Changes(const AxisResize& a) {
  const bool whole = !a.crop || (a.roi_begin == 0 && a.roi_end == 1);
  return a.in != a.out || a.attrs.scales[0] != 1 || !whole;
}

bool IsGather(const AxisResize& a) { return a.attrs.mode == abi::ResizeMode::kNearest; }

// Checks the size of the tables of all axes together: a matrix for each axis, or with "nearest" a
// list of places to read. Each output element counts as at least kLeast elements of a matrix,
// however little it reads.
Status CheckTables(const std::vector<AxisResize>& axes) {
  constexpr double kLeast = 16;
  double elements = 0;
  for (size_t d = 0; d < axes.size(); ++d) {
    const AxisResize& a = axes[d];
    if (!Changes(a)) continue;
    const double matrix = IsGather(a) ? 0 : static_cast<double>(a.in);
    elements += static_cast<double>(a.out) * std::max({kLeast, matrix, TapsOf(a)});
    // Also false for NaN.
    const bool fits = elements <= static_cast<double>(kMaxTableElements);
    if (!fits) {
      return Error(Code::kResource, "axis ", d, " from ", a.in, " to ", a.out, ": its ",
                   IsGather(a) ? "table" : "matrix", " would be too large");
    }
  }
  return OkStatus();
}

/// The weights of one axis, evaluated for all outputs.
struct AxisTable {
  std::vector<int64_t> reads;    ///< nearest: the element of each output
  std::vector<double> matrix;    ///< otherwise [in, out]
  std::vector<uint8_t> outside;  ///< of each output, with a crop: whether it leaves the input
};

AxisTable TableOf(const AxisResize& a) {
  AxisTable table;
  if (!IsGather(a)) table.matrix.resize(static_cast<size_t>(a.in * a.out), 0);
  for (int64_t o = 0; o < a.out; ++o) {
    const Taps t = WeightsOf(a, o);
    if (a.crop) table.outside.push_back(t.outside ? 1 : 0);
    if (IsGather(a)) {
      table.reads.push_back(t.index[0]);
      continue;
    }
    for (size_t k = 0; k < t.index.size(); ++k)
      table.matrix[static_cast<size_t>(t.index[k] * a.out + o)] += t.weight[k];
  }
  return table;
}

ir::ValueId Apply(Composer& c, ir::ValueId x, int axis, const AxisResize& a,
                  const AxisTable& table) {
  if (IsGather(a)) return c.Op("Gather", {x, c.Ints(table.reads)}, {{"axis", int64_t{axis}}});
  const int rank = c.Shape(x).rank();
  std::vector<int64_t> perm = AxesFrom(0, rank);
  std::swap(perm[static_cast<size_t>(axis)], perm[static_cast<size_t>(rank - 1)]);
  const ir::ValueId weights = Floats(c, table.matrix, {a.in, a.out}, c.Type(x));
  return c.Transpose(c.MatMul(c.Transpose(x, perm), weights), perm);
}

// Results whose coordinate leaves the input along this axis are the extrapolation value.
ir::ValueId Extrapolate(Composer& c, ir::ValueId x, int axis, const std::vector<uint8_t>& outside) {
  if (std::ranges::count(outside, 1) == 0) return x;
  const Dims shape = AlongAxis(c.Shape(x).rank(), axis, static_cast<int64_t>(outside.size()));
  const std::vector<double> flags(outside.begin(), outside.end());
  const ir::ValueId mask = c.Cast(Floats(c, flags, shape, DType::kF32), DType::kBool);
  const ir::ValueId value = Number(c, c.node().Float("extrapolation_value", 0), c.Type(x));
  return c.Op("Where", {mask, value, x});
}

}  // namespace

Status ExpandResizeGeneral(Composer& c) {
  AICF_ASSIGN_OR_RETURN(const std::vector<AxisResize> axes, ReadAxes(c));
  AICF_RETURN_IF_ERROR(CheckTables(axes));
  const bool gathers = axes.empty() || IsGather(axes[0]);
  const bool floating = IsFloat(c.Type(c.In(0)));
  ir::ValueId x = floating ? Wide(c, c.In(0)) : gathers ? c.In(0) : c.Cast(c.In(0), DType::kF32);
  std::vector<std::vector<uint8_t>> outside(axes.size());
  for (size_t d = 0; d < axes.size(); ++d) {
    if (!Changes(axes[d])) continue;
    AxisTable table = TableOf(axes[d]);
    x = Apply(c, x, static_cast<int>(d), axes[d], table);
    outside[d] = std::move(table.outside);
  }
  for (size_t d = 0; d < axes.size(); ++d) x = Extrapolate(c, x, static_cast<int>(d), outside[d]);
  c.Output(0, c.Cast(x, c.Type(c.In(0))));
  return c.status();
}

}  // namespace aicf
