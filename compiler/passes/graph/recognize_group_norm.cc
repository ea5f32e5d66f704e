// Reshape to batch x groups x rest, InstanceNormalization, Reshape back: what exporters, and the
// expansion of GroupNormalization, make of a group normalisation.
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

constexpr std::string_view kRecognizeGroupNorm = "recognize-group-norm";

/// Nodes of one match, by index.
struct GroupNormMatch {
  int split = -1, unit = -1, joined = -1;
  ir::ValueId x = ir::kNoValue;
  int64_t groups = 0;
};

class GroupNormMatcher {
 public:
  explicit GroupNormMatcher(const ir::Graph& graph)
      : graph_(graph), producer_(ir::ProducerOf(graph)), uses_(graph) {}

  /// An instance normalisation of a reshaped value: worth an explanation when the rest does not
  /// fit.
  bool IsAnchor(int unit, GroupNormMatch& m) const {
    if (Node(unit).op != "InstanceNormalization") return false;
    m.unit = unit;
    m.split = producer_[Node(unit).inputs[0]];
    return m.split >= 0 && Node(m.split).op == "Reshape";
  }

  /// Completes an anchor. The error is the condition that failed.
  Status Complete(GroupNormMatch& m) const {
    m.x = Node(m.split).inputs[0];
    const Dims& x = Shape(m.x);
    const Dims& grouped = Shape(Node(m.unit).inputs[0]);
    if (x.rank() < 2) return No("what is reshaped has no channel axis");
    if (x.rank() + 1 > kMaxRank) return No(StrCat("what is reshaped has rank ", x.rank()));
    m.groups = grouped[1];
    if (grouped[0] != x[0]) {
      return No(StrCat("the batch of ", x[0], " becomes ", grouped[0], " by the reshaping"));
    }
    if (m.groups == 0 || x[1] % m.groups != 0) {
      return No(StrCat(m.groups, " groups do not divide ", x[1], " channels"));
    }
    m.joined = uses_.Single(Node(m.unit).outputs[0]);
    if (m.joined < 0 || Node(m.joined).op != "Reshape") {
      return No("the normalised value is read otherwise than by one Reshape");
    }
    if (Shape(Node(m.joined).outputs[0]) != x) {
      return No(StrCat("it is reshaped to ", ToString(Shape(Node(m.joined).outputs[0])),
                       ", not back to ", ToString(x)));
    }
    return OkStatus();
  }

 private:
  static Status No(std::string why) { return Status(Code::kUnsupported, std::move(why)); }
  const ir::Node& Node(int n) const { return graph_.nodes[n]; }
  const Dims& Shape(ir::ValueId v) const { return graph_.values[v].shape; }

  const ir::Graph& graph_;
  std::vector<int> producer_;
  Uses uses_;
};

// The second Reshape becomes the new node and takes the name of the normalisation. The first
// Reshape stays: it may have other readers, and is removed as dead code where it has none.
void ReplaceGroupNorm(ir::Graph& graph, const GroupNormMatch& m, Forwarding& forward) {
  const ir::Node unit = graph.nodes[m.unit];
  ir::Node& node = graph.nodes[m.joined];
  node.op = "aicf.GroupNormalization";
  node.name = unit.name;
  node.inputs = {m.x, unit.inputs[1], unit.inputs[2]};
  node.attrs = {{"epsilon", unit.Float("epsilon", 1e-5)}, {"num_groups", m.groups}};
  forward.Drop(m.unit);
}

}  // namespace

Status RecognizeGroupNorm(ir::Graph& graph, PassContext& context) {
  const GroupNormMatcher matcher(graph);
  Forwarding forward(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    GroupNormMatch m;
    if (!matcher.IsAnchor(static_cast<int>(n), m)) continue;
    const Status fits = matcher.Complete(m);
    if (!fits.ok()) {
      RecordRewrite(context, kRecognizeGroupNorm, DecisionKind::kFusion, About(graph.nodes[n]),
                    "kept apart",
                    "only a normalisation between two reshapes that cancel keeps the axes of its "
                    "operand",
                    {{"GroupNormalization", StrCat("pattern: ", fits.message()), -1}});
      continue;
    }
    RecordRewrite(
        context, kRecognizeGroupNorm, DecisionKind::kFusion,
        About(graph, {m.split, m.unit, m.joined}), "GroupNormalization",
        "the reshapes only name the groups; as one node the value keeps its axes, and may "
        "be stored channels-last");
    ReplaceGroupNorm(graph, m, forward);
  }
  forward.Apply();
  return OkStatus();
}

}  // namespace aicf
