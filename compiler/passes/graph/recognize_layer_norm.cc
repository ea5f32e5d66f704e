// mean = ReduceMean(x); d = x - mean; y = d / sqrt(ReduceMean(d^2) + epsilon) * scale [+ bias]
#include <cmath>

#include "base/scanner.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

constexpr std::string_view kRecognizeLayerNorm = "recognize-layer-norm";

// Nodes of one match, by index.
struct Match {
  int mean = -1, centred = -1, square = -1, variance = -1, stabilised = -1, root = -1,
      quotient = -1;
  int scaled = -1, shifted = -1;  // shifted stays -1 without a bias
  ir::ValueId x = ir::kNoValue, scale = ir::kNoValue, bias = ir::kNoValue;
  int64_t axis = 0;
  double epsilon = 0;

  std::vector<int> Nodes() const {
    std::vector<int> all = {mean, centred, square, variance, stabilised, root, quotient, scaled};
    if (shifted >= 0) all.push_back(shifted);
    return all;
  }
};

class Matcher {
 public:
  explicit Matcher(const ir::Graph& graph)
      : graph_(graph), producer_(ir::ProducerOf(graph)), uses_(graph) {}

  // Divisions by the root of a mean: worth an explanation when the rest does not fit.
  bool IsAnchor(int quotient, Match& m) const {
    m.quotient = quotient;
    const ir::Node& div = graph_.nodes[quotient];
    if (div.op != "Div") return false;
    m.centred = Producer(div.inputs[0], "Sub");
    m.root = Producer(div.inputs[1], "Sqrt");
    if (m.centred < 0 || m.root < 0) return false;
    m.stabilised = Producer(graph_.nodes[m.root].inputs[0], "Add");
    if (m.stabilised < 0) return false;
    m.variance = Producer(graph_.nodes[m.stabilised].inputs[0], "ReduceMean");
    return m.variance >= 0;
  }

  // Completes an anchor. The error is the condition that failed.
  Status Complete(Match& m) const {
    AICF_RETURN_IF_ERROR(MatchVariance(m));
    AICF_RETURN_IF_ERROR(MatchAxes(m));
    AICF_RETURN_IF_ERROR(MatchAffine(m));
    return CheckUsers(m);
  }

 private:
  static Status No(std::string why) { return Status(Code::kUnsupported, std::move(why)); }

  int Producer(ir::ValueId v, std::string_view op) const {
    const int p = producer_[v];
    return p >= 0 && graph_.nodes[p].op == op ? p : -1;
  }
  ir::ValueId Out(int node) const { return graph_.nodes[node].outputs[0]; }
  const ir::Node& Node(int n) const { return graph_.nodes[n]; }

  Status MatchVariance(Match& m) const {
    m.mean = Producer(Node(m.centred).inputs[1], "ReduceMean");
    m.x = Node(m.centred).inputs[0];
    if (m.mean < 0 || Node(m.mean).inputs[0] != m.x)
      return No("what is subtracted is not the mean");
    const ir::ValueId squared = Node(m.variance).inputs[0];
    m.square = Producer(squared, "Pow");
    if (m.square >= 0) {
      const ir::Tensor& two = graph_.values[Node(m.square).inputs[1]].constant;
      if (two.count() != 1 || two.FloatAt(0) != 2) return No("the power is not the constant 2");
    } else {
      m.square = Producer(squared, "Mul");
      if (m.square < 0 || Node(m.square).inputs[1] != Out(m.centred)) {
        return No("the second mean is not of a square");
      }
    }
    if (Node(m.square).inputs[0] != Out(m.centred)) return No("the square is of another value");
    const ir::Tensor& epsilon = graph_.values[Node(m.stabilised).inputs[1]].constant;
    if (!epsilon.has_data() || epsilon.count() != 1) return No("epsilon is no constant scalar");
    m.epsilon = epsilon.FloatAt(0);
    return m.epsilon >= 0 && std::isfinite(m.epsilon) ? OkStatus() : No("epsilon is negative");
  }

  Status MatchAxes(Match& m) const {
    AICF_ASSIGN_OR_RETURN(const Dims axes, ir::ResolveAxes(graph_, Node(m.mean)));
    AICF_ASSIGN_OR_RETURN(const Dims again, ir::ResolveAxes(graph_, Node(m.variance)));
    const int rank = graph_.values[m.x].shape.rank();
    if (!(axes == again) || axes.empty()) return No("the two means are over different axes");
    if (axes[0] != rank - axes.rank()) return No("the means are not over the last axes");
    for (int n : {m.mean, m.variance}) {
      if (Node(n).Int("keepdims", 1) == 0) return No("a mean drops its axes");
    }
    m.axis = axes[0];
    return OkStatus();
  }

  // The operand of a binary node that is not `v`, when it fits the normalised axes.
  ir::ValueId Parameter(int node, ir::ValueId v, const Match& m) const {
    const ir::Node& n = Node(node);
    const ir::ValueId other = n.inputs[0] == v ? n.inputs[1] : n.inputs[0];
    const Dims normalised(graph_.values[m.x].shape.span().subspan(m.axis));
    const auto both = BroadcastShapes(normalised, graph_.values[other].shape);
    return other != v && both && *both == normalised ? other : ir::kNoValue;
  }

  Status MatchAffine(Match& m) const {
    m.scaled = uses_.Single(Out(m.quotient));
    if (m.scaled < 0 || Node(m.scaled).op != "Mul")
      return No("the quotient is not scaled, or read twice");
    m.scale = Parameter(m.scaled, Out(m.quotient), m);
    if (m.scale == ir::kNoValue) return No("the scale does not fit the normalised axes");
    const int next = uses_.Single(Out(m.scaled));
    if (next < 0 || Node(next).op != "Add") return OkStatus();
    m.bias = Parameter(next, Out(m.scaled), m);
    // A bias that varies otherwise stays an addition of its own.
    if (m.bias != ir::kNoValue) m.shifted = next;
    return OkStatus();
  }

  Status CheckUsers(const Match& m) const {
    for (int n : {m.mean, m.square, m.variance, m.stabilised, m.root}) {
      if (uses_.Single(Out(n)) < 0) {
        return No(StrCat("the result of ", Quote(Node(n).name), " is read elsewhere too"));
      }
    }
    std::vector<int> expected = {std::min(m.square, m.quotient), std::max(m.square, m.quotient)};
    if (uses_.Of(Out(m.centred)) != expected) return No("the centred value is read elsewhere too");
    if (uses_.IsOutput(Out(m.centred))) return No("the centred value is an output of the model");
    return OkStatus();
  }

  const ir::Graph& graph_;
  std::vector<int> producer_;
  Uses uses_;
};

void Replace(ir::Graph& graph, const Match& m, Forwarding& forward) {
  const int last = m.shifted >= 0 ? m.shifted : m.scaled;
  for (int n : m.Nodes()) {
    if (n != last) forward.Drop(n);
  }
  ir::Node& node = graph.nodes[last];
  node.op = "LayerNormalization";
  node.inputs = {m.x, m.scale};
  if (m.bias != ir::kNoValue) node.inputs.push_back(m.bias);
  node.attrs = {{"axis", m.axis}, {"epsilon", m.epsilon}};
}

}  // namespace

Status RecognizeLayerNorm(ir::Graph& graph, PassContext& context) {
  const Matcher matcher(graph);
  Forwarding forward(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Match m;
    if (!matcher.IsAnchor(static_cast<int>(n), m)) continue;
    const Status fits = matcher.Complete(m);
    if (!fits.ok()) {
      RecordRewrite(context, kRecognizeLayerNorm, DecisionKind::kFusion, About(graph.nodes[n]),
                    "kept apart", "only the exact dataflow of a layer normalisation is one",
                    {{"LayerNormalization", StrCat("pattern: ", fits.message()), -1}});
      continue;
    }
    RecordRewrite(context, kRecognizeLayerNorm, DecisionKind::kFusion, About(graph, m.Nodes()),
                  "LayerNormalization",
                  "the nodes compute a layer normalisation and nothing else reads their results");
    Replace(graph, m, forward);
  }
  forward.Apply();
  return OkStatus();
}

}  // namespace aicf
