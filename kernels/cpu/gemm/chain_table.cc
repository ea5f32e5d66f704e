#include "kernels/cpu/gemm/chain_table.h"

#include <algorithm>

#include "kernels/cpu/gemm/chain_steps.h"

namespace aicf::cpu {
namespace {

/// About how many simple steps take as long as a step of this kind. A lookup takes as long as four.
int WeightOf(ChainOp op) {
  switch (op) {
    case ChainOp::kDivide:
      return 4;
    case ChainOp::kSigmoid:
    case ChainOp::kSilu:
    case ChainOp::kTanh:
    case ChainOp::kErf:
      return 8;
    default:
      return 1;
  }
}
constexpr int kTableWeight = 8;
// Least number of results for which a table pays: filling it costs 256 further results.
constexpr int64_t kTableElements = 4096;

bool IsQuantisation(const ChainStep& s) {
  return s.op == ChainOp::kQuantize || s.op == ChainOp::kNarrow;
}

bool IsOfTile(const ChainOperand& x) {
  return x.source == ChainSource::kTensor || x.source == ChainSource::kColumns;
}

/// Whether the steps from `first` on need nothing but v.
bool IsFunction(const TileEpilogue& e, int first) {
  bool saved = false;
  for (int i = first; i < e.step_count; ++i) {
    const ChainStep& s = e.steps[i];
    if (IsOfTile(s.x) || IsOfTile(s.y) || (s.ReadsSaved() && !saved)) return false;
    saved = saved || s.op == ChainOp::kSave;
  }
  return true;
}

void FillTable(EvalChainFn eval_chain, int first, bool is_signed, TileEpilogue* e) {
  TileEpilogue after;
  after.is_chain = true;
  after.step_count = e->step_count - first;
  std::copy(e->steps + first, e->steps + e->step_count, after.steps);
  for (int i = 0; i < kChainTableEntries; ++i) {
    e->table[i] =
        static_cast<float>(is_signed && i >= kChainTableEntries / 2 ? i - kChainTableEntries : i);
  }
  eval_chain(after, e->table);
}

}  // namespace

void TabulateChain(int64_t elements, EvalChainFn eval_chain, TileEpilogue* e) {
  if (!e->is_chain || elements < kTableElements) return;
  const ChainStep* const end = e->steps + e->step_count;
  const ChainStep* const quantise =
      std::find_if(static_cast<const ChainStep*>(e->steps), end, IsQuantisation);
  if (quantise == end) return;
  const int first = static_cast<int>(quantise - e->steps) + 1;
  int weight = 0;
  for (int i = first; i < e->step_count; ++i) weight += WeightOf(e->steps[i].op);
  if (weight < kTableWeight || !IsFunction(*e, first)) return;
  FillTable(eval_chain, first, quantise->lo < 0, e);
  e->steps[first] = StepOf(ChainOp::kTable);
  e->step_count = first + 1;
}

}  // namespace aicf::cpu
