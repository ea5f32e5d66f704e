#include "kernels/cpu/gemm/tile.h"

#include "kernels/cpu/gemm/chain.h"
#include "kernels/cpu/gemm/int_simd.h"

AICF_ISA_BEGIN
namespace {

void FinishWithExpression(const Igemm& g, const Panel& panel, const Outer& outer, int64_t q,
                          int rows, const float* tile) {
  const TileEpilogue& e = g.epilogue;
  const int64_t tile_stride = panel.vectors * kLanes;
  for (int i = 0; i < panel.segment_count; ++i) {
    const Segment& s = panel.segments[i];
    BlockInput inputs[kMaxEpilogueInputs + 1];
    BlockOutput outputs[abi::kMaxExprResults];
    int64_t origin[kMaxRank] = {};
    const DType raw = g.integer_sums ? DType::kI32 : DType::kF32;
    inputs[0] = {tile + s.begin, tile_stride, 1, raw};
    for (int k = 0; k < e.input_count; ++k) {
      const TileOperand& o = e.inputs[k];
      const Segment at = {s.begin, s.end, s.channel, 0};
      inputs[k + 1] = {TileAddress(outer.inputs[k], o, q, at), o.row_stride, o.col_stride, o.dtype};
    }
    for (int k = 0; k < e.output_count; ++k) {
      const TileOperand& o = e.outputs[k];
      outputs[k] = {TileAddress(outer.outputs[k], o, q, s), o.row_stride, o.col_stride, o.dtype};
    }
    for (int axis = 0; axis < g.outer_rank; ++axis) {
      if (e.outer_axes[axis] >= 0) origin[e.outer_axes[axis]] = outer.coords[axis];
    }
    if (e.row_axis >= 0) origin[e.row_axis] = q;
    if (e.col_axis >= 0) origin[e.col_axis] += g.index_column + s.channel;
    const BlockOrigin block_origin = {origin, e.row_axis, e.col_axis};
    e.eval_block(*e.expr, rows, s.end - s.begin, inputs, outputs, &block_origin);
  }
}

void FinishWithChain(const Igemm& g, const Panel& panel, const Outer& outer, int64_t q, int rows,
                     float* tile) {
  const TileEpilogue& e = g.epilogue;
  const TileOperand& out = e.outputs[0];
  const float* tensors[kMaxEpilogueInputs];
  const Segment& first = panel.segments[0];
  const Segment same = {first.begin, first.end, first.channel, 0};
  for (int k = 0; k < e.input_count; ++k) {
    tensors[k] = reinterpret_cast<const float*>(TileAddress(outer.inputs[k], e.inputs[k], q, same));
  }
  const ChainCall call = {
      &e, tile, rows, panel.vectors, panel.columns, panel.column_values, tensors, panel.terms};
  // Sums that are stored as i32 have no steps, so RunChain can store their bits as if they were
  // floats.
  const bool four_bytes = out.dtype == DType::kF32 || out.dtype == DType::kI32;
  if (four_bytes && out.col_stride == 1 && panel.segment_count == 1) {
    float* to = reinterpret_cast<float*>(TileAddress(outer.outputs[0], out, q, first));
    return RunChain(call, to, out.row_stride);
  }
  RunChain(call, nullptr, 0);
  for (int i = 0; i < panel.segment_count; ++i) {
    const Segment& s = panel.segments[i];
    StoreTile(tile + s.begin, panel.vectors * kLanes, rows, s.end - s.begin,
              TileAddress(outer.outputs[0], out, q, s), out.dtype, out.row_stride, out.col_stride);
  }
}

int32_t LoadInteger(const TileOperand& o, int64_t column) {
  const int64_t i = column * o.col_stride;
  if (o.dtype == DType::kI32) return reinterpret_cast<const int32_t*>(o.data)[i];
  if (o.dtype == DType::kU8) return reinterpret_cast<const uint8_t*>(o.data)[i];
  return reinterpret_cast<const int8_t*>(o.data)[i];
}

// Computes the sum of all terms for each column of the panel.
void GatherTerms(const TileEpilogue& e, const Panel& panel, float* out) {
  uint32_t sums[kMaxPanelColumns] = {};
  for (int t = 0; t < e.term_count; ++t) {
    const IntegerTerm& term = e.terms[t];
    for (int i = 0; i < panel.segment_count; ++i) {
      const Segment& s = panel.segments[i];
      for (int c = s.begin; c < s.end; ++c) {
        const int64_t column = s.channel + c - s.begin;
        auto product = static_cast<uint32_t>(term.number);
        if (term.a >= 0) product *= static_cast<uint32_t>(LoadInteger(e.inputs[term.a], column));
        if (term.b >= 0) product *= static_cast<uint32_t>(LoadInteger(e.inputs[term.b], column));
        sums[c] += product;
      }
    }
  }
  std::memcpy(out, sums, sizeof(sums));
}

float LoadColumn(const TileOperand& o, int64_t column) {
  const int64_t i = column * o.col_stride;
  if (o.dtype == DType::kF32) return reinterpret_cast<const float*>(o.data)[i];
  const uint16_t bits = reinterpret_cast<const uint16_t*>(o.data)[i];
  return o.dtype == DType::kF16 ? F16ToF32(bits) : BF16ToF32(bits);
}

void GatherColumns(const TileOperand& operand, const Panel& panel, float* out) {
  std::memset(out, 0, kMaxPanelColumns * sizeof(float));
  const Segment& only = panel.segments[0];
  if (panel.segment_count == 1 && operand.dtype == DType::kF32 && operand.col_stride == 1) {
    const auto* from = reinterpret_cast<const float*>(operand.data) + only.channel;
    std::memcpy(out, from, static_cast<size_t>(panel.columns) * sizeof(float));
    return;
  }
  for (int i = 0; i < panel.segment_count; ++i) {
    const Segment& s = panel.segments[i];
    for (int c = s.begin; c < s.end; ++c) out[c] = LoadColumn(operand, s.channel + c - s.begin);
  }
}

void FindSegments(const Igemm& g, Panel* panel) {
  if (g.pieces.piece_columns == g.columns) {
    panel->segment_count = 1;
    panel->segments[0] = {0, panel->columns, panel->first_column, 0};
    return;
  }
  const int64_t width = g.pieces.piece_columns;
  int64_t piece = panel->first_column / width, channel = panel->first_column % width;
  panel->segment_count = 0;
  for (int begin = 0; begin < panel->columns; channel = 0, ++piece) {
    const auto end = static_cast<int>(Smaller(panel->columns, begin + width - channel));
    panel->segments[panel->segment_count++] = {begin, end, channel, g.pieces.output_offset[piece]};
    begin = end;
  }
}

}  // namespace

void EnterPanel(const Igemm& g, int64_t index, Panel* panel) {
  *static_cast<PanelPlace*>(panel) = PanelAt(g, index);
  panel->b_offset = panel->first_column * (g.b_row_stride != 0 ? 1 : PanelRows(g));
  FindSegments(g, panel);
  const TileEpilogue& e = g.epilogue;
  if (e.from_integers) GatherTerms(e, *panel, panel->terms);
  if (e.bias_input >= 0) {
    GatherColumns(e.inputs[e.bias_input], *panel, panel->start);
  } else {
    std::memset(panel->start, 0, sizeof(panel->start));
  }
  for (int k = 0; k < e.column_count; ++k) {
    GatherColumns(e.inputs[e.column_inputs[k]], *panel, panel->column_values[k]);
  }
}

void EnterOuter(const Igemm& g, int64_t index, Outer* outer) {
  const TileEpilogue& e = g.epilogue;
  outer->x = g.x;
  outer->b = g.packed;
  for (int k = 0; k < e.input_count; ++k) outer->inputs[k] = e.inputs[k].data;
  for (int k = 0; k < e.output_count; ++k) outer->outputs[k] = e.outputs[k].data;
  for (int axis = g.outer_rank - 1; axis >= 0; --axis) {
    const int64_t extent = g.outer[axis];
    outer->coords[axis] = 0;
    if (extent == 1) continue;
    const int64_t at = index % extent;
    index /= extent;
    outer->coords[axis] = at;
    outer->x += at * g.x_outer_strides[axis];
    outer->b += at * g.b_outer_strides[axis];
    const auto bytes = [&](const TileOperand& o) {
      return at * o.outer_strides[axis] * BytesOf(o.dtype);
    };
    for (int k = 0; k < e.input_count; ++k) outer->inputs[k] += bytes(e.inputs[k]);
    for (int k = 0; k < e.output_count; ++k) outer->outputs[k] += bytes(e.outputs[k]);
  }
}

void FinishTile(const Igemm& g, const Panel& panel, const Outer& outer, int64_t q, int rows,
                float* tile) {
  if (g.integer_sums && g.form == IntegerForm::kNone) {
    const int count = rows * panel.vectors * kLanes;
    for (int i = 0; i < count; i += kLanes) StoreInts(tile + i, IntsOf(Load(tile + i)));
  }
  g.epilogue.is_chain ? FinishWithChain(g, panel, outer, q, rows, tile)
                      : FinishWithExpression(g, panel, outer, q, rows, tile);
}

AICF_ISA_END
