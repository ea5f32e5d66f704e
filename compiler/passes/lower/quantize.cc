// QuantizeLinear and DequantizeLinear: one elementwise step; two where the last block of a blocked
// quantisation is shorter than the others.
#include "compiler/ir/infer/infer.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"
#include "compiler/passes/lower/quantize_expr.h"

namespace aicf {
namespace {

using abi::ExprOp;

// A range of the quantised axis in which scales repeat regularly: `count` blocks of `length`
// elements.
struct Block {
  int axis = 0;
  int64_t first_block = 0, count = 0, length = 0;
  int64_t first = 0;   ///< element of the axis
  bool split = false;  ///< the axis becomes two: blocks, and elements of a block

  // The part of the data, or of the result, that belongs to these blocks.
  abi::View Data(const abi::View& v) const { return Window(v, first, count * length); }

  // A scale or zero point of the data's rank, one per block, as an operand of the data's shape.
  abi::View Parameter(const abi::View& v) const {
    Dims starts = Dims::Filled(v.shape.rank(), 0), extents = v.shape;
    starts[axis] = first_block;
    extents[axis] = count;
    abi::View out = ir::WindowOf(v, starts, extents);
    if (split) {
      out.shape.insert(axis + 1, length);
      out.strides.insert(axis + 1, 0);
    } else if (count == 1) {
      out.shape[axis] = length;
      out.strides[axis] = 0;
    }
    return out;
  }

 private:
  abi::View Window(const abi::View& v, int64_t start, int64_t extent) const {
    Dims starts = Dims::Filled(v.shape.rank(), 0), extents = v.shape;
    starts[axis] = start;
    extents[axis] = extent;
    abi::View out = ir::WindowOf(v, starts, extents);
    if (!split) return out;
    out.shape[axis] = count;
    out.shape.insert(axis + 1, length);
    out.strides.insert(axis, out.strides[axis] * length);
    return out;
  }
};

std::vector<Block> BlocksOf(const ir::QuantizeSpec& spec, const Dims& x) {
  const int64_t extent = x.rank() > 0 ? x[spec.axis] : 1;
  const int64_t whole = spec.block > 0 ? extent / spec.block : 0;
  std::vector<Block> parts;
  if (whole > 0) {
    const bool split = whole > 1 && spec.block > 1;
    parts.push_back({spec.axis, 0, whole, spec.block, 0, split});
  }
  const int64_t rest = extent - whole * spec.block;
  if (rest > 0) parts.push_back({spec.axis, whole, 1, rest, whole * spec.block, false});
  return parts;
}

// One node of the two ops while its parts are emitted.
class Quantizer {
 public:
  Quantizer(LowerContext& ctx, const ir::Node& node) : ctx_(ctx), node_(node) {}

  Status Run() {
    const ir::Value& x = ctx_.value(node_.inputs[0]);
    AICF_ASSIGN_OR_RETURN(const ir::QuantizeSpec spec, ir::ResolveQuantize(ctx_.graph(), node_));
    const ValueView in = ctx_.Get(node_.inputs[0]);
    const ValueView out = ctx_.DefineLike(node_.outputs[0], in);
    if (spec.block == 0) return Emit(in, out, nullptr);
    for (const Block& part : BlocksOf(spec, x.shape)) {
      if (part.split && x.shape.rank() == kMaxRank) {
        return Error(Code::kUnsupported, "blocks of a tensor of rank ", kMaxRank);
      }
      AICF_RETURN_IF_ERROR(
          Emit({in.buffer, part.Data(in.view)}, {out.buffer, part.Data(out.view)}, &part));
    }
    return OkStatus();
  }

 private:
  Status Emit(const ValueView& in, const ValueView& out, const Block* part) {
    OperandExpr expr(0);
    const uint16_t x = expr.Load(in);
    const uint16_t scale = Parameter(expr, 1, out.view.shape, part);
    std::optional<uint16_t> zero;
    if (HasZeroPoint()) zero = Parameter(expr, 2, out.view.shape, part);
    abi::ExprBuilder& b = expr.builder();
    const uint16_t value =
        node_.op == "QuantizeLinear" ? Quantize(b, x, scale, zero) : Dequantize(b, x, scale, zero);
    EmitElementwise(ctx_, node_, expr, value, out);
    return OkStatus();
  }

  bool HasZeroPoint() const {
    if (node_.input(2) == ir::kNoValue) return false;
    const ir::Tensor& t = ctx_.value(node_.inputs[2]).constant;
    if (!t.has_data()) return true;
    for (int64_t i = 0; i < t.count(); ++i) {
      if (t.FloatAt(i) != 0) return true;
    }
    return false;
  }

  uint16_t Parameter(OperandExpr& expr, size_t input, const Dims& domain, const Block* part) {
    const ir::Value& v = ctx_.value(node_.inputs[input]);
    if (ElementCount(v.shape) == 1) {
      if (v.is_constant()) return LoadValue(ctx_, expr, node_.inputs[input], domain);
      ValueView one = ctx_.Get(node_.inputs[input]);
      one.view.shape = domain;
      one.view.strides = Dims::Filled(domain.rank(), 0);
      return expr.Load(one);
    }
    ValueView all = ctx_.Get(node_.inputs[input]);
    const Dims& x = ctx_.value(node_.inputs[0]).shape;
    if (all.view.shape.rank() == 1 && x.rank() != 1) {
      Dims strides = Dims::Filled(x.rank(), 0);
      strides[part->axis] = all.view.strides[0];
      all.view.shape = x;
      all.view.strides = strides;
    }
    return expr.Load({all.buffer, part->Parameter(all.view)});
  }

  // The division happens in `precision`, or in the scale's type.
  uint16_t Quantize(abi::ExprBuilder& b, uint16_t x, uint16_t scale,
                    std::optional<uint16_t> zero) const {
    DType precision = ctx_.value(node_.inputs[1]).dtype;
    if (node_.Has("precision")) precision = *ParseDType(node_.Str("precision", ""));
    if (precision == DType::kI32) precision = DType::kF64;
    const DType compute = abi::ComputeDType(precision);
    const uint16_t left = RoundToFloat(b, b.Cast(x, compute), precision);
    const uint16_t right = RoundToFloat(b, b.Cast(scale, compute), precision);
    const uint16_t quotient = RoundToFloat(b, b.Binary(ExprOp::kDiv, left, right), precision);
    return Quantized(b, quotient, zero, ctx_.value(node_.outputs[0]).dtype,
                     node_.Int("saturate", 1) != 0);
  }

  uint16_t Dequantize(abi::ExprBuilder& b, uint16_t x, uint16_t scale,
                      std::optional<uint16_t> zero) const {
    const DType compute = abi::ComputeDType(ctx_.value(node_.outputs[0]).dtype);
    uint16_t value = b.Cast(x, compute);
    if (zero) value = b.Binary(ExprOp::kSub, value, b.Cast(*zero, compute));
    return b.Binary(ExprOp::kMul, value, b.Cast(scale, compute));
  }

  LowerContext& ctx_;
  const ir::Node& node_;
};

}  // namespace

Status LowerQuantizeLinear(LowerContext& ctx, const ir::Node& node) {
  return Quantizer(ctx, node).Run();
}

Status LowerDequantizeLinear(LowerContext& ctx, const ir::Node& node) {
  return Quantizer(ctx, node).Run();
}

}  // namespace aicf
