// DeformConv: the elements under every kernel position are sampled where the offsets point, masked,
// and multiplied with the weights.
#include "base/checked.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

struct DeformSpec {
  int64_t batch, channels, maps;  ///< x is [batch, channels, ..], y [batch, maps, ..]
  int64_t extent[2], out[2], kernel[2];
  int64_t stride[2], dilation[2], pad[2];
  int64_t group, offset_group;
  int64_t taps() const { return kernel[0] * kernel[1]; }
};

Status CheckOperands(const Composer& c, const DeformSpec& s) {
  const Dims w = c.Shape(c.In(1)), offset = c.Shape(c.In(2));
  const Dims out = {s.out[0], s.out[1]};
  if (s.group < 1 || s.offset_group < 1 || !(Checked(w[1]) * s.group == s.channels) ||
      s.maps % s.group != 0 || s.channels % s.offset_group != 0) {
    return Error(Code::kBadModel, s.channels, " channels do not fit weights ", ToString(w), " in ",
                 s.group, " groups and ", s.offset_group, " offset groups");
  }
  if (offset != Dims{s.batch, s.offset_group * s.taps() * 2, s.out[0], s.out[1]}) {
    return Error(Code::kBadModel, "offsets have shape ", ToString(offset), " for an output of ",
                 ToString(out));
  }
  if (c.Has(3) && c.Shape(c.In(3)) != Dims{s.maps}) {
    return Error(Code::kBadModel, "the bias has shape ", ToString(c.Shape(c.In(3))));
  }
  if (c.Has(4) &&
      c.Shape(c.In(4)) != Dims{s.batch, s.offset_group * s.taps(), s.out[0], s.out[1]}) {
    return Error(Code::kBadModel, "the mask has shape ", ToString(c.Shape(c.In(4))));
  }
  return OkStatus();
}

Result<DeformSpec> ReadSpec(const Composer& c) {
  const Dims x = c.Shape(c.In(0)), w = c.Shape(c.In(1)), offset = c.Shape(c.In(2));
  if (x.rank() != 4 || w.rank() != 4 || offset.rank() != 4) {
    return Error(Code::kUnsupported, "x of rank ", x.rank(), ", only two spatial axes are");
  }
  const ir::Node& node = c.node();
  const auto strides = IntsOr(node, "strides", 2, 1);
  const auto dilations = IntsOr(node, "dilations", 2, 1);
  const auto pads = IntsOr(node, "pads", 4, 0);
  if (strides.size() != 2 || dilations.size() != 2 || pads.size() != 4) {
    return Error(Code::kBadModel, "strides, dilations or pads do not fit two spatial axes");
  }
  DeformSpec s{};
  s.batch = x[0];
  s.channels = x[1];
  s.maps = w[0];
  s.group = node.Int("group", 1);
  s.offset_group = node.Int("offset_group", 1);
  for (int d = 0; d < 2; ++d) {
    const auto at = static_cast<size_t>(d);
    s.extent[d] = x[d + 2];
    s.kernel[d] = w[d + 2];
    s.stride[d] = strides[at];
    s.dilation[d] = dilations[at];
    s.pad[d] = pads[at];
    constexpr int64_t kLimit = int64_t{1} << 31;
    for (int64_t v : {strides[at], dilations[at], pads[at], pads[at + 2]}) {
      if (v <= -kLimit || v >= kLimit) return Error(Code::kBadModel, "a stride or pad of ", v);
    }
    const Checked room =
        Checked(x[d + 2]) + pads[at] + pads[at + 2] - Checked(w[d + 2] - 1) * dilations[at] - 1;
    if (strides[at] < 1 || w[d + 2] < 1 || !room.In(0, INT64_MAX - 1)) {
      return Error(Code::kBadModel, "the kernel does not fit the input along axis ", d + 2);
    }
    s.out[d] = *room.value() / strides[at] + 1;
  }
  AICF_RETURN_IF_ERROR(CheckOperands(c, s));
  AICF_RETURN_IF_ERROR(CheckTable({w[2], w[3], s.out[0]}));
  AICF_RETURN_IF_ERROR(CheckTable({w[2], w[3], s.out[1]}));
  return s;
}

// The grid's coordinate along spatial axis d, [batch, offset groups, taps, out h, out w]: with
// unaligned corners, pixel p is at (2 p + 1) / extent - 1.
ir::ValueId GridAxis(Composer& c, const DeformSpec& s, ir::ValueId offset, int d) {
  const double extent = static_cast<double>(s.extent[d]);
  std::vector<double> still;
  for (int64_t tap = 0; tap < s.taps(); ++tap) {
    const int64_t k = d == 0 ? tap / s.kernel[1] : tap % s.kernel[1];
    for (int64_t o = 0; o < s.out[d]; ++o) {
      const int64_t pixel = o * s.stride[d] - s.pad[d] + k * s.dilation[d];
      still.push_back((2 * static_cast<double>(pixel) + 1) / extent - 1);
    }
  }
  const Dims place = {s.taps(), d == 0 ? s.out[0] : 1, d == 0 ? 1 : s.out[1]};
  const ir::ValueId part = c.Window(offset, 3, d, 1);
  const ir::ValueId moved =
      c.Reshape(part, {s.batch, s.offset_group, s.taps(), s.out[0], s.out[1]});
  return c.Add(c.Scaled(moved, 2 / extent), Floats(c, still, place, c.Type(offset)));
}

// [batch * offset groups, channels per offset group, taps * out h, out w]
ir::ValueId Columns(Composer& c, const DeformSpec& s) {
  const int64_t parts = s.batch * s.offset_group, rows = s.taps() * s.out[0];
  // In f16, positions would be off by whole pixels.
  const ir::ValueId offset =
      c.Reshape(Wide(c, c.In(2)), {s.batch, s.offset_group, s.taps(), 2, s.out[0], s.out[1]});
  const Dims one = {parts, rows, s.out[1], 1};
  const ir::ValueId grid = c.Concat(
      {c.Reshape(GridAxis(c, s, offset, 1), one), c.Reshape(GridAxis(c, s, offset, 0), one)}, 3);
  const Dims x = {parts, s.channels / s.offset_group, s.extent[0], s.extent[1]};
  const ir::ValueId sampled = c.Op("GridSample", {c.Reshape(c.In(0), x), grid});
  if (!c.Has(4)) return sampled;
  return c.Mul(sampled, c.Reshape(c.In(4), {parts, 1, rows, s.out[1]}));
}

}  // namespace

Status ExpandDeformConv(Composer& c) {
  AICF_ASSIGN_OR_RETURN(const DeformSpec s, ReadSpec(c));
  const int64_t length = s.channels / s.group * s.taps(), pixels = s.out[0] * s.out[1];
  const ir::ValueId columns = c.Reshape(Columns(c, s), {s.batch, s.group, length, pixels});
  const ir::ValueId weights = c.Reshape(c.In(1), {s.group, s.maps / s.group, length});
  ir::ValueId y = c.Reshape(c.MatMul(weights, columns), {s.batch, s.maps, s.out[0], s.out[1]});
  if (c.Has(3)) y = c.Add(y, c.Reshape(c.In(3), {s.maps, 1, 1}));
  c.Output(0, y);
  return c.status();
}

}  // namespace aicf
