#include "compiler/check/gaps.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "base/scanner.h"
#include "compiler/check/gap_list.h"
#include "compiler/check/gap_words.h"
#include "compiler/check/inference_stop.h"
#include "compiler/check/kernel_gaps.h"
#include "compiler/check/needs.h"
#include "compiler/check/partial_graph.h"
#include "compiler/check/symbols.h"
#include "compiler/ir/op_table.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lower/lower.h"
#include "compiler/stages/stages.h"

namespace aicf {
namespace {

using ir::kNoValue;
using ir::ValueId;
using Section = GapList::Section;

constexpr size_t kMaxRefusals = 100;  ///< of inference; each costs another walk over the model

// A node of the model and one that only the importer has seen take turns: 2n is in front of node n.
size_t PlaceOfNode(size_t n) { return 2 * n + 1; }

// Values that a constant is plausible for: sizes, axes, counts; not a picture or a batch of tokens.
bool IsParameter(const ir::Value& v) {
  const bool any_rank = !v.shape_known && v.shape.empty();
  return any_rank ? !IsFloat(v.dtype) : v.shape.rank() <= 1;
}

class Finder {
 public:
  Finder(PartialModel model, const CompileOptions& options)
      : model_(std::move(model)), options_(options) {
    options_.passes.dump = nullptr;
    options_.progress = nullptr;
    for (size_t i = 0; i < model_.inputs.size(); ++i) places_.emplace(model_.inputs[i], i);
  }

  Result<GapReport> Run(const Status& refusal) {
    AddImportGaps();
    AICF_RETURN_IF_ERROR(BindInputs());
    AICF_RETURN_IF_ERROR(Examine());
    if (gaps_.empty()) gaps_.Add(Section::kModel, 0, "the model", "", refusal.message());
    return GapReport{std::move(gaps_).InOrder(), unexamined_};
  }

 private:
  void AddImportGaps();
  Status BindInputs();
  Status Examine();
  Status Infer(PartialGraph& rest, PartialGraph::Part& part);
  void AddRefusal(const PartialGraph::Part& part, const InferenceStop& stop, const Status& status);
  void AddNeedsOfUnexamined(const PartialGraph& rest, const PartialGraph::Part& part);
  void AddMistake(const PartialGraph::Part& part, const InferenceStop& stop, const Status& status);
  bool AddBinding(const ir::Node& node, const ir::Value& input);
  Status LowerPart(PartialGraph::Part part, bool whole);
  bool LowerNodes(const ir::Graph& graph, PassContext& context);
  Status ChooseAll(const ir::Graph& graph, PassRunner& runner, PassContext& context);
  Result<PassContext> NewContext();

  size_t PlaceOfInput(const std::string& name) const {
    const auto place = places_.find(name);
    return place == places_.end() ? places_.size() : place->second;
  }
  size_t PlaceOfSource(std::string_view name) const;

  PartialModel model_;
  CompileOptions options_;
  std::unordered_map<std::string, size_t> places_;  ///< of the model's inputs
  GapList gaps_;
  DecisionLog log_;
  size_t unexamined_ = 0;
};

Result<PassContext> Finder::NewContext() {
  AICF_ASSIGN_OR_RETURN(PassContext context, ContextFor(options_));
  log_ = DecisionLog();
  context.decisions = &log_;
  return context;
}

// The report names the op with its domain in front of the sentence.
std::string ProblemOf(const ImportGap& gap) {
  const bool named = gap.problem.starts_with("op ") && gap.problem.ends_with(" is not supported");
  return named ? "the op is not supported" : gap.problem;
}

void Finder::AddImportGaps() {
  using enum ImportGap::Where;
  for (const ImportGap& g : model_.gaps) {
    if (g.where == kInput) {
      gaps_.Add(Section::kInputs, PlaceOfInput(g.name), g.label, "", g.problem);
      // Flags for it are right, and have nothing to act on.
      options_.shapes.erase(g.name);
      options_.values.erase(g.name);
    } else if (g.where == kNode) {
      gaps_.Add(Section::kNodes, 2 * g.place, g.op.empty() ? "op \"\"" : StrCat("op ", g.op),
                g.name, ProblemOf(g), "", g.op);
    } else {
      gaps_.Add(g.where == kOutput ? Section::kOutputs : Section::kInitializers, 0, g.label, "",
                g.problem);
    }
  }
}

// Inputs whose shapes stay open leave the graph, so that what does not depend on them can be
// examined.
Status Finder::BindInputs() {
  ir::Graph& graph = model_.graph;
  AICF_RETURN_IF_ERROR(BindValues(graph, options_.values));
  const Status status = BindShapes(graph, options_.shapes);
  if (status.code() != Code::kUnsupported) return status;
  const Symbols symbols = BoundSymbols(graph);
  std::erase_if(graph.inputs, [&](ValueId id) {
    ir::Value& v = graph.values[id];
    if (FillExtents(v, symbols)) return false;
    gaps_.Add(Section::kInputs, PlaceOfInput(v.name), StrCat("input ", Quote(v.name)), "",
              OpenExtents(v), ShapesFlag(v));
    return true;
  });
  return BindShapes(graph, options_.shapes);
}

Status Finder::Examine() {
  PartialGraph rest(model_.graph, model_.declared, model_.refused_reads);
  PartialGraph::Part part;
  AICF_RETURN_IF_ERROR(Infer(rest, part));
  AddNeedsOfUnexamined(rest, part);
  const bool whole = gaps_.empty();
  return LowerPart(std::move(part), whole);
}

// Leaves in `part` what inference takes, inferred.
Status Finder::Infer(PartialGraph& rest, PartialGraph::Part& part) {
  for (size_t refusals = 0; refusals < kMaxRefusals; ++refusals) {
    part = rest.Remaining();
    AICF_ASSIGN_OR_RETURN(PassContext context, NewContext());
    const PartialGraph::Part before = part;
    const Status status = InferAndFold(part.graph, context);
    if (status.ok()) return status;
    const bool whole = gaps_.empty();
    // A model that is malformed stays one; where types are assumed, the assumption may be wrong.
    if (status.code() != Code::kUnsupported && whole) return status;
    AICF_ASSIGN_OR_RETURN(context, NewContext());
    const InferenceStop stop = FindInferenceStop(before.graph, context);
    if (stop.node == before.nodes.size()) {
      gaps_.Add(Section::kModel, 0, "the model", "", status.message());
      part = {};
      return OkStatus();
    }
    rest.Drop(before.nodes[stop.node]);
    if (status.code() == Code::kUnsupported) AddRefusal(before, stop, status);
    if (status.code() == Code::kBadModel && !before.assumes) AddMistake(before, stop, status);
  }
  part = {};
  return OkStatus();
}

// A refusal for want of a value is the gap of the inputs that the value follows from.
void Finder::AddRefusal(const PartialGraph::Part& part, const InferenceStop& stop,
                        const Status& status) {
  const ir::Node& node = part.graph.nodes[stop.node];
  std::vector<ValueId> needs = MustBeConstant(part.graph, node);
  if (needs.empty() && status.message().find("--bind") != std::string::npos) {
    const size_t conditions = node.op == "Loop" ? 2 : node.op == "If" ? 1 : 0;
    for (size_t i = 0; i < conditions; ++i) {
      if (node.input(i) != kNoValue) needs.push_back(node.inputs[i]);
    }
  }
  std::erase_if(needs, [&](ValueId v) { return stop.graph.values[v].is_constant(); });
  std::vector<ValueId> sources;
  for (ValueId need : needs)
    std::ranges::copy(InputsBehind(part.graph, need), std::back_inserter(sources));
  // What follows from a value whose type alone is known follows from another gap.
  const auto& inputs = model_.graph.inputs;
  const auto assumed = [&](ValueId v) { return std::ranges::find(inputs, v) == inputs.end(); };
  if (std::ranges::any_of(sources, assumed)) return;
  bool bound = false;
  for (ValueId input : sources) bound |= AddBinding(node, part.graph.values[input]);
  if (bound) return;
  gaps_.Add(Section::kNodes, PlaceOfNode(part.nodes[stop.node]), StrCat("op ", node.op), node.name,
            WithoutLabel(node, status.message()), "", node.op);
}

// Not what aicf lacks, but in the way all the same once that is there.
void Finder::AddMistake(const PartialGraph::Part& part, const InferenceStop& stop,
                        const Status& status) {
  const ir::Node& node = part.graph.nodes[stop.node];
  gaps_.Add(Section::kNodes, PlaceOfNode(part.nodes[stop.node]), StrCat("op ", node.op), node.name,
            StrCat("is malformed: ", WithoutLabel(node, status.message())), "", node.op);
}

// False: the input is data, and no constant in any use of the model.
bool Finder::AddBinding(const ir::Node& node, const ir::Value& input) {
  if (!IsParameter(input)) return false;
  const std::string subject = StrCat("input ", Quote(input.name));
  gaps_.Add(Section::kInputs, PlaceOfInput(input.name), subject, node.name,
            "its value has to be known while compiling",
            StrCat("--bind=", input.name, ":FILE.npy"));
  // A constant brings its shape along.
  gaps_.Remove(Section::kInputs, subject, OpenExtents(input));
  return true;
}

// Behind a gap nothing is inferred, but what must be constant can be read off the graph.
void Finder::AddNeedsOfUnexamined(const PartialGraph& rest, const PartialGraph::Part& part) {
  ir::Graph whole = rest.whole();
  // With the inputs that have no shape yet: bound, they get one.
  std::vector<ValueId> inputs(model_.inputs.size(), kNoValue);
  for (size_t v = 0; v < whole.values.size(); ++v) {
    const auto place = places_.find(whole.values[v].name);
    const bool input = place != places_.end() && !whole.values[v].is_constant();
    if (input) inputs[place->second] = static_cast<ValueId>(v);
  }
  std::erase(inputs, kNoValue);
  whole.inputs = std::move(inputs);
  for (size_t n = 0; n < whole.nodes.size(); ++n) {
    if (rest.dropped(n) || std::ranges::binary_search(part.nodes, n)) continue;
    ++unexamined_;
    const ir::Node& node = whole.nodes[n];
    for (ValueId need : MustBeConstant(whole, node)) {
      for (ValueId v : InputsBehind(whole, need)) AddBinding(node, whole.values[v]);
    }
  }
}

// Passes and lowering keep the names of the model's nodes.
size_t Finder::PlaceOfSource(std::string_view name) const {
  const auto& nodes = model_.graph.nodes;
  const auto source = std::ranges::find(nodes, name, &ir::Node::name);
  return PlaceOfNode(static_cast<size_t>(source - nodes.begin()));
}

// `whole`: nothing is missing from the part, so that a failure of a pass is one.
Status Finder::LowerPart(PartialGraph::Part part, bool whole) {
  ir::Graph& graph = part.graph;
  for (ValueId v : part.boundary) {
    const ir::Value& value = graph.values[v];
    const bool input = std::ranges::find(graph.inputs, v) != graph.inputs.end();
    const bool output = std::ranges::find(graph.outputs, v) != graph.outputs.end();
    if (value.shape_known && !value.is_constant() && !input && !output) graph.outputs.push_back(v);
  }
  if (graph.outputs.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(PassContext context, NewContext());
  PassRunner runner(options_.passes);
  Status status = runner.Run(graph, context);
  if (status.ok() && !LowerNodes(graph, context)) return OkStatus();
  if (status.ok()) status = ChooseAll(graph, runner, context);
  return whole && status.code() != Code::kUnsupported ? status : OkStatus();
}

// Node by node, going on after one that is refused. False: one was.
bool Finder::LowerNodes(const ir::Graph& graph, PassContext& context) {
  ir::Lowered lowered;
  LowerContext lower(graph, lowered, context);
  std::vector<bool> refused(graph.values.size(), false);
  bool all = true;
  for (const ir::Node& node : graph.nodes) {
    const bool behind =
        std::ranges::any_of(node.inputs, [&](ValueId v) { return v != kNoValue && refused[v]; });
    const ir::OpInfo* op = ir::FindOp(node.op);
    const Status status = behind || op == nullptr ? Status() : op->lower(lower, node);
    if (status.ok() && !behind) {
      lower.FinishOutputs(node);
      continue;
    }
    all = false;
    if (behind) ++unexamined_;
    for (ValueId v : node.outputs) {
      if (v != kNoValue) refused[v] = true;
    }
    if (status.code() == Code::kUnsupported) {
      gaps_.Add(Section::kNodes, PlaceOfSource(node.name), StrCat("op ", node.op), node.name,
                WithoutLabel(node, status.message()), "", node.op);
    }
  }
  return all;
}

Status Finder::ChooseAll(const ir::Graph& graph, PassRunner& runner, PassContext& context) {
  AICF_ASSIGN_OR_RETURN(const ir::Lowered lowered, Lower(graph, options_, runner, context));
  for (const KernelGap& gap : FindKernelGaps(lowered, options_, context)) {
    const std::string subject = StrCat(gap.family, " step");
    const size_t place = gap.nodes.empty() ? 0 : PlaceOfSource(gap.nodes[0]);
    for (const std::string& node : gap.nodes) {
      gaps_.Add(Section::kNodes, place, subject, node, gap.problem);
    }
  }
  return OkStatus();
}

}  // namespace

Result<GapReport> FindGaps(PartialModel model, const CompileOptions& options,
                           const Status& refusal) {
  return Finder(std::move(model), options).Run(refusal);
}

Result<GapReport> FindGaps(const std::string& model_path, const CompileOptions& options,
                           const Status& refusal) {
  auto model = ImportOnnxPartly(model_path, options.budgets, options.files);
  if (model.ok()) return FindGaps(*std::move(model), options, refusal);
  if (model.status().code() != Code::kUnsupported) return model.status();
  GapList gaps;
  std::string problem = model.status().message();
  const std::string label = Quote(model_path) + ": ";
  if (problem.starts_with(label)) problem.erase(0, label.size());
  gaps.Add(GapList::Section::kModel, 0, "the model", "", problem);
  return GapReport{std::move(gaps).InOrder(), 0};
}

}  // namespace aicf
