/// What a block evaluation needs to know about an expression, determined once. Each node gets a
/// slot of scratch memory, which is reused as soon as the value's last reader is done.
#pragma once

#include <cstdint>

#include "kernels/abi/expr.h"

namespace aicf::cpu {

struct BlockStep {
  abi::ExprNode node;
  DType operand = DType::kF32;  ///< dtype of the first argument
  uint8_t arity = 0;
  int16_t slot = -1;      ///< scratch slot of the value; -1 for constants
  bool staged = false;    ///< one of several results; an input is copied before any is stored
  int8_t table = -1;      ///< the value is looked up in this table, by the first argument
  bool skipped = false;   ///< only values that are now looked up depended on it
  uint64_t constant = 0;  ///< kConst: the value in its own dtype's bytes
};

/// A value that depends on a single value of 8 bits has only 256 possible results. Most expressions
/// of quantised models have such values, since they quantise and dequantise again and again. The
/// results are computed once, by the same functions, where a lookup then saves at least
/// kMinTableNodes operators.
struct BlockTable {
  int16_t node = -1, source = -1;
};
inline constexpr int kMaxBlockTables = 2;
inline constexpr int kMinTableNodes = 6;
inline constexpr int kTableEntries = 256;
inline constexpr int kMaxTableEntryBytes = 4;

struct BlockPlan {
  int steps = 0;
  int slots = 0;
  int slot_bytes = 0;  ///< bytes per element of a slot: the widest dtype of any value
  int results = 0;
  int tables = 0;  ///< number of tables that the expression has, whether they are used or not
  BlockTable table[kMaxBlockTables];
  int16_t root[abi::kMaxExprNodes] = {};  ///< the only node of 8 bits that node i depends on, or -1
  uint16_t result[abi::kMaxExprResults] = {};
  BlockStep step[abi::kMaxExprNodes];
  abi::ExprNode source[abi::kMaxExprNodes];  ///< the expression's nodes, to recognise it by
};

/// REQUIRES: a valid, non-empty expression. use_tables: nodes of plan->table are looked up.
void BuildBlockPlan(const abi::Expr& expr, bool use_tables, BlockPlan* plan);

/// True when the plan was built from an equal expression.
bool PlanMatches(const BlockPlan& plan, const abi::Expr& expr);

/// An operand of one step over n elements: element i is data[i * step], where step is 0 or 1. It
/// has no initialisers, because every block has an array with one per node, which must cost
/// nothing.
struct BlockOperand {
  const void* data;
  int64_t step;
};

/// Evaluates any operator on any dtype, element by element through the scalar evaluation. It is for
/// what the vector functions do not cover. out may be one of the operands.
void EvalStepSlowly(const BlockStep& step, int64_t n, const BlockOperand* args, void* out);

}  // namespace aicf::cpu
