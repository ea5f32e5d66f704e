#include "compiler/passes/lower/operand_expr.h"

#include <cstring>

#include "compiler/ir/views.h"

namespace aicf {

uint16_t OperandExpr::Load(const ValueView& operand) {
  const DType dtype = abi::ComputeDType(operand.view.dtype);
  for (size_t k = 0; k < operands_.size(); ++k) {
    if (operands_[k].buffer == operand.buffer &&
        ir::SameElements(operands_[k].view, operand.view)) {
      return builder_.Input(first_input_ + static_cast<int>(k), dtype);
    }
  }
  operands_.push_back(operand);
  return builder_.Input(input_count() - 1, dtype);
}

abi::Expr OperandExpr::Finish(std::vector<uint16_t> results) {
  abi::Expr expr = builder_.Finish(std::move(results));
  std::vector<int> renumbered(operands_.size(), -1);
  std::vector<ValueView> kept;
  for (abi::ExprNode& n : expr.nodes) {
    if (n.op != abi::ExprOp::kInput) continue;  // imm numbers no operand here
    const int operand = static_cast<int>(n.imm) - first_input_;
    if (operand < 0) continue;
    if (renumbered[operand] < 0) {
      renumbered[operand] = static_cast<int>(kept.size());
      kept.push_back(operands_[operand]);
    }
    n.imm = static_cast<uint64_t>(first_input_ + renumbered[operand]);
  }
  operands_ = std::move(kept);
  return expr;
}

void AppendOperands(const std::vector<ValueView>& operands, abi::Problem& problem,
                    std::vector<ir::BufferId>& buffers) {
  for (const ValueView& operand : operands) {
    problem.inputs.push_back(operand.view);
    buffers.push_back(operand.buffer);
  }
}

uint16_t LoadValue(LowerContext& ctx, OperandExpr& expr, ir::ValueId id, const Dims& domain) {
  const ir::Value& v = ctx.value(id);
  if (v.is_constant() && v.constant.count() == 1) {
    const DType dtype = abi::ComputeDType(v.dtype);
    return IsFloat(dtype) ? expr.builder().Const(v.constant.FloatAt(0), dtype)
                          : expr.builder().ConstInt(v.constant.IntAt(0), dtype);
  }
  ValueView operand = ctx.Get(id);
  operand.view = ir::BroadcastTo(operand.view, domain);
  return expr.Load(operand);
}

void EmitElementwise(LowerContext& ctx, const ir::Node& node, OperandExpr& expr, uint16_t result,
                     const ValueView& out) {
  abi::Problem p;
  p.epilogue = expr.Finish({result});
  p.outputs = {out.view};
  std::vector<ir::BufferId> inputs;
  AppendOperands(expr.operands(), p, inputs);
  p.core_inputs = static_cast<int>(p.inputs.size());
  ctx.Emit(node, std::move(p), std::move(inputs), {out.buffer});
}

void EmitPlain(LowerContext& ctx, const ir::Node& node, abi::Problem problem,
               std::vector<ir::BufferId> core, const ValueView& out) {
  problem.core_inputs = static_cast<int>(core.size());
  problem.outputs = {out.view};
  ctx.Emit(node, std::move(problem), std::move(core), {out.buffer});
}

void EmitWithEpilogue(LowerContext& ctx, const ir::Node& node, abi::Problem problem,
                      std::vector<ir::BufferId> core, OperandExpr& expr, uint16_t result,
                      const ValueView& out) {
  problem.core_inputs = static_cast<int>(core.size());
  problem.outputs = {out.view};
  abi::Expr epilogue = expr.Finish({result});
  const bool identity = epilogue.nodes.size() == 1 && epilogue.nodes[0].op == abi::ExprOp::kInput &&
                        expr.operands().empty();
  if (!identity) problem.epilogue = std::move(epilogue);
  AppendOperands(expr.operands(), problem, core);
  ctx.Emit(node, std::move(problem), std::move(core), {out.buffer});
}

ValueView PerChannel(const ValueView& vector, const Dims& domain) {
  ValueView out = vector;
  out.view.shape = domain;
  out.view.strides = Dims::Filled(domain.rank(), 0);
  out.view.strides[1] = vector.view.strides[0];
  return out;
}

ValueView Repeated(LowerContext& ctx, ir::ValueId id) {
  const ir::Value& v = ctx.value(id);
  const auto item = static_cast<size_t>(DTypeBytes(v.dtype));
  if (!v.is_constant() || v.constant.count() < 2) return ctx.Get(id);
  const std::span<const std::byte> bytes = v.constant.bytes();
  if (std::memcmp(bytes.data(), bytes.data() + item, bytes.size() - item) != 0) return ctx.Get(id);
  const std::span<const std::byte> first = bytes.first(item);
  const ValueView element =
      ctx.Constant(v.name, ir::Tensor::Own(v.dtype, Dims{}, {first.begin(), first.end()}));
  return {element.buffer, ir::BroadcastTo(element.view, v.shape)};
}

}  // namespace aicf
