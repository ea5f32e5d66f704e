#include "compiler/buckets/padding.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/scanner.h"
#include "compiler/ir/prefix/prefix.h"
#include "compiler/passes/graph/passes.h"

namespace aicf {
namespace {

using Shapes = std::vector<Dims>;  // of the inputs or outputs, in the model's order

/// Work that the prepared graphs of one entry point may add up to, in nodes.
constexpr size_t kNodeBudget = size_t{1} << 17;
constexpr size_t kMinProbes = 8;
constexpr size_t kMaxProbes = 512;

/// Axes that are padded together.
struct OpenExtent {
  std::string label;  ///< "extent "batch"", or an axis of an input
  std::vector<schema::PaddedInput> axes;
  int64_t extent = 0;
  /// Nothing says that the axes belong together but equal extents, which may be chance.
  bool guessed = false;
};

std::string AxisLabel(uint32_t axis, std::string_view input) {
  return StrCat("axis ", axis, " of ", Quote(input));
}

/// Axes of one key are one extent: a symbol, or else the extents in every entry point.
std::vector<OpenExtent> FindOpenExtents(const ir::Graph& model, const std::vector<Shapes>& shapes,
                                        size_t entry) {
  std::vector<OpenExtent> open;
  std::map<std::tuple<std::string, std::vector<int64_t>>, size_t> places;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const ir::Value& v = model.values[model.inputs[i]];
    for (int d = 0; d < v.shape.rank(); ++d) {
      if (v.shape[d] >= 0) continue;
      const bool named = static_cast<size_t>(d) < v.symbols.size() && !v.symbols[d].empty();
      std::vector<int64_t> extents;
      for (const Shapes& s : shapes) extents.push_back(s[i][d]);
      const std::string label = named ? StrCat("extent ", Quote(v.symbols[d]))
                                      : AxisLabel(static_cast<uint32_t>(d), v.name);
      const auto [at, added] = places.try_emplace(
          {named ? label : "", named ? std::vector<int64_t>{} : extents}, open.size());
      if (added) open.push_back({label, {}, shapes[entry][i][d], !named});
      if (!added && !named) open[at->second].label += " and " + label;
      open[at->second].axes.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(d)});
    }
  }
  return open;
}

Result<ir::Graph> Prepare(ir::Graph graph, const Shapes& shapes, const PassContext& context) {
  ShapeMap by_name;
  for (size_t i = 0; i < shapes.size(); ++i) {
    by_name.emplace(graph.values[graph.inputs[i]].name, shapes[i]);
  }
  DecisionLog unread;
  PassContext own = context;
  own.decisions = &unread;
  AICF_RETURN_IF_ERROR(BindShapes(graph, by_name));
  AICF_RETURN_IF_ERROR(InferAndFold(graph, own));
  return graph;
}

Shapes OutputShapes(const ir::Graph& graph) {
  Shapes shapes;
  for (ir::ValueId id : graph.outputs) shapes.push_back(graph.values[id].shape);
  return shapes;
}

std::string PositionsText(int64_t n) { return StrCat(n, n == 1 ? " position" : " positions"); }

class Prover {
 public:
  Prover(const ir::Graph& model, const ir::Graph& whole, const Shapes& inputs, PassContext& context)
      : model_(model),
        whole_(whole),
        inputs_(inputs),
        outputs_(OutputShapes(whole)),
        context_(context),
        probes_(std::clamp(kNodeBudget / std::max<size_t>(whole.nodes.size(), 1), kMinProbes,
                           kMaxProbes)) {}

  /// Adds what is proven of one more extent, beside those added before. False where that is
  /// nothing.
  bool Add(const OpenExtent& open) {
    std::string why;
    schema::Padding padding{static_cast<uint64_t>(open.extent), open.axes};
    const int64_t floor = open.extent - Room();
    for (int64_t d = open.extent - 1; d >= std::max<int64_t>(floor, 1); --d) {
      why = Probe(padding, d);
      if (!why.empty()) break;
      padding.min = static_cast<uint64_t>(d);
    }
    bool proven = padding.min < static_cast<uint64_t>(open.extent);
    if (!proven && why.empty())
      why = open.extent <= 1 ? "there is nothing smaller" : "not looked at";
    if (proven) {
      paddings_.push_back(std::move(padding));
      extents_.push_back(open.extent);
      const std::string together = ProbeTogether();
      if (!together.empty()) {
        paddings_.pop_back();
        extents_.pop_back();
        why = together;
        proven = false;
      }
    }
    Record(open, proven, why);
    return proven;
  }

  std::vector<schema::Padding> Take() { return std::move(paddings_); }

 private:
  // How many smaller extents may be looked at, so that all combinations still can be.
  int64_t Room() const {
    size_t combinations = 1;
    for (size_t p = 0; p < paddings_.size(); ++p) combinations *= Steps(p);
    return static_cast<int64_t>(std::max<size_t>(probes_ / combinations, 1)) -
           (paddings_.empty() ? 0 : 1);
  }
  // Extents that padding p allows, the whole one too.
  size_t Steps(size_t p) const {
    return static_cast<size_t>(extents_[p]) - static_cast<size_t>(paddings_[p].min) + 1;
  }

  static void Cut(Shapes& shapes, const schema::Padding& padding, int64_t extent) {
    for (const schema::PaddedInput& a : padding.inputs) {
      shapes[a.input][static_cast<int>(a.axis)] = extent;
    }
  }

  // Empty when the model at these input shapes computes prefixes; then `outputs` are their shapes.
  std::string Compare(const Shapes& inputs, Shapes* outputs) const {
    const auto smaller = Prepare(model_, inputs, context_);
    if (!smaller.ok()) return smaller.status().message();
    *outputs = OutputShapes(*smaller);
    return ir::CheckPrefix(whole_, *smaller);
  }

  // The padding alone, with `extent` positions left. The first probe says how fast outputs shrink,
  // the others must agree.
  std::string Probe(schema::Padding& padding, int64_t extent) const {
    Shapes inputs = inputs_, outputs;
    Cut(inputs, padding, extent);
    std::string why = Compare(inputs, &outputs);
    if (!why.empty()) return why;
    const int64_t whole =
        inputs_[padding.inputs[0].input][static_cast<int>(padding.inputs[0].axis)];
    if (extent == whole - 1) ReadFactors(outputs, padding);
    return Expect(outputs, {&padding, 1}, {whole - extent});
  }

  void ReadFactors(const Shapes& outputs, schema::Padding& padding) const {
    for (size_t o = 0; o < outputs.size(); ++o) {
      for (int d = 0; d < outputs[o].rank(); ++d) {
        const int64_t lost = outputs_[o][d] - outputs[o][d];
        if (lost == 0) continue;
        padding.outputs.push_back(
            {static_cast<uint32_t>(o), static_cast<uint32_t>(d), static_cast<uint32_t>(lost)});
      }
    }
  }

  // Empty when the outputs have the shapes that the record says for `lost` positions each.
  std::string Expect(const Shapes& outputs, std::span<const schema::Padding> paddings,
                     const std::vector<int64_t>& lost) const {
    Shapes expected = outputs_;
    for (size_t p = 0; p < paddings.size(); ++p) {
      for (const schema::PaddedOutput& o : paddings[p].outputs) {
        expected[o.output][static_cast<int>(o.axis)] -= lost[p] * o.factor;
      }
    }
    return outputs == expected ? "" : "an output's extent does not follow the padded one evenly";
  }

  // Every combination in which the newest padding and another one are both in use.
  std::string ProbeTogether() const {
    const size_t count = paddings_.size();
    for (const schema::PaddedOutput& o : paddings_.back().outputs) {
      for (size_t p = 0; p + 1 < count; ++p) {
        for (const schema::PaddedOutput& other : paddings_[p].outputs) {
          if (other.output == o.output && other.axis == o.axis) {
            return StrCat("axis ", o.axis, " of output ", o.output, " shrinks with another extent");
          }
        }
      }
    }
    std::vector<int64_t> lost(count, 0);
    while (Advance(lost)) {
      const auto used = std::count_if(lost.begin(), lost.end(), [](int64_t l) { return l > 0; });
      if (used < 2 || lost.back() == 0) continue;
      Shapes inputs = inputs_, outputs;
      for (size_t p = 0; p < count; ++p) Cut(inputs, paddings_[p], extents_[p] - lost[p]);
      std::string why = Compare(inputs, &outputs);
      if (why.empty()) why = Expect(outputs, paddings_, lost);
      if (!why.empty()) return StrCat("together with another extent: ", why);
    }
    return "";
  }

  // The next combination; false after the last.
  bool Advance(std::vector<int64_t>& lost) const {
    for (size_t p = 0; p < lost.size(); ++p) {
      if (++lost[p] < static_cast<int64_t>(Steps(p))) return true;
      lost[p] = 0;
    }
    return false;
  }

  void Record(const OpenExtent& open, bool proven, const std::string& why) {
    Decision d = context_.About(DecisionKind::kBucket,
                                schema::Subject::Extent(open.label, open.extent), "prove-paddings");
    if (proven) {
      const uint64_t min = paddings_.back().min;
      d.choice = StrCat("padding, for ", PositionsText(static_cast<int64_t>(min)), " or more");
      d.Because(Reason::kRule, "no output that is kept depends on what is padded");
      if (min > 1) {
        d.alternatives.push_back(
            {"fewer positions", StrCat("padding: ", why.empty() ? "not looked at" : why), -1});
      }
    } else {
      d.choice = "exact shapes only";
      d.Because(Reason::kOnlyLegal);
      d.alternatives.push_back({"padding", StrCat("padding: ", why), -1});
    }
    context_.Record(std::move(d));
  }

  const ir::Graph& model_;
  const ir::Graph& whole_;
  const Shapes& inputs_;
  const Shapes outputs_;
  PassContext& context_;
  const size_t probes_;
  std::vector<schema::Padding> paddings_;
  std::vector<int64_t> extents_;  // parallel
};

}  // namespace

Result<std::vector<schema::Padding>> ProvePaddings(const ir::Graph& model,
                                                   const std::vector<Shapes>& shapes, size_t entry,
                                                   PassContext& context) {
  const std::vector<OpenExtent> open = FindOpenExtents(model, shapes, entry);
  if (open.empty()) return std::vector<schema::Padding>{};
  AICF_ASSIGN_OR_RETURN(const ir::Graph whole, Prepare(model, shapes[entry], context));
  Prover prover(model, whole, shapes[entry], context);
  for (const OpenExtent& extent : open) {
    if (prover.Add(extent) || !extent.guessed || extent.axes.size() < 2) continue;
    for (const schema::PaddedInput& axis : extent.axes) {
      const std::string& name = model.values[model.inputs[axis.input]].name;
      prover.Add({AxisLabel(axis.axis, name), {axis}, extent.extent});
    }
  }
  return prover.Take();
}

}  // namespace aicf
