/// What a block evaluation needs to know about an expression, found once: for each node a scratch
/// slot, reused as soon as the last reader is done.
#pragma once

#include <cstdint>

#include "kernels/abi/expr.h"

namespace aicf::cpu {

struct BlockStep {
  abi::ExprNode node;
  DType operand = DType::kF32;  ///< dtype of the first argument
  uint8_t arity = 0;
  int16_t slot = -1;    ///< scratch slot of the value; -1 for constants
  bool staged = false;  ///< an input that is also one of several results: read before any is stored
  int8_t table = -1;    ///< the value is looked up in this table, by the first argument
  bool skipped = false;   ///< only values that are looked up needed it
  uint64_t constant = 0;  ///< kConst: the value in its own dtype's bytes
};

/// A value that depends on one value of 8 bits alone has 256 possible results: what quantising and
/// dequantising again and again between steps makes of most expressions. They are found once, by
/// the same functions on all 256, where that saves at least kMinTableNodes operators.
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
  int tables = 0;  ///< that the expression has, used or not
  BlockTable table[kMaxBlockTables];
  int16_t root[abi::kMaxExprNodes] = {};  ///< the one node of 8 bits that a node depends on; -1
  uint16_t result[abi::kMaxExprResults] = {};
  BlockStep step[abi::kMaxExprNodes];
  abi::ExprNode source[abi::kMaxExprNodes];  ///< the expression's nodes, to recognise it by
};

/// REQUIRES: a valid, non-empty expression. use_tables: nodes of plan->table are looked up.
void BuildBlockPlan(const abi::Expr& expr, bool use_tables, BlockPlan* plan);

/// True when the plan was built from an equal expression.
bool PlanMatches(const BlockPlan& plan, const abi::Expr& expr);

/// An operand of one step over n elements: elements[i * step], step 0 or 1. Without initialisers:
/// an array of one per node must cost nothing per block.
struct BlockOperand {
  const void* data;
  int64_t step;
};

/// Any operator on any dtype, element by element through the scalar evaluation: what the vector
/// functions do not cover. out may be one of the operands.
void EvalStepSlowly(const BlockStep& step, int64_t n, const BlockOperand* args, void* out);

}  // namespace aicf::cpu
