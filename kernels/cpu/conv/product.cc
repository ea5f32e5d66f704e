#include "kernels/cpu/conv/product.h"

namespace aicf::cpu {
namespace {

TileAxes AxesOf(const ConvShape& s, const ConvPhase& phase) {
  TileAxes axes;
  axes.outer_rank = 4;
  axes.outer[kConvImage] = 0;
  axes.outer[kConvGroup] = s.groups > 1 ? 1 : -1;
  axes.outer_scale[kConvGroup] = s.filters;
  axes.outer[kConvDepth] = ConvTensorAxis(s, 0);
  axes.outer[kConvHeight] = ConvTensorAxis(s, 1);
  axes.outer_scale[kConvDepth] = phase.out_step[0];
  axes.outer_scale[kConvHeight] = phase.out_step[1];
  axes.row = ConvTensorAxis(s, 2);
  axes.row_scale = phase.out_step[2];
  axes.column = 1;
  return axes;
}

// Fills in the rows of the product: one per output position of the phase along the last axis.
void FillRows(const ConvShape& s, const ConvPhase& phase, const ConvInput& in, ConvSource source,
              Igemm* g) {
  g->x = in.data;
  g->depth = source.planes ? 1 : s.channels;
  g->planes = source.planes ? s.channels : 1;
  g->plane_stride = in.channel_stride;
  for (int a = 0; a < 3; ++a) {
    g->window[a] = phase.window[a];
    g->window[a].x_stride = in.spatial_strides[a];
  }
  g->total_depth = phase.taps() * s.channels;
  g->outer_rank = 4;
  g->outer[kConvImage] = s.images;
  g->outer[kConvGroup] = s.groups;
  g->outer[kConvDepth] = phase.out_count[0];
  g->outer[kConvHeight] = phase.out_count[1];
  g->x_outer_strides[kConvImage] = in.image_stride;
  g->x_outer_strides[kConvGroup] = s.channels * in.channel_stride;
  g->width = phase.out_count[2];
}

}  // namespace

void FillConvProduct(const abi::ArgBlock& args, const ConvShape& s, const ConvPhase& phase,
                     const ConvInput& in, ConvSource source, Igemm* g) {
  FillRows(s, phase, in, source, g);
  FillEpilogue(args, AxesOf(s, phase), &g->epilogue);
}

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

}  // namespace aicf::cpu
