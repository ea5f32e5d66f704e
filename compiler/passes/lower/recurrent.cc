// RNN, GRU and LSTM: one product of the whole sequence with W for all directions, biases in its
// epilogue, and one recurrent step.
#include "compiler/ir/infer/recurrent.h"
#include "base/float16.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/lowerings.h"
#include "compiler/passes/lower/operand_expr.h"
#include "compiler/passes/lower/products.h"
#include "kernels/abi/recurrent.h"

namespace aicf {
namespace {

using Inputs = ir::RecurrentInputs;

ir::Tensor FromDoubles(DType dtype, const Dims& shape, const std::vector<double>& values) {
  std::vector<std::byte> bytes;
  bytes.reserve(values.size() * static_cast<size_t>(DTypeBytes(dtype)));
  const auto append = [&](auto value) {
    const auto* raw = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  };
  for (double v : values) {
    if (dtype == DType::kF64) {
      append(v);
    } else if (dtype == DType::kF32) {
      append(static_cast<float>(v));
    } else {
      const float f = static_cast<float>(v);
      append(dtype == DType::kF16 ? F32ToF16(f) : F32ToBF16(f));
    }
  }
  return ir::Tensor::Own(dtype, shape, std::move(bytes));
}

class RecurrentLowering {
 public:
  RecurrentLowering(LowerContext& ctx, const ir::Node& node, const ir::RecurrentSpec& spec)
      : ctx_(ctx),
        node_(node),
        s_(spec),
        width_(spec.gates * spec.hidden),
        dtype_(ctx.value(node.inputs[Inputs::kX]).dtype) {}

  void Emit() {
    abi::Problem p;
    p.family = abi::Family::kRecurrent;
    p.attrs = s_.attrs;
    std::vector<ir::BufferId> inputs, outputs;
    const auto input = [&](const ValueView& v) {
      p.inputs.push_back(v.view);
      inputs.push_back(v.buffer);
    };
    const auto output = [&](const ValueView& v) {
      p.outputs.push_back(v.view);
      outputs.push_back(v.buffer);
    };
    const bool lstm = s_.attrs.cell == abi::CellKind::kLstm;
    input(Gates());
    input(ctx_.Get(node_.inputs[Inputs::kR]));
    input(InitialState(Inputs::kH));
    if (lstm) input(InitialState(Inputs::kC));
    if (s_.attrs.peepholes) input(ctx_.Get(node_.inputs[Inputs::kP]));
    if (s_.attrs.linear_before_reset) input(HiddenBias());
    if (s_.attrs.lengths) input(ctx_.Get(node_.inputs[Inputs::kLengths]));
    p.core_inputs = static_cast<int>(p.inputs.size());
    output(Sequence());
    output(FinalState(1));
    if (lstm) output(FinalState(2));
    ctx_.Emit(node_, std::move(p), std::move(inputs), std::move(outputs));
  }

 private:
  bool Has(size_t i) const { return node_.input(i) != ir::kNoValue; }

  /// X as rows of a matrix, in whichever order of steps and batch needs no copy. `steps_outer`: the
  /// rows of a step follow each other, and steps are the outer axis.
  struct Rows {
    ValueView x;
    bool steps_outer = true;
  };
  Rows RowsOfX() {
    const ValueView x = ctx_.Get(node_.inputs[Inputs::kX]);
    const Dims rows = {s_.steps * s_.batch, s_.input};
    if (const auto v = ir::Reshape(x.view, rows)) return {{x.buffer, *v}, !s_.batch_first};
    if (const auto v = ir::Reshape(ir::Permute(x.view, {1, 0, 2}), rows)) {
      return {{x.buffer, *v}, s_.batch_first};
    }
    const ValueView dense = ctx_.Temp(StrCat(node_.name, " rows"), dtype_, x.view.shape);
    ctx_.EmitCopy(node_, x, dense, "a product reads the steps of all sequences as rows");
    return {{dense.buffer, *ir::Reshape(dense.view, rows)}, !s_.batch_first};
  }

  /// W of all directions, transposed: [input, directions * width].
  ValueView Weights() {
    const ValueView w = ctx_.Get(node_.inputs[Inputs::kW]);
    const Dims columns = {s_.directions * width_, s_.input};
    if (const auto v = ir::Reshape(w.view, columns)) {
      return {w.buffer, ir::Permute(*v, {1, 0})};
    }
    const ValueView dense = ctx_.Temp(StrCat(node_.name, " weights"), dtype_, w.view.shape);
    ctx_.EmitCopy(node_, w, dense, "one product reads the weights of both directions");
    return {dense.buffer, ir::Permute(*ir::Reshape(dense.view, columns), {1, 0})};
  }

  /// The gates before the recurrent part, [steps, directions, batch, width], stored in the order of
  /// the rows of X.
  ValueView Gates() {
    const Rows rows = RowsOfX();
    const ValueView weights = Weights();
    const int64_t columns = s_.directions * width_;
    const int64_t outer = rows.steps_outer ? s_.steps : s_.batch;
    const int64_t inner = rows.steps_outer ? s_.batch : s_.steps;
    const ValueView gates =
        ctx_.Temp(StrCat(node_.name, " gates"), dtype_, {outer, inner, s_.directions, width_});
    ValueView out = gates;
    out.view = *ir::Reshape(gates.view, {s_.steps * s_.batch, columns});
    abi::Problem p;
    p.family = abi::Family::kGemm;
    p.attrs = abi::GemmAttrs{};
    p.inputs = {rows.x.view, weights.view};
    OperandExpr expr(1);
    uint16_t value = expr.Raw(dtype_);
    if (Has(Inputs::kB)) {
      ValueView bias = GateBias();
      bias.view = ir::BroadcastTo(*ir::Reshape(bias.view, {columns}), out.view.shape);
      value = expr.builder().Binary(abi::ExprOp::kAdd, value, expr.Load(bias));
    }
    EmitWithEpilogue(ctx_, node_, std::move(p), {rows.x.buffer, weights.buffer}, expr, value, out);
    const Dims order = rows.steps_outer ? Dims{0, 2, 1, 3} : Dims{1, 2, 0, 3};
    return {gates.buffer, ir::Permute(gates.view, order)};
  }

  /// Columns whose recurrent bias cannot be added to the product with W: with linear_before_reset,
  /// the reset gate multiplies it together with h * R.
  int64_t SeparateColumns() const { return s_.attrs.linear_before_reset ? s_.hidden : 0; }

  ValueView BiasWindow(int64_t first, int64_t extent) {
    const ValueView b = ctx_.Get(node_.inputs[Inputs::kB]);
    return {b.buffer, ir::WindowOf(b.view, {0, first}, {s_.directions, extent})};
  }

  /// [directions, width], dense: the sum of both biases of every gate; the first alone for columns
  /// where the second cannot be added (SeparateColumns).
  ValueView GateBias() {
    const int64_t both = width_ - SeparateColumns();
    const ir::Value& b = ctx_.value(node_.inputs[Inputs::kB]);
    if (b.is_constant()) {
      std::vector<double> sums;
      for (int64_t d = 0; d < s_.directions; ++d) {
        for (int64_t i = 0; i < width_; ++i) {
          const int64_t at = d * 2 * width_ + i;
          const double recurrent = i < both ? b.constant.FloatAt(at + width_) : 0;
          sums.push_back(b.constant.FloatAt(at) + recurrent);
        }
      }
      return ctx_.Constant(StrCat(b.name, " summed"),
                           FromDoubles(dtype_, {s_.directions, width_}, sums));
    }
    const ValueView out = ctx_.Temp(StrCat(node_.name, " bias"), dtype_, {s_.directions, width_});
    const auto part = [&](int64_t first, int64_t extent) {
      return ValueView{out.buffer, ir::WindowOf(out.view, {0, first}, {s_.directions, extent})};
    };
    OperandExpr expr(0);
    const uint16_t w = expr.Load(BiasWindow(0, both));
    const uint16_t r = expr.Load(BiasWindow(width_, both));
    EmitElementwise(ctx_, node_, expr, expr.builder().Binary(abi::ExprOp::kAdd, w, r),
                    part(0, both));
    if (both < width_) {
      ctx_.EmitCopy(node_, BiasWindow(both, width_ - both), part(both, width_ - both),
                    "the bias of all gates is one vector");
    }
    return out;
  }

  /// [directions, hidden]: the recurrent bias of a GRU's hidden gate.
  ValueView HiddenBias() {
    if (Has(Inputs::kB)) return BiasWindow(2 * width_ - s_.hidden, s_.hidden);
    return Zeros({s_.directions, s_.hidden});
  }

  ValueView Zeros(const Dims& shape) {
    ValueView zero =
        ctx_.Constant(StrCat(node_.name, " zeros"),
                      FromDoubles(dtype_, {s_.hidden}, std::vector<double>(s_.hidden, 0.0)));
    zero.view = ir::BroadcastTo(zero.view, shape);
    return zero;
  }

  ValueView InitialState(size_t i) {
    if (!Has(i)) return Zeros({s_.directions, s_.batch, s_.hidden});
    ValueView state = ctx_.Get(node_.inputs[i]);
    if (s_.batch_first) state.view = ir::Permute(state.view, {1, 0, 2});
    return state;
  }

  bool Used(size_t i) const { return i < node_.outputs.size() && node_.outputs[i] != ir::kNoValue; }

  ValueView Sequence() {
    if (!Used(0)) {
      return ctx_.Temp(StrCat(node_.name, " unused sequence"), dtype_,
                       {s_.steps, s_.directions, s_.batch, s_.hidden});
    }
    ValueView y = ctx_.DefineDense(node_.outputs[0]);
    if (s_.batch_first) y.view = ir::Permute(y.view, {1, 2, 0, 3});
    return y;
  }

  ValueView FinalState(size_t i) {
    if (!Used(i)) {
      return ctx_.Temp(StrCat(node_.name, " unused state ", i), dtype_,
                       {s_.directions, s_.batch, s_.hidden});
    }
    ValueView state = ctx_.DefineDense(node_.outputs[i]);
    if (s_.batch_first) state.view = ir::Permute(state.view, {1, 0, 2});
    return state;
  }

  LowerContext& ctx_;
  const ir::Node& node_;
  const ir::RecurrentSpec& s_;
  const int64_t width_;
  const DType dtype_;
};

}  // namespace

Status LowerRecurrent(LowerContext& ctx, const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const ir::RecurrentSpec spec, ir::ResolveRecurrent(ctx.graph(), node));
  RecurrentLowering(ctx, node, spec).Emit();
  return OkStatus();
}

}  // namespace aicf
