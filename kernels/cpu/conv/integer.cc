#include "kernels/cpu/conv/integer.h"

#include "kernels/cpu/conv/integer_layout.h"
#include "kernels/cpu/conv/product.h"
#include "kernels/cpu/gemm/integer_copy.h"
#include "kernels/cpu/gemm/integer_tiles.h"

namespace aicf::cpu {
namespace {

ConvInput CellsInPlace(const abi::TensorArg& x, const ConvShape& s, IntegerForm form) {
  const int64_t per_cell = ValuesPerCell(form);
  const char* first = static_cast<const char*>(x.data) + x.offset * DTypeBytes(x.dtype);
  ConvInput in;
  in.data = reinterpret_cast<const float*>(first);
  in.channel_stride = 1;
  in.image_stride = x.strides[0] / per_cell;
  for (int a = s.first_axis; a < 3; ++a) {
    in.spatial_strides[a] = x.strides[a - s.first_axis + 2] / per_cell;
  }
  return in;
}

// x as cells, with strides in cells: in place, or a copy with the axes image, position, group, and
// cell of the group.
ConvInput PrepareCells(const abi::ArgBlock& args, const ConvShape& s, abi::CpuIsa isa) {
  const abi::TensorArg& x = args.tensors[0];
  const IntegerForm form = IntegerFormOf(*args.problem);
  if (ConvReadsCells(*args.problem, s)) return CellsInPlace(x, s, form);
  int order[kMaxRank] = {0};
  for (int i = 1; i + 1 < x.rank; ++i) order[i] = i + 1;
  order[x.rank - 1] = 1;
  CopyCells(args, x, order, s.channels, form, isa, args.workspace);
  ConvInput in;
  in.data = static_cast<const float*>(args.workspace);
  in.channel_stride = 1;
  int64_t stride = s.groups * CellsOf(form, s.channels);
  for (int a = 2; a >= s.first_axis; stride *= s.in[a--]) in.spatial_strides[a] = stride;
  in.image_stride = stride;
  return in;
}

}  // namespace

template <abi::CpuIsa kIsa>
void ConvInteger(const abi::ArgBlock& args) {
  const IgemmIsa& isa = IgemmIsaOf(kIsa);
  const abi::Problem& p = *args.problem;
  const ConvShape s = ConvShapeOf(p);
  const ConvInput in = PrepareCells(args, s, kIsa);
  const IntegerForm form = IntegerFormOf(p);
  const int64_t columns = ConvColumns(p, s);
  const Panels panels(columns, isa.lanes);
  // The product handles a cell as one element, so its depth is the number of cells.
  ConvShape cells = s;
  cells.channels = CellsOf(form, s.channels);
  const auto* packed = static_cast<const float*>(args.tensors[1].data);
  for (int64_t f = 0; f < ConvPhaseCount(p, s); ++f) {
    const ConvPhase phase = ConvPhaseOf(p, s, f);
    Igemm g;
    g.form = form;
    g.integer_sums = true;
    g.flip = FlipsX(p);
    g.find_integer = IntegerTilesOf(kIsa);
    FillConvProduct(args, cells, phase, in, ConvSource{}, &g);
    EnterPhase(args, s, phase, &g.epilogue);
    FillPieces(args, s, columns, &g);
    g.packed = packed;
    const IntegerMatrix matrix = {form, g.flip, phase.taps(), s.channels, columns};
    g.b_outer_strides[kConvGroup] = matrix.packed_cells(panels);
    packed += s.groups * matrix.packed_cells(panels);
    RunIgemm(args, isa, &g);
  }
}

template void ConvInteger<abi::CpuIsa::kBaseline>(const abi::ArgBlock&);
template void ConvInteger<abi::CpuIsa::kAvx2>(const abi::ArgBlock&);
template void ConvInteger<abi::CpuIsa::kAvx512>(const abi::ArgBlock&);

}  // namespace aicf::cpu
