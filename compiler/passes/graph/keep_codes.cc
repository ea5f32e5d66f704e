// What stands between DequantizeLinear and QuantizeLinear of one scale, and only moves values or
// compares them, works on the codes instead. Quantising is monotonic and works on each element by
// itself, so it may as well come before a Transpose, a Concat or a MaxPool; and there it meets the
// DequantizeLinear that it undoes: ((c - z) * s) / s rounds to c - z.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/scanner.h"
#include "compiler/passes/graph/code_scale.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/graph/rewrite.h"

namespace aicf {
namespace {

constexpr std::string_view kKeepCodes = "keep-codes";

// Ops whose results are elements of their first operand in other places.
constexpr std::string_view kMovers[] = {"DepthToSpace", "Expand", "Flatten",      "Gather",
                                        "Reshape",      "Slice",  "SpaceToDepth", "Split",
                                        "Squeeze",      "Tile",   "Transpose",    "Unsqueeze"};

// Ops that compare elements, or put others beside them; all parts of a Concat are data.
constexpr std::string_view kOthers[] = {"Clip", "Concat", "MaxPool", "Pad", "Relu", "Resize"};

class KeepCodes {
 public:
  KeepCodes(ir::Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        make_(graph),
        producer_(ir::ProducerOf(graph)),
        uses_(graph) {}

  void Run() {
    nodes_ = std::exchange(graph_.nodes, {});
    for (size_t n = 0; n < nodes_.size(); ++n) {
      ir::Node node = nodes_[n];
      for (ir::ValueId& v : node.inputs) v = Resolve(v);
      if (node.op != "QuantizeLinear" || !Visit(nodes_[n])) graph_.nodes.push_back(std::move(node));
    }
    DropReplaced();
  }

 private:
  const ir::Value& Value(ir::ValueId v) const { return graph_.values[v]; }
  const ir::Node* Maker(ir::ValueId v) const {
    return v == ir::kNoValue || producer_[v] < 0 ? nullptr : &nodes_[producer_[v]];
  }
  ir::ValueId Resolve(ir::ValueId v) const {
    const auto it = stands_for_.find(v);
    return it == stands_for_.end() ? v : it->second;
  }

  // Replaces the result of a QuantizeLinear by codes that are moved or compared. True where that
  // was done, and `node` is gone.
  bool Visit(const ir::Node& node) {
    const ir::Node* op = Maker(node.inputs[0]);
    if (op == nullptr || !ReadsCodes(*op)) return false;
    CodeScale scale;
    std::string why = ReadCodeScale(graph_, node, Value(node.outputs[0]).dtype, &scale);
    if (why.empty()) why = Refusal(node.inputs[0], scale);
    if (!why.empty()) {
      RecordRewrite(context_, kKeepCodes, DecisionKind::kFold, About(*op), "on floats",
                    "codes of one scale in front and behind can be moved and compared as they are",
                    {{"on codes", why, -1}});
      return false;
    }
    const ir::ValueId codes = InCodes(node.inputs[0], scale);
    Record(*op);
    Take(node.outputs[0], codes);
    return true;
  }

  // Whether a node reads dequantised codes, perhaps through nodes that can work on codes. A product
  // of dequantised values is left to another pass.
  bool ReadsCodes(const ir::Node& op) const {
    if (op.op == "DequantizeLinear") return true;
    if (op.op == "Conv" || op.op == "MatMul" || op.op == "Gemm") return false;
    return std::ranges::any_of(op.inputs, [&](ir::ValueId v) {
      const ir::Node* maker = Maker(v);
      if (maker == nullptr) return false;
      return maker->op == "DequantizeLinear" || (HasForm(*maker) && ReadsCodes(*maker));
    });
  }

  // Empty, or why `v` cannot be made of codes of that scale.
  std::string Refusal(ir::ValueId v, const CodeScale& scale) const {
    const ir::Node* op = Maker(v);
    if (op == nullptr) return "operand: an operand that was never quantised";
    if (op->op == "DequantizeLinear") return DequantizeRefusal(*op, scale);
    const std::string form = FormRefusal(*op);
    if (!form.empty()) return form;
    for (size_t i = 0; i < (op->op == "Concat" ? op->inputs.size() : 1); ++i) {
      std::string why = Refusal(op->inputs[i], scale);
      if (!why.empty()) return why;
    }
    return "";
  }

  std::string DequantizeRefusal(const ir::Node& node, const CodeScale& scale) const {
    CodeScale own;
    std::string why = ReadCodeScale(graph_, node, Value(node.inputs[0]).dtype, &own);
    if (!why.empty()) return why;
    if (Value(node.outputs[0]).dtype != DType::kF32) return "dtype: values that are not f32";
    if (own.codes != scale.codes) return "dtype: codes of another type";
    return own == scale ? "" : "rounding: codes of another scale or zero point";
  }

  std::string FormRefusal(const ir::Node& op) const {
    if (IsMover(op)) return "";
    if (!HasForm(op))
      return StrCat("family: ", op.op, " computes with the numbers that codes stand for");
    if (op.op == "Resize" && op.Str("mode", "nearest") != "nearest") {
      return "family: a Resize that interpolates makes values between the codes";
    }
    if (op.op == "Clip" || op.op == "Pad") {
      for (size_t i = op.op == "Clip" ? 1 : 2; i < std::min<size_t>(op.inputs.size(), 3); ++i) {
        if (op.inputs[i] == ir::kNoValue) continue;
        const ir::Tensor& bound = Value(op.inputs[i]).constant;
        if (!bound.has_data() || !std::isfinite(bound.FloatAt(0))) {
          return "operand: a bound that is no finite constant";
        }
      }
    }
    return OthersRefusal(op);
  }

  static bool IsMover(const ir::Node& op) {
    return std::ranges::find(kMovers, op.op) != std::end(kMovers);
  }
  static bool HasForm(const ir::Node& op) {
    return IsMover(op) || std::ranges::find(kOthers, op.op) != std::end(kOthers);
  }

  // An op that computes must not do its work twice, for codes and for floats. So it is refused
  // where something else reads its floats.
  std::string OthersRefusal(const ir::Node& op) const {
    for (ir::ValueId v : op.outputs) {
      if (v == ir::kNoValue) continue;
      if (uses_.IsOutput(v)) return "graph-output: the value is an output of the model";
      for (int user : uses_.Of(v)) {
        const ir::Node& reader = nodes_[user];
        if (reader.op != "QuantizeLinear" && !HasForm(reader)) {
          return "single-use: something else reads the values that codes stand for";
        }
      }
    }
    return "";
  }

  // The codes that stand for `v`. REQUIRES: Refusal(v, scale) is empty.
  ir::ValueId InCodes(ir::ValueId v, const CodeScale& scale) {
    const auto found = made_.find(v);
    if (found != made_.end()) return found->second;
    const ir::Node op = *Maker(v);
    replaced_.insert(op.outputs.begin(), op.outputs.end());
    if (op.op == "DequantizeLinear") return Resolve(op.inputs[0]);
    std::vector<ir::ValueId> inputs = op.inputs;
    for (ir::ValueId& in : inputs) in = Resolve(in);
    for (size_t i = 0; i < (op.op == "Concat" ? inputs.size() : 1); ++i) {
      inputs[i] = InCodes(op.inputs[i], scale);
    }
    if (op.op == "Relu") {
      made_[v] = Limited(op, inputs[0], "Max", 0, scale);
    } else if (op.op == "Clip") {
      ir::ValueId codes = inputs[0];
      if (op.input(1) != ir::kNoValue) {
        codes = Limited(op, codes, "Max", Value(op.inputs[1]).constant.FloatAt(0), scale);
      }
      if (op.input(2) != ir::kNoValue) {
        codes = Limited(op, codes, "Min", Value(op.inputs[2]).constant.FloatAt(0), scale);
      }
      made_[v] = codes;
    } else {
      if (op.op == "Pad") SetPadding(op, &inputs, scale);
      Emit(op, std::move(inputs), scale);
    }
    return made_.at(v);
  }

  // The op as it is, on codes.
  void Emit(const ir::Node& op, std::vector<ir::ValueId> inputs, const CodeScale& scale) {
    ir::Node node{op.op, op.name, std::move(inputs), {}, op.attrs, {}};
    for (ir::ValueId v : op.outputs) {
      if (v == ir::kNoValue) {
        node.outputs.push_back(v);
        continue;
      }
      const ir::Value old = Value(v);
      made_[v] = make_.Value(StrCat(old.name, " codes"), scale.codes, old.shape);
      node.outputs.push_back(made_[v]);
    }
    graph_.nodes.push_back(std::move(node));
  }

  // The larger (or smaller) of codes and a bound, which is quantised. The codes themselves where
  // the bound is the end of their range.
  ir::ValueId Limited(const ir::Node& op, ir::ValueId codes, std::string_view which, double bound,
                      const CodeScale& scale) {
    const int64_t code = scale.Quantised(bound);
    if (code == (which == "Max" ? scale.Lowest() : scale.Highest())) return codes;
    const Dims shape = Value(codes).shape;
    const ir::ValueId limit =
        make_.Constant(StrCat(Value(op.outputs[0]).name, " bound"), scale.Constant(code));
    const ir::ValueId out =
        make_.Value(StrCat(Value(op.outputs[0]).name, " codes"), scale.codes, shape);
    graph_.nodes.push_back({std::string(which), op.name, {codes, limit}, {out}, {}, {}});
    return out;
  }

  void SetPadding(const ir::Node& op, std::vector<ir::ValueId>* inputs, const CodeScale& scale) {
    const ir::ValueId given = op.input(2);
    const double value = given == ir::kNoValue ? 0 : Value(given).constant.FloatAt(0);
    if (inputs->size() < 3) inputs->resize(3, ir::kNoValue);
    (*inputs)[2] = make_.Constant(StrCat(Value(op.outputs[0]).name, " padding"),
                                  scale.Constant(scale.Quantised(value)));
  }

  void Record(const ir::Node& op) {
    const bool undone = op.op == "DequantizeLinear";
    RecordRewrite(
        context_, kKeepCodes, DecisionKind::kFold, About(op), undone ? "removed" : "on codes",
        undone ? "quantising with the same scale gives the codes back"
               : "codes of one scale in front and behind can be moved and compared as they are");
  }

  // Lets readers of a QuantizeLinear's result read `codes`. An output of the model keeps its name.
  void Take(ir::ValueId result, ir::ValueId codes) {
    if (!uses_.IsOutput(result)) {
      stands_for_[result] = codes;
      return;
    }
    ir::Node& last = graph_.nodes.back();
    if (last.outputs[0] == codes) {
      last.outputs[0] = result;
      for (auto& [from, to] : made_) to = to == codes ? result : to;
      return;
    }
    const ir::Node& node = nodes_[producer_[result]];
    graph_.nodes.push_back({"Identity", node.name, {codes}, {result}, {}, {}});
  }

  // Drops the nodes on floats that have no reader left: later passes would count them among the
  // readers of their operands.
  void DropReplaced() {
    std::set<ir::ValueId> read(graph_.outputs.begin(), graph_.outputs.end());
    std::vector<ir::Node> kept;
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      const bool gone = std::ranges::all_of(
          node->outputs, [&](ir::ValueId v) { return replaced_.contains(v) && !read.contains(v); });
      if (gone) continue;
      read.insert(node->inputs.begin(), node->inputs.end());
      kept.push_back(std::move(*node));
    }
    graph_.nodes.assign(std::make_move_iterator(kept.rbegin()),
                        std::make_move_iterator(kept.rend()));
  }

  ir::Graph& graph_;
  PassContext& context_;
  ValueMaker make_;
  const std::vector<int> producer_;
  const Uses uses_;
  std::vector<ir::Node> nodes_;                    ///< the nodes before this pass
  std::map<ir::ValueId, ir::ValueId> stands_for_;  ///< for results of nodes that are gone
  std::set<ir::ValueId> replaced_;                 ///< results that exist as codes as well
  std::map<ir::ValueId, ir::ValueId> made_;        ///< for a value, the codes that stand for it
};

}  // namespace

Status KeepCodesAsTheyAre(ir::Graph& graph, PassContext& context) {
  KeepCodes(graph, context).Run();
  return OkStatus();
}

}  // namespace aicf
