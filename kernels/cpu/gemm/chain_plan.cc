#include "kernels/cpu/gemm/chain_plan.h"

#include <algorithm>
#include <limits>

namespace aicf::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

using abi::ExprNode;
using abi::ExprOp;

struct Steps {
  ChainStep step[kMaxChainSteps];
  int count = 0;

  bool Push(const ChainStep& s) {
    if (count > 0 && Merge(s)) return true;
    if (count == kMaxChainSteps) return false;
    step[count++] = s;
    return true;
  }
  bool PushLinear(double a, double b) {
    return Push({ChainOp::kLinear, 0, static_cast<float>(a), static_cast<float>(b), 0, 0});
  }
  bool PushClamp(float lo, float hi) { return Push({ChainOp::kClamp, 0, 1, 0, lo, hi}); }

 private:
  // Folds s into the last step where the composition is one step of the same kind.
  bool Merge(const ChainStep& s) {
    ChainStep& last = step[count - 1];
    if (s.op == ChainOp::kLinear && last.op == ChainOp::kLinear) {
      last.b = last.b * s.a + s.b;
      last.a *= s.a;
      return true;
    }
    if (s.op == ChainOp::kLinear && s.b == 0 && Scale(s.a, &last)) return true;
    if (s.op == ChainOp::kLinear && last.op == ChainOp::kGate && s.b == 0 && s.a > 0) {
      for (float* f : {&last.a, &last.b, &last.lo, &last.hi}) *f *= s.a;
      return true;
    }
    if (s.op == ChainOp::kClamp && last.op == ChainOp::kClamp) {
      // clamp(clamp(v)) is one clamp where the intervals meet.
      const float lo = std::max(last.lo, s.lo), hi = std::min(last.hi, s.hi);
      if (!(lo <= hi)) return false;
      last.lo = lo;
      last.hi = hi;
      return true;
    }
    return false;
  }

  // Multiplies what a step makes, where a factor of its own can take the scale.
  static bool Scale(float scale, ChainStep* step) {
    switch (step->op) {
      case ChainOp::kCubic:
        step->a *= scale;
        step->b *= scale;
        return true;
      case ChainOp::kGateErf:
        step->hi *= scale;
        [[fallthrough]];
      case ChainOp::kGateSigmoid:
        step->lo *= scale;
        return true;
      default:
        return false;
    }
  }
};

// c[0] + c[1] x + c[2] x^2 + c[3] x^3.
struct Polynomial {
  double c[4] = {};

  int degree() const {
    int d = 3;
    while (d > 0 && c[d] == 0) --d;
    return d;
  }
};

class Matcher {
 public:
  Matcher(const abi::Expr& expr, bool tensors_allowed, TileEpilogue* epilogue)
      : nodes_(expr.nodes), tensors_allowed_(tensors_allowed), e_(epilogue) {}

  // Appends the steps that lead from node `base` to node `node`; false when there is no such chain.
  // `steps` is then left in an unspecified state.
  bool Match(int node, int base, Steps* steps) {
    if (node == base) return true;
    const ExprNode& n = nodes_[node];
    if (n.dtype != DType::kF32 || ++visits_ > kMaxVisits) return false;
    switch (n.op) {
      case ExprOp::kNeg:
        return Match(n.args[0], base, steps) && steps->PushLinear(-1, 0);
      case ExprOp::kSigmoid:
        return Match(n.args[0], base, steps) && steps->Push({ChainOp::kSigmoid});
      case ExprOp::kTanh:
        return Match(n.args[0], base, steps) && steps->Push({ChainOp::kTanh});
      case ExprOp::kErf:
        return Match(n.args[0], base, steps) && steps->Push({ChainOp::kErf});
      case ExprOp::kRoundF16:
        return Match(n.args[0], base, steps) && steps->Push({ChainOp::kRoundF16});
      case ExprOp::kSub:
      case ExprOp::kDiv:
        return MatchOrdered(n, base, steps);
      case ExprOp::kAdd:
      case ExprOp::kMul:
      case ExprOp::kFma: {
        Steps attempt = *steps;
        const bool fma = n.op == ExprOp::kFma;
        if (!(fma ? MatchFma(n, base, &attempt) : MatchSymmetric(n, base, &attempt))) {
          return MatchCubic(node, base, steps);
        }
        *steps = attempt;
        return true;
      }
      case ExprOp::kMin:
      case ExprOp::kMax:
        return MatchSymmetric(n, base, steps);
      default:
        return false;
    }
  }

 private:
  // Bounds the search on expressions made of many products of the same value.
  static constexpr int kMaxVisits = 500;

  bool IsConst(int node, double* value) const {
    const ExprNode& n = nodes_[node];
    if (n.op != ExprOp::kConst || n.dtype != DType::kF32) return false;
    *value = abi::BitsToFloat(n.imm);
    return true;
  }

  // The node as a polynomial of `base`.
  bool AsPolynomial(int node, int base, Polynomial* p) {
    *p = {};
    if (node == base) {
      p->c[1] = 1;
      return true;
    }
    const ExprNode& n = nodes_[node];
    if (n.dtype != DType::kF32 || ++visits_ > kMaxVisits) return false;
    if (IsConst(node, &p->c[0])) return true;
    if (n.op != ExprOp::kAdd && n.op != ExprOp::kMul && n.op != ExprOp::kFma) return false;
    Polynomial a, b, addend;
    if (!AsPolynomial(n.args[0], base, &a) || !AsPolynomial(n.args[1], base, &b)) return false;
    if (n.op == ExprOp::kFma && !AsPolynomial(n.args[2], base, &addend)) return false;
    if (n.op == ExprOp::kAdd) {
      for (int i = 0; i < 4; ++i) p->c[i] = a.c[i] + b.c[i];
      return true;
    }
    if (a.degree() + b.degree() > 3) return false;
    *p = addend;
    for (int i = 0; i <= a.degree(); ++i) {
      for (int j = 0; j <= b.degree(); ++j) p->c[i + j] += a.c[i] * b.c[j];
    }
    return true;
  }

  // x * a + x^3 * b: inside the tanh of GELU.
  bool MatchCubic(int node, int base, Steps* steps) {
    Polynomial p;
    if (!AsPolynomial(node, base, &p) || p.c[0] != 0 || p.c[2] != 0 || p.c[3] == 0) return false;
    const auto a = static_cast<float>(p.c[1]), b = static_cast<float>(p.c[3]);
    return steps->Push({ChainOp::kCubic, 0, a, b});
  }

  bool MatchSymmetric(const ExprNode& n, int base, Steps* steps) {
    for (int side = 0; side < 2; ++side) {
      const int value = n.args[side], other = n.args[1 - side];
      double c = 0;
      if (IsConst(other, &c)) {
        return Match(value, base, steps) && PushConst(n.op, c, steps);
      }
      if (nodes_[other].op == ExprOp::kInput && nodes_[other].imm != 0) {
        return Match(value, base, steps) && PushOperand(n.op, nodes_[other], steps);
      }
    }
    if (n.op != ExprOp::kMul) return false;
    for (int side = 0; side < 2; ++side) {
      Steps attempt = *steps;
      if (MatchGate(n.args[side], n.args[1 - side], base, &attempt)) {
        *steps = attempt;
        return true;
      }
    }
    return false;
  }

  static bool PushConst(ExprOp op, double c, Steps* steps) {
    switch (op) {
      case ExprOp::kAdd:
        return steps->PushLinear(1, c);
      case ExprOp::kMul:
        return steps->PushLinear(c, 0);
      case ExprOp::kMin:
        return steps->PushClamp(-kInfinity, static_cast<float>(c));
      default:
        return steps->PushClamp(static_cast<float>(c), kInfinity);
    }
  }

  // v - c, c - v and v / c.
  bool MatchOrdered(const ExprNode& n, int base, Steps* steps) {
    double c = 0;
    if (IsConst(n.args[1], &c)) {
      return Match(n.args[0], base, steps) &&
             (n.op == ExprOp::kSub ? steps->PushLinear(1, -c) : steps->PushLinear(1 / c, 0));
    }
    if (n.op == ExprOp::kSub && IsConst(n.args[0], &c)) {
      return Match(n.args[1], base, steps) && steps->PushLinear(-1, c);
    }
    return false;
  }

  // A product, then an addition: one rounding fewer or more changes nothing that epilogues promise.
  bool MatchFma(const ExprNode& n, int base, Steps* steps) {
    ExprNode product = n;
    product.op = ExprOp::kMul;
    const ExprNode& addend = nodes_[n.args[2]];
    double c = 0;
    if (IsConst(n.args[2], &c)) {
      return MatchSymmetric(product, base, steps) && steps->PushLinear(1, c);
    }
    if (addend.op != ExprOp::kInput || addend.imm == 0) return false;
    return MatchSymmetric(product, base, steps) && PushOperand(ExprOp::kAdd, addend, steps);
  }

  // value * gate, where the gate is a function of the value, or value = x * c and a function of x.
  bool MatchGate(int value, int gate, int base, Steps* steps) {
    double scale = 1;
    for (int from = value;;) {
      Steps g;
      if (Match(gate, from, &g)) {
        return Match(from, base, steps) && PushGate(g, steps) &&
               (scale == 1 || steps->PushLinear(scale, 0));
      }
      const ExprNode& n = nodes_[value];
      double c = 0;
      if (from != value || (n.op != ExprOp::kMul && n.op != ExprOp::kDiv)) return false;
      if (IsConst(n.args[1], &c)) {
        from = n.args[0];
      } else if (n.op == ExprOp::kMul && IsConst(n.args[0], &c)) {
        from = n.args[1];
      } else {
        return false;
      }
      scale = n.op == ExprOp::kMul ? c : 1 / c;
    }
  }

  // v * f(v) where f is a sigmoid, a tanh or an erf of a multiple of v or of a cubic.
  static bool PushSmoothGate(const Steps& g, Steps* steps) {
    int i = 0;
    float a = 1, b = 0;
    if (g.count == 0) return false;
    if (g.step[0].op == ChainOp::kCubic || (g.step[0].op == ChainOp::kLinear && g.step[0].b == 0)) {
      a = g.step[0].a;
      b = g.step[i++].b;
    }
    if (i == g.count) return false;
    const ChainOp f = g.step[i++].op;
    const bool scaled = i < g.count && g.step[i].op == ChainOp::kLinear;
    const float scale = scaled ? g.step[i].a : 1, shift = scaled ? g.step[i++].b : 0;
    if (i != g.count) return false;
    if (f == ChainOp::kSigmoid && shift == 0) {
      return steps->Push({ChainOp::kGateSigmoid, 0, a, b, scale});
    }
    // 1 + tanh(u) = 2 * sigmoid(2 * u).
    if (f == ChainOp::kTanh && shift == scale) {
      return steps->Push({ChainOp::kGateSigmoid, 0, 2 * a, 2 * b, 2 * scale});
    }
    return f == ChainOp::kErf && b == 0 && steps->Push({ChainOp::kGateErf, 0, a, 0, scale, shift});
  }

  static bool PushGate(const Steps& g, Steps* steps) {
    if (g.count == 1 && g.step[0].op == ChainOp::kSigmoid) return steps->Push({ChainOp::kSilu});
    return PushSmoothGate(g, steps) || PushClampGate(g, steps);
  }

  static bool PushClampGate(const Steps& g, Steps* steps) {
    ChainStep gate{ChainOp::kGate, 0, 1, 0, 0, 0};
    int i = 0;
    if (i < g.count && g.step[i].op == ChainOp::kLinear) {
      gate.a = g.step[i].a;
      gate.b = g.step[i++].b;
    }
    if (i >= g.count || g.step[i].op != ChainOp::kClamp) return false;
    gate.lo = g.step[i].lo;
    gate.hi = g.step[i++].hi;
    if (i < g.count) {
      // s * clamp(u, lo, hi) + t = clamp(s * u + t, s * lo + t, s * hi + t) for s > 0.
      const ChainStep& after = g.step[i++];
      if (after.op != ChainOp::kLinear || !(after.a > 0)) return false;
      gate.a *= after.a;
      for (float* f : {&gate.b, &gate.lo, &gate.hi}) *f = *f * after.a + after.b;
    }
    return i == g.count && steps->Push(gate);
  }

  bool PushOperand(ExprOp op, const ExprNode& node, Steps* steps) {
    if (op != ExprOp::kAdd && op != ExprOp::kMul) return false;
    const int input = static_cast<int>(node.imm) - 1;
    const bool add = op == ExprOp::kAdd;
    const TileOperand& o = e_->inputs[input];
    bool column = o.row_stride == 0;
    for (int64_t s : o.outer_strides) column &= s == 0;
    if (column) {
      int slot = 0;
      while (slot < e_->column_count && e_->column_inputs[slot] != input) ++slot;
      if (slot == kMaxColumnOperands) return false;
      e_->column_inputs[slot] = input;
      e_->column_count = std::max(e_->column_count, slot + 1);
      return steps->Push({add ? ChainOp::kAddColumns : ChainOp::kMulColumns, slot});
    }
    if (!tensors_allowed_ || o.dtype != DType::kF32 || o.col_stride != 1) return false;
    return steps->Push({add ? ChainOp::kAddTensor : ChainOp::kMulTensor, input});
  }

  const std::vector<ExprNode>& nodes_;
  const bool tensors_allowed_;
  TileEpilogue* e_;
  int visits_ = 0;
};

int RawInput(const abi::Expr& expr) {
  for (size_t i = 0; i < expr.nodes.size(); ++i) {
    const ExprNode& n = expr.nodes[i];
    if (n.op == ExprOp::kInput && n.imm == 0) return static_cast<int>(i);
  }
  return -1;
}

bool IsStorable(DType d) { return d == DType::kF32 || d == DType::kF16 || d == DType::kBF16; }

}  // namespace

void PlanChain(const abi::Expr& expr, bool tensors_allowed, TileEpilogue* e) {
  e->is_chain = e->is_direct = false;
  e->bias_input = -1;
  e->step_count = e->column_count = 0;
  if (e->output_count != 1 || !IsStorable(e->outputs[0].dtype)) return;
  Steps steps;
  if (!expr.empty()) {
    const int raw = RawInput(expr);
    if (raw < 0) return;
    if (!Matcher(expr, tensors_allowed, e).Match(expr.results[0], raw, &steps)) {
      e->column_count = 0;
      return;
    }
  }
  int first = 0;
  if (steps.count > 0 && steps.step[0].op == ChainOp::kAddColumns) {
    e->bias_input = e->column_inputs[steps.step[0].operand];
    first = 1;
  }
  std::copy(steps.step + first, steps.step + steps.count, e->steps);
  e->step_count = steps.count - first;
  e->is_chain = true;
  const bool at_most_clamp =
      e->step_count == 0 || (e->step_count == 1 && e->steps[0].op == ChainOp::kClamp);
  const TileOperand& out = e->outputs[0];
  e->is_direct = at_most_clamp && out.dtype == DType::kF32 && out.col_stride == 1;
}

}  // namespace aicf::cpu
