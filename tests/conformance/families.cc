// One builder of random problems per family.
#include <algorithm>
#include <cmath>

#include "tests/conformance/cases.h"

namespace aicf::conformance {
namespace {

using abi::Family;
using abi::Problem;
using abi::View;

const std::vector<DType> kAnyDType = {DType::kF32, DType::kF32, DType::kF16, DType::kBF16, DType::kF64,
                                      DType::kI8,  DType::kI16, DType::kI32, DType::kI64,  DType::kU8,
                                      DType::kU16, DType::kU32, DType::kU64, DType::kBool};
const std::vector<DType> kFloatDType = {DType::kF32, DType::kF32, DType::kF32, DType::kF16,
                                        DType::kBF16, DType::kF64};

Dims Axes(Random& random, int rank, bool at_least_one) {
  Dims axes;
  for (int d = 0; d < rank; ++d) {
    if (random.OneIn(2)) axes.push_back(d);
  }
  if (axes.empty() && at_least_one) axes.push_back(random.Int(0, rank - 1));
  return axes;
}

// Builds cases of one family after another; members are what the builders share.
class Maker {
 public:
  Maker(Random& random, const CaseOptions& options) : random_(random), options_(options) {}

  Case Make(Family family) {
    p_.family = family;
    switch (family) {
      case Family::kElementwise: Elementwise(); break;
      case Family::kCopy: Copy(); break;
      case Family::kReduce: Reduce(); break;
      case Family::kGemm: Gemm(); break;
      case Family::kConv: Conv(); break;
      case Family::kPool: Pool(); break;
      case Family::kNormalize: Normalize(); break;
      case Family::kGather: Gather(); break;
      case Family::kResize: Resize(); break;
      case Family::kTopK: TopK(); break;
    }
    return std::move(case_);
  }

 private:
  View In(DType dtype, const Dims& shape, bool repeat = true) {
    return RandomView(random_, dtype, shape, repeat);
  }
  View Out(DType dtype, const Dims& shape) { return RandomView(random_, dtype, shape, false); }

  // Adds extras, an epilogue and outputs for a raw result of dtype `raw`.
  void Finish(DType raw, DType store, const Dims& shape) {
    if (random_.OneIn(3)) {
      p_.outputs = {Out(store, shape)};
    } else if (random_.OneIn(2)) {
      AddEpilogue(raw, shape);
    } else {
      AddBias(raw, store, shape);
    }
    Fill();
  }

  // relu(raw + extra): what real models have, for any tolerance.
  void AddBias(DType raw, DType store, const Dims& shape) {
    const DType dtype = abi::ComputeDType(raw) == abi::ComputeDType(store) ? store : raw;
    p_.inputs.push_back(In(dtype, shape));
    abi::ExprBuilder b;
    uint16_t v = b.Input(0, raw);
    const uint16_t extra = b.Input(1, abi::ComputeDType(dtype));
    if (raw == DType::kBool) {
      v = b.Binary(abi::ExprOp::kMax, v, extra);
    } else {
      v = b.Binary(abi::ExprOp::kAdd, v, extra);
      v = b.Binary(abi::ExprOp::kMax, v, b.Const(0, raw));
    }
    p_.epilogue = b.Finish({v});
    p_.outputs = {Out(store, shape)};
  }

  void AddEpilogue(DType raw, const Dims& shape) {
    std::vector<DType> inputs = {raw};
    const int64_t extras = random_.Int(0, 2);
    for (int64_t k = 0; k < extras; ++k) {
      const DType dtype = options_.whole_numbers ? random_.Pick(kAnyDType) : DType::kF32;
      p_.inputs.push_back(In(dtype, shape));
      inputs.push_back(dtype);
    }
    std::vector<DType> results;
    const int64_t outputs = random_.OneIn(3) ? 2 : 1;
    for (int64_t r = 0; r < outputs; ++r) {
      results.push_back(options_.whole_numbers ? random_.Pick(kAnyDType) : DType::kF32);
      p_.outputs.push_back(Out(results.back(), shape));
    }
    // A discontinuous operator would make any tolerance meaningless on reals.
    if (options_.whole_numbers) {
      p_.epilogue = RandomExpr(random_, inputs, results, shape.rank(), static_cast<int>(random_.Int(0, 6)));
    } else {
      abi::ExprBuilder b;
      uint16_t v = b.Cast(b.Input(0, raw), DType::kF32);
      for (int64_t k = 1; k <= extras; ++k) {
        v = b.Binary(abi::ExprOp::kAdd, v, b.Input(static_cast<int>(k), DType::kF32));
      }
      p_.epilogue = b.Finish(std::vector<uint16_t>(results.size(), v));
    }
  }

  void Fill() { FillBuffers(random_, case_, options_.whole_numbers); }

  void Elementwise() {
    p_.attrs = abi::ElementwiseAttrs{};
    const Dims shape = RandomShape(random_, 0, 5, options_.max_elements);
    std::vector<DType> inputs, results;
    const int64_t count = random_.Int(0, 4), outputs = random_.Int(1, 3);
    for (int64_t k = 0; k < count; ++k) {
      inputs.push_back(random_.Pick(kAnyDType));
      p_.inputs.push_back(In(inputs.back(), shape));
    }
    for (int64_t r = 0; r < outputs; ++r) {
      results.push_back(random_.Pick(kAnyDType));
      p_.outputs.push_back(Out(results.back(), shape));
    }
    p_.core_inputs = static_cast<int>(count);
    p_.epilogue = RandomExpr(random_, inputs, results, shape.rank(), static_cast<int>(random_.Int(1, 14)));
    Fill();
  }

  void Copy() {
    abi::CopyAttrs a;
    const Dims shape = RandomShape(random_, 0, 5, options_.max_elements);
    const DType dtype = random_.Pick(kAnyDType);
    p_.outputs = {Out(dtype, shape)};
    a.has_fill = random_.OneIn(2);
    if (a.has_fill) a.fill = static_cast<double>(random_.Int(0, 3));
    // The output is cut along one axis; with a fill, pieces may be missing or smaller than their slot.
    const int axis = shape.rank() == 0 ? -1 : static_cast<int>(random_.Int(0, shape.rank() - 1));
    int64_t at = 0;
    const int64_t end = axis < 0 ? 1 : shape[axis];
    while (at < end) {
      const int64_t length = random_.OneIn(2) ? end - at : random_.Int(1, end - at);
      Dims start = Dims::Filled(shape.rank(), 0), piece = shape;
      if (axis >= 0) {
        start[axis] = at;
        piece[axis] = length;
      }
      for (int d = 0; a.has_fill && d < shape.rank(); ++d) {
        const int64_t cut = random_.OneIn(3) ? random_.Int(0, piece[d]) : 0;
        start[d] += cut;
        piece[d] -= cut;
      }
      at += length;
      if (a.has_fill && random_.OneIn(4)) continue;
      p_.inputs.push_back(In(dtype, piece));
      a.starts.push_back(start);
    }
    p_.attrs = a;
    p_.core_inputs = static_cast<int>(p_.inputs.size());
    Fill();
  }

  // Core inputs of the shape and, often, a prologue over them; gives the prologue's dtype.
  DType Cores(const Dims& shape, const std::vector<DType>& dtypes) {
    std::vector<DType> inputs;
    const int64_t count = random_.OneIn(3) ? random_.Int(2, 3) : 1;
    for (int64_t k = 0; k < count; ++k) {
      inputs.push_back(random_.Pick(dtypes));
      p_.inputs.push_back(In(inputs.back(), shape));
    }
    p_.core_inputs = static_cast<int>(count);
    if (count == 1 && random_.OneIn(2)) return abi::ComputeDType(inputs[0]);
    const DType value = abi::ComputeDType(inputs[0]);
    abi::ExprBuilder b;
    uint16_t v = b.Input(0, value);
    for (size_t k = 1; k < inputs.size(); ++k) {
      const uint16_t x = b.Cast(b.Input(static_cast<int>(k), abi::ComputeDType(inputs[k])), value);
      v = b.Binary(value == DType::kBool ? abi::ExprOp::kMax : abi::ExprOp::kAdd, v, x);
    }
    if (value != DType::kBool) v = b.Unary(abi::ExprOp::kAbs, v);
    p_.prologue = b.Finish({v});
    return value;
  }

  void Reduce() {
    abi::ReduceAttrs a;
    a.kind = static_cast<abi::ReduceKind>(random_.Int(0, 6));
    const bool arg = a.kind >= abi::ReduceKind::kArgMin;
    const Dims shape = RandomShape(random_, arg ? 1 : 0, 5, options_.max_elements);
    a.axes = arg ? Dims{random_.Int(0, shape.rank() - 1)} : Axes(random_, shape.rank(), false);
    a.last_index = random_.OneIn(2);
    Dims out = shape;
    for (int64_t axis : a.axes) out[static_cast<int>(axis)] = 1;
    if (arg && shape[static_cast<int>(a.axes[0])] == 0) a.kind = abi::ReduceKind::kSum;
    p_.attrs = a;
    const DType element = Cores(shape, a.kind == abi::ReduceKind::kProd ? kFloatDType : kAnyDType);
    const bool still_arg = a.kind >= abi::ReduceKind::kArgMin;
    const DType raw = still_arg ? DType::kI64 : element;
    // A mean or a product is rounded on the way; an operator after it could step elsewhere.
    const bool exact = options_.whole_numbers && a.kind != abi::ReduceKind::kProd &&
                       a.kind != abi::ReduceKind::kMean;
    if (exact) {
      Finish(raw, raw, out);
    } else {
      AddBias(raw, raw, out);
      Fill();
      case_.tolerance = {4, options_.whole_numbers ? 0 : 1e-5 * 40};
    }
  }

  void Gemm() {
    p_.attrs = abi::GemmAttrs{};
    p_.math = random_.Pick(options_.math);
    const int64_t limit = std::max<int64_t>(2, options_.max_elements / 40);
    auto extent = [&] {
      if (random_.OneIn(5)) return random_.Int(1, 4);
      return random_.Int(1, std::min<int64_t>(limit, random_.OneIn(3) ? 150 : 40));
    };
    const int64_t m = options_.rows > 0 ? options_.rows : extent(), n = extent(), k = random_.OneIn(25) ? 0 : extent();
    Dims batch;
    for (int64_t b = random_.OneIn(2) ? random_.Int(1, 2) : 0; b > 0; --b) batch.push_back(random_.Int(1, 3));
    auto with = [&](int64_t r, int64_t c) {
      Dims d = batch;
      d.push_back(r);
      d.push_back(c);
      return d;
    };
    const DType dtype = ProductDType();
    p_.inputs = {MatrixView(dtype, with(m, k)), MatrixView(dtype, with(k, n))};
    p_.core_inputs = 2;
    FinishProduct(dtype, with(m, n), k);
  }

  // Batch axes may repeat; the matrix is dense, transposed or anything.
  View MatrixView(DType dtype, const Dims& shape) {
    if (random_.OneIn(3)) return In(dtype, shape);
    View v = abi::DenseView(dtype, shape);
    const int rank = shape.rank();
    if (random_.OneIn(2)) {
      v.strides[rank - 2] = 1;
      v.strides[rank - 1] = std::max<int64_t>(1, shape[rank - 2]);
    }
    for (int d = 0; d < rank - 2; ++d) {
      if (random_.OneIn(3)) v.strides[d] = 0;
    }
    return v;
  }

  DType ProductDType() {
    if (p_.math != abi::MathMode::kFp32) {
      const DType half = p_.math == abi::MathMode::kBf16 ? DType::kBF16 : DType::kF16;
      return random_.OneIn(2) ? DType::kF32 : half;
    }
    return random_.OneIn(2) ? DType::kF32 : random_.Pick(kAnyDType);
  }

  void FinishProduct(DType dtype, const Dims& shape, int64_t length) {
    const DType raw = abi::ComputeDType(dtype);
    Finish(raw, dtype, shape);
    if (options_.whole_numbers || !IsFloat(dtype)) return;
    // Products of values in [-1, 1]: rounding of the operands and of a sum of `length` terms.
    const double eps = p_.math == abi::MathMode::kFp32 ? 0x1p-23
                       : p_.math == abi::MathMode::kBf16 ? 0x1p-7 : 0x1p-9;
    case_.tolerance = {1, eps * (2 + 2 * static_cast<double>(length))};
    if (p_.math != abi::MathMode::kFp32) {
      case_.tolerance.absolute = eps * 4 * (1 + std::sqrt(static_cast<double>(length)));
    }
  }

  void Conv() {
    abi::ConvAttrs a;
    p_.math = random_.Pick(options_.math);
    const int spatial = random_.OneIn(4) ? (random_.OneIn(2) ? 1 : 3) : 2;
    a.transposed = random_.OneIn(4);
    a.group = random_.OneIn(3) ? random_.Int(1, 4) : 1;
    int64_t in = random_.OneIn(3) ? random_.Int(1, 3) : random_.Int(1, 5) * 4;
    int64_t out = random_.OneIn(3) ? random_.Int(1, 3) : random_.Int(1, 10) * 4;
    if (random_.OneIn(4)) {  // depthwise
      a.group = random_.Int(1, 6) * 4;
      in = out = 1;
    }
    Dims x = {random_.Int(1, 2), in * a.group}, y = {x[0], out * a.group};
    Dims w = a.transposed ? Dims{in * a.group, out} : Dims{out * a.group, in};
    for (int d = 0; d < spatial; ++d) ConvAxis(a, spatial, x, w, y);
    p_.attrs = a;
    const DType dtype = ProductDType();
    p_.inputs = {FeatureView(dtype, x), WeightView(dtype, w)};
    p_.core_inputs = 2;
    int64_t length = in;
    for (int d = 2; d < w.rank(); ++d) length *= w[d];
    FinishProduct(dtype, y, length);
    if (random_.OneIn(2)) {
      p_.outputs[0] = ChannelsLast(p_.outputs[0].dtype, y);
      Fill();
    }
  }

  void ConvAxis(abi::ConvAttrs& a, int spatial, Dims& x, Dims& w, Dims& y) {
    const int64_t kernel = random_.OneIn(3) ? 1 : random_.Int(1, spatial == 3 ? 3 : 5);
    const int64_t stride = random_.Int(1, 3), dilation = random_.OneIn(4) ? 2 : 1;
    const int64_t begin = random_.Int(0, kernel - 1), end = random_.Int(0, kernel - 1);
    const int64_t span = (kernel - 1) * dilation + 1;
    // `grid` steps over `field`, which has at least one window's room, plus some that none reaches.
    const int64_t grid = random_.Int(1, spatial == 1 ? 60 : spatial == 2 ? 11 : 5);
    const int64_t field = std::max<int64_t>(1, (grid - 1) * stride + span - begin - end +
                                                   (random_.OneIn(3) ? random_.Int(0, stride - 1) : 0));
    a.strides.push_back(stride);
    a.dilations.push_back(dilation);
    a.pads_begin.push_back(begin);
    a.pads_end.push_back(end);
    x.push_back(a.transposed ? grid : field);
    y.push_back(a.transposed ? field : grid);
    w.push_back(kernel);
  }

  // Dense with the channels innermost.
  View ChannelsLast(DType dtype, const Dims& shape) {
    View v{dtype, shape, shape, 0};
    int64_t stride = shape[1];
    v.strides[1] = 1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (d == 1) continue;
      v.strides[d] = stride;
      stride *= std::max<int64_t>(1, shape[d]);
    }
    return v;
  }
  View FeatureView(DType dtype, const Dims& shape) {
    if (random_.OneIn(2)) return ChannelsLast(dtype, shape);
    return random_.OneIn(2) ? abi::DenseView(dtype, shape) : In(dtype, shape);
  }
  // The model's order, or as the compiler stores constants for CUDA: outputs innermost.
  View WeightView(DType dtype, const Dims& shape) {
    if (random_.OneIn(3)) return abi::DenseView(dtype, shape);
    if (random_.OneIn(4)) return In(dtype, shape);
    const bool transposed = p_.as<abi::ConvAttrs>().transposed;
    View v{dtype, shape, shape, 0};
    const int out = transposed ? 1 : 0;
    v.strides[out] = 1;
    v.strides[1 - out] = shape[out];
    int64_t stride = shape[0] * shape[1];
    for (int d = shape.rank() - 1; d >= 2; --d) {
      v.strides[d] = stride;
      stride *= shape[d];
    }
    return v;
  }

  void Pool() {
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
      // The last window starts inside the padded input and may reach beyond it.
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
    if (random_.OneIn(2)) p_.outputs[0] = ChannelsLast(dtype, y);
    Fill();
    case_.tolerance = {4, 0};
  }

  void Normalize() {
    abi::NormalizeAttrs a;
    a.kind = static_cast<abi::NormalizeKind>(random_.Int(0, 3));
    const Dims shape = RandomShape(random_, 1, 4, options_.max_elements);
    a.axes = Axes(random_, shape.rank(), true);
    a.epsilon = random_.OneIn(2) ? 1e-5 : 0.125;
    p_.attrs = a;
    const DType raw = Cores(shape, kFloatDType);
    AddBias(raw, p_.inputs[0].dtype, shape);
    Fill();
    case_.tolerance = {2, 4e-6};
  }

  void Gather() {
    const Dims data = RandomShape(random_, 1, 4, options_.max_elements);
    abi::GatherAttrs a;
    a.axis = random_.Int(0, data.rank() - 1);
    const Dims index = RandomShape(random_, 0, 2, 40);
    Dims out;
    for (int d = 0; d < a.axis; ++d) out.push_back(data[d]);
    for (int64_t e : index) out.push_back(e);
    for (int d = static_cast<int>(a.axis) + 1; d < data.rank(); ++d) out.push_back(data[d]);
    p_.attrs = a;
    const DType dtype = random_.Pick(kAnyDType);
    const DType index_type = random_.Pick(std::vector<DType>{DType::kI64, DType::kI32, DType::kU8});
    p_.inputs = {In(dtype, data), In(index_type, index)};
    p_.core_inputs = 2;
    Finish(abi::ComputeDType(dtype), dtype, out);
  }

  void Resize() {
    abi::ResizeAttrs a;
    a.mode = static_cast<abi::ResizeMode>(random_.Int(0, 2));
    a.coordinates = static_cast<abi::CoordinateMode>(random_.Int(0, 5));
    a.nearest = static_cast<abi::NearestMode>(random_.Int(0, 3));
    a.exclude_outside = random_.OneIn(2);
    const int rank = static_cast<int>(random_.Int(1, 4));
    Dims x, y;
    for (int d = 0; d < rank; ++d) {
      x.push_back(random_.Int(1, 9));
      const bool kept = d < rank - 2 || random_.OneIn(4);
      y.push_back(kept ? x[d] : random_.Int(1, 17));
      const double exact = static_cast<double>(y[d]) / static_cast<double>(x[d]);
      a.scales.push_back(kept ? 1.0 : static_cast<double>(static_cast<float>(exact)));
    }
    p_.attrs = a;
    const DType dtype = a.mode == abi::ResizeMode::kNearest ? random_.Pick(kAnyDType)
                                                            : random_.Pick(kFloatDType);
    p_.inputs = {In(dtype, x)};
    p_.core_inputs = 1;
    if (a.mode == abi::ResizeMode::kNearest) return Finish(abi::ComputeDType(dtype), dtype, y);
    AddBias(abi::ComputeDType(dtype), dtype, y);
    Fill();
    case_.tolerance = {1, 1e-5};
  }

  void TopK() {
    abi::TopKAttrs a;
    const Dims shape = RandomShape(random_, 1, 4, options_.max_elements);
    a.axis = random_.Int(0, shape.rank() - 1);
    const int axis = static_cast<int>(a.axis);
    a.k = random_.Int(0, shape[axis]);
    a.largest = random_.OneIn(2);
    p_.attrs = a;
    const DType dtype = random_.Pick(kAnyDType);
    Dims out = shape;
    out[axis] = a.k;
    p_.inputs = {In(dtype, shape)};
    p_.core_inputs = 1;
    p_.outputs = {Out(dtype, out), Out(DType::kI64, out)};
    Fill();
  }

  Random& random_;
  const CaseOptions& options_;
  Case case_;
  Problem& p_ = case_.problem;
};

}  // namespace

Case RandomCase(Family family, uint64_t seed, const CaseOptions& options) {
  Random random(seed * 64 + static_cast<uint64_t>(family));
  Case c = Maker(random, options).Make(family);
  c.name = StrCat(abi::FamilyName(family), " seed ", seed, ": ", ToString(c.problem));
  return c;
}

Case SinCase(uint64_t seed) {
  Random random(seed + 0x5151);
  Case c;
  Problem& p = c.problem;
  p.family = Family::kElementwise;
  p.attrs = abi::ElementwiseAttrs{};
  const Dims shape = RandomShape(random, 1, 4, 20000);
  for (int k = 0; k < 3; ++k) p.inputs.push_back(RandomView(random, DType::kF32, shape, true));
  p.core_inputs = 3;
  p.outputs = {RandomView(random, DType::kF32, shape, false)};
  abi::ExprBuilder b;
  const uint16_t ax = b.Binary(abi::ExprOp::kMul, b.Input(0, DType::kF32), b.Input(1, DType::kF32));
  const uint16_t sum = b.Binary(abi::ExprOp::kAdd, ax, b.Input(2, DType::kF32));
  p.epilogue = b.Finish({b.Unary(abi::ExprOp::kSin, sum)});
  FillBuffers(random, c, false, random.Pick(std::vector<double>{1, 20, 3000}));
  c.tolerance = {2, 0};
  c.name = StrCat("sin seed ", seed, ": ", ToString(p));
  return c;
}

}  // namespace aicf::conformance
