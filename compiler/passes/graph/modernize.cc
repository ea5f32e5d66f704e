#include "compiler/passes/graph/modernize.h"

#include <algorithm>

#include "compiler/ir/infer/infer.h"
#include "compiler/ir/legacy.h"

namespace aicf {
namespace {

class Modernizer {
 public:
  Modernizer(ir::Graph& graph, ValueMaker& make, ir::Node node)
      : graph_(graph), make_(make), node_(std::move(node)) {}

  Result<std::vector<ir::Node>> Run() {
    if (node_.op == ir::kCastLike) CastLike();
    AICF_RETURN_IF_ERROR(Broadcast());
    ChannelSlope();
    Scalars();
    AICF_RETURN_IF_ERROR(NearestMode());
    if (!Take(ir::kLegacyFlatten)) {
      out_.push_back(std::move(node_));
    } else {
      AICF_RETURN_IF_ERROR(FlattenedSoftmax());
    }
    return std::move(out_);
  }

 private:
  const ir::Value& In(size_t i) const { return graph_.values[node_.inputs[i]]; }

  // Removes a mark of compiler/ir/legacy.h and gives the value that it had; nullopt where it is
  // absent.
  std::optional<ir::AttrValue> Take(std::string_view key) {
    const auto it = node_.attrs.find(key);
    if (it == node_.attrs.end()) return std::nullopt;
    ir::AttrValue value = std::move(it->second);
    node_.attrs.erase(it);
    return value;
  }

  ir::ValueId Emit(std::string_view op, std::string_view suffix, std::vector<ir::ValueId> inputs,
                   ir::AttrMap attrs) {
    ir::Node node;
    node.op = op;
    node.name = node_.name;
    node.inputs = std::move(inputs);
    const ir::ValueId out =
        make_.Value(StrCat(graph_.values[node_.outputs[0]].name, suffix), DType::kF32, {});
    graph_.values[out].shape_known = false;
    node.outputs = {out};
    node.attrs = std::move(attrs);
    out_.push_back(std::move(node));
    return out;
  }

  void CastLike() {
    node_.op = "Cast";
    node_.attrs["to"] = std::string(DTypeName(In(1).dtype));
    node_.inputs.resize(1);
  }

  // Appends `count` unit axes to input i, counted from axis `at` on.
  void AppendAxes(size_t i, int at, int count) {
    std::vector<int64_t> axes;
    for (int k = 0; k < count; ++k) axes.push_back(at + k);
    const ir::ValueId list = make_.Ints(StrCat(In(i).name, ".axes"), axes);
    node_.inputs[i] = Emit("Unsqueeze", ".aligned", {node_.inputs[i], list}, {});
  }

  Status Broadcast() {
    const auto mark = Take(ir::kLegacyAxis);
    if (!mark) return OkStatus();
    const int rank = In(0).shape.rank();
    const int other = In(1).shape.rank();
    int64_t axis = std::get<int64_t>(*mark);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank - other) {
      return Error(Code::kBadModel, "broadcast axis ", std::get<int64_t>(*mark),
                   " does not fit shapes ", ToString(In(0).shape), " and ", ToString(In(1).shape));
    }
    const int missing = rank - static_cast<int>(axis) - other;
    if (missing > 0 && other > 0) AppendAxes(1, other, missing);
    return OkStatus();
  }

  void ChannelSlope() {
    if (!Take(ir::kLegacyChannelSlope)) return;
    const Dims& slope = In(1).shape;
    const int after = In(0).shape.rank() - 2;
    if (slope.rank() == 1 && slope[0] > 1 && after > 0) AppendAxes(1, 1, after);
  }

  void Scalars() {
    const auto mark = Take(ir::kLegacyScalars);
    if (!mark || In(0).dtype == DType::kF32) return;
    for (int64_t i : std::get<std::vector<int64_t>>(*mark)) {
      const std::string to(DTypeName(In(0).dtype));
      node_.inputs[i] = Emit("Cast", StrCat(".bound", i), {node_.inputs[i]}, {{"to", to}});
    }
  }

  Status NearestMode() {
    if (!Take(ir::kLegacyNearest)) return OkStatus();
    AICF_ASSIGN_OR_RETURN(const ir::ResizeSpec spec, ir::ResolveResize(graph_, node_));
    const bool grows = std::ranges::any_of(spec.scales, [](double s) { return s > 1; });
    const bool shrinks = std::ranges::any_of(spec.scales, [](double s) { return s < 1; });
    if (grows && shrinks && node_.Str("mode", "nearest") == "nearest") {
      return Error(Code::kUnsupported,
                   "Resize of opset 10 that grows one axis and shrinks another");
    }
    node_.attrs["nearest_mode"] = std::string(shrinks ? "ceil" : "floor");
    return OkStatus();
  }

  // Normalises over all axes from `axis` on. That is the same as over one of them when the others
  // have extent 1.
  Status FlattenedSoftmax() {
    const Dims shape = In(0).shape;
    const int64_t given = node_.Int("axis", 1);
    const int64_t axis = given < 0 ? given + shape.rank() : given;
    if (axis < 0 || axis > shape.rank()) {
      return Error(Code::kBadModel, "axis ", given, " is outside an input of rank ", shape.rank());
    }
    int64_t wide = axis;
    int count = 0;
    for (int i = static_cast<int>(axis); i < shape.rank(); ++i) {
      if (shape[i] == 1) continue;
      wide = i;
      ++count;
    }
    if (count <= 1 && axis < shape.rank()) {
      node_.attrs["axis"] = wide;
      out_.push_back(std::move(node_));
      return OkStatus();
    }
    const ir::ValueId result = node_.outputs[0];
    const ir::ValueId list = make_.Ints(StrCat(graph_.values[result].name, ".shape"), shape.span());
    const ir::ValueId flat = Emit("Flatten", ".flat", {node_.inputs[0]}, {{"axis", axis}});
    const ir::ValueId soft = Emit(node_.op, ".softmax", {flat}, {{"axis", int64_t{1}}});
    ir::Node back;
    back.op = "Reshape";
    back.name = node_.name;
    back.inputs = {soft, list};
    back.outputs = {result};
    // An extent of 0 in the list means 0, and does not copy the input's extent.
    back.attrs["allowzero"] = int64_t{1};
    out_.push_back(std::move(back));
    return OkStatus();
  }

  ir::Graph& graph_;
  ValueMaker& make_;
  ir::Node node_;
  std::vector<ir::Node> out_;
};

}  // namespace

Result<std::vector<ir::Node>> Modernize(ir::Graph& graph, ValueMaker& make, ir::Node node) {
  return Modernizer(graph, make, std::move(node)).Run();
}

}  // namespace aicf
