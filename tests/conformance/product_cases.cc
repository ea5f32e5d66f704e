// Random problems of the families that slide or multiply: gemm, conv, pool.
#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "kernels/abi/raw_dtype.h"
#include "tests/conformance/case_maker.h"

namespace aicf::conformance {

using abi::View;

namespace {

// Columns of a part whose moments are stored.
constexpr int64_t kPartColumns = 64;

// Makes the columns of a dense matrix contiguous instead of its rows. Batch axes stay as they are.
View ColumnsInner(View v) {
  const int rank = v.shape.rank();
  v.strides[rank - 2] = 1;
  v.strides[rank - 1] = std::max<int64_t>(1, v.shape[rank - 2]);
  return v;
}

}  // namespace

// Whether a gemm case is one of OneRow. The answer takes nothing from the sequence of random
// numbers, so that the other cases are what they were before there were these.
bool CaseMaker::DrawsOneRow() const {
  if (options_.eight_bits || options_.moments || options_.parts || options_.block_scales)
    return false;
  if (options_.rows > 1 || options_.length > 0) return false;
  Random other = random_;
  return other.OneIn(10);
}

// Products of floats with one row whose columns of B are contiguous along k, in whole vectors of 16
// bytes. Columns may lie in any order, with gaps, and be the same.
void CaseMaker::OneRow() {
  abi::GemmAttrs attrs;
  random_.Next();  // the number that DrawsOneRow has seen
  attrs.halves = options_.halves > 0 ? options_.halves : random_.Int(1, 2);
  p_.attrs = attrs;
  p_.math = ProductMath();
  const DType drawn = ProductDType();
  const bool as_drawn = drawn == DType::kF16 || drawn == DType::kBF16;
  const DType dtype = as_drawn ? drawn : DType::kF32;
  const int64_t piece = 16 / DTypeBytes(dtype);
  const int64_t n = random_.OneIn(6) ? 1 : random_.Int(2, random_.OneIn(3) ? 150 : 40);
  const int64_t k = piece * random_.Int(1, random_.OneIn(3) ? 60 : 12), columns = n * attrs.halves;
  const int64_t apart = k + piece * (random_.OneIn(2) ? 0 : random_.Int(1, 3));
  View b{dtype, {k, columns}, {1, apart}, random_.OneIn(2) ? 0 : piece * random_.Int(1, 3)};
  if (random_.OneIn(5)) b.strides[1] = 0;
  if (random_.OneIn(4)) {
    b.offset += (columns - 1) * b.strides[1];
    b.strides[1] = -b.strides[1];
  }
  p_.inputs = {MatrixView(dtype, {1, k}), b};
  p_.core_inputs = 2;
  if (options_.row_norm) AddGain();
  FinishProduct(dtype, {1, n}, k);
}

// Products of floats in the layout that the bulk copy engine takes, with so many columns and terms
// that there are several tiles, and more steps of k than a block's shared memory has room for.
void CaseMaker::FewRows() {
  abi::GemmAttrs attrs;
  const bool stores_parts = options_.parts && !options_.moments;
  attrs.halves = stores_parts ? 1 : random_.Int(1, 2);
  p_.attrs = attrs;
  p_.math = ProductMath();
  const DType dtype = ProductDType();
  const int64_t piece = 16 / DTypeBytes(dtype);
  const int64_t m = random_.Int(2, random_.OneIn(2) ? 64 : 20);
  const int64_t n = stores_parts        ? kPartColumns * random_.Int(1, 9)
                    : attrs.halves == 2 ? 8 * random_.Int(1, 40)
                                        : random_.Int(1, 560);
  const int64_t k = piece * random_.Int(1, random_.OneIn(3) ? 20 : 500);
  p_.inputs = {abi::DenseView(dtype, {m, k}),
               ColumnsInner(abi::DenseView(dtype, {k, n * attrs.halves}))};
  p_.core_inputs = 2;
  if (options_.moments) return FinishMoments(dtype, {m, n}, k);
  FinishProduct(dtype, {m, n}, k);
  if (!stores_parts) return;
  StoreParts();
  // Sums of so many terms lie further apart, and the squares of their differences are sums of
  // numbers of different sizes.
  case_.tolerance = {64, 0};
}

template <>
void CaseMaker::Fresh<abi::Family::kGemm>() {
  if (options_.few_rows) return FewRows();
  if (DrawsOneRow()) return OneRow();
  abi::GemmAttrs attrs;
  const bool two = random_.OneIn(4);
  const bool one = options_.block_scales || options_.parts;
  attrs.halves = options_.halves > 0 ? options_.halves : two && !one ? 2 : 1;
  p_.attrs = attrs;
  p_.math = ProductMath();
  const int64_t limit = std::max<int64_t>(2, options_.max_elements / 40);
  auto extent = [&] {
    if (random_.OneIn(5)) return random_.Int(1, 4);
    return random_.Int(1, std::min<int64_t>(limit, random_.OneIn(3) ? 150 : 40));
  };
  // Whether the bulk copy engine can take the operands: their lines are multiples of 16 bytes.
  const bool bulk = options_.eight_bits || options_.moments || options_.parts ||
                    (p_.math != abi::MathMode::kFp32 && random_.OneIn(2));
  const int64_t piece = options_.eight_bits ? 16 : 8;
  auto lines = [&] { return bulk ? (extent() + piece - 1) / piece * piece : extent(); };
  const bool whole_parts = options_.parts && !options_.moments;
  // Scales of whole pieces of 16 bytes are fetched in another way.
  const int64_t rows =
      options_.block_scales && random_.OneIn(2) ? (extent() + 3) / 4 * 4 : extent();
  const int64_t m = options_.rows > 0 ? options_.rows : rows,
                n = whole_parts ? kPartColumns * random_.Int(1, 3) : lines(),
                k = options_.length > 0                      ? options_.length
                    : !options_.moments && random_.OneIn(25) ? 0
                                                             : lines();
  Dims batch;
  for (int64_t b = random_.OneIn(2) ? random_.Int(1, 2) : 0; b > 0; --b)
    batch.push_back(random_.Int(1, 3));
  auto with = [&](int64_t r, int64_t c) {
    Dims d = batch;
    d.push_back(r);
    d.push_back(c);
    return d;
  };
  const DType dtype = ProductDType();
  const Dims b_shape = with(k, n * attrs.halves);
  if (bulk) {
    const DType partner = options_.eight_bits ? Partner(dtype) : dtype;
    const View a = abi::DenseView(dtype, with(m, k)), b = abi::DenseView(partner, b_shape);
    p_.inputs = {a, options_.eight_bits || !random_.OneIn(2) ? ColumnsInner(b) : b};
  } else {
    p_.inputs = {MatrixView(dtype, with(m, k)), MatrixView(Partner(dtype), b_shape)};
  }
  p_.core_inputs = 2;
  if (options_.row_norm) AddGain();
  if (options_.block_scales) AddBlockScales();
  if (options_.moments) return FinishMoments(dtype, with(m, n), k);
  FinishProduct(dtype, with(m, n), k);
  if (options_.parts) StoreParts();
}

// Adds the moments of parts of A's rows as another core operand. They need not really be A's
// moments: the means are some standard deviations away from 0, and the squares are above 0.
void CaseMaker::ReadParts(int64_t length) {
  std::vector<int64_t> divisors;
  for (int64_t terms = 1; terms <= length; ++terms) {
    if (length % terms == 0) divisors.push_back(terms);
  }
  const int64_t terms = random_.Pick(divisors);
  std::get<abi::GemmAttrs>(p_.attrs).part_terms = terms;
  Dims parts = p_.inputs[0].shape;
  parts[parts.rank() - 1] = length / terms * 2;
  p_.inputs.push_back(abi::DenseView(DType::kF32, parts));
  p_.core_inputs = 3;
}

// Adds the moments of parts of the first result's rows as another output. Kernels add them up in
// another order than the reference, so that they are rounded differently.
void CaseMaker::StoreParts() {
  if (DTypeBytes(p_.outputs[0].dtype) > 4 || !IsFloat(p_.outputs[0].dtype)) return;
  std::get<abi::GemmAttrs>(p_.attrs).part_columns = kPartColumns;
  Dims parts = p_.outputs[0].shape;
  parts[parts.rank() - 1] = parts.back() / kPartColumns * 2;
  p_.outputs.push_back(abi::DenseView(DType::kF32, parts));
  Fill();
  case_.tolerance = {8, 0};
}

// The same gain for all rows, as models have it, or a different one for each.
View CaseMaker::Gain() {
  const View& a = p_.inputs[0];
  View gain = In(random_.OneIn(2) ? DType::kF32 : a.dtype, a.shape);
  if (random_.OneIn(2)) {
    gain = abi::DenseView(gain.dtype, a.shape);
    for (int d = 0; d + 1 < a.shape.rank(); ++d) gain.strides[d] = 0;
  }
  return gain;
}

void CaseMaker::AddGain() {
  p_.inputs.push_back(Gain());
  const View& b = p_.inputs[1];
  if (!random_.OneIn(4)) p_.inputs[1] = ColumnsInner(abi::DenseView(b.dtype, b.shape));
  p_.core_inputs = 3;
  std::get<abi::GemmAttrs>(p_.attrs).rms_epsilon = random_.OneIn(3) ? 0 : 0x1p-12;
}

// Adds scales of blocks. Those of B are for single columns, or for blocks of 128 columns. Half of
// them have random strides, the others lie as kernels prefer them: those of A along its rows, those
// of B along its columns.
void CaseMaker::AddBlockScales() {
  constexpr int64_t kTerms = 128;
  auto& attrs = std::get<abi::GemmAttrs>(p_.attrs);
  attrs.scale_terms = kTerms;
  attrs.scale_columns = random_.OneIn(2) ? 1 : 128;
  Dims of_a = p_.inputs[0].shape, of_b = p_.inputs[1].shape;
  const int last = of_a.rank() - 1;
  of_a[last] = of_b[last - 1] = CeilDiv(of_a[last], kTerms);
  of_b[last] = CeilDiv(of_b[last], attrs.scale_columns.value);
  const View lines_a = ColumnsInner(abi::DenseView(DType::kF32, of_a));
  p_.inputs.push_back(random_.OneIn(2) ? lines_a : In(DType::kF32, of_a));
  const View lines_b = abi::DenseView(DType::kF32, of_b);
  p_.inputs.push_back(random_.OneIn(2) ? lines_b : In(DType::kF32, of_b));
  p_.core_inputs = 4;
}

// A matrix that is dense, transposed or anything else; its batch axes may repeat.
View CaseMaker::MatrixView(DType dtype, const Dims& shape) {
  if (random_.OneIn(3)) return In(dtype, shape);
  const int rank = shape.rank();
  if (random_.OneIn(3)) {
    // A window of a larger matrix or, sometimes, of a transposed one.
    Dims order;
    for (int d = 0; d < rank; ++d) order.push_back(d);
    if (random_.OneIn(2)) std::swap(order[rank - 2], order[rank - 1]);
    return RandomViewInOrder(random_, dtype, shape, order, false, false);
  }
  View v = abi::DenseView(dtype, shape);
  if (random_.OneIn(2)) v = ColumnsInner(v);
  for (int d = 0; d < rank - 2; ++d) {
    if (random_.OneIn(3)) v.strides[d] = 0;
  }
  return v;
}

abi::MathMode CaseMaker::ProductMath() {
  if (options_.block_scales) return abi::MathMode::kFp8;
  if (!options_.eight_bits) return random_.Pick(options_.math);
  return random_.OneIn(2) ? abi::MathMode::kFp8 : abi::MathMode::kFp32;
}

DType CaseMaker::ProductDType() {
  if (options_.eight_bits) {
    const bool floats = p_.math == abi::MathMode::kFp8;
    return random_.Pick(floats ? std::vector<DType>{DType::kF8E4M3FN, DType::kF8E5M2}
                               : std::vector<DType>{DType::kI8, DType::kU8});
  }
  if (p_.math != abi::MathMode::kFp32) {
    const bool short_only = options_.moments || options_.parts;
    const DType half = p_.math == abi::MathMode::kBf16 ? DType::kBF16 : DType::kF16;
    return !short_only && random_.OneIn(2) ? DType::kF32 : half;
  }
  if (options_.row_norm)
    return random_.Pick(std::vector<DType>{DType::kF32, DType::kF16, DType::kBF16});
  return random_.OneIn(2) ? DType::kF32 : random_.Pick(kAnyDType);
}

// The dtype of the second operand. Integers of less than 32 bits may be multiplied by other such
// types.
DType CaseMaker::Partner(DType dtype) {
  if (options_.eight_bits) {
    return IsFloat(dtype) ? dtype : random_.Pick(std::vector<DType>{DType::kI8, DType::kU8});
  }
  static const std::vector<DType> narrow = {DType::kI8,  DType::kU8, DType::kI16,
                                            DType::kU16, DType::kI4, DType::kU2};
  const bool mixes = IsInteger(dtype) && DTypeBytes(dtype) < 4;
  return mixes && random_.OneIn(2) ? random_.Pick(narrow) : dtype;
}

// The epilogue that ends a norm, made of the sums and of the moments of A's rows:
// (sum - mean * s) * scale + t. In a product of two halves it is the larger of that and the second
// sum. In a third of the cases without parts, A's elements lie far from 0.
void CaseMaker::FinishMoments(DType dtype, const Dims& shape, int64_t length) {
  auto& attrs = std::get<abi::GemmAttrs>(p_.attrs);
  attrs.moments_epsilon = random_.OneIn(2) ? 0x1p-2 : 0x1p-4;
  attrs.stores_moments = random_.OneIn(2) ? 1 : 0;
  if (options_.parts) ReadParts(length);
  p_.inputs.push_back(In(DType::kF32, shape));
  p_.inputs.push_back(In(random_.OneIn(2) ? DType::kF32 : dtype, shape));
  abi::ExprBuilder b;
  const int sums = abi::SumInputs(p_), raws = abi::RawInputs(p_);
  const auto input = [&](int i) { return b.Input(i, DType::kF32); };
  const uint16_t shift = b.Unary(abi::ExprOp::kNeg, input(sums));
  uint16_t v = b.Fma(shift, input(raws), input(0));
  v = b.Fma(v, input(sums + 1), input(raws + 1));
  if (sums > 1) v = b.Binary(abi::ExprOp::kMax, v, input(1));
  const bool two = random_.OneIn(4);
  p_.epilogue = b.Finish(std::vector<uint16_t>(two ? 2 : 1, v));
  for (int r = 0; r <= (two ? 1 : 0); ++r)
    p_.outputs.push_back(Out(random_.OneIn(2) ? DType::kF32 : dtype, shape));
  if (attrs.stores_moments != 0) {
    Dims rows = p_.inputs[0].shape;
    rows[rows.rank() - 1] = 2;
    p_.outputs.push_back(Out(DType::kF32, rows));
  }
  Fill();
  const bool far = !options_.parts && random_.OneIn(3);
  if (far) FillSteps(0, 48, 80, 32);
  if (options_.parts) FillSteps(2, 1, 32, 8);
  // Operands have few digits, while sums have those of f32; the scale is at most 4. Far from 0,
  // sums are twice as large, and the variance is a small difference of squares that are 50 times as
  // large.
  const double unit = dtype == DType::kF32 ? 0x1p-9 : 0x1p-18;
  case_.tolerance = {1, unit * (far ? 32 : 1) * (4 + static_cast<double>(length))};
}

void CaseMaker::FinishProduct(DType dtype, const Dims& shape, int64_t length) {
  const DType raw = abi::RawDType(p_);
  Finish(raw, abi::ComputeDType(dtype) == raw ? dtype : raw, shape);
  if (options_.whole_numbers || !IsFloat(dtype)) return;
  // Products of values in [-1, 1]: the error is that of rounding the operands and a sum of `length`
  // terms.
  const double eps = p_.math == abi::MathMode::kFp32   ? 0x1p-23
                     : p_.math == abi::MathMode::kBf16 ? 0x1p-7
                                                       : 0x1p-9;
  case_.tolerance = {1, eps * (2 + 2 * static_cast<double>(length))};
  if (p_.math != abi::MathMode::kFp32) {
    case_.tolerance.absolute = eps * 4 * (1 + std::sqrt(static_cast<double>(length)));
  }
  // A normalised value is at most the square root of the number of values.
  if (options_.row_norm) case_.tolerance.absolute *= 1 + std::sqrt(static_cast<double>(length));
}

template <>
void CaseMaker::Fresh<abi::Family::kConv>() {
  abi::ConvAttrs a;
  p_.math = ProductMath();
  const int spatial = random_.OneIn(4) ? (random_.OneIn(2) || options_.eight_bits ? 1 : 3) : 2;
  a.transposed = random_.OneIn(4);
  a.group = random_.OneIn(3) ? random_.Int(1, 4) : 1;
  int64_t in = random_.OneIn(3) ? random_.Int(1, 3) : random_.Int(1, 5) * 4;
  int64_t out = random_.OneIn(3) ? random_.Int(1, 3) : random_.Int(1, 10) * 4;
  if (random_.OneIn(4)) {  // depthwise
    a.group = random_.Int(1, 6) * 4;
    in = out = 1;
  }
  // Whether the bulk copy engine can take the operands: channels are innermost everywhere, and are
  // multiples of 16 bytes.
  const bool bulk =
      options_.eight_bits || (p_.math != abi::MathMode::kFp32 && spatial < 3 && random_.OneIn(2));
  if (bulk) {
    const int64_t piece = options_.eight_bits ? 16 : 8;
    a.transposed = false;
    a.group = 1;
    in = random_.Int(1, 12) * piece;
    out = random_.Int(1, 12) * piece;
  }
  Dims x = {random_.Int(1, 2), in * a.group}, y = {x[0], out * a.group};
  Dims w = a.transposed ? Dims{in * a.group, out} : Dims{out * a.group, in};
  for (int d = 0; d < spatial; ++d) ConvAxis(a, spatial, x, w, y);
  p_.attrs = a;
  const DType dtype = ProductDType();
  // Depthwise kernels with vectors want the channels of both operands innermost, which half of the
  // depthwise cases have.
  const bool depthwise = a.group > 1 && in == 1 && out == 1;
  const bool channels_last = bulk || (depthwise && random_.OneIn(2));
  p_.inputs = {channels_last ? ChannelsLast(dtype, x, false) : FeatureView(dtype, x),
               options_.eight_bits        ? ChannelsLast(Partner(dtype), w, false)
               : bulk && random_.OneIn(2) ? ChannelsLast(dtype, w, false)
                                          : WeightView(Partner(dtype), w)};
  p_.core_inputs = 2;
  int64_t length = in;
  for (int d = 2; d < w.rank(); ++d) length *= w[d];
  FinishProduct(dtype, y, length);
  if (channels_last || random_.OneIn(2)) {
    p_.outputs[0] = ChannelsLast(p_.outputs[0].dtype, y, false);
    Fill();
  }
}

void CaseMaker::ConvAxis(abi::ConvAttrs& a, int spatial, Dims& x, Dims& w, Dims& y) {
  const int64_t kernel = random_.OneIn(3) ? 1 : random_.Int(1, spatial == 3 ? 3 : 5);
  const int64_t stride = random_.Int(1, 3), dilation = random_.OneIn(4) ? 2 : 1;
  const int64_t begin = random_.Int(0, kernel - 1), end = random_.Int(0, kernel - 1);
  const int64_t span = (kernel - 1) * dilation + 1;
  // The window has `grid` places in `field` with its padding. There is room for at least one window
  // and, sometimes, there are elements at the end that no window reaches.
  const int64_t grid = random_.Int(1, spatial == 1 ? 60 : spatial == 2 ? 11 : 5);
  const int64_t field =
      std::max<int64_t>(1, (grid - 1) * stride + span - begin - end +
                               (random_.OneIn(3) ? random_.Int(0, stride - 1) : 0));
  a.strides.push_back(stride);
  a.dilations.push_back(dilation);
  a.pads_begin.push_back(begin);
  a.pads_end.push_back(end);
  x.push_back(a.transposed ? grid : field);
  y.push_back(a.transposed ? field : grid);
  w.push_back(kernel);
}

// A view whose channels are the innermost axis.
View CaseMaker::ChannelsLast(DType dtype, const Dims& shape, bool repeat) {
  Dims order = {0};
  for (int d = 2; d < shape.rank(); ++d) order.push_back(d);
  order.push_back(1);
  return InOrder(dtype, shape, order, repeat);
}

// A view in the given order, outermost axis first: dense, or a window of something larger, in which
// axes may also be backwards.
View CaseMaker::InOrder(DType dtype, const Dims& shape, const Dims& order, bool repeat) {
  if (random_.OneIn(2)) return RandomViewInOrder(random_, dtype, shape, order, repeat, false);
  View v{dtype, shape, shape, 0};
  int64_t stride = 1;
  for (int i = order.rank() - 1; i >= 0; --i) {
    const int d = static_cast<int>(order[i]);
    v.strides[d] = stride;
    stride *= std::max<int64_t>(1, shape[d]);
  }
  return v;
}

View CaseMaker::FeatureView(DType dtype, const Dims& shape) {
  if (random_.OneIn(2)) return ChannelsLast(dtype, shape, true);
  return random_.OneIn(2) ? abi::DenseView(dtype, shape) : In(dtype, shape);
}

// A view in the model's order or with the output channels innermost, as the compiler stores
// constants for CUDA.
View CaseMaker::WeightView(DType dtype, const Dims& shape) {
  if (random_.OneIn(3)) return abi::DenseView(dtype, shape);
  if (random_.OneIn(3)) return In(dtype, shape);
  const bool transposed = p_.as<abi::ConvAttrs>().transposed;
  Dims order;
  for (int d = 2; d < shape.rank(); ++d) order.push_back(d);
  order.push_back(transposed ? 0 : 1);
  order.push_back(transposed ? 1 : 0);
  return InOrder(dtype, shape, order, true);
}

template <>
void CaseMaker::Fresh<abi::Family::kPool>() {
  abi::PoolAttrs a;
  a.kind = static_cast<abi::PoolKind>(random_.Int(0, 2));
  a.count_include_pad = random_.OneIn(2);
  a.p = random_.Int(1, 3);
  const int spatial = static_cast<int>(random_.Int(1, 3));
  Dims x = {random_.Int(1, 2), random_.OneIn(2) ? random_.Int(1, 5) * 4 : random_.Int(1, 7)};
  Dims y = x;
  for (int d = 0; d < spatial; ++d) {
    const int64_t kernel = random_.Int(1, 4), stride = random_.Int(1, 3);
    const int64_t dilation = random_.OneIn(4) ? 2 : 1;
    const int64_t begin = random_.Int(0, kernel - 1), end = random_.Int(0, kernel - 1);
    const int64_t out = random_.Int(1, spatial == 1 ? 40 : 7);
    // The last window starts inside the padded input but may reach beyond it.
    const int64_t least = std::max<int64_t>(1, (out - 1) * stride + 1 - begin - end);
    a.kernel.push_back(kernel);
    a.strides.push_back(stride);
    a.dilations.push_back(dilation);
    a.pads_begin.push_back(begin);
    a.pads_end.push_back(end);
    x.push_back(least + random_.Int(0, (kernel - 1) * dilation + stride));
    y.push_back(out);
  }
  p_.attrs = a;
  const DType dtype = random_.Pick(a.kind == abi::PoolKind::kLp ? kFloatDType : kAnyDType);
  p_.inputs = {FeatureView(dtype, x)};
  p_.core_inputs = 1;
  const bool exact = a.kind == abi::PoolKind::kMax;
  if (exact) return Finish(abi::ComputeDType(dtype), dtype, y);
  AddBias(abi::ComputeDType(dtype), dtype, y);
  if (random_.OneIn(2)) p_.outputs[0] = ChannelsLast(dtype, y, false);
  Fill();
  case_.tolerance = {4, options_.whole_numbers ? 0 : 4e-6};
  // A root is not exact, and adding the bias to it may cancel digits, so that the tolerance is
  // absolute: some units in the last place of the root.
  if (a.kind == abi::PoolKind::kLp && options_.whole_numbers) {
    case_.tolerance.absolute = std::ldexp(32.0, dtype == DType::kF64 ? -52 : -23);
  }
}

}  // namespace aicf::conformance
