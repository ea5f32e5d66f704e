// y = x / sqrt(ReduceMean(x^2) + epsilon) [* scale], in the forms in which exporters write it.
#include <cmath>
#include <map>

#include "base/scanner.h"
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

constexpr std::string_view kRecognizeRmsNorm = "recognize-rms-norm";

// Nodes of one match, by index.
struct RmsMatch {
  int square = -1, mean = -1, stabilised = -1, root = -1;
  int inverse = -1;  // of the root; stays -1 where x is divided by the root, or the root is a power
  int normalised = -1;
  int scaled = -1;  // stays -1 without a scale
  ir::ValueId x = ir::kNoValue, scale = ir::kNoValue;
  int64_t axis = 0;
  double epsilon = 0;

  std::vector<int> Nodes() const {
    std::vector<int> all = {square, mean, stabilised, root};
    for (const int n : {inverse, normalised, scaled}) {
      if (n >= 0) all.push_back(n);
    }
    return all;
  }
  int Last() const { return scaled >= 0 ? scaled : normalised; }
  void DropScale() {
    scaled = -1;
    scale = ir::kNoValue;
  }
};

class RmsMatcher {
 public:
  explicit RmsMatcher(const ir::Graph& graph)
      : graph_(graph), producer_(ir::ProducerOf(graph)), uses_(graph) {}

  // Roots of a mean of squares to which a number is added: worth an explanation when the rest does
  // not fit.
  bool IsAnchor(int mean, RmsMatch& m) const {
    m.mean = mean;
    if (Node(mean).op != "ReduceMean" || !MatchSquare(m)) return false;
    if (!IsFloat(graph_.values[m.x].dtype)) return false;
    m.stabilised = Reader(mean, "Add");
    if (m.stabilised < 0) return false;
    m.root = Reader(m.stabilised, "Sqrt");
    if (m.root < 0) m.root = Reader(m.stabilised, "Pow");
    return m.root >= 0 && MatchInverse(m);
  }

  // Completes an anchor. The error is the condition that failed.
  Status Complete(RmsMatch& m) const {
    AICF_RETURN_IF_ERROR(MatchEpsilon(m));
    AICF_RETURN_IF_ERROR(MatchAxes(m));
    MatchScale(m);
    return CheckUsers(m);
  }

 private:
  static Status No(std::string why) { return Status(Code::kUnsupported, std::move(why)); }

  const ir::Node& Node(int n) const { return graph_.nodes[n]; }
  ir::ValueId Out(int node) const { return Node(node).outputs[0]; }
  // The first node with that op which reads the node's result, or -1.
  int Reader(int node, std::string_view op) const {
    for (const int reader : uses_.Of(Out(node))) {
      if (Node(reader).op == op) return reader;
    }
    return -1;
  }
  ir::ValueId Other(int node, ir::ValueId v) const {
    const ir::Node& n = Node(node);
    return n.inputs[0] == v ? n.inputs[1] : n.inputs[0];
  }
  bool IsConstant(ir::ValueId v, double number) const {
    const ir::Tensor& t = graph_.values[v].constant;
    return t.has_data() && t.count() == 1 && t.FloatAt(0) == number;
  }

  bool MatchSquare(RmsMatch& m) const {
    m.square = producer_[Node(m.mean).inputs[0]];
    if (m.square < 0) return false;
    const ir::Node& square = Node(m.square);
    m.x = square.inputs[0];
    if (square.op == "Pow") return IsConstant(square.inputs[1], 2);
    return square.op == "Mul" && square.inputs[1] == m.x;
  }

  // What makes the quotient of the root, which is x / root, x * (1 / root) or x * sum^-0.5.
  bool MatchInverse(RmsMatch& m) const {
    int factor = m.root;
    if (Node(m.root).op == "Pow") {
      if (!IsConstant(Node(m.root).inputs[1], -0.5)) return false;
    } else {
      const int division = Reader(m.root, "Div"), inverse = Reader(m.root, "Reciprocal");
      const bool divides = division >= 0 && Node(division).inputs[1] == Out(m.root);
      if (divides && Node(division).inputs[0] == m.x) {
        m.normalised = division;
        return true;
      }
      const bool of_one = divides && IsConstant(Node(division).inputs[0], 1);
      m.inverse = factor = of_one ? division : inverse;
      if (factor < 0) return false;
    }
    m.normalised = Reader(factor, "Mul");
    return m.normalised >= 0 && Other(m.normalised, Out(factor)) == m.x;
  }

  Status MatchEpsilon(RmsMatch& m) const {
    const ir::ValueId other = Other(m.stabilised, Out(m.mean));
    const ir::Tensor& epsilon = graph_.values[other].constant;
    if (!epsilon.has_data() || epsilon.count() != 1) return No("epsilon is no constant scalar");
    m.epsilon = epsilon.FloatAt(0);
    return m.epsilon >= 0 && std::isfinite(m.epsilon) ? OkStatus() : No("epsilon is negative");
  }

  Status MatchAxes(RmsMatch& m) const {
    AICF_ASSIGN_OR_RETURN(const Dims axes, ir::ResolveAxes(graph_, Node(m.mean)));
    const Dims& shape = graph_.values[m.x].shape;
    if (axes.empty() || axes[0] != shape.rank() - axes.rank())
      return No("the mean is not over the last axes");
    if (Node(m.mean).Int("keepdims", 1) == 0) return No("the mean drops its axes");
    if (graph_.values[Out(m.normalised)].shape != shape) return No("the quotient is broadcast");
    m.axis = axes[0];
    return OkStatus();
  }

  // The multiplication with a gain, if nothing else reads the quotient and the gain fits the
  // normalised axes.
  void MatchScale(RmsMatch& m) const {
    const ir::ValueId quotient = Out(m.normalised);
    const int next = uses_.Single(quotient);
    if (next < 0 || Node(next).op != "Mul") return;
    const ir::ValueId other = Other(next, quotient);
    const Dims normalised(graph_.values[m.x].shape.span().subspan(m.axis));
    const auto both = BroadcastShapes(normalised, graph_.values[other].shape);
    if (other == quotient || !both || *both != normalised) return;
    m.scaled = next;
    m.scale = other;
  }

  Status CheckUsers(const RmsMatch& m) const {
    std::vector<int> inner = {m.square, m.mean, m.stabilised, m.root};
    if (m.inverse >= 0) inner.push_back(m.inverse);
    for (const int n : inner) {
      if (uses_.Single(Out(n)) < 0)
        return No(StrCat("the result of ", Quote(Node(n).name), " is read elsewhere too"));
    }
    return OkStatus();
  }

  const ir::Graph& graph_;
  std::vector<int> producer_;
  Uses uses_;
};

// The constant 1 of each dtype, which stands for a scale where there is none.
class Ones {
 public:
  explicit Ones(ir::Graph& graph) : maker_(graph) {}
  ir::ValueId Of(DType dtype) {
    const auto [at, is_new] = ones_.try_emplace(dtype, ir::kNoValue);
    if (is_new) at->second = maker_.Constant("one", ScalarTensor(1, dtype));
    return at->second;
  }

 private:
  ValueMaker maker_;
  std::map<DType, ir::ValueId> ones_;
};

void ReplaceRms(ir::Graph& graph, const RmsMatch& m, Ones& ones, Forwarding& forward) {
  for (int n : m.Nodes()) {
    if (n != m.Last()) forward.Drop(n);
  }
  const ir::ValueId scale = m.scale != ir::kNoValue ? m.scale : ones.Of(graph.values[m.x].dtype);
  ir::Node& node = graph.nodes[m.Last()];
  node.op = "RMSNormalization";
  node.inputs = {m.x, scale};
  node.attrs = {{"axis", m.axis}, {"epsilon", m.epsilon}};
}

}  // namespace

Status RecognizeRmsNorm(ir::Graph& graph, PassContext& context) {
  const RmsMatcher matcher(graph);
  std::vector<RmsMatch> matches;
  std::vector<bool> is_taken(graph.nodes.size(), false);  // as the multiplication with a gain
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    RmsMatch m;
    if (!matcher.IsAnchor(static_cast<int>(n), m)) continue;
    const Status fits = matcher.Complete(m);
    if (fits.ok()) {
      // The product of two quotients is one norm with the other quotient as its gain.
      if (m.scaled >= 0 && is_taken[m.scaled]) m.DropScale();
      if (m.scaled >= 0) is_taken[m.scaled] = true;
      matches.push_back(m);
      continue;
    }
    RecordRewrite(context, kRecognizeRmsNorm, DecisionKind::kFusion,
                  About(graph.nodes[m.normalised]), "kept apart",
                  "only the exact dataflow of a norm by the root mean square is one",
                  {{"RMSNormalization", StrCat("pattern: ", fits.message()), -1}});
  }
  if (matches.empty()) return OkStatus();
  Ones ones(graph);
  Forwarding forward(graph);
  for (const RmsMatch& m : matches) {
    RecordRewrite(context, kRecognizeRmsNorm, DecisionKind::kFusion, About(graph, m.Nodes()),
                  "RMSNormalization",
                  "the nodes compute a norm by the root mean square and nothing else reads their "
                  "results");
    ReplaceRms(graph, m, ones, forward);
  }
  forward.Apply();
  return OkStatus();
}

}  // namespace aicf
