// MaxPool with the positions of the maxima, and its inverse.
#include "base/checked.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

// Where the taps of each window along spatial axis d read, [out, kernel]. A tap outside the input
// stands for the window's first one inside, which comes earlier or is the same element, so that it
// never wins a maximum of its own.
std::vector<int64_t> WindowPositions(const ir::Window& window, int d, int64_t extent) {
  std::vector<int64_t> positions;
  for (int64_t w = 0; w < window.output[d]; ++w) {
    const int64_t origin = w * window.strides[d] - window.pads_begin[d];
    int64_t first = 0;
    for (int64_t t = window.kernel[d]; t-- > 0;) {
      const int64_t at = origin + t * window.dilations[d];
      if (at >= 0 && at < extent) first = at;
    }
    for (int64_t t = 0; t < window.kernel[d]; ++t) {
      const int64_t at = origin + t * window.dilations[d];
      positions.push_back(at >= 0 && at < extent ? at : first);
    }
  }
  return positions;
}

using Table = std::vector<std::vector<int64_t>>;  // WindowPositions of each spatial axis

// [N, C, out.., kernel..]: every window of x.
ir::ValueId Windows(Composer& c, const ir::Window& window, const Table& positions) {
  ir::ValueId x = c.In(0);
  std::vector<int64_t> perm{0, 1}, taps;
  for (int d = 0; d < window.kernel.rank(); ++d) {
    const int64_t axis = 2 + 2 * d;
    const ir::ValueId index = c.Constant(ir::Tensor::FromValues<int64_t>(
        DType::kI64, {window.output[d], window.kernel[d]},
        std::span<const int64_t>(positions[static_cast<size_t>(d)])));
    x = c.Op("Gather", {x, index}, {{"axis", axis}});
    perm.push_back(axis);
    taps.push_back(axis + 1);
  }
  perm.insert(perm.end(), taps.begin(), taps.end());
  return c.Transpose(x, perm);
}

// The element of its plane that tap number `best` [N, C, out..] of a window reads: the sum over the
// axes of step * position.
ir::ValueId InPlane(Composer& c, const ir::Window& window, const Table& positions,
                    const std::vector<int64_t>& steps, ir::ValueId best) {
  const int rank = window.kernel.rank() + 2;
  const auto number = [&](int64_t v) { return Number(c, static_cast<double>(v), DType::kI64); };
  ir::ValueId sum = number(0);
  int64_t inner = 1;
  for (int d = window.kernel.rank() - 1; d >= 0; --d) {
    const int64_t kernel = window.kernel[d];
    const ir::ValueId tap = c.Op("Mod", {c.Op("Div", {best, number(inner)}), number(kernel)});
    const ir::ValueId own = c.Counting(0, AlongAxis(rank, d + 2, window.output[d]));
    const ir::ValueId row = c.Add(c.Mul(own, number(kernel)), tap);
    const ir::ValueId at =
        c.Op("Gather", {c.Ints(positions[static_cast<size_t>(d)]), row}, {{"axis", int64_t{0}}});
    sum = c.Add(sum, c.Mul(at, number(steps[static_cast<size_t>(d)])));
    inner *= kernel;
  }
  return sum;
}

// Distance of neighbours along each spatial axis, row-major or column-major.
std::vector<int64_t> StepsOf(const Dims& shape, bool column_major) {
  const int spatial = shape.rank() - 2;
  std::vector<int64_t> steps(static_cast<size_t>(spatial), 1);
  for (int k = 1; k < spatial; ++k) {
    const int d = column_major ? k : spatial - 1 - k;
    const int before = column_major ? d - 1 : d + 1;
    steps[static_cast<size_t>(d)] = steps[static_cast<size_t>(before)] * shape[before + 2];
  }
  return steps;
}

}  // namespace

// Indices count elements of the whole input.
Status ExpandMaxPoolIndices(Composer& c) {
  ir::Node pool = c.node();
  pool.op = "MaxPool";
  const bool column_major = pool.Int("storage_order", 0) != 0;
  pool.attrs.erase("storage_order");
  AICF_ASSIGN_OR_RETURN(const ir::Window window, ir::ResolveWindow(c.graph(), pool));
  const Dims shape = c.Shape(c.In(0));
  c.Output(0, c.Op("MaxPool", {c.In(0)}, pool.attrs));
  Dims out{shape[0], shape[1]};
  for (int64_t e : window.output) out.push_back(e);
  const int64_t taps = ElementCount(window.kernel).value_or(0);
  for (int d = 0; d < window.kernel.rank(); ++d) {
    AICF_RETURN_IF_ERROR(CheckTable({window.output[d], window.kernel[d]}));
  }
  AICF_RETURN_IF_ERROR(CheckTable({shape[0], shape[1]}));
  Dims flat = out;
  flat.push_back(taps);
  Table positions;
  for (int d = 0; d < window.kernel.rank(); ++d) {
    positions.push_back(WindowPositions(window, d, shape[d + 2]));
  }
  const ir::ValueId best = c.Op("ArgMax", {c.Reshape(Windows(c, window, positions), flat)},
                                {{"axis", int64_t{out.rank()}}, {"keepdims", int64_t{0}}});
  const ir::ValueId inside = InPlane(c, window, positions, StepsOf(shape, column_major), best);
  int64_t pixels = 1;
  for (int d = 2; d < shape.rank(); ++d) pixels *= shape[d];
  std::vector<int64_t> planes;
  for (int64_t p = 0; p < shape[0] * shape[1]; ++p) planes.push_back(p * pixels);
  Dims plane = Dims::Filled(shape.rank(), 1);
  plane[0] = shape[0];
  plane[1] = shape[1];
  c.Output(1, c.Add(c.Reshape(c.Ints(planes), plane), inside));
  return c.status();
}

// Values go to their positions in the tensor that was pooled; output_shape pads its end.
Status ExpandMaxUnpool(Composer& c) {
  const Dims shape = c.Shape(c.In(0));
  const ir::Node& node = c.node();
  const std::vector<int64_t> kernel = node.Ints("kernel_shape");
  const int spatial = shape.rank() - 2;
  if (spatial < 1 || static_cast<int>(kernel.size()) != spatial || !(c.Shape(c.In(1)) == shape)) {
    return Error(Code::kBadModel, "kernel_shape, indices and input do not fit together");
  }
  std::vector<int64_t> strides(kernel.size(), 1), pads(2 * kernel.size(), 0);
  if (node.Has("strides")) strides = node.Ints("strides");
  if (node.Has("pads")) pads = node.Ints("pads");
  if (strides.size() != kernel.size() || pads.size() != 2 * kernel.size()) {
    return Error(Code::kBadModel, "strides or pads do not fit kernel_shape");
  }
  Dims full = shape;
  for (int d = 0; d < spatial; ++d) {
    const auto at = static_cast<size_t>(d);
    const Checked extent =
        Checked(shape[d + 2] - 1) * strides[at] + kernel[at] - pads[at] - pads[at + kernel.size()];
    full[d + 2] = extent.value().value_or(-1);
  }
  const std::optional<int64_t> count = ElementCount(full);
  if (!count) {
    return Error(Code::kBadModel,
                 "its output would have a negative or huge extent: ", ToListString(full));
  }
  const ir::ValueId zeros = c.Cast(c.Filled(0, DType::kF32, {*count}), c.Type(c.In(0)));
  const int64_t given = ElementCount(shape).value_or(0);
  const ir::ValueId placed =
      c.Op("ScatterElements", {zeros, c.Reshape(c.In(1), {given}), c.Reshape(c.In(0), {given})},
           {{"axis", int64_t{0}}});
  ir::ValueId y = c.Reshape(placed, full);
  if (c.Has(2)) {
    AICF_ASSIGN_OR_RETURN(const auto wanted, ir::ConstantInts(c.graph(), node, 2, "output_shape"));
    if (static_cast<int>(wanted->size()) != shape.rank()) {
      return Error(Code::kBadModel, "output_shape has ", wanted->size(), " entries");
    }
    std::vector<int64_t> end(2 * wanted->size(), 0);
    for (int d = 0; d < shape.rank(); ++d) {
      const int64_t extent = (*wanted)[static_cast<size_t>(d)];
      if (extent < 0) return Error(Code::kBadModel, "output_shape holds ", extent);
      end[wanted->size() + static_cast<size_t>(d)] = extent - full[d];
    }
    y = c.Op("Pad", {y, c.Ints(end)});
  }
  c.Output(0, y);
  return c.status();
}

}  // namespace aicf
