/// State that the tiles of a unit share, and what is done with a finished tile of accumulators.
#pragma once

#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/gemm/igemm.h"

AICF_ISA_BEGIN

AICF_INLINE int64_t Smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// Columns [begin, end) of a panel that belong to one piece, and where their first element goes.
struct Segment {
  int begin, end;
  int64_t channel;  // of column `begin`
  int64_t offset;   // elements of the output
};

// Where a panel lies among the columns. In packed memory it consists of `parts` panels, one after
// the other.
struct PanelPlace {
  int vectors, parts;
  int columns;  // valid ones
  int64_t first_column;
};

/// Columns that follow one another in a packed row of a panel.
AICF_INLINE int64_t PackedColumns(const PanelPlace& panel) {
  return panel.vectors / panel.parts * kLanes;
}

/// Rows of a packed panel: those of B, and with integers one more, from which sums start.
AICF_INLINE int64_t PanelRows(const Igemm& g) {
  return g.total_depth + (g.form == IntegerForm::kNone ? 0 : 1);
}

AICF_INLINE PanelPlace PanelAt(const Igemm& g, int64_t index) {
  const bool three = index < g.panel_threes;
  const bool pair = g.panel_pair && index == g.panel_count - 1;
  const int64_t vector =
      three ? 3 * index : 3 * g.panel_threes + g.panel_narrow * (index - g.panel_threes);
  const int vectors = three  ? 3
                      : pair ? 4
                             : static_cast<int>(Smaller(g.panel_narrow, g.panel_vectors - vector));
  const int64_t first = vector * kLanes;
  const auto columns = static_cast<int>(Smaller(vectors * kLanes, g.columns - first));
  return {vectors, pair ? 2 : 1, columns, first};
}

// A panel of columns and everything that depends on the column alone.
struct Panel : PanelPlace {
  int64_t b_offset;  // floats from the start of a packed matrix
  int segment_count;
  Segment segments[kMaxPanelColumns];
  alignas(64) float start[kMaxPanelColumns];
  alignas(64) float terms[kMaxPanelColumns];  // i32: TileEpilogue::terms
  alignas(64) float column_values[kMaxColumnOperands][kMaxPanelColumns];
};

// One outer index: addresses that its tiles share.
struct Outer {
  int64_t coords[kMaxRank];
  const float* x;
  const float* b;
  const char* inputs[kMaxEpilogueInputs];
  char* outputs[abi::kMaxExprResults];
};

AICF_INLINE int64_t BytesOf(DType d) {
  switch (d) {
    case DType::kF64:
    case DType::kI64:
    case DType::kU64:
      return 8;
    case DType::kF16:
    case DType::kBF16:
    case DType::kI16:
    case DType::kU16:
      return 2;
    case DType::kF32:
    case DType::kI32:
    case DType::kU32:
      return 4;
    default:
      return 1;
  }
}

template <class Byte>
AICF_INLINE Byte* TileAddress(Byte* base, const TileOperand& o, int64_t q, const Segment& s) {
  return base + (q * o.row_stride + s.channel * o.col_stride + s.offset) * BytesOf(o.dtype);
}

void EnterPanel(const Igemm& g, int64_t index, Panel* panel);
void EnterOuter(const Igemm& g, int64_t index, Outer* outer);

/// Applies the epilogue to `rows` rows of accumulators (panel.vectors * kLanes apart) that start at
/// row q, and stores the outputs. The tile is overwritten.
void FinishTile(const Igemm& g, const Panel& panel, const Outer& outer, int64_t q, int rows,
                float* tile);

AICF_ISA_END
