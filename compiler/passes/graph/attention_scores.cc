#include "compiler/passes/graph/attention_scores.h"

#include <algorithm>

#include "base/scanner.h"
#include "compiler/passes/graph/scalar_factor.h"
#include "compiler/passes/lower/elementwise_table.h"

namespace aicf {
namespace {

using ir::Node;
using ir::ValueId;

// Tightens a bound of a window (-1: none) by another bound; `pick` gives the tighter of two.
template <class Pick>
void Tighten(int64_t& window, std::optional<int64_t> bound, Pick pick) {
  if (bound) window = window == -1 ? *bound : pick(window, *bound);
}

// Expresses a band as windows around the position of row i, which is i + offset. Windows are not
// negative, so while none is set, the offset is moved to an edge of the band. False where a window
// would still be negative.
bool AsWindows(const Band& band, abi::AttentionAttrs& a) {
  const bool free = a.window_left == -1 && a.window_right == -1;
  if (free) a.offset = band.last ? *band.last : band.first ? *band.first : 0;
  Band b = band;
  if (b.first) b.first = a.offset - *b.first;
  if (b.last) b.last = *b.last - a.offset;
  if (b.first.value_or(0) < 0 || b.last.value_or(0) < 0) return false;
  const auto least = [](int64_t x, int64_t y) { return std::min(x, y); };
  Tighten(a.window_left, b.first, least);
  Tighten(a.window_right, b.last, least);
  return true;
}

}  // namespace

// Whether the nodes from `from` on give no weight to a key that has none before them.
bool AttentionScores::KeepsMasked(size_t from) const {
  return std::all_of(pattern_.scores.begin() + static_cast<std::ptrdiff_t>(from),
                     pattern_.scores.end(), [&](int n) {
                       const Node& node = graph_.nodes[n];
                       return node.op == "Add" || node.op == "Where" || node.op == "Cast" ||
                              KeepsLastAxes(graph_, node, 1);
                     });
}

// The keys that remain where a node hides keys by a constant alone: by a Where that puts the lowest
// number in their place, or by adding a mask of numbers. nullopt: it does not.
std::optional<Band> AttentionScores::MaskOf(const Node& node) const {
  if (node.op == "Add") {
    const ValueId bias = node.inputs[IsScore(node.inputs[0]) ? 1 : 0];
    return BandOfBias(graph_.values[bias], to_.rows, keys_);
  }
  if (node.op != "Where" || IsScore(node.inputs[0])) return std::nullopt;
  const bool inverted = IsScore(node.inputs[2]);
  if (inverted == IsScore(node.inputs[1])) return std::nullopt;
  const ir::Value& fill = graph_.values[node.inputs[inverted ? 1 : 2]];
  if (!fill.is_constant() || fill.constant.count() != 1 || !IsFloat(fill.dtype) ||
      !IsLowest(fill.constant.FloatAt(0), fill.dtype)) {
    return std::nullopt;
  }
  return BandOfMask(graph_.values[node.inputs[0]], to_.rows, keys_, inverted);
}

bool AttentionScores::TakeMask(size_t at, ir::AttentionForm& form) {
  const Node& node = graph_.nodes[pattern_.scores[at]];
  const int rank = graph_.values[node.outputs[0]].shape.rank();
  // The last axis but one is not always that of the rows: they may be a part of another axis.
  if (graph_.values[node.outputs[0]].shape[rank - 2] != to_.rows || !KeepsMasked(at)) return false;
  const std::optional<Band> band = MaskOf(node);
  abi::AttentionAttrs attrs = form.attrs;
  if (!band || !AsWindows(*band, attrs)) return false;
  form.attrs = attrs;
  for (ValueId v : node.inputs) {
    if (IsScore(v)) values_[node.outputs[0]] = values_[v];
  }
  return true;
}

// Takes a node that multiplies the whole product, before anything else happens to it, as a part of
// the scale.
bool AttentionScores::TakeFactor(const Node& node, ir::AttentionForm& form) {
  const auto factor = FactorOf(graph_, node);
  const ValueId scaled = node.inputs[0];
  const auto readers = std::ranges::count_if(pattern_.scores, [&](int n) {
    return std::ranges::find(graph_.nodes[n].inputs, scaled) != graph_.nodes[n].inputs.end();
  });
  const bool raw = IsScore(scaled) && values_[scaled] == 0 && values_.size() == 1 && readers == 1;
  if (!factor || !raw) return false;
  form.attrs.scale *= *factor;
  values_ = {{node.outputs[0], 0}};
  return true;
}

std::string AttentionScores::Evaluate(const Node& node, AttentionOperandForms& operands) {
  const ir::Value& out = graph_.values[node.outputs[0]];
  const Dims axes(out.shape.span().first(static_cast<size_t>(out.shape.rank()) - 1));
  if (out.shape.back() != keys_) {
    return StrCat("heads: ", Quote(node.name), " has ", out.shape.back(), " keys instead of ",
                  keys_);
  }
  if (KeepsLastAxes(graph_, node, 1)) {
    values_[node.outputs[0]] = values_[node.inputs[0]];
    return "";
  }
  const DType dtype = out.dtype;
  std::vector<uint16_t> in;
  for (ValueId v : node.inputs) {
    if (v == ir::kNoValue) {
      in.push_back(ElementwiseArgs::kAbsent);
    } else if (IsScore(v)) {
      in.push_back(values_[v]);
    } else {
      const bool scalar = graph_.values[v].is_constant() && graph_.values[v].constant.count() == 1;
      const ValueId operand = scalar ? v : operands.AsScores(v, axes, to_);
      if (operand == ir::kNoValue) {
        return StrCat("heads: ", Quote(graph_.values[v].name),
                      " does not divide into batch, heads, "
                      "rows and keys");
      }
      in.push_back(score_.Load(graph_, operand));
    }
  }
  values_[node.outputs[0]] = FindElementwise(node.op)({node, score_.builder(), in, dtype});
  return "";
}

std::string AttentionScores::Build(AttentionOperandForms& operands, ir::AttentionForm& form) {
  const ValueId product = graph_.nodes[pattern_.product].outputs[0];
  const uint16_t raw = score_.Raw(graph_.values[product].dtype);
  values_[product] = raw;
  for (size_t i = 0; i < pattern_.scores.size(); ++i) {
    const Node node = graph_.nodes[pattern_.scores[i]];
    if (TakeFactor(node, form) || TakeMask(i, form)) continue;
    std::string refusal = Evaluate(node, operands);
    if (!refusal.empty()) return refusal;
    if (score_.builder().node_count() > abi::kMaxExprNodes) {
      return StrCat("limits: the scores take more than ", abi::kMaxExprNodes, " operations");
    }
  }
  const uint16_t result = values_[graph_.nodes[pattern_.softmax].inputs[0]];
  if (score_.builder().dtype(result) != score_.builder().dtype(raw)) {
    return StrCat("dtype: the softmax is in ", DTypeName(score_.builder().dtype(result)),
                  ", and attention on these operands computes it in ",
                  DTypeName(score_.builder().dtype(raw)));
  }
  form.score = score_.Finish(result);
  const auto inputs = static_cast<int>(score_.operands().size()) + 1;
  if (inputs <= abi::kMaxExprInputs) return "";
  return StrCat("limits: the scores read ", inputs - 1, " operands, and ", abi::kMaxExprInputs - 1,
                " is the most");
}

}  // namespace aicf
