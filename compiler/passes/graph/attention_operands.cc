#include "compiler/passes/graph/attention_operands.h"

#include <algorithm>

#include "compiler/ir/infer/infer.h"
#include "compiler/passes/graph/scalar_factor.h"

namespace aicf {
namespace {

using ir::Node;
using ir::ValueId;

// d with axes of one in front, up to `rank` axes.
Dims Padded(Dims d, int rank) {
  while (d.rank() < rank) d.insert(0, 1);
  return d;
}

Dims Leading(const Dims& d, int count) {
  return Dims(d.span().first(static_cast<size_t>(std::max(count, 0))));
}

Dims Joined(Dims a, const Dims& b) {
  for (int64_t extent : b) a.push_back(extent);
  return a;
}

bool OnlyMoves(const ir::Graph& graph, const Node& node) {
  return node.op == "Transpose" || KeepsLastAxes(graph, node, 0);
}

}  // namespace

ValueId NodeWriter::Append(std::string_view op, ValueId v, const Dims& shape) {
  const std::string base = graph_.values[v].name;
  Node node;
  node.op = op;
  node.name = name_;
  node.inputs = {v};
  node.outputs = {make_.Value(StrCat(base, ".heads"), graph_.values[v].dtype, shape)};
  if (op != "Transpose") node.inputs.push_back(make_.Ints(StrCat(base, ".shape"), shape.span()));
  if (op == "Reshape") node.attrs["allowzero"] = int64_t{1};
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs[0];
}

ValueId NodeWriter::Reshape(ValueId v, const Dims& shape) {
  return graph_.values[v].shape == shape ? v : Append("Reshape", v, shape);
}

ValueId NodeWriter::Expand(ValueId v, const Dims& shape) {
  return graph_.values[v].shape == shape ? v : Append("Expand", v, shape);
}

ValueId NodeWriter::SwapLast(ValueId v) {
  Dims shape = graph_.values[v].shape;
  const int rank = shape.rank();
  std::vector<int64_t> perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[static_cast<size_t>(rank) - 2], perm[static_cast<size_t>(rank) - 1]);
  std::swap(shape[rank - 2], shape[rank - 1]);
  const ValueId out = Append("Transpose", v, shape);
  nodes_.back().attrs["perm"] = std::move(perm);
  return out;
}

int AttentionOperandForms::Producer(ValueId v) const {
  return v < static_cast<ValueId>(producer_.size()) ? producer_[v] : -1;
}

double AttentionOperandForms::TakeScale(int product, size_t input) {
  double factor = 1;
  int reader = product;    // the node whose input is looked at, and changed
  int original = product;  // the node that read the value before any change
  while (true) {
    ValueId& v = graph_.nodes[reader].inputs[input];
    const int p = Producer(v);
    if (p < 0 || uses_.Single(v) != original) return factor;
    original = p;
    if (const auto found = FactorOf(graph_, graph_.nodes[p])) {
      factor *= *found;
      v = graph_.nodes[p].inputs[0];
    } else if (OnlyMoves(graph_, graph_.nodes[p])) {
      reader = p;
      input = 0;
    } else {
      return factor;
    }
  }
}

ValueId AttentionOperandForms::AsScores(ValueId v, const Dims& axes, const HeadAxes& to) {
  const Dims shape = Padded(graph_.values[v].shape, axes.rank() + 1);
  const Dims last{shape.back()};
  Dims own = Leading(shape, axes.rank());
  auto heads = OwnHeads(axes, own, to);
  // A value that repeats along only a part of the axes that become one cannot be reshaped. It is
  // expanded along leading axes, one after the other, until it can be.
  const auto fits = [&] { return heads && ((*heads)[1] == 1 || (*heads)[1] == to.heads); };
  for (int i = 0; i < axes.rank() && !fits(); ++i) {
    own[i] = axes[i];
    heads = OwnHeads(axes, own, to);
  }
  if (!fits()) return ir::kNoValue;
  if (own != Leading(shape, axes.rank())) v = write_.Expand(v, Joined(own, last));
  return write_.Reshape(v, Joined(*heads, last));
}

ValueId AttentionOperandForms::AsQueries(ValueId v, const Dims& axes, const HeadAxes& to) {
  const ValueId own = AsScores(v, axes, to);
  if (own == ir::kNoValue) return own;
  return write_.Expand(own, {to.batch, to.heads, to.rows, graph_.values[own].shape.back()});
}

// True for an Expand or Tile that repeats its operand along axes of one element, none of which is
// one of the last two.
bool AttentionOperandForms::RepeatsLeading(const Node& node) const {
  if (node.op != "Expand" && node.op != "Tile") return false;
  const Dims& to = graph_.values[node.outputs[0]].shape;
  const Dims from = Padded(graph_.values[node.inputs[0]].shape, to.rank());
  for (int i = 0; i < to.rank(); ++i) {
    const bool last = i >= to.rank() - 2;
    if (from[i] != to[i] && (from[i] != 1 || last)) return false;
  }
  return true;
}

// Looks through the repetition of key heads for the query heads of a group: an Expand or Tile,
// perhaps with a Reshape behind it that makes one axis of the groups and their shares. Returns the
// value that is repeated, and sets `axes` to those that it is broadcast to. Returns v itself where
// there is no repetition.
ValueId AttentionOperandForms::WithoutRepeats(ValueId v, Dims& axes, const HeadAxes& to) const {
  int p = Producer(v);
  Dims repeated = graph_.values[v].shape;
  if (p >= 0 && KeepsLastAxes(graph_, graph_.nodes[p], 2)) {
    repeated = graph_.values[graph_.nodes[p].inputs[0]].shape;
    p = Producer(graph_.nodes[p].inputs[0]);
  }
  if (p < 0 || !RepeatsLeading(graph_.nodes[p])) return v;
  const ValueId inner = graph_.nodes[p].inputs[0];
  const Dims wide = Joined(Leading(repeated, repeated.rank() - 2), {axes.back()});
  const Dims& shape = graph_.values[inner].shape;
  const Dims own = Joined(Leading(Padded(shape, repeated.rank()), repeated.rank() - 2), {1});
  const bool whole = *ElementCount(wide) == *ElementCount(axes);
  if (shape.rank() < 2 || !whole || !OwnHeads(wide, own, to)) return v;
  axes = wide;
  return inner;
}

ValueId AttentionOperandForms::AsKeys(ValueId v, const Dims& product_axes, const HeadAxes& to,
                                      bool grouped) {
  Dims axes = product_axes;
  if (grouped) v = WithoutRepeats(v, axes, to);
  const Dims shape = Padded(graph_.values[v].shape, axes.rank() + 1);
  const Dims matrix{shape[shape.rank() - 2], shape.back()};
  const auto own = OwnHeads(axes, Joined(Leading(shape, axes.rank() - 1), {1}), to);
  if (!own || (*own)[2] != 1 || (*own)[1] == 0 || to.heads % (*own)[1] != 0) return ir::kNoValue;
  v = write_.Reshape(v, Joined({(*own)[0], (*own)[1]}, matrix));
  return write_.Expand(v, Joined({to.batch, (*own)[1]}, matrix));
}

bool AttentionOperandForms::SwapsLast(const Node& node) const {
  if (node.op != "Transpose") return false;
  const auto perm = ir::ResolvePerm(graph_, node);
  if (!perm.ok() || perm->rank() < 2) return false;
  Dims swapped = *perm;
  std::swap(swapped[swapped.rank() - 2], swapped[swapped.rank() - 1]);
  return std::ranges::is_sorted(swapped);
}

ValueId AttentionOperandForms::Swapped(ValueId v) {
  const int p = Producer(v);
  if (p >= 0 && SwapsLast(graph_.nodes[p])) return graph_.nodes[p].inputs[0];
  // Values of three axes have the exchange between two reshapes of the leading axes.
  const int inner = p >= 0 && KeepsLastAxes(graph_, graph_.nodes[p], 2)
                        ? Producer(graph_.nodes[p].inputs[0])
                        : -1;
  if (inner < 0 || !SwapsLast(graph_.nodes[inner])) return write_.SwapLast(v);
  Dims shape = graph_.values[v].shape;
  std::swap(shape[shape.rank() - 2], shape[shape.rank() - 1]);
  const ValueId source = graph_.nodes[inner].inputs[0];
  const int before = Producer(source);
  if (before >= 0 && KeepsLastAxes(graph_, graph_.nodes[before], 2) &&
      graph_.values[graph_.nodes[before].inputs[0]].shape == shape) {
    return graph_.nodes[before].inputs[0];
  }
  return write_.Reshape(source, shape);
}

}  // namespace aicf
