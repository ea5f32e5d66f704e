#include "kernels/cpu/conv/igemm.h"

#include "kernels/cpu/conv/product.h"

namespace aicf::cpu {
template <abi::CpuIsa kIsa>
void ConvIgemm(const abi::ArgBlock& args) {
  const IgemmIsa& isa = IgemmIsaOf(kIsa);
  const abi::Problem& p = *args.problem;
  const ConvShape s = ConvShapeOf(p);
  const ConvSource source = ConvSourceOf(p, s);
  const ConvInput in = PrepareConvInput(args, s, source, isa.widen);
  const int64_t columns = ConvColumns(p, s);
  const Panels panels(columns, isa.lanes);
  const auto* packed = static_cast<const float*>(args.tensors[1].data);
  for (int64_t f = 0; f < ConvPhaseCount(p, s); ++f) {
    const ConvPhase phase = ConvPhaseOf(p, s, f);
    Igemm g;
    FillConvProduct(args, s, phase, in, source, &g);
    EnterPhase(args, s, phase, &g.epilogue);
    FillPieces(args, s, columns, &g);
    g.packed = packed;
    g.b_outer_strides[kConvGroup] = panels.packed_floats(g.total_depth);
    packed += s.groups * panels.packed_floats(g.total_depth);
    RunIgemm(args, isa, &g);
  }
}

template <abi::CpuIsa kIsa>
void ConvDepthwise(const abi::ArgBlock& args) {
  const abi::Problem& p = *args.problem;
  const ConvShape s = ConvShapeOf(p);
  const ConvInput in = PrepareConvInput(args, s, DepthwiseSourceOf(p), IgemmIsaOf(kIsa).widen);
  // The convolution becomes one product whose columns are the channels.
  ConvShape whole = s;
  whole.channels = 1;
  whole.filters = s.groups;
  whole.groups = 1;
  const ConvPhase phase = ConvPhaseOf(p, s, 0);
  Igemm g;
  FillConvProduct(args, whole, phase, in, ConvSource{}, &g);
  g.depthwise = true;
  g.integer_sums = !IsFloat(p.inputs[0].dtype);
  g.columns = g.pieces.piece_columns = s.groups;
  g.packed = static_cast<const float*>(args.tensors[1].data);
  RunIgemm(args, IgemmIsaOf(kIsa), &g);
}

template void ConvIgemm<abi::CpuIsa::kBaseline>(const abi::ArgBlock&);
template void ConvIgemm<abi::CpuIsa::kAvx2>(const abi::ArgBlock&);
template void ConvIgemm<abi::CpuIsa::kAvx512>(const abi::ArgBlock&);
template void ConvDepthwise<abi::CpuIsa::kBaseline>(const abi::ArgBlock&);
template void ConvDepthwise<abi::CpuIsa::kAvx2>(const abi::ArgBlock&);
template void ConvDepthwise<abi::CpuIsa::kAvx512>(const abi::ArgBlock&);

}  // namespace aicf::cpu
