// EvalBlock evaluates one step of the expression at a time over a block that is small enough for
// the first-level cache. Contiguous inputs are read in place, and a contiguous output is written
// directly. Whatever is the same at every point is computed once.
#include "kernels/cpu/expr/block_eval.h"

#include <cstddef>
#include <cstring>

#include "kernels/cpu/expr/block_ops.h"

AICF_ISA_BEGIN
namespace {

constexpr int64_t kScratchBytes = 96 * 1024;
constexpr int kCachedPlans = 4;

/// Number of blocks of an expression after which tables are made. With fewer blocks, making them
/// would cost more than it saves.
constexpr int kBlocksBeforeTables = 3;

/// A plan with its functions looked up.
struct Compiled {
  BlockPlan plan;
  BlockFn fn[abi::kMaxExprNodes];
  int blocks = 0;  ///< blocks evaluated so far; counting ends when tables are made
  alignas(64) unsigned char table[kMaxBlockTables][kTableEntries * kMaxTableEntryBytes];
};

/// Expressions that this thread evaluated last. A kernel evaluates one or two (prologue, epilogue)
/// thousands of times in a row.
struct Cache {
  Compiled entry[kCachedPlans];
  int latest = 0;
  int next = 0;
};

thread_local Cache cache;
alignas(64) thread_local unsigned char scratch[kScratchBytes];

Compiled& CompiledFor(const abi::Expr& expr) {
  if (PlanMatches(cache.entry[cache.latest].plan, expr)) return cache.entry[cache.latest];
  for (int i = 0; i < kCachedPlans; ++i) {
    if (PlanMatches(cache.entry[i].plan, expr)) return cache.entry[cache.latest = i];
  }
  cache.latest = cache.next;
  cache.next = (cache.next + 1) % kCachedPlans;
  Compiled& c = cache.entry[cache.latest];
  BuildBlockPlan(expr, false, &c.plan);
  c.blocks = 0;
  for (int i = 0; i < c.plan.steps; ++i) {
    c.fn[i] = c.plan.step[i].arity > 0 ? FindBlockFn(c.plan.step[i]) : nullptr;
  }
  return c;
}

/// One evaluation of a piece of the block: rows [row, row + rows) and columns [col, col + cols).
struct Piece {
  const Compiled* compiled;
  const BlockInput* inputs;
  const BlockOutput* outputs;
  const BlockOrigin* origin;
  int64_t slot_bytes;
  int64_t row, col, rows, cols;
  bool stored;  ///< the last step wrote the only output
  BlockOperand value[abi::kMaxExprNodes];
  uint64_t uniform[abi::kMaxExprNodes];  ///< values that are the same at every point
};

char* ElementOf(const void* data, int64_t row_stride, int64_t col_stride, DType dtype, int64_t row,
                int64_t col) {
  const int64_t index = row * row_stride + col * col_stride;
  return const_cast<char*>(static_cast<const char*>(data)) + index * DTypeBytes(dtype);
}

bool IsFlat(int64_t row_stride, int64_t col_stride, int64_t rows, int64_t cols) {
  return (cols == 1 || col_stride == 1) && (rows == 1 || row_stride == cols);
}

unsigned char* SlotOf(const Piece& p, int i) {
  return scratch + p.compiled->plan.step[i].slot * p.slot_bytes;
}

void EvalInput(Piece& p, int i) {
  const BlockStep& step = p.compiled->plan.step[i];
  BlockInput in = p.inputs[step.node.imm];
  in.data = ElementOf(in.data, in.row_stride, in.col_stride, in.dtype, p.row, p.col);
  const bool one_row = p.rows == 1 || in.row_stride == 0;
  const bool one_col = p.cols == 1 || in.col_stride == 0;
  if (one_row && one_col) {
    LoadBlock(in, 1, 1, &p.uniform[i]);
    p.value[i] = {&p.uniform[i], 0};
    return;
  }
  const bool converts = in.dtype != step.node.dtype || in.dtype == DType::kBool;
  if (!converts && !step.staged && IsFlat(in.row_stride, in.col_stride, p.rows, p.cols)) {
    p.value[i] = {in.data, 1};
    return;
  }
  LoadBlock(in, p.rows, p.cols, SlotOf(p, i));
  p.value[i] = {SlotOf(p, i), 1};
}

void EvalIndex(Piece& p, int i) {
  const int axis = static_cast<int>(p.compiled->plan.step[i].node.imm);
  const BlockOrigin& o = *p.origin;
  const int64_t row_step = axis == o.row_axis ? 1 : 0;
  const int64_t col_step = axis == o.col_axis ? 1 : 0;
  const int64_t first = o.origin[axis] + p.row * row_step + p.col * col_step;
  if (row_step == 0 && col_step == 0) {
    p.uniform[i] = static_cast<uint64_t>(first);
    p.value[i] = {&p.uniform[i], 0};
    return;
  }
  auto* out = reinterpret_cast<int64_t*>(SlotOf(p, i));
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int64_t c = 0; c < p.cols; ++c) *out++ = first + r * row_step + c * col_step;
  }
  p.value[i] = {SlotOf(p, i), 1};
}

/// The output's memory if step i is the last one and may write its value straight there, otherwise
/// nullptr. It may do so only if there is one output: with several, the value of another one might
/// still be an input that is read in place, which writing this output could overwrite.
void* DirectOutput(const Piece& p, int i) {
  const BlockPlan& plan = p.compiled->plan;
  if (i != plan.steps - 1 || plan.results != 1 || plan.result[0] != i) return nullptr;
  const BlockOutput& out = p.outputs[0];
  if (out.dtype != plan.step[i].node.dtype) return nullptr;
  if (!IsFlat(out.row_stride, out.col_stride, p.rows, p.cols)) return nullptr;
  return ElementOf(out.data, out.row_stride, out.col_stride, out.dtype, p.row, p.col);
}

template <class T>
void LookUpAll(const void* table, int64_t n, const uint8_t* at, void* out) {
  const T* values = static_cast<const T*>(table);
  T* to = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = values[at[i]];
}

void LookUp(const Compiled& compiled, const BlockStep& step, int64_t n, const BlockOperand& source,
            void* out) {
  const void* table = compiled.table[step.table];
  const auto* at = static_cast<const uint8_t*>(source.data);
  if (DTypeBytes(step.node.dtype) == 1) return LookUpAll<uint8_t>(table, n, at, out);
  LookUpAll<uint32_t>(table, n, at, out);
}

void EvalOperator(Piece& p, int i) {
  const BlockStep& step = p.compiled->plan.step[i];
  BlockOperand args[3];
  bool uniform = true;
  for (int a = 0; a < step.arity; ++a) {
    args[a] = p.value[step.node.args[a]];
    uniform = uniform && args[a].step == 0;
  }
  void* out = &p.uniform[i];
  int64_t n = 1;
  if (!uniform) {
    void* const direct = DirectOutput(p, i);
    p.stored = direct != nullptr;
    out = p.stored ? direct : SlotOf(p, i);
    n = p.rows * p.cols;
  }
  p.value[i] = {out, uniform ? 0 : 1};
  if (step.table >= 0) return LookUp(*p.compiled, step, n, args[0], out);
  const BlockFn fn = p.compiled->fn[i];
  if (fn != nullptr) return fn(n, args, out);
  EvalStepSlowly(step, n, args, out);
}

void StoreResults(const Piece& p) {
  const BlockPlan& plan = p.compiled->plan;
  if (p.stored) return;
  for (int r = 0; r < plan.results; ++r) {
    BlockOutput out = p.outputs[r];
    out.data = ElementOf(out.data, out.row_stride, out.col_stride, out.dtype, p.row, p.col);
    const BlockOperand& value = p.value[plan.result[r]];
    StoreBlock(value, p.rows, p.cols, out);
  }
}

void EvalPiece(Piece& p) {
  const BlockPlan& plan = p.compiled->plan;
  p.stored = false;
  for (int i = 0; i < plan.steps; ++i) {
    if (plan.step[i].skipped) continue;
    switch (plan.step[i].node.op) {
      case abi::ExprOp::kInput:
        EvalInput(p, i);
        break;
      case abi::ExprOp::kConst:
        p.value[i] = {&plan.step[i].constant, 0};
        break;
      case abi::ExprOp::kIndex:
        EvalIndex(p, i);
        break;
      default:
        EvalOperator(p, i);
    }
  }
  StoreResults(p);
}

/// Number of elements that are evaluated at a time, so that their slots fit the scratch memory: a
/// whole block for every expression with few live values.
int64_t PieceElements(const BlockPlan& plan) {
  const int64_t per_element = static_cast<int64_t>(plan.slots) * plan.slot_bytes;
  if (per_element * kBlockElements <= kScratchBytes) return kBlockElements;
  return kScratchBytes / per_element / 16 * 16;
}

/// Fills a table: evaluates the nodes that depend on the table's source, for all values of the
/// source.
void FillTable(const Compiled& compiled, const BlockTable& table, unsigned char* out) {
  const BlockPlan& plan = compiled.plan;
  uint8_t all[kTableEntries];
  for (int i = 0; i < kTableEntries; ++i) all[i] = static_cast<uint8_t>(i);
  Piece p;
  p.compiled = &compiled;
  const BlockOutput none = {nullptr, 0, 0, DType::kBool};  // so that no step writes to an output
  p.outputs = &none;
  p.slot_bytes = int64_t{kTableEntries} * plan.slot_bytes;
  p.row = p.col = 0;
  p.rows = 1;
  p.cols = kTableEntries;
  for (int i = 0; i <= table.node; ++i) {
    if (plan.step[i].node.op == abi::ExprOp::kConst) {
      p.value[i] = {&plan.step[i].constant, 0};
    } else if (i == table.source) {
      p.value[i] = {all, 1};
    } else if (plan.root[i] == table.source) {
      EvalOperator(p, i);
    }
  }
  const size_t bytes = static_cast<size_t>(DTypeBytes(plan.step[table.node].node.dtype));
  const BlockOperand& value = p.value[table.node];
  for (size_t i = 0; i < kTableEntries; ++i) {
    const size_t at = value.step == 0 ? 0 : i * bytes;
    std::memcpy(out + i * bytes, static_cast<const char*>(value.data) + at, bytes);
  }
}

void CountBlock(const abi::Expr& expr, Compiled& c) {
  if (c.plan.tables == 0 || c.blocks > kBlocksBeforeTables) return;
  if (++c.blocks <= kBlocksBeforeTables) return;
  for (int t = 0; t < c.plan.tables; ++t) FillTable(c, c.plan.table[t], c.table[t]);
  BuildBlockPlan(expr, true, &c.plan);
}

}  // namespace

void EvalBlock(const abi::Expr& expr, int64_t rows, int64_t cols, const BlockInput* inputs,
               const BlockOutput* outputs, const BlockOrigin* origin) {
  if (rows == 0 || cols == 0) return;
  Compiled& compiled = CompiledFor(expr);
  CountBlock(expr, compiled);
  Piece p;
  p.compiled = &compiled;
  p.inputs = inputs;
  p.outputs = outputs;
  p.origin = origin;
  const int64_t elements = PieceElements(compiled.plan);
  p.slot_bytes = elements * compiled.plan.slot_bytes;
  const int64_t col_step = cols < elements ? cols : elements;
  const int64_t row_step = elements / col_step;
  for (p.row = 0; p.row < rows; p.row += row_step) {
    p.rows = rows - p.row < row_step ? rows - p.row : row_step;
    for (p.col = 0; p.col < cols; p.col += col_step) {
      p.cols = cols - p.col < col_step ? cols - p.col : col_step;
      EvalPiece(p);
    }
  }
}

AICF_ISA_END
