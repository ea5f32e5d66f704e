/// The one matrix product behind gemm and conv: rows of A gathered by address, packed panels of B,
/// and an epilogue applied to each tile of the result while it is in the first-level cache.
///
///   acc[o.., q, c] = sum over planes, window taps and depth of
///                    x[o.. , plane, q * stride + tap, k] * B[o..][(plane, tap, k), c]
///
/// In a depthwise sum, x[.., c] takes the place of x[.., k], and B holds one row per tap.
///
/// Integers of at most 16 bits are multiplied in the same way. An element of x and of B is then a
/// "cell": four bytes or two words that are neighbours along k. Sums are then i32 (IntegerForm).
///
/// A gemm has one plane and one tap; its rows are q. A convolution's rows are the output positions
/// along its last spatial axis; taps that fall outside x read zeros or are skipped. Plain data:
/// filled by host code (igemm_plan.cc), run by igemm.isa.cc.
#pragma once

#include <cstdint>

#include "kernels/abi/kernel.h"
#include "kernels/cpu/expr/block_eval.h"
#include "kernels/cpu/gemm/chain_step.h"

namespace aicf::cpu {

/// One spatial axis of the window. Tap i of output position q reads x at q*stride + first + i*step.
struct WindowAxis {
  int64_t count = 1;  ///< taps
  int64_t first = 0;
  int64_t step = 1;
  int64_t stride = 1;
  int64_t extent = 1;    ///< positions of x; those outside [0, extent) read as zero
  int64_t x_stride = 0;  ///< elements of x per position
};

/// Most taps (planes times window taps) of one Igemm, and most gathered row addresses of a tile.
inline constexpr int kMaxTaps = 1024;
inline constexpr int kMaxRowPointers = 4096;
/// Longest depth that may meet padding: the length of the row of zeros.
inline constexpr int kMaxPaddedDepth = 8192;
inline constexpr int kMaxPanelColumns = 64;
inline constexpr int kDepthwiseVectors = 1;  ///< panel width of depthwise sums
inline constexpr int kMaxTileRows = 16;
inline constexpr int kMaxColumnOperands = 4;
inline constexpr int kMaxEpilogueInputs = abi::kMaxExprInputs;

/// An output or epilogue operand, seen as [outer.., row, column].
struct TileOperand {
  char* data = nullptr;  ///< the view's first element
  DType dtype = DType::kF32;
  int64_t outer_strides[kMaxRank] = {};
  int64_t row_stride = 0;
  int64_t col_stride = 0;
};

/// The epilogue of a tile of accumulators. If is_chain, `steps` describe it completely, otherwise
/// `expr` does.
struct TileEpilogue {
  bool is_chain = false;
  bool is_direct = false;  ///< chain of at most a clamp, into a dense f32 output
  int bias_input = -1;     ///< column operand that accumulators start from; index into inputs
  int step_count = 0;
  ChainStep steps[kMaxChainSteps];
  /// Whether the sums are integers, to which `terms` are added and which then become f32 before the
  /// steps run.
  bool from_integers = false;
  int term_count = 0;
  IntegerTerm terms[kMaxIntegerTerms];
  int column_count = 0;
  int column_inputs[kMaxColumnOperands] = {};  ///< operands that vary with the column alone

  float table[kChainTableEntries];  ///< for kTable, indexed by the lowest 8 bits of v

  const abi::Expr* expr = nullptr;
  EvalBlockFn eval_block = nullptr;
  int input_count = 0;
  TileOperand inputs[kMaxEpilogueInputs];
  int output_count = 0;
  TileOperand outputs[abi::kMaxExprResults];
  int row_axis = -1, col_axis = -1;  ///< domain axes of rows and columns, for ExprOp::kIndex
  int outer_axes[kMaxRank] = {};     ///< domain axis of each outer axis; -1: none
};

/// Applies the steps of a chain whose operands are numbers and the saved value to
/// kChainTableEntries values in place.
using EvalChainFn = void (*)(const TileEpilogue& epilogue, float* values);

/// Columns may be several pieces side by side, each going to its own place of the output (the
/// phases of a transposed convolution). Piece p holds channels [0, piece_columns). With more than
/// one piece there is one output, and epilogue operands vary with the outer axes and the channel
/// only.
inline constexpr int kMaxPieces = 64;
struct ColumnPieces {
  int64_t piece_columns = 0;
  int64_t output_offset[kMaxPieces] = {};  ///< elements of outputs[0]
};

/// What an element ("cell", 4 bytes) of x and of packed B holds, and so how the two are multiplied.
enum class IntegerForm : uint8_t {
  kNone,   ///< one f32
  kBytes,  ///< four bytes: x of u8 or i8, B of i8
  kWords,  ///< two i16
};

/// A tap of the window as the register tiles see it.
struct TileTap {
  int64_t x;       ///< row 0 from TileWork::x, in elements (evenly spaced rows only)
  const float* b;  ///< panel rows of this tap: (depth, columns of the panel)
};

/// What one register tile computes: rows of x times a panel of B.
struct TileWork {
  const TileTap* taps;
  const float* x;            ///< evenly spaced rows only
  const float* const* rows;  ///< [tap][row] (gathered rows only)
  int64_t tap_count;
  int64_t row_stride;  ///< elements between rows (evenly spaced rows only)
  int64_t depth;
  int64_t b_stride;    ///< elements between rows of the panel
  int64_t b_far;       ///< elements from vector 0 to vector 2 of a panel of four vectors
  const float* start;  ///< values that every row starts from: one per column; with integers i32
                       ///< numbers that lie as the panel's columns do
  float* out;          ///< row r at out + r * out_stride; i32 numbers with integers
  int64_t out_stride;
};

/// A register tile of integers (gemm/int8.isa.cc).
using IntegerTileFn = void (*)(const TileWork& work);
/// Finds the integer tile of `rows` >= 1 rows and 1 <= vectors <= 4 vectors. flip: x is i8, not u8.
using FindIntegerTileFn = IntegerTileFn (*)(IntegerForm form, bool flip, int vectors, int rows,
                                            bool gathered);

struct Igemm {
  IntegerForm form = IntegerForm::kNone;
  bool integer_sums = false;                 ///< the epilogue's raw result is i32: whenever x holds
                                             ///< integers, as cells or (kNone) widened to f32
  bool flip = false;                         ///< kBytes: x is i8
  FindIntegerTileFn find_integer = nullptr;  ///< unless kNone
  const float* x = nullptr;                  ///< cells, with integers; they need no alignment
  int64_t depth = 0;                         ///< contiguous elements of x per tap
  int64_t planes = 1;
  int64_t plane_stride = 0;
  WindowAxis window[3];    ///< the last one runs along rows
  bool depthwise = false;  ///< column c reads channel c alone: a sum over taps, depth is 1
  bool merge_taps =
      false;  ///< taps along rows are contiguous in x, so interior tiles read them as one tap
  int64_t total_depth = 0;  ///< planes * taps * depth: rows of B

  int outer_rank = 2;  ///< the last two outer axes are window[0] and window[1]
  int64_t outer[kMaxRank] = {};
  int64_t x_outer_strides[kMaxRank] = {};
  int64_t b_outer_strides[kMaxRank] = {};  ///< floats of packed B
  int64_t width = 0;                       ///< rows per outer index

  const float* packed = nullptr;
  int64_t b_row_stride = 0;  ///< if not 0, B is a strided matrix of whole vectors, not packed
  int64_t columns = 0;
  int64_t index_column = 0;  ///< coordinate of column 0, for ExprOp::kIndex
  int64_t panel_count = 0;
  int64_t panel_threes = 0;  ///< leading panels of three vectors; the others have panel_narrow
  int panel_narrow = 2;
  bool panel_pair = false;  ///< the last two panels, two vectors each, are computed as one of four
  int64_t panel_vectors = 0;

  ColumnPieces pieces;
  TileEpilogue epilogue;

  // How the work is cut: unit = (panel group, outer group, segment of the rows).
  int64_t panels_per_unit = 1, panel_groups = 1;
  int64_t outers_per_unit = 1, outer_groups = 1;
  int64_t segments = 1;
  int64_t outer_count = 1;
};

namespace baseline {
void EvalChain(const TileEpilogue& epilogue, float* values);
void RunIgemmUnit(const Igemm& igemm, int64_t unit);
}  // namespace baseline
namespace avx2 {
void EvalChain(const TileEpilogue& epilogue, float* values);
void RunIgemmUnit(const Igemm& igemm, int64_t unit);
}  // namespace avx2
namespace avx512 {
void EvalChain(const TileEpilogue& epilogue, float* values);
void RunIgemmUnit(const Igemm& igemm, int64_t unit);
}  // namespace avx512

}  // namespace aicf::cpu
