#include "compiler/ir/infer/infer.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"

namespace aicf {
namespace {

using abi::CoordinateMode;
using abi::NearestMode;
using abi::ResizeMode;

template <class E>
struct Name {
  std::string_view text;
  E value;
};

constexpr Name<ResizeMode> kModes[] = {{"nearest", ResizeMode::kNearest},
                                       {"linear", ResizeMode::kLinear},
                                       {"cubic", ResizeMode::kCubic}};

constexpr Name<CoordinateMode> kCoordinates[] = {
    {"half_pixel", CoordinateMode::kHalfPixel},
    {"pytorch_half_pixel", CoordinateMode::kPytorchHalfPixel},
    {"align_corners", CoordinateMode::kAlignCorners},
    {"asymmetric", CoordinateMode::kAsymmetric},
    {"half_pixel_symmetric", CoordinateMode::kHalfPixelSymmetric},
    {"tf_half_pixel_for_nn", CoordinateMode::kTfHalfPixelForNN}};

constexpr Name<NearestMode> kNearest[] = {{"round_prefer_floor", NearestMode::kRoundPreferFloor},
                                          {"round_prefer_ceil", NearestMode::kRoundPreferCeil},
                                          {"floor", NearestMode::kFloor},
                                          {"ceil", NearestMode::kCeil}};

template <class E, size_t N>
Status Find(const Name<E> (&names)[N], std::string_view what, std::string_view text, E& out) {
  for (const Name<E>& n : names) {
    if (n.text != text) continue;
    out = n.value;
    return OkStatus();
  }
  return Error(Code::kUnsupported, "Resize ", what, " '", text, "'");
}

}  // namespace

Status LowerResize(LowerContext& ctx, const ir::Node& node) {
  const ValueView x = ctx.Get(node.inputs[0]);
  if (node.Int("antialias", 0) != 0) return Error(Code::kUnsupported, "Resize with antialias");
  abi::ResizeAttrs attrs;
  AICF_RETURN_IF_ERROR(Find(kModes, "mode", node.Str("mode", "nearest"), attrs.mode));
  AICF_RETURN_IF_ERROR(Find(kCoordinates, "coordinate_transformation_mode",
                            node.Str("coordinate_transformation_mode", "half_pixel"),
                            attrs.coordinates));
  AICF_RETURN_IF_ERROR(Find(kNearest, "nearest_mode",
                            node.Str("nearest_mode", "round_prefer_floor"), attrs.nearest));
  attrs.cubic_a = node.Float("cubic_coeff_a", -0.75);
  attrs.exclude_outside = node.Int("exclude_outside", 0) != 0;
  AICF_ASSIGN_OR_RETURN(const ir::ResizeSpec spec, ir::ResolveResize(ctx.graph(), node));
  attrs.scales = spec.scales;
  abi::Problem p;
  p.family = abi::Family::kResize;
  p.attrs = std::move(attrs);
  p.inputs = {x.view};
  EmitPlain(ctx, node, std::move(p), {x.buffer}, ctx.DefineLike(node.outputs[0], x));
  return OkStatus();
}

}  // namespace aicf
