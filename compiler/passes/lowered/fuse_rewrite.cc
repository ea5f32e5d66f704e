// The two ways in which expressions merge: a producer into its reader, a consumer onto its base.
#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"
#include "kernels/abi/raw_dtype.h"

namespace aicf {
namespace {

std::string CheckLimits(const abi::Expr& expr, int inputs) {
  if (expr.nodes.size() > abi::kMaxExprNodes) {
    return StrCat("limits: ", expr.nodes.size(), " expression nodes, limit ", abi::kMaxExprNodes);
  }
  if (inputs > abi::kMaxExprInputs) {
    return StrCat("limits: ", inputs, " expression inputs, limit ", abi::kMaxExprInputs);
  }
  return "";
}

// The producer's expression, evaluated at the elements of its result that view `read` of the
// consumer shows; nullopt where the producer's operands cannot be viewed so.
std::optional<uint16_t> InlineAt(const ir::LoweredStep& producer, const abi::View& read,
                                 OperandExpr& out) {
  const abi::Problem& p = producer.problem;
  if (ReadsCoordinates(p.epilogue) && !ir::SameElements(read, p.outputs[0])) return std::nullopt;
  std::vector<uint16_t> inputs;
  for (size_t k = 0; k < p.inputs.size(); ++k) {
    const auto view = ir::Remap(read, p.outputs[0], p.inputs[k]);
    if (!view) return std::nullopt;
    inputs.push_back(out.Load({producer.inputs[k], *view}));
  }
  return out.builder().Inline(p.epilogue, inputs)[0];
}

// The consumer's expression that InlineProducer rewrites: the epilogue of an elementwise step, else
// the prologue, or where the step has none, one that only passes the operand on.
abi::Expr InlinedExpr(const abi::Problem& p) {
  if (p.family == abi::Family::kElementwise) return p.epilogue;
  if (!p.prologue.empty()) return p.prologue;
  abi::ExprBuilder b;
  return b.Finish({b.Input(0, abi::ComputeDType(p.inputs[0].dtype))});
}

}  // namespace

bool ReadsCoordinates(const abi::Expr& expr) {
  return std::ranges::any_of(expr.nodes,
                             [](const abi::ExprNode& n) { return n.op == abi::ExprOp::kIndex; });
}

Fusion InlineProducer(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  const abi::Problem& c = consumer.problem;
  OperandExpr expr(0);
  std::vector<uint16_t> inputs;
  for (int k = 0; k < c.core_inputs; ++k) {
    if (consumer.inputs[k] != producer.outputs[0]) {
      inputs.push_back(expr.Load({consumer.inputs[k], c.inputs[k]}));
      continue;
    }
    const auto value = InlineAt(producer, c.inputs[k], expr);
    if (!value) {
      return {StrCat("domain: the consumer reads ", ToString(c.inputs[k].shape), " with strides ",
                     ToListString(c.inputs[k].strides),
                     ", where the producer's operands cannot be followed"),
              {}};
    }
    inputs.push_back(*value);
  }
  const std::vector<uint16_t> results = expr.builder().Inline(InlinedExpr(c), inputs);
  Fusion fused;
  abi::Expr finished = expr.Finish(results);
  fused.refusal = CheckLimits(finished, expr.input_count());
  if (!fused.ok()) return fused;
  fused.step.sources = JoinedSources(producer.sources, consumer.sources);
  fused.step.outputs = consumer.outputs;
  // Equal to the producer's: a condition of every fusion.
  fused.step.guards = consumer.guards;
  fused.step.loop = consumer.loop;
  abi::Problem& p = fused.step.problem;
  p = c;
  p.inputs.clear();
  AppendOperands(expr.operands(), p, fused.step.inputs);
  p.core_inputs = static_cast<int>(p.inputs.size());
  for (size_t k = c.core_inputs; k < c.inputs.size(); ++k) {
    p.inputs.push_back(c.inputs[k]);
    fused.step.inputs.push_back(consumer.inputs[k]);
  }
  (c.family == abi::Family::kElementwise ? p.epilogue : p.prologue) = std::move(finished);
  return fused;
}

std::vector<std::string> JoinedSources(const std::vector<std::string>& a,
                                       const std::vector<std::string>& b) {
  std::vector<std::string> out = a;
  for (const std::string& s : b) {
    if (std::find(out.begin(), out.end(), s) == out.end()) out.push_back(s);
  }
  return out;
}

Fusion FinishEpilogue(const ir::LoweredStep& producer, const ir::LoweredStep& consumer,
                      abi::Problem problem, const abi::View& out, OperandExpr& expr,
                      std::vector<uint16_t> results) {
  Fusion fused;
  abi::Problem& p = fused.step.problem;
  p = std::move(problem);
  p.epilogue = expr.Finish(std::move(results));
  fused.refusal = CheckLimits(p.epilogue, expr.input_count());
  if (!fused.ok()) return fused;
  p.outputs = {out};
  p.inputs.resize(static_cast<size_t>(p.core_inputs));
  fused.step.inputs.assign(producer.inputs.begin(), producer.inputs.begin() + p.core_inputs);
  AppendOperands(expr.operands(), p, fused.step.inputs);
  fused.step.outputs = consumer.outputs;
  // Equal to the producer's: a condition of every fusion.
  fused.step.guards = consumer.guards;
  fused.step.loop = consumer.loop;
  fused.step.sources = JoinedSources(producer.sources, consumer.sources);
  return fused;
}

Fusion FinishResults(const ir::LoweredStep& producer, const ir::LoweredStep& consumer,
                     const std::vector<abi::View>& outs, OperandExpr& expr,
                     std::vector<uint16_t> results) {
  abi::Problem problem = producer.problem;
  const bool elementwise = problem.family == abi::Family::kElementwise;
  if (elementwise) problem.core_inputs = 0;
  Fusion fused =
      FinishEpilogue(producer, consumer, std::move(problem), outs[0], expr, std::move(results));
  if (!fused.ok()) return fused;
  abi::Problem& p = fused.step.problem;
  if (elementwise) p.core_inputs = static_cast<int>(p.inputs.size());
  p.outputs = producer.problem.outputs;
  p.outputs.insert(p.outputs.end(), outs.begin(), outs.end());
  fused.step.outputs = producer.outputs;
  fused.step.outputs.insert(fused.step.outputs.end(), consumer.outputs.begin(),
                            consumer.outputs.end());
  return fused;
}

namespace {

// Puts the producer's expression into `expr` and returns its results. The inputs of the expression
// are all operands for an elementwise step; for others they are the raw results and the operands of
// the epilogue.
std::vector<uint16_t> LoadResults(const ir::LoweredStep& producer, OperandExpr& expr) {
  const abi::Problem& p = producer.problem;
  const bool elementwise = p.family == abi::Family::kElementwise;
  if (p.epilogue.empty()) return {expr.Raw(RawDType(p))};
  std::vector<uint16_t> inputs;
  for (int r = 0; r < RawInputs(p) && !elementwise; ++r) inputs.push_back(expr.Raw(RawDType(p), r));
  for (size_t k = elementwise ? 0 : static_cast<size_t>(p.core_inputs); k < p.inputs.size(); ++k) {
    inputs.push_back(expr.Load({producer.inputs[k], p.inputs[k]}));
  }
  return expr.builder().Inline(p.epilogue, inputs);
}

// The consumer's view of the producer's result; nullptr when it reads it in two different ways.
const abi::View* ReadView(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  const abi::View* found = nullptr;
  for (size_t k = 0; k < consumer.inputs.size(); ++k) {
    if (consumer.inputs[k] != producer.outputs[0]) continue;
    if (found != nullptr && !ir::SameElements(*found, consumer.problem.inputs[k])) return nullptr;
    found = &consumer.problem.inputs[k];
  }
  return found;
}

}  // namespace

namespace {

// The consumer's result as a value of the producer's expression, and the view of the consumer's
// buffer in which it is stored, over the producer's domain.
struct Appended {
  std::string refusal;
  uint16_t result = 0;
  abi::View out = {};
};

Appended Append(const ir::LoweredStep& producer, const ir::LoweredStep& consumer, uint16_t value,
                OperandExpr& expr) {
  const abi::Problem& c = consumer.problem;
  const abi::View made = producer.problem.outputs[0];
  const abi::View* read = ReadView(producer, consumer);
  if (read == nullptr) return {"domain: the consumer reads the result in two different orders"};
  if (ReadsCoordinates(c.epilogue) && !ir::SameElements(*read, made)) {
    return {"domain: the consumer uses coordinates of another shape"};
  }
  auto translated = [&](const abi::View& v) { return ir::Remap(made, *read, v); };
  const auto out = translated(c.outputs[0]);
  if (!out) {
    return {StrCat("domain: the consumer works on ", ToString(read->shape), " with strides ",
                   ToListString(read->strides), ", the producer on ", ToString(made.shape))};
  }
  std::vector<uint16_t> inputs;
  for (size_t k = 0; k < consumer.inputs.size(); ++k) {
    if (consumer.inputs[k] == producer.outputs[0]) {
      inputs.push_back(value);
      continue;
    }
    const auto view = translated(c.inputs[k]);
    if (!view) return {StrCat("domain: operand ", k, " cannot follow the producer's shape")};
    inputs.push_back(expr.Load({consumer.inputs[k], *view}));
  }
  return {"", expr.builder().Inline(c.epilogue, inputs)[0], *out};
}

int RawResults(const abi::Problem& p) {
  return p.family == abi::Family::kElementwise ? 0 : RawInputs(p);
}

}  // namespace

Fusion AppendConsumer(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  OperandExpr expr(RawInputs(producer.problem));
  const uint16_t value = LoadResults(producer, expr)[0];
  const Appended end = Append(producer, consumer, value, expr);
  if (!end.refusal.empty()) return {end.refusal, {}};
  return FinishEpilogue(producer, consumer, producer.problem, end.out, expr, {end.result});
}

Fusion AppendResult(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  OperandExpr expr(RawResults(producer.problem));
  std::vector<uint16_t> results = LoadResults(producer, expr);
  const Appended end = Append(producer, consumer, results[0], expr);
  if (!end.refusal.empty()) return {end.refusal, {}};
  results.push_back(end.result);
  return FinishResults(producer, consumer, {end.out}, expr, std::move(results));
}

}  // namespace aicf
