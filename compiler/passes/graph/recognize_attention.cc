// softmax(f(q k^T)) v, as exporters write attention out, becomes one aicf.Attention: f becomes its
// score expression, constant masks of a window its windows, and what only moves, repeats or scales
// queries, keys and values strides and a factor.
#include <algorithm>
#include <map>

#include "base/scanner.h"
#include "compiler/passes/graph/attention_scores.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/scalar_factor.h"

namespace aicf {
namespace {

constexpr std::string_view kRecognizeAttention = "recognize-attention";

Dims LeadingAxes(const Dims& d) { return Dims(d.span().first(static_cast<size_t>(d.rank()) - 1)); }

class Recognizer {
 public:
  Recognizer(ir::Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        make_(graph),
        finder_(graph),
        dropped_(graph.nodes.size(), false) {}

  void Run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (graph_.nodes[n].op != "Softmax") continue;
      AttentionMatch match = finder_.Find(static_cast<int>(n));
      if (!match.worth_telling) continue;
      if (match.refusal.empty()) match.refusal = CheckPolicy(match.pattern);
      if (match.refusal.empty()) match.refusal = Replace(match.pattern);
      Record(match);
    }
    Apply();
  }

 private:
  std::string CheckPolicy(const AttentionPattern& pattern) const {
    for (int n : pattern.Nodes()) {
      const std::string& name = graph_.nodes[n].name;
      if (context_.no_fusion.contains(name)) {
        return StrCat("policy: --disable-fusion names ", Quote(name));
      }
    }
    return "";
  }

  const Dims& OutShape(int node) const {
    return graph_.values[graph_.nodes[node].outputs[0]].shape;
  }

  // Batch, heads and rows of the scores, read off the first value of rank 4 among them: exporters
  // bring scores into that form for a mask, if not before. Scores of three axes are split as the
  // values that they come from.
  HeadAxes AxesOf(const AttentionPattern& pattern) const {
    std::vector<Dims> shapes{OutShape(pattern.softmax), OutShape(pattern.product)};
    for (int n : pattern.scores) shapes.push_back(OutShape(n));
    for (int n : pattern.guards) shapes.push_back(OutShape(n));
    for (const Dims& s : shapes) {
      if (s.rank() == 4) return {s[0], s[1], s[2]};
    }
    const Dims& s = shapes[0];
    if (s.rank() == 2) return {1, 1, s[0]};
    if (s.rank() == 3) return SplitBatch(pattern, s);
    HeadAxes out{s[0], 1, s[s.rank() - 2]};
    for (int i = 1; i < s.rank() - 2; ++i) out.heads *= s[i];
    return out;
  }

  // Splits scores of [B * H, L, S] where an operand of one of the products is a reshape of
  // [B, H, ..]; otherwise there is one head.
  HeadAxes SplitBatch(const AttentionPattern& pattern, const Dims& scores) const {
    std::vector<Dims> sources;
    for (int n : {pattern.product, pattern.weighted}) {
      for (ir::ValueId v : graph_.nodes[n].inputs) {
        const int p = finder_.producer()[v];
        if (p < 0 || !KeepsLastAxes(graph_, graph_.nodes[p], 2)) continue;
        sources.push_back(graph_.values[graph_.nodes[p].inputs[0]].shape);
      }
    }
    for (const Dims& s : sources) {
      if (s.rank() == 4 && s[0] * s[1] == scores[0]) return {s[0], s[1], scores[1]};
    }
    return {scores[0], 1, scores[1]};
  }

  struct Operands {
    ir::ValueId q = ir::kNoValue, k = ir::kNoValue, v = ir::kNoValue;
  };

  // Queries, keys and values in the form of aicf.Attention; kNoValue for one that has no such form.
  Operands Find(const AttentionPattern& pattern, const HeadAxes& axes, AttentionOperandForms& forms,
                bool grouped) const {
    const ir::Node product = graph_.nodes[pattern.product];
    const ir::Node weighted = graph_.nodes[pattern.weighted];
    const Dims score_axes = LeadingAxes(OutShape(pattern.product));
    const Dims result_axes = LeadingAxes(OutShape(pattern.weighted));
    Operands out;
    out.q = forms.AsQueries(product.inputs[0], score_axes, axes);
    out.k = forms.AsKeys(forms.Swapped(product.inputs[1]), score_axes, axes, grouped);
    out.v = forms.AsKeys(weighted.inputs[1], result_axes, axes, grouped);
    return out;
  }

  // Finds operands in which keys and values have the same number of heads, or one of the two has
  // one head for all. Gives the condition that failed, or "".
  std::string Read(const AttentionPattern& pattern, const HeadAxes& axes,
                   AttentionOperandForms& forms, Operands& out) const {
    bool agree = false;
    for (const bool grouped : {true, false}) {
      if (agree) break;
      out = Find(pattern, axes, forms, grouped);
      if (out.q == ir::kNoValue || out.k == ir::kNoValue || out.v == ir::kNoValue) {
        return "heads: queries, keys and values do not divide into one batch and its heads";
      }
      const int64_t k = graph_.values[out.k].shape[1], v = graph_.values[out.v].shape[1];
      agree = k == v || std::min(k, v) == 1;
    }
    if (!agree) return "heads: keys and values have different numbers of heads";
    const DType dtype = graph_.values[out.q].dtype;
    for (ir::ValueId v : {out.k, out.v}) {
      if (graph_.values[v].dtype == dtype) continue;
      return StrCat("dtype: queries are ", DTypeName(dtype), ", keys or values ",
                    DTypeName(graph_.values[v].dtype));
    }
    if (!IsFloat(dtype) || IsStorageOnly(dtype)) {
      return StrCat("dtype: there is no attention on ", DTypeName(dtype));
    }
    return "";
  }

  // Puts the node in the place of the product with the values. Gives "name: sentence", the
  // condition that failed, with the graph as it was; or "".
  std::string Replace(const AttentionPattern& pattern) {
    const size_t values = graph_.values.size();
    NodeWriter write(graph_, make_, graph_.nodes[pattern.weighted].name);
    AttentionOperandForms forms(graph_, finder_, write);
    const HeadAxes axes = AxesOf(pattern);
    AttentionScores scores(graph_, pattern, axes, OutShape(pattern.softmax).back());
    ir::AttentionForm form;
    std::string refusal = scores.Build(forms, form);
    const size_t scored = graph_.values.size(), nodes = write.nodes().size();
    Operands in;
    if (refusal.empty()) refusal = Read(pattern, axes, forms, in);
    if (!refusal.empty()) {
      graph_.values.resize(values);
      return refusal;
    }
    // The operands are read once more, now without their factors: taking the factors off changes
    // the graph.
    graph_.values.resize(scored);
    write.nodes().resize(nodes);
    form.attrs.scale *= forms.TakeScale(pattern.product, 0) * forms.TakeScale(pattern.product, 1);
    Read(pattern, axes, forms, in);
    const int64_t groups = std::max(graph_.values[in.k].shape[1], graph_.values[in.v].shape[1]);
    in.k = WithGroups(write, in.k, groups);
    in.v = WithGroups(write, in.v, groups);
    Write(pattern, in, form, scores.operands(), write);
    return "";
  }

  // Repeats a single head, which serves all groups, so that each group has one.
  ir::ValueId WithGroups(NodeWriter& write, ir::ValueId v, int64_t groups) const {
    Dims shape = graph_.values[v].shape;
    shape[1] = groups;
    return write.Expand(v, shape);
  }

  void Write(const AttentionPattern& pattern, const Operands& in, const ir::AttentionForm& form,
             const std::vector<ir::ValueId>& operands, NodeWriter& write) {
    const ir::Node& weighted = graph_.nodes[pattern.weighted];
    const Dims q = graph_.values[in.q].shape, given = OutShape(pattern.weighted);
    const Dims made{q[0], q[1], q[2], graph_.values[in.v].shape[3]};
    ir::Node node;
    node.op = ir::kAttention;
    node.name = weighted.name;
    node.inputs = {in.q, in.k, in.v};
    if (!operands.empty()) node.inputs.resize(ir::kAttentionOperands, ir::kNoValue);
    node.inputs.insert(node.inputs.end(), operands.begin(), operands.end());
    node.attrs = ir::AttentionAttributes(form);
    const ir::ValueId result = weighted.outputs[0];
    if (made == given) {
      node.outputs = {result};
      write.nodes().push_back(std::move(node));
    } else {
      const ir::Value& v = graph_.values[result];
      node.outputs = {make_.Value(StrCat(v.name, ".heads"), v.dtype, made)};
      write.nodes().push_back(node);
      write.Reshape(node.outputs[0], given);
      write.nodes().back().outputs = {result};
    }
    for (int n : pattern.Nodes()) dropped_[n] = true;
    written_[pattern.weighted] = std::move(write.nodes());
  }

  void Record(const AttentionMatch& match) {
    if (!match.refusal.empty()) {
      return RecordRewrite(context_, kRecognizeAttention, DecisionKind::kFusion,
                           About(graph_.nodes[match.pattern.softmax]), "kept apart",
                           "only the exact dataflow of attention is one step",
                           {{"attention", match.refusal, -1}});
    }
    RecordRewrite(context_, kRecognizeAttention, DecisionKind::kFusion,
                  About(graph_, match.pattern.Nodes()), "attention",
                  "the nodes compute attention and nothing else reads their results");
  }

  void Apply() {
    std::vector<ir::Node> kept;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto written = written_.find(static_cast<int>(n));
      if (written != written_.end()) {
        for (ir::Node& node : written->second) kept.push_back(std::move(node));
      }
      if (!dropped_[n]) kept.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(kept);
    if (!written_.empty()) DropUnread();
  }

  // Drops nodes through which queries, keys and values came where nothing reads them any more.
  // Passes that ask who reads a value would take such a node for a reader.
  void DropUnread() {
    std::vector<bool> read(graph_.values.size(), false);
    for (ir::ValueId v : graph_.outputs) read[v] = true;
    std::vector<ir::Node> kept;
    for (size_t n = graph_.nodes.size(); n-- > 0;) {
      ir::Node& node = graph_.nodes[n];
      if (OnlyServes(node) && !read[node.outputs[0]]) continue;
      for (ir::ValueId v : node.inputs) {
        if (v != ir::kNoValue) read[v] = true;
      }
      kept.push_back(std::move(node));
    }
    std::ranges::reverse(kept);
    graph_.nodes = std::move(kept);
  }
  bool OnlyServes(const ir::Node& node) const {
    return node.op == "Transpose" || node.op == "Expand" || node.op == "Tile" ||
           KeepsLastAxes(graph_, node, 0) || FactorOf(graph_, node).has_value();
  }

  ir::Graph& graph_;
  PassContext& context_;
  ValueMaker make_;
  /// Knows the graph as it was at first. Afterwards operands of products alone change, to values
  /// that were there.
  const AttentionFinder finder_;
  std::vector<bool> dropped_;
  std::map<int, std::vector<ir::Node>> written_;  ///< by the node whose place they take
};

}  // namespace

Status RecognizeAttention(ir::Graph& graph, PassContext& context) {
  Recognizer(graph, context).Run();
  return OkStatus();
}

}  // namespace aicf
