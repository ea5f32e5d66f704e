/// Attributes of each step family. A struct's Visit names its fields in order; printing, parsing,
/// storing in an artifact and hashing all follow from it, so a field added here is added everywhere.
/// Fields: int64_t, double, bool, enum (stored as integer), Dims, std::vector<Dims>, AddedInt, or
/// AddedReal.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/block_format.h"
#include "base/dims.h"

namespace aicf::abi {

/// An integer that a family gained when steps of it were stored already: the last field of its
/// struct. Where it has the value that it had to have before, it is left out of texts and lists, so
/// that those steps keep their text, their bytes and their hash.
template <int64_t kBefore>
struct AddedInt {
  int64_t value = kBefore;

  AddedInt& operator=(int64_t v) {
    value = v;
    return *this;
  }
  operator int64_t() const { return value; }
  bool stored() const { return value != kBefore; }
};

/// The same for a number from 0 on, which was not there before.
struct AddedReal {
  static constexpr double kAbsent = -1;
  double value = kAbsent;

  AddedReal& operator=(double v) {
    value = v;
    return *this;
  }
  operator double() const { return value; }
  bool stored() const { return value >= 0; }
};

/// out[i] = expr(in0[i], in1[i], ...) over the domain, which is the shape of every operand.
struct ElementwiseAttrs {
  template <class V> void Visit(V&&) {}
};

/// out[starts[p] + i] = epilogue(in_p[i]) for every piece p; elsewhere epilogue(fill) when has_fill.
/// Transpose, slice, concat, pad, broadcast and expand in one. Pieces do not overlap and have one
/// dtype, which without an epilogue is the output's; an epilogue reads nothing else.
struct CopyAttrs {
  std::vector<Dims> starts;  ///< one per input, rank of the output
  bool has_fill = false;     ///< false: the pieces cover the output
  double fill = 0;           ///< value outside the pieces (exact for every dtype below 2^53)
  template <class V> void Visit(V&& v) {
    v("starts", starts);
    v("has_fill", has_fill);
    v("fill", fill);
  }
};

enum class ReduceKind : uint8_t { kSum, kProd, kMin, kMax, kMean, kArgMin, kArgMax, kCount };

/// acc = reduce over `axes` of prologue(core inputs); out = epilogue(acc, extras).
/// The output keeps reduced axes with extent 1. kMean divides by the element count.
/// Sums of floats accumulate in f32 (f64 for f64) pairwise or blocked; argmin/argmax give i64.
struct ReduceAttrs {
  ReduceKind kind = ReduceKind::kSum;
  Dims axes;                 ///< ascending, non-negative; empty reduces nothing
  bool last_index = false;   ///< argmin/argmax: the last of equal elements instead of the first
  template <class V> void Visit(V&& v) {
    v("kind", kind);
    v("axes", axes);
    v("last_index", last_index);
  }
};

/// acc[b.., m, n] = sum_k A[b.., m, k] * B[b.., k, n]; out = epilogue(acc, extras).
/// A, B and out have the same rank >= 2; a broadcast batch axis has extent out and stride 0.
/// With two halves, as gated activations have them, B has twice the columns of out, and the
/// epilogue, which there must be, has two raw inputs: out[.., m, n] = epilogue(acc[.., m, n],
/// acc[.., m, n + N], extras), N being the columns of out.
/// With an epsilon the rows of A are normalised as they are read (NormalizesRows): core operand 2
/// is a gain of A's shape, and
///   A[.., m, k] / sqrt(mean over k of A[.., m, k]^2 + rms_epsilon) * gain[.., m, k],
/// in f32, stands in the place of A[.., m, k].
/// With scale_terms blocks of A and B have scales (HasBlockScales): core operands 2 and 3, in f32,
///   sa [.., M, ceil(K / scale_terms)] and sb [.., ceil(K / scale_terms), ceil(N / scale_columns)],
/// where N are the columns of B, and
///   acc[.., m, n] = sum_k (A[.., m, k] * sa[.., m, k / scale_terms])
///                       * (B[.., k, n] * sb[.., k / scale_terms, n / scale_columns]).
/// A and B are then floats whose products are f32, and nothing is normalised.
/// With moments_epsilon the epilogue, which there must be, sees the moments of A's rows
/// (SeesMoments), as a norm of layers needs them: its raw inputs are the sums, then
///   mean[.., m]  = mean over k of A[.., m, k],
///   scale[.., m] = 1 / sqrt(mean over k of (A[.., m, k] - mean[.., m])^2 + moments_epsilon),
/// in f32. With stores_moments the last output, f32 [.., M, 2], gets mean and scale of every row;
/// the epilogue makes the others. A is then f32, f16 or bf16 and has terms, nothing has scales or
/// is normalised.
/// With part_terms, too, core operand 2 has what is known of A's rows already (ReadsParts):
///   parts [.., M, 2 * K / part_terms] in f32,
/// for every part of a row, part_terms neighbours of K, their mean and the sum of the squares of
/// their differences from it. Mean and scale of the row are made of these, and A is not looked at.
/// With part_columns the last output is such parts of the first result's rows (StoresParts), as
/// they are stored: f32 [.., M, 2 * N / part_columns], for a product whose A it will be. The first
/// result is then f32, f16 or bf16. A product stores moments or parts, not both.
struct GemmAttrs {
  AddedInt<1> halves = {};         ///< 1 or 2
  AddedReal rms_epsilon = {};      ///< finite; absent: A is multiplied as it is
  AddedInt<0> scale_terms = {};    ///< 0: no scales; otherwise 1 to 2^31 - 1 terms have one
  AddedInt<1> scale_columns = {};  ///< columns of B that share scales, 1 to 2^31 - 1
  AddedReal moments_epsilon = {};  ///< finite; absent: the epilogue sees sums alone
  AddedInt<0> stores_moments = {};  ///< 0 or 1
  AddedInt<0> part_terms = {};      ///< 0: moments are of A; otherwise a divisor of K
  AddedInt<0> part_columns = {};    ///< 0: no parts are stored; otherwise a divisor of N
  template <class V> void Visit(V&& v) {
    v("halves", halves);
    v("rms_epsilon", rms_epsilon);
    v("scale_terms", scale_terms);
    v("scale_columns", scale_columns);
    v("moments_epsilon", moments_epsilon);
    v("stores_moments", stores_moments);
    v("part_terms", part_terms);
    v("part_columns", part_columns);
  }
};

/// acc[n, o, p..] = sum_{c, t..} x[n, g*C/G + c, p*stride + t*dilation - pad] * w[o, c, t..]
/// x: [N, C, spatial..], w: [O, C/group, kernel..]; transposed: w is [C, O/group, kernel..] and acc
/// is the gradient of that convolution. Layout (NCHW, NHWC, ...) is in the operands' strides.
/// out = epilogue(acc, extras). Spatial rank 1..3.
struct ConvAttrs {
  Dims strides, dilations, pads_begin, pads_end;  ///< one entry per spatial axis
  int64_t group = 1;
  bool transposed = false;
  template <class V> void Visit(V&& v) {
    v("strides", strides);
    v("dilations", dilations);
    v("pads_begin", pads_begin);
    v("pads_end", pads_end);
    v("group", group);
    v("transposed", transposed);
  }
};

enum class PoolKind : uint8_t { kMax, kAverage, kLp, kCount };

/// x: [N, C, spatial..] -> out: epilogue([N, C, out spatial..], extras). Padding never wins a max.
/// kAverage divides by the window's elements inside the input, or with count_include_pad by those
/// inside the padded input. Windows may start inside the end padding (ceil mode).
struct PoolAttrs {
  PoolKind kind = PoolKind::kMax;
  Dims kernel, strides, dilations, pads_begin, pads_end;
  bool count_include_pad = false;
  int64_t p = 2;  ///< exponent of kLp
  template <class V> void Visit(V&& v) {
    v("kind", kind);
    v("kernel", kernel);
    v("strides", strides);
    v("dilations", dilations);
    v("pads_begin", pads_begin);
    v("pads_end", pads_end);
    v("count_include_pad", count_include_pad);
    v("p", p);
  }
};

enum class NormalizeKind : uint8_t { kSoftmax, kLogSoftmax, kLayerNorm, kRmsNorm, kCount };

/// x = prologue(core inputs); over `axes` jointly:
///   kSoftmax exp(x-max)/sum, kLogSoftmax x-max-log(sum), kLayerNorm (x-mean)/sqrt(var+epsilon),
///   kRmsNorm x/sqrt(mean(x^2)+epsilon);  out = epilogue(normalised x, extras). Accumulates in f32.
struct NormalizeAttrs {
  NormalizeKind kind = NormalizeKind::kSoftmax;
  Dims axes;            ///< ascending, non-negative, not empty
  double epsilon = 0;
  template <class V> void Visit(V&& v) {
    v("kind", kind);
    v("axes", axes);
    v("epsilon", epsilon);
  }
};

enum class GatherKind : uint8_t { kTake, kElements, kPoints, kCount };

/// kTake:     out[a.., i.., b..] = data[a.., indices[i..], b..] along `axis` of data.
/// kElements: out[i..] = data[i.. with coordinate `axis` replaced by indices[i..]]; the indices have
///            the shape of the output, no other axis longer than data's.
/// kPoints:   out[b.., i.., r..] = data[b.., indices[b.., i.., :].., r..], b being the first
///            `batch_axes` axes of all; the last axis of the indices is one coordinate each.
/// A negative index counts from the end; one out of range reads as zero, never out of bounds.
struct GatherAttrs {
  int64_t axis = 0;
  GatherKind kind = GatherKind::kTake;
  int64_t batch_axes = 0;
  template <class V> void Visit(V&& v) {
    v("axis", axis);
    v("kind", kind);
    v("batch_axes", batch_axes);
  }
};

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic, kCount };
enum class CoordinateMode : uint8_t {
  kHalfPixel, kPytorchHalfPixel, kAlignCorners, kAsymmetric, kHalfPixelSymmetric, kTfHalfPixelForNN,
  kCount
};
enum class NearestMode : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil, kCount };

/// ONNX Resize without antialias and without crop: out has the same rank as x; `scales` (f32 values,
/// one per axis, out/in) enter the coordinate map, which is evaluated in f32 on every
/// backend (kAlignCorners: in f64).
struct ResizeAttrs {
  ResizeMode mode = ResizeMode::kNearest;
  CoordinateMode coordinates = CoordinateMode::kHalfPixel;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  std::vector<double> scales;
  template <class V> void Visit(V&& v) {
    v("mode", mode);
    v("coordinates", coordinates);
    v("nearest", nearest);
    v("cubic_a", cubic_a);
    v("exclude_outside", exclude_outside);
    v("scales", scales);
  }
};

/// outputs: values (dtype of x) and indices (i64), both with extent k along `axis`.
/// Equal elements keep the order of their indices; NaN sorts as the largest value.
struct TopKAttrs {
  int64_t axis = 0;
  int64_t k = 1;
  bool largest = true;
  template <class V> void Visit(V&& v) {
    v("axis", axis);
    v("k", k);
    v("largest", largest);
  }
};

enum class ScatterKind : uint8_t { kElements, kPoints, kCount };
enum class ScatterReduction : uint8_t { kNone, kAdd, kMul, kMin, kMax, kCount };

/// out = data; then, for every position of `updates` in row-major order, out[target] becomes the
/// update (kNone) or the reduction of both, so results are the same on every run and backend.
/// kElements: the target is the position with coordinate `axis` replaced by indices[position];
///            indices and updates have one shape, no other axis longer than data's.
/// kPoints:   indices [i.., n], updates [i.., r..]: the target is data[indices[i.., :].., r..].
/// A negative index counts from the end; an update whose target is out of range is dropped.
struct ScatterAttrs {
  ScatterKind kind = ScatterKind::kElements;
  ScatterReduction reduction = ScatterReduction::kNone;
  int64_t axis = 0;  ///< kElements
  template <class V> void Visit(V&& v) {
    v("kind", kind);
    v("reduction", reduction);
    v("axis", axis);
  }
};

enum class ScanKind : uint8_t { kSum, kProd, kCount };

/// out[.., i, ..] = reduce of x[.., 0..i, ..] along `axis`; `exclusive` leaves out element i;
/// `reverse` runs from the end. Floats below f64 accumulate in f32, integers wrap.
struct ScanAttrs {
  ScanKind kind = ScanKind::kSum;
  int64_t axis = 0;
  bool exclusive = false;
  bool reverse = false;
  template <class V> void Visit(V&& v) {
    v("kind", kind);
    v("axis", axis);
    v("exclusive", exclusive);
    v("reverse", reverse);
  }
};

enum class SamplePadding : uint8_t { kZeros, kBorder, kReflection, kCount };

/// ONNX GridSample. x: [N, C, spatial..], grid: [N, out spatial.., spatial rank] with coordinates in
/// [-1, 1], innermost spatial axis first; out: [N, C, out spatial..]. Spatial rank 1..3; cubic
/// (coefficient -0.75) for rank 1 and 2.
struct SampleAttrs {
  ResizeMode mode = ResizeMode::kLinear;
  SamplePadding padding = SamplePadding::kZeros;
  bool align_corners = false;
  template <class V> void Visit(V&& v) {
    v("mode", mode);
    v("padding", padding);
    v("align_corners", align_corners);
  }
};

enum class RoiKind : uint8_t { kAlignAverage, kAlignMax, kPoolMax, kCount };

/// ONNX RoiAlign (kAlign..) and MaxRoiPool (kPoolMax). x: [N, C, H, W], boxes: [R, 4] as x1 y1 x2 y2,
/// batch index: [R] integers, one out of range reads as zeros; out: [R, C, pooled h, pooled w].
struct RoiAttrs {
  RoiKind kind = RoiKind::kAlignAverage;
  double spatial_scale = 1;
  int64_t sampling_ratio = 0;  ///< samples per bin and axis; 0: ceil(box extent / pooled extent)
  bool half_pixel = true;      ///< shifts coordinates by half a pixel (kAlign..)
  template <class V> void Visit(V&& v) {
    v("kind", kind);
    v("spatial_scale", spatial_scale);
    v("sampling_ratio", sampling_ratio);
    v("half_pixel", half_pixel);
  }
};

/// ONNX NonMaxSuppression. boxes: [N, B, 4] f32, scores: [N, C, B] f32; limit: [1] i64, the most boxes
/// per batch and class; overlap, score: [1] f32 thresholds. Outputs: selected [K, 3] i64 rows of
/// (batch, class, box), K = N * C * the largest limit planned for, rows beyond the count are -1;
/// count [1] i64.
struct NmsAttrs {
  bool center_point_box = false;  ///< boxes are x_center y_center width height
  template <class V> void Visit(V&& v) { v("center_point_box", center_point_box); }
};

enum class CellKind : uint8_t { kRnn, kGru, kLstm, kCount };
enum class Direction : uint8_t { kForward, kReverse, kBidirectional, kCount };
/// Activations of recurrent cells; alpha and beta as ONNX defines them.
enum class CellActivation : uint8_t {
  kTanh, kSigmoid, kRelu, kAffine, kLeakyRelu, kThresholdedRelu, kScaledTanh, kHardSigmoid, kElu,
  kSoftsign, kSoftplus, kCount
};

/// ONNX RNN, GRU and LSTM after the products with the inputs. With D directions (1 or 2), T steps,
/// batch B, hidden size H and G gates (1, 3 in the order z r h, 4 in the order i o f c):
///   gates [T, D, B, G*H]  x_t * W' plus every bias that may be added there
///   R     [D, G*H, H]     recurrent weights
///   h0    [D, B, H]
///   c0    [D, B, H]       kLstm only
///   P     [D, 3*H]        peephole weights i o f, only with `peepholes`
///   Rb_h  [D, H]          kGru with linear_before_reset: the recurrent bias of the hidden gate
///   lengths [B] i32       only with `lengths`: steps of each sequence; later outputs are 0
/// Outputs: Y [T, D, B, H], Y_h [D, B, H], and for kLstm Y_c [D, B, H]. A reverse direction walks the
/// sequence backwards and stores Y at the step it belongs to.
struct RecurrentAttrs {
  CellKind cell = CellKind::kLstm;
  Direction direction = Direction::kForward;
  Dims activations;           ///< CellActivation values: 1, 2 or 3 (f g h) per direction
  std::vector<double> alpha;  ///< one per activation
  std::vector<double> beta;
  double clip = 0;  ///< bound of what enters the activations f and g; 0: none
  bool linear_before_reset = false;
  bool input_forget = false;  ///< couples the forget gate to the input gate: f = 1 - i
  bool peepholes = false;
  bool lengths = false;
  template <class V> void Visit(V&& v) {
    v("cell", cell);
    v("direction", direction);
    v("activations", activations);
    v("alpha", alpha);
    v("beta", beta);
    v("clip", clip);
    v("linear_before_reset", linear_before_reset);
    v("input_forget", input_forget);
    v("peepholes", peepholes);
    v("lengths", lengths);
  }
};

/// Where the rows of an attention step lie among the keys: the position of row 0 of a request.
enum class RowOrigin : uint8_t {
  kFixed,     ///< `offset`
  kLastKeys,  ///< `offset` + valid keys - Tq: the last row is at the last valid key
  kOperand,   ///< `offset` + the operand `origins`
  kCount
};

/// For every request b, query head h and row i, over the keys j that are visible to it:
///   s[j] = score(scale * sum_d q[b,h,i,d] * k[b,g,j,d]),   g = h / (Hq / Hkv)
///   out[b,h,i,:] = sum_j exp(s[j]) * v[b,g,j,:] / sum_j exp(s[j])
///   lse[b,h,i]   = log(sum_j exp(s[j])), natural logarithm
/// Core operands, in this order:
///   q [B, Hq, Tq, D], k [B, Hkv, Tk, D], v [B, Hkv, Tk, Dv]; one dtype: f32, f16, bf16 or f64
///   lengths [B] i32 or i64    with `lengths`: request b has lengths[b] valid keys, taken as the
///                             nearest of 0..Tk; otherwise Tk
///   table [B, N] i32          with `pages`: k and v are pools [P, Hkv, page, D or Dv]; key j is row
///                             j % page of page table[b, j / page], and Tk = N * page
///   origins [B] i32 or i64    with rows == kOperand
///   with append_pairs, five operands more (see below)
/// then the operands of the score expression, each a view [B, Hq, Tq, Tk] (stride 0 where it repeats).
/// Outputs: out [B, Hq, Tq, Dv] (any of f32, f16, bf16, and f8e4m3fn, where the largest number stands
/// for what is beyond it; f64 for f64 data) and, when there is a second one, lse [B, Hq, Tq] (f32; f64
/// for f64 data).
///
/// Visible: row i has position p = i + its request's origin (RowOrigin). Key j is visible when
///   j < valid keys,  p - j <= window_left (unless -1),  j - p <= window_right (unless -1),
/// and, with pages, its page is inside the pool. So causal attention is window_right = 0.
///
/// The score expression (Problem::score; empty: s itself) runs on the domain [B, Hq, Tq, Tk]: input 0
/// is the scaled product (f32; f64 for f64 data), input n the n-th score operand, index nodes the
/// coordinates b, h, i, j. Bias, soft-cap, bool masks (select to -inf) and functions of positions are
/// written there. What the attributes say by position is apart because kernels skip keys by it.
///
/// Special values: a row without a visible key, or whose every score is -inf, is 0 with lse -inf. A
/// row with a score NaN or +inf is NaN. A key of weight 0 adds nothing where its value is finite.
/// Keys from the valid keys on, and pages outside the pool, may hold anything, NaN too.
///
/// Products, scores and sums are f32 (f64 for f64 data) in every math mode; the mode says how the
/// factors of both products are rounded, the weights exp(s - max) among them.
///
/// With append_pairs the step first does what AppendAttrs says, with one new row for each request.
/// It has pages, Tq is 1, Dv is D, and the data are f32, f16 or bf16. The operands are
///   new k, new v [B, 1, Hkv, D]       of q's dtype
///   places [B, 1, 2] i32              page and row in it; a row whose place is outside the pools is
///                                     left out
///   cosine, sine [B, 1, append_pairs] f32, f16 or bf16
/// It turns q and new k, rounds both to their dtype, puts new k and new v in their places, and
/// attends to the pools with these rows. No two requests have the same place, and no request sees a
/// key in the place of another one. Outputs: out, next keys [P, Hkv, page, D] and next values
/// likewise, which are k and v with the new rows; there is no lse.
struct AttentionAttrs {
  double scale = 1;
  bool lengths = false;
  bool pages = false;
  RowOrigin rows = RowOrigin::kFixed;
  int64_t offset = 0;
  int64_t window_left = -1;   ///< keys before the row's position that it sees; -1: all
  int64_t window_right = -1;  ///< keys after it; -1: all
  AddedInt<0> append_pairs = {};  ///< 0: appends nothing; otherwise as AppendAttrs::pairs
  template <class V> void Visit(V&& v) {
    v("scale", scale);
    v("lengths", lengths);
    v("pages", pages);
    v("rows", rows);
    v("offset", offset);
    v("window_left", window_left);
    v("window_right", window_right);
    v("append_pairs", append_pairs);
  }
};

/// Squeeze and excitation: each channel of an image is weighed by a gate that two products make from
/// the means of all its channels. For every image n, channel c and position p:
///   mean[n, c]   = sum_p x[n, c, p] / positions
///   hidden[n, m] = prologue(sum_c w1[m, c] * mean[n, c])
///   gate[n, c]   = score(sum_m w2[c, m] * hidden[n, m])
///   out[n, c, p] = epilogue(gate[n, c], x[n, c, p], further extras)
/// Core operands, in this order:
///   w1 [M, C], w2 [C, M]
///   `hidden_operands` operands of the prologue, views [N, M]: biases (stride 0 along N) and others
///   operands of the score, views [N, C]
/// then the extras, of which the first is x [N, C, positions..]. w1, w2 and x are each f32, f16 or
/// bf16; means, products and gates are f32 in every math mode, and nothing between them is rounded.
/// The prologue's input 0 is the product (f32), input k operand 1 + k of the step, on the domain
/// [N, M]; the score's inputs are the second product and its operands, on the domain [N, C].
struct ExciteAttrs {
  int64_t hidden_operands = 0;
  template <class V> void Visit(V&& v) { v("hidden_operands", hidden_operands); }
};

/// raw[.., k] = element k of the row of blocks x[.., :], which is u8 [.., bytes of a row], its bytes
/// next to each other; raw is f32 [.., elements of a row], out = epilogue(raw, extras). The formats
/// are those of base/block_format.h.
struct DequantizeAttrs {
  BlockFormat format = BlockFormat::kF32;
  template <class V> void Visit(V&& v) { v("format", format); }
};

/// acc[.., m, n] = sum_k A[.., m, k] * element k of row n of B; out = epilogue(acc, extras).
/// A: [.., M, K], f32, f16 or bf16; B: u8 [N, bytes of a row of K elements], its rows as for
/// DequantizeAttrs. Sums are f32. In math modes fp16 and bf16 A and the elements of B may be rounded
/// to these types first. In math mode int8 each row of A may be: groups of 32 elements along k are
/// integers of 8 bits times the group's largest magnitude / 127. Halves and epsilon are those of
/// GemmAttrs: of two halves B has 2 * N rows, and the second result of column n is that of row n + N.
struct BlockGemmAttrs {
  BlockFormat format = BlockFormat::kF32;
  AddedInt<1> halves = {};
  AddedReal rms_epsilon = {};
  template <class V> void Visit(V&& v) {
    v("format", format);
    v("halves", halves);
    v("rms_epsilon", rms_epsilon);
  }
};

/// Draws one of V categories for each row b of logits, by
///   x [B, V] f32, f16 or bf16      the logits
///   temperature [B] f32            not above 0: the category of the largest logit, the first of them
///   top_k [B] i32                  only the k largest; below 1: all
///   top_p [B] f32                  of these only the largest, as few as have this part of their mass,
///                                  and at least one; 1 and above: all
///   min_p [B] f32                  of these only those that are at least this part of the largest
///   seeds [B] i64, counters [B] i32 or i64    key and number of the draw (kernels/abi/draw.h)
/// The mass of category i is exp((x[i] - max) / temperature); larger is who has the larger logit, of
/// equal ones the earlier. With u from draw.h and the mass S of all that is left, the draw is the first
/// category left at which their running mass, in the order of categories, is above u * S; where
/// rounding leaves none, the last one. Masses below 2^-31 of the largest may count as 0.
/// Outputs: ids [B] i32 and, when there is a second one, valid [B] bool. A row with a NaN or +inf, or
/// with -inf only, has id 0 and is not valid.
/// With `stores`, two operands more and an output behind the others:
///   table [S] i32, places [B] i32
///   next table [S] i32 = table, but for [places[b]] = ids[b]. An id whose place is outside the table
///   is left out; no two others have one place
struct CategoricalAttrs {
  AddedInt<0> stores = {};  ///< 0 or 1
  template <class V> void Visit(V&& v) { v("stores", stores); }
};

/// Appends this run's keys and values to a cache in pages and, with `pairs`, turns queries and keys
/// by their positions (RoPE). For request b, row i, head h and element d of a head of D, with
/// c = cosine[b, i, :] and s = sine[b, i, :]:
///   turned(x)[d] = x[d] * c[d] - x[d + pairs] * s[d]                   d < pairs
///                  x[d] * c[d - pairs] + x[d - pairs] * s[d - pairs]   pairs <= d < 2 * pairs
///                  x[d]                                                2 * pairs <= d
///   next keys   = keys, but for [places[b, i, 0], places[b, i, 1], h, :] = turned(k[b, i, h, :])
///   next values = values, but for the same place = v[b, i, h, :]
///   turned queries[b, i, h, :] = turned(q[b, i, h, :])
/// Core operands, in this order:
///   k, v [B, T, K, D]            f32, f16 or bf16 each, as all that follow but the places
///   places [B, T, 2] i32         page and row in it. A row whose place is outside the cache is
///                                left out; no two others have one place
///   keys, values [P, page, K, D]
///   q [B, T, H, D]               with `pairs`, as the two after it
///   cosine, sine [B, T, pairs]
/// Outputs: next keys and next values, each of its operand's dtype, and with `pairs` turned
/// queries. Products and sums are f32 in every math mode.
struct AppendAttrs {
  int64_t pairs = 0;  ///< 2 * pairs <= D; 0: no queries, and nothing is turned
  template <class V> void Visit(V&& v) { v("pairs", pairs); }
};

namespace internal {
/// The list of family.def starts with a comma, hence the first.
template <class First, class... Rest>
struct VariantOf {
  using Type = std::variant<Rest...>;
};
}  // namespace internal

/// The attributes of a step: one alternative per row of family.def, in its order.
using Attrs = internal::VariantOf<void
#define AICF_FAMILY(id, text, attrs, core, slots) , attrs
#include "kernels/abi/family.def"
#undef AICF_FAMILY
                                  >::Type;

}  // namespace aicf::abi
