#include "kernels/cpu/conv/igemm.h"

#include "kernels/cpu/conv/product.h"

namespace aicf::cpu {
namespace {

// Shifts outputs and operands to the first position of the phase.
void EnterPhase(const abi::ArgBlock& args, const ConvShape& s, const ConvPhase& phase,
                TileEpilogue* e) {
  const int count = e->input_count + e->output_count;
  for (int k = 0; k < count; ++k) {
    const bool is_input = k < e->input_count;
    TileOperand& o = is_input ? e->inputs[k] : e->outputs[k - e->input_count];
    const abi::TensorArg& t = args.tensors[args.problem->core_inputs + k];
    for (int a = s.first_axis; a < 3; ++a) {
      o.data += phase.out_first[a] * t.strides[ConvTensorAxis(s, a)] * DTypeBytes(t.dtype);
    }
  }
}

void FillPieces(const abi::ArgBlock& args, const ConvShape& s, int64_t columns, Igemm* g) {
  g->columns = columns;
  g->pieces.piece_columns = s.filters;
  const abi::TensorArg& out = args.tensors[args.input_count];
  const int64_t pieces = s.filters > 0 ? columns / s.filters : 0;
  for (int64_t piece = 0; piece < pieces && pieces > 1; ++piece) {
    int64_t rest = piece, offset = 0;
    for (int a = 2; a >= s.first_axis; --a) {
      offset += rest % s.kernel[a] * out.strides[ConvTensorAxis(s, a)];
      rest /= s.kernel[a];
    }
    g->pieces.output_offset[piece] = offset;
  }
}

}  // namespace

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
  // One product whose columns are the channels.
  ConvShape whole = s;
  whole.channels = 1;
  whole.filters = s.groups;
  whole.groups = 1;
  const ConvPhase phase = ConvPhaseOf(p, s, 0);
  Igemm g;
  FillConvProduct(args, whole, phase, in, ConvSource{}, &g);
  g.depthwise = true;
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
