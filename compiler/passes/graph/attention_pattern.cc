#include "compiler/passes/graph/attention_pattern.h"

#include <algorithm>
#include <cmath>

#include "base/scanner.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/ir/loop_nodes.h"
#include "compiler/passes/lower/elementwise_table.h"

namespace aicf {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

// Most nodes that are looked at in front of one softmax: a mask may be the end of a long chain of
// its own.
constexpr size_t kMaxBehind = 64;

bool Contains(const std::vector<int>& list, int n) {
  return std::ranges::find(list, n) != list.end();
}

bool IsElementwise(const Node& node) {
  return node.outputs.size() == 1 && FindElementwise(node.op) != nullptr;
}

int64_t CountOf(const Graph& graph, ValueId v) { return *ElementCount(graph.values[v].shape); }

// A Cast between floats: it keeps the value, widens it, or rounds it again after it was widened.
bool IsFloatCast(const Graph& graph, const Node& node) {
  return node.op == "Cast" && IsFloat(graph.values[node.inputs[0]].dtype) &&
         IsFloat(graph.values[node.outputs[0]].dtype);
}

bool IsFalse(const ir::Tensor& t) {
  for (int64_t i = 0; i < t.count(); ++i) {
    if (t.IntAt(i) != 0) return false;
  }
  return true;
}

bool IsZero(const ir::Value& v) {
  return v.is_constant() && v.constant.count() == 1 && IsFloat(v.dtype) &&
         v.constant.FloatAt(0) == 0;
}

}  // namespace

std::vector<int> AttentionPattern::Nodes() const {
  std::vector<int> all{product};
  all.insert(all.end(), scores.begin(), scores.end());
  all.push_back(softmax);
  all.insert(all.end(), guards.begin(), guards.end());
  all.push_back(weighted);
  return all;
}

bool KeepsLastAxes(const Graph& graph, const Node& node, int axes) {
  constexpr std::string_view kOps[] = {"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
  if (std::ranges::find(kOps, node.op) == std::end(kOps)) return false;
  const Dims &from = graph.values[node.inputs[0]].shape, &to = graph.values[node.outputs[0]].shape;
  if (std::min(from.rank(), to.rank()) < axes) return false;
  for (int i = 1; i <= axes; ++i) {
    if (from[from.rank() - i] != to[to.rank() - i]) return false;
  }
  return true;
}

AttentionFinder::AttentionFinder(const Graph& graph)
    : graph_(graph), producer_(ir::ProducerOf(graph)), loops_(ir::LoopIds(graph)), uses_(graph) {}

bool AttentionFinder::OverKeys(const Node& softmax) const {
  const int rank = graph_.values[softmax.inputs[0]].shape.rank();
  const auto axis = ir::NormalizeAxis(softmax.Int("axis", -1), rank);
  return rank >= 2 && axis.ok() && *axis == rank - 1;
}

// Whether `where` replaces the probabilities v by 0 in rows of which nothing is left, for which
// attention gives 0 by itself. Sets `masked` to the value that is minus infinity in these rows;
// kNoValue where the condition is constant and false, so that no row is replaced.
bool AttentionFinder::IsRowGuard(const Node& where, ValueId v, ValueId* masked) const {
  if (where.op != "Where" || where.inputs[2] != v || !IsZero(graph_.values[where.inputs[1]])) {
    return false;
  }
  const ir::Value& condition = graph_.values[where.inputs[0]];
  *masked = ir::kNoValue;
  if (condition.is_constant()) return IsFalse(condition.constant);
  const int equal = producer_[where.inputs[0]];
  if (equal < 0 || graph_.nodes[equal].op != "Equal") return false;
  const ir::Value& lowest = graph_.values[graph_.nodes[equal].inputs[1]];
  const int best = producer_[graph_.nodes[equal].inputs[0]];
  if (best < 0 || graph_.nodes[best].op != "ReduceMax" || !lowest.is_constant() ||
      lowest.constant.count() != 1 || lowest.constant.FloatAt(0) != -INFINITY) {
    return false;
  }
  *masked = graph_.nodes[best].inputs[0];
  const auto axes = ir::ResolveAxes(graph_, graph_.nodes[best]);
  const int rank = graph_.values[*masked].shape.rank();
  return axes.ok() && *axes == Dims{rank - 1} && condition.shape.rank() == rank;
}

// The last of the nodes that take the probabilities v one step further; they are added to
// `pattern`. That is a cast, a reshape of the batch, or a Where that puts 0 where attention gives
// 0: for NaN, and for queries that see no key. -1: there are none.
int AttentionFinder::NextGuard(ValueId v, AttentionPattern& pattern) const {
  if (uses_.IsOutput(v)) return -1;
  const std::vector<int>& users = uses_.Of(v);
  if (users.size() == 1) {
    const Node& next = graph_.nodes[users[0]];
    ValueId masked = ir::kNoValue;
    const bool guard = IsRowGuard(next, v, &masked);
    if (!guard && !IsFloatCast(graph_, next) && !KeepsLastAxes(graph_, next, 1)) return -1;
    if (masked != ir::kNoValue && guard) pattern.masked.push_back(masked);
    pattern.guards.push_back(users[0]);
    return users[0];
  }
  if (users.size() != 2) return -1;
  const Node &test = graph_.nodes[users[0]], &where = graph_.nodes[users[1]];
  const bool guard = test.op == "IsNaN" && where.op == "Where" &&
                     where.inputs[0] == test.outputs[0] && where.inputs[2] == v &&
                     IsZero(graph_.values[where.inputs[1]]) &&
                     uses_.Single(test.outputs[0]) == users[1];
  if (!guard) return -1;
  pattern.guards.insert(pattern.guards.end(), users.begin(), users.end());
  return users[1];
}

std::string AttentionFinder::FindWeighted(AttentionPattern& pattern) const {
  ValueId v = graph_.nodes[pattern.softmax].outputs[0];
  while (true) {
    const int reader = uses_.Single(v);
    if (reader >= 0 && graph_.nodes[reader].op == "MatMul" && graph_.nodes[reader].inputs[0] == v &&
        graph_.nodes[reader].inputs[1] != v) {
      pattern.weighted = reader;
      return "";
    }
    const int next = NextGuard(v, pattern);
    if (next < 0) break;
    v = graph_.nodes[next].outputs[0];
  }
  const std::string name = Quote(graph_.values[v].name);
  if (uses_.IsOutput(v)) return StrCat("graph-output: the probabilities ", name, " are an output");
  if (uses_.Of(v).empty()) return StrCat("unused: nobody reads the probabilities ", name);
  if (uses_.Of(v).size() > 1) {
    return StrCat("single-use: ", uses_.Of(v).size(), " nodes read the probabilities ", name);
  }
  return StrCat("probabilities: they pass through ", Quote(graph_.nodes[uses_.Of(v)[0]].name),
                ", which is no product with values");
}

// The elementwise nodes and Reshapes through which the scores may come, in order, and the matrix
// products in front of them.
std::vector<int> AttentionFinder::NodesBehind(ValueId scores, std::vector<int>& products) const {
  const int64_t count = CountOf(graph_, scores);
  std::vector<int> seen;
  std::vector<ValueId> open{scores};
  while (!open.empty() && seen.size() < kMaxBehind) {
    const int p = producer_[open.back()];
    open.pop_back();
    if (p < 0 || Contains(seen, p) || Contains(products, p)) continue;
    const Node& node = graph_.nodes[p];
    if (node.op == "MatMul") products.push_back(p);
    if (!IsElementwise(node) && !KeepsLastAxes(graph_, node, 1)) continue;
    seen.push_back(p);
    for (ValueId v : node.inputs) {
      if (v != ir::kNoValue && CountOf(graph_, v) == count) open.push_back(v);
    }
  }
  std::ranges::sort(seen);
  std::ranges::sort(products, std::greater());
  return seen;
}

// Sets pattern.scores to those of the nodes `behind` that depend on the product. Gives "", or the
// condition that failed where something else reads a result of these nodes.
std::string AttentionFinder::FollowScores(AttentionPattern& pattern,
                                          const std::vector<int>& behind) const {
  pattern.scores.clear();
  std::vector<ValueId> made{graph_.nodes[pattern.product].outputs[0]};
  for (int n : behind) {
    const bool reads = std::ranges::any_of(graph_.nodes[n].inputs, [&](ValueId v) {
      return std::ranges::find(made, v) != made.end();
    });
    if (!reads) continue;
    pattern.scores.push_back(n);
    made.push_back(graph_.nodes[n].outputs[0]);
  }
  for (ValueId v : made) {
    const std::string name = Quote(graph_.values[v].name);
    if (uses_.IsOutput(v)) return StrCat("graph-output: the scores ", name, " are an output");
    for (int user : uses_.Of(v)) {
      if (user == pattern.softmax || Contains(pattern.scores, user)) continue;
      return StrCat("single-use: the scores ", name, " are also read by ",
                    Quote(graph_.nodes[user].name));
    }
  }
  return "";
}

std::string AttentionFinder::FindProduct(AttentionPattern& pattern) const {
  const ValueId scores = graph_.nodes[pattern.softmax].inputs[0];
  std::vector<int> products;
  const std::vector<int> behind = NodesBehind(scores, products);
  std::string refusal = "product: what the softmax reads does not come from one";
  for (int p : products) {
    const Node& node = graph_.nodes[p];
    if (graph_.values[node.inputs[1]].is_constant()) {
      refusal =
          StrCat("weights: the keys of ", Quote(node.name), " are constant, as a layer's are");
      continue;
    }
    pattern.product = p;
    refusal = FollowScores(pattern, behind);
    if (refusal.empty()) return "";
  }
  return refusal;
}

// Whether v is added to the scores: then a row of minus infinity in v is a row without keys.
bool AttentionFinder::IsAdded(const AttentionPattern& pattern, ValueId v) const {
  return std::ranges::any_of(pattern.scores, [&](int n) {
    const Node& node = graph_.nodes[n];
    return node.op == "Add" && std::ranges::find(node.inputs, v) != node.inputs.end();
  });
}

std::string AttentionFinder::CheckPlace(const AttentionPattern& pattern) const {
  for (ValueId v : pattern.masked) {
    if (IsAdded(pattern, v)) continue;
    return StrCat("probabilities: rows are 0 by ", Quote(graph_.values[v].name),
                  ", which the scores do not have");
  }
  for (int n : pattern.Nodes()) {
    if (loops_[n] == loops_[pattern.softmax]) continue;
    return StrCat("loop: ", Quote(graph_.nodes[n].name), " repeats otherwise than the softmax");
  }
  const Node& weighted = graph_.nodes[pattern.weighted];
  if (!graph_.values[weighted.inputs[1]].is_constant()) return "";
  return StrCat("weights: the values of ", Quote(weighted.name), " are constant, as a layer's are");
}

AttentionMatch AttentionFinder::Find(int softmax) const {
  AttentionMatch match;
  match.pattern.softmax = softmax;
  std::string after = FindWeighted(match.pattern);
  if (!OverKeys(graph_.nodes[softmax])) {
    match.refusal = "axis: the softmax is not over the last axis, the keys";
    match.worth_telling = match.pattern.weighted >= 0;
    return match;
  }
  std::string before = FindProduct(match.pattern);
  match.worth_telling = match.pattern.weighted >= 0 || match.pattern.product >= 0;
  match.refusal = !before.empty() ? std::move(before) : std::move(after);
  if (match.refusal.empty()) match.refusal = CheckPlace(match.pattern);
  return match;
}

}  // namespace aicf
