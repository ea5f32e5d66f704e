#include "compiler/ir/prefix/mixing_rules.h"

#include <algorithm>

#include "compiler/ir/attention_node.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/ir/prefix/conditions.h"

namespace aicf::ir {
namespace {

Dims First(const Dims& d, int count) { return Dims(d.span().first(std::max(count, 0))); }

// For products of the operands `a` and `b`: the summed axis has to be whole, and the batch is
// broadcast.
std::string Product(const NodePair& p, size_t a, size_t b) {
  const int a_rank = p.L(a).rank(), b_rank = p.L(b).rank();
  std::string why = RequireSame(p, a, a_rank - 1, "sums over");
  if (why.empty()) why = RequireSame(p, b, std::max(b_rank - 2, 0), "sums over");
  if (!why.empty()) return why;
  const int batch = p.OutL(0).rank() - (a_rank > 1 ? 1 : 0) - (b_rank > 1 ? 1 : 0);
  for (size_t i : {a, b}) {
    const int own = p.L(i).rank() - 2;
    why = RequireSameBroadcast(First(p.L(i), own), First(p.S(i), own), First(p.OutL(0), batch),
                               First(p.OutS(0), batch));
    if (!why.empty()) return why;
  }
  return "";
}

std::string WholeBehindBatch(const NodePair& p, size_t i) {
  for (int d = 1; d < p.L(i).rank(); ++d) {
    std::string why = RequireSame(p, i, d, "mixes positions along");
    if (!why.empty()) return why;
  }
  return "";
}

}  // namespace

std::string MatMul(const NodePair& p) {
  const std::string why = RequireSameShapes(p, 2);
  return why.empty() ? Product(p, 0, 1) : why;
}

// Every row reads every key, so keys have to be whole. Rows may be padded if they count from the
// first one, but not if the last row is at the last key.
std::string Attention(const NodePair& p) {
  if (p.has(kAttentionTable)) return "reads its keys by a page table";
  for (size_t i : {kAttentionQ, kAttentionK, kAttentionV}) {
    for (int d = 1; d < 4; ++d) {
      const bool rows = i == kAttentionQ && d == 2 && p.large.Str("rows", "") != "last-keys";
      std::string why = rows ? "" : RequireSame(p, i, d, "mixes positions along");
      if (!why.empty()) return why;
    }
  }
  const Dims large = AttentionDomain(p.large_graph, p.large);
  const Dims small = AttentionDomain(p.small_graph, p.small);
  for (size_t i = kAttentionOperands; i < p.inputs(); ++i) {
    std::string why = RequireSameBroadcast(p.L(i), p.S(i), large, small);
    if (!why.empty()) return why;
  }
  return "";
}

std::string QLinearMatMul(const NodePair& p) {
  for (size_t i : {1, 2, 4, 5, 6, 7}) {
    const std::string why = RequireSameShape(p, i);
    if (!why.empty()) return why;
  }
  return Product(p, 0, 3);
}

std::string Gemm(const NodePair& p) {
  std::string why = RequireSame(p, 0, p.large.Int("transA", 0) != 0 ? 0 : 1, "sums over");
  if (why.empty()) why = RequireSame(p, 1, p.large.Int("transB", 0) != 0 ? 1 : 0, "sums over");
  if (why.empty() && p.has(2)) {
    why = RequireSameBroadcast(p.L(2), p.S(2), p.OutL(0), p.OutS(0));
  }
  return why;
}

std::string PerBatch(const NodePair& p) {
  const std::string why = WholeBehindBatch(p, 0);
  return why.empty() ? RequireSameShapes(p, 1) : why;
}

std::string GridSample(const NodePair& p) {
  const std::string why = WholeBehindBatch(p, 0);
  return why.empty() ? WholeBehindBatch(p, 1) : why;
}

std::string Resize(const NodePair& p) {
  const std::string why = WholeBehindBatch(p, 0);
  if (!why.empty()) return why;
  const auto large = ResolveResize(p.large_graph, p.large);
  const auto small = ResolveResize(p.small_graph, p.small);
  if (!large.ok() || !small.ok() || large->scales != small->scales || large->scales[0] != 1 ||
      p.OutL(0)[0] != p.L(0)[0] || p.OutS(0)[0] != p.S(0)[0]) {
    return "its scales follow from the padded extent";
  }
  return "";
}

std::string BatchNormalization(const NodePair& p) {
  return RequireSameShapes(p, 1);  // one parameter per channel: the channels are whole with them
}

std::string Softmax(const NodePair& p) {
  return RequireSame(p, 0, AxisOf(p, "axis", -1), "normalises over");
}

std::string LayerNormalization(const NodePair& p) {
  for (int d = AxisOf(p, "axis", -1); d < p.L(0).rank(); ++d) {
    std::string why = RequireSame(p, 0, d, "normalises over");
    if (!why.empty()) return why;
  }
  for (size_t i = 1; i < p.inputs(); ++i) {
    if (!p.has(i)) continue;
    std::string why = RequireSameBroadcast(p.L(i), p.S(i), p.L(0), p.S(0));
    if (!why.empty()) return why;
  }
  return "";
}

std::string ArgExtreme(const NodePair& p) {
  return RequireSame(p, 0, AxisOf(p, "axis", 0), "searches");
}

std::string Reduce(const NodePair& p) {
  const auto large = ResolveAxes(p.large_graph, p.large);
  const auto small = ResolveAxes(p.small_graph, p.small);
  if (!large.ok() || !small.ok() || *large != *small) return "its axes are not known";
  for (int64_t axis : *large) {
    std::string why = RequireSame(p, 0, static_cast<int>(axis), "reduces");
    if (!why.empty()) return why;
  }
  return "";
}

// A running sum from the start needs nothing of what follows.
std::string Cumulative(const NodePair& p) {
  const auto large = ResolveScanAxis(p.large_graph, p.large);
  const auto small = ResolveScanAxis(p.small_graph, p.small);
  if (!large.ok() || !small.ok() || *large != *small) return "its axis is not known";
  if (p.large.Int("reverse", 0) == 0) return "";
  return RequireSame(p, 0, *large, "runs backwards over");
}

std::string TopK(const NodePair& p) {
  const int axis = AxisOf(p, "axis", -1);
  const size_t used = p.large.outputs[0] != kNoValue ? 0 : 1;  // values, or indices of that shape
  if (p.OutL(used)[axis] != p.OutS(used)[axis]) return "its count follows from the padded extent";
  return RequireSame(p, 0, axis, "ranks");
}

// X, the lengths and the states hold one sequence per position of the batch axis.
std::string Recurrent(const NodePair& p) {
  const int batch = p.large.Int("layout", 0) == 1 ? 0 : 1;
  for (size_t i = 0; i < p.inputs(); ++i) {
    if (!p.has(i)) continue;
    const bool states = i == 5 || i == 6;
    const int free = i == 4 ? 0 : i == 0 || states ? batch : -1;
    for (int d = 0; d < p.L(i).rank(); ++d) {
      if (d == free) continue;
      std::string why = RequireSame(p, i, d, "runs over");
      if (!why.empty()) return why;
    }
  }
  return "";
}

}  // namespace aicf::ir
