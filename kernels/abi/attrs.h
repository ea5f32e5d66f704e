/// Attributes of each step family. A struct's Visit names its fields in order; printing, parsing,
/// storing in an artifact and hashing all follow from it, so a field added here is added everywhere.
/// Fields: int64_t, double, bool, enum (stored as integer), Dims, or std::vector<Dims>.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/dims.h"

namespace aicf::abi {

/// out[i] = expr(in0[i], in1[i], ...) over the domain, which is the shape of every operand.
struct ElementwiseAttrs {
  template <class V> void Visit(V&&) {}
};

/// out[starts[p] + i] = in_p[i] for every piece p; elsewhere `fill` when has_fill.
/// Transpose, slice, concat, pad, broadcast and expand in one. Pieces do not overlap.
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
struct GemmAttrs {
  template <class V> void Visit(V&&) {}
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

/// out[a.., i.., b..] = data[a.., indices[i..], b..] along `axis` of data.
/// A negative index counts from the end; one out of range reads as zero, never out of bounds.
struct GatherAttrs {
  int64_t axis = 0;
  template <class V> void Visit(V&& v) { v("axis", axis); }
};

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic, kCount };
enum class CoordinateMode : uint8_t {
  kHalfPixel, kPytorchHalfPixel, kAlignCorners, kAsymmetric, kHalfPixelSymmetric, kTfHalfPixelForNN,
  kCount
};
enum class NearestMode : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil, kCount };

/// ONNX Resize without antialias and without crop: out has the same rank as x; `scales` (f32 values,
/// one per axis, out/in) enter the coordinate map, which is evaluated in f32 on every backend.
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

using Attrs = std::variant<ElementwiseAttrs, CopyAttrs, ReduceAttrs, GemmAttrs, ConvAttrs, PoolAttrs,
                           NormalizeAttrs, GatherAttrs, ResizeAttrs, TopKAttrs>;

}  // namespace aicf::abi
