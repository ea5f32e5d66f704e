#include "compiler/passes/lowered/attention_steps.h"

#include <limits>

#include "compiler/ir/views.h"
#include "compiler/passes/lower/operand_expr.h"
#include "compiler/passes/lower/products.h"
#include "kernels/abi/attention.h"

namespace aicf {
namespace {

using abi::ExprBuilder;
using abi::ExprOp;

class Splitter {
 public:
  Splitter(ir::Lowered& lowered, const ir::LoweredStep& step)
      : lowered_(lowered),
        step_(step),
        p_(step.problem),
        a_(p_.as<abi::AttentionAttrs>()),
        s_(abi::AttentionShapeOf(p_)),
        domain_{s_.batch, s_.query_heads, s_.rows, s_.keys} {}

  std::vector<ir::LoweredStep> Run() {
    const DType data = p_.inputs[0].dtype, wide = abi::ComputeDType(data);
    const ValueView product = Temp("product", wide), scores = Temp("scores", wide);
    const ValueView probabilities = Temp("probabilities", data);
    Product(Operand(0), Transposed(Operand(1)), product);
    Scores(product, scores);
    Softmax(scores, probabilities);
    Product(probabilities, Values(), {step_.outputs[0], p_.outputs[0]});
    return std::move(steps_);
  }

 private:
  ValueView Operand(int k) const {
    return {step_.inputs[static_cast<size_t>(k)], p_.inputs[static_cast<size_t>(k)]};
  }

  ValueView Buffer(std::string_view what, DType dtype, const Dims& shape) {
    lowered_.buffers.push_back({StrCat(lowered_.buffers[step_.outputs[0]].name, " ", what),
                                dtype,
                                shape,
                                schema::Role::kTemp,
                                {}});
    return {static_cast<ir::BufferId>(lowered_.buffers.size() - 1), abi::DenseView(dtype, shape)};
  }
  ValueView Temp(std::string_view what, DType dtype) { return Buffer(what, dtype, domain_); }

  static ValueView Transposed(ValueView v) {
    v.view = ir::Permute(v.view, {0, 1, 3, 2});
    return v;
  }

  void Emit(abi::Problem problem, const std::vector<ValueView>& inputs, int core,
            const ValueView& out) {
    ir::LoweredStep step;
    step.sources = step_.sources;
    step.guards = step_.guards;
    step.loop = step_.loop;
    AppendOperands(inputs, problem, step.inputs);
    problem.core_inputs = core < 0 ? static_cast<int>(inputs.size()) : core;
    problem.outputs = {out.view};
    step.outputs = {out.buffer};
    step.problem = std::move(problem);
    steps_.push_back(std::move(step));
  }

  // Multiplies a [B, Hq, Tq, x] by b [B, Hkv, x, y]. The query heads that share a key head become
  // an axis of their own, or, where each has one row (Tq = 1), the rows of one product.
  void Product(ValueView a, ValueView b, ValueView out) {
    const int64_t group = s_.group();
    if (group > 1) {
      const auto grouped = [&](const abi::View& v) {
        const Dims& d = v.shape;
        const bool rows = d[2] == 1;
        return *ir::Reshape(v, rows ? Dims{d[0], s_.key_heads, group, d[3]}
                                    : Dims{d[0], s_.key_heads, group, d[2], d[3]});
      };
      if (s_.rows != 1) {
        const Dims d = b.view.shape;
        b.view = *ir::Reshape(b.view, {d[0], d[1], 1, d[2], d[3]});
      }
      a.view = grouped(a.view);
      out.view = grouped(out.view);
    }
    const MatMulViews views = MatMulOf(a.view, b.view, out.view);
    abi::Problem p;
    p.family = abi::Family::kGemm;
    p.math = p_.math;
    p.attrs = abi::GemmAttrs{};
    Emit(std::move(p), {{a.buffer, views.left}, {b.buffer, views.right}}, 2,
         {out.buffer, views.result});
  }

  // Loads an operand that has one number per request, repeated over all scores of the request.
  uint16_t PerRequest(OperandExpr& expr, int operand) const {
    ValueView v = Operand(operand);
    v.view.shape = domain_;
    v.view.strides = {v.view.strides[0], 0, 0, 0};
    return expr.builder().Cast(expr.Load(v), DType::kI64);
  }

  static uint16_t Clamped(ExprBuilder& b, uint16_t x, int64_t low, int64_t high) {
    x = b.Binary(ExprOp::kMax, x, b.ConstInt(low, DType::kI64));
    return b.Binary(ExprOp::kMin, x, b.ConstInt(high, DType::kI64));
  }

  uint16_t ValidKeys(OperandExpr& expr) const {
    ExprBuilder& b = expr.builder();
    if (s_.lengths < 0) return b.ConstInt(s_.keys, DType::kI64);
    return Clamped(b, PerRequest(expr, s_.lengths), 0, s_.keys);
  }

  uint16_t Position(OperandExpr& expr) const {
    ExprBuilder& b = expr.builder();
    uint16_t first = b.ConstInt(a_.offset, DType::kI64);
    if (a_.rows == abi::RowOrigin::kLastKeys) {
      const uint16_t end = b.ConstInt(a_.offset - s_.rows, DType::kI64);
      first = b.Binary(ExprOp::kAdd, ValidKeys(expr), end);
    } else if (a_.rows == abi::RowOrigin::kOperand) {
      const uint16_t origin =
          Clamped(b, PerRequest(expr, s_.origins), -abi::kMaxPosition, abi::kMaxPosition);
      first = b.Binary(ExprOp::kAdd, origin, first);
    }
    return b.Binary(ExprOp::kAdd, b.Index(2), first);
  }

  // bool: the row sees the key; nullopt when every row sees every key.
  std::optional<uint16_t> Visible(OperandExpr& expr) const {
    ExprBuilder& b = expr.builder();
    std::optional<uint16_t> all;
    const auto also = [&](uint16_t one) { all = all ? b.Binary(ExprOp::kAnd, *all, one) : one; };
    const auto window = [&](int64_t keys) { return b.ConstInt(keys, DType::kI64); };
    // Each node is made by a statement of its own. As arguments of one call, nodes would be made in
    // an order that the C++ compiler chooses.
    if (s_.lengths >= 0) {
      const uint16_t valid = ValidKeys(expr), key = b.Index(3);
      also(b.Binary(ExprOp::kLt, key, valid));
    }
    if (a_.window_left >= 0) {
      const uint16_t key = b.Index(3), position = Position(expr);
      const uint16_t before = b.Binary(ExprOp::kSub, position, key);
      also(b.Binary(ExprOp::kLe, before, window(a_.window_left)));
    }
    if (a_.window_right >= 0) {
      const uint16_t position = Position(expr), key = b.Index(3);
      const uint16_t after = b.Binary(ExprOp::kSub, key, position);
      also(b.Binary(ExprOp::kLe, after, window(a_.window_right)));
    }
    return all;
  }

  static uint16_t MinusInfinity(ExprBuilder& b, DType dtype) {
    return b.Const(-std::numeric_limits<double>::infinity(), dtype);
  }

  void Scores(const ValueView& product, const ValueView& scores) {
    OperandExpr expr(0);
    ExprBuilder& b = expr.builder();
    uint16_t x = expr.Load(product);
    if (a_.scale != 1) x = b.Binary(ExprOp::kMul, x, b.Const(a_.scale, b.dtype(x)));
    if (!p_.score.empty()) {
      std::vector<uint16_t> inputs{x};
      for (size_t k = static_cast<size_t>(p_.core_inputs); k < p_.inputs.size(); ++k) {
        inputs.push_back(expr.Load(Operand(static_cast<int>(k))));
      }
      x = b.Inline(p_.score, inputs)[0];
    }
    if (const auto visible = Visible(expr)) x = b.Select(*visible, x, MinusInfinity(b, b.dtype(x)));
    abi::Problem p;
    p.epilogue = expr.Finish({x});
    Emit(std::move(p), expr.operands(), -1, scores);
  }

  bool IsMasked() const {
    return !p_.score.empty() || a_.lengths || a_.window_left >= 0 || a_.window_right >= 0;
  }

  // A row whose scores are all minus infinity has probabilities of 0, where a softmax gives NaN. So
  // the probability is set to 0 wherever the score is minus infinity.
  void Softmax(const ValueView& scores, const ValueView& probabilities) {
    abi::Problem p;
    p.family = abi::Family::kNormalize;
    p.attrs = abi::NormalizeAttrs{abi::NormalizeKind::kSoftmax, {3}, 0};
    std::vector<ValueView> inputs{scores};
    if (IsMasked()) {
      OperandExpr expr(1);
      ExprBuilder& b = expr.builder();
      const uint16_t raw = expr.Raw(scores.view.dtype), score = expr.Load(scores);
      const uint16_t lowest = MinusInfinity(b, b.dtype(score));
      const uint16_t masked = b.Binary(ExprOp::kEq, score, lowest);
      p.epilogue = expr.Finish({b.Select(masked, b.Const(0, b.dtype(raw)), raw)});
      inputs.push_back(scores);
    }
    Emit(std::move(p), inputs, 1, probabilities);
  }

  // The values of keys that are not valid may be anything, and their probability of 0 times NaN is
  // NaN. So they are replaced by 0.
  ValueView Values() {
    const ValueView v = Operand(2);
    if (s_.lengths < 0) return v;
    const ValueView made = Buffer("valid values", v.view.dtype, v.view.shape);
    OperandExpr expr(0);
    ExprBuilder& b = expr.builder();
    ValueView lengths = Operand(s_.lengths);
    lengths.view.shape = v.view.shape;
    lengths.view.strides = {lengths.view.strides[0], 0, 0, 0};
    const uint16_t count = b.Cast(expr.Load(lengths), DType::kI64), x = expr.Load(v);
    const uint16_t valid = b.Binary(ExprOp::kLt, b.Index(2), count);
    abi::Problem p;
    p.epilogue = expr.Finish({b.Select(valid, x, b.Const(0, b.dtype(x)))});
    Emit(std::move(p), expr.operands(), -1, made);
    return made;
  }

  ir::Lowered& lowered_;
  const ir::LoweredStep& step_;
  const abi::Problem& p_;
  const abi::AttentionAttrs& a_;
  const abi::AttentionShape s_;
  const Dims domain_;
  std::vector<ir::LoweredStep> steps_;
};

}  // namespace

std::string CheckSplit(const abi::Problem& attention) {
  if (attention.as<abi::AttentionAttrs>().pages) return "pages: no product reads keys by a table";
  if (attention.outputs.size() > 1) return "outputs: no softmax gives the sum of its row as well";
  return "";
}

std::vector<ir::LoweredStep> AttentionSteps(ir::Lowered& lowered,
                                            const ir::LoweredStep& attention) {
  return Splitter(lowered, attention).Run();
}

}  // namespace aicf
