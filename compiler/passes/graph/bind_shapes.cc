// Gives every graph input a shape, from the model, the caller, and symbols that inputs share.
#include <optional>

#include "base/scanner.h"
#include "compiler/passes/graph/passes.h"

namespace aicf {
namespace {

using Symbols = std::map<std::string, int64_t, std::less<>>;

// "[batch, 3, ?]": what the model says of an input.
std::string DeclaredText(const ir::Value& v) {
  if (!v.shape_known && v.shape.empty()) return "of any rank";
  std::string out = "[";
  for (int i = 0; i < v.shape.rank(); ++i) {
    const bool named = static_cast<size_t>(i) < v.symbols.size() && !v.symbols[i].empty();
    if (i > 0) out += ", ";
    out += v.shape[i] >= 0 ? StrCat(v.shape[i]) : named ? Quote(v.symbols[i]) : "?";
  }
  return out + "]";
}

Status Bind(ir::Value& v, const Dims& shape, Symbols& symbols) {
  const bool any_rank = !v.shape_known && v.shape.empty();
  bool fits = any_rank || v.shape.rank() == shape.rank();
  for (int i = 0; fits && !any_rank && i < shape.rank(); ++i) {
    fits = v.shape[i] < 0 || v.shape[i] == shape[i];
  }
  if (!fits) {
    return Error(Code::kInvalidArgument, "input ", Quote(v.name), " is ", DeclaredText(v),
                 " in the model, found shape ", ToString(shape));
  }
  for (size_t i = 0; i < v.symbols.size(); ++i) {
    if (v.symbols[i].empty()) continue;
    const int64_t extent = shape[static_cast<int>(i)];
    const auto [it, added] = symbols.emplace(v.symbols[i], extent);
    if (added || it->second == extent) continue;
    return Error(Code::kInvalidArgument, "extent ", Quote(it->first), " is ", it->second,
                 " and, for input ", Quote(v.name), ", ", extent);
  }
  v.shape = shape;
  return OkStatus();
}

ir::Value* FindInput(ir::Graph& graph, std::string_view name) {
  for (ir::ValueId id : graph.inputs) {
    if (graph.values[id].name == name) return &graph.values[id];
  }
  return nullptr;
}

std::string InputNames(const ir::Graph& graph) {
  std::string out;
  for (ir::ValueId id : graph.inputs)
    out += (out.empty() ? "" : ", ") + Quote(graph.values[id].name);
  return out.empty() ? "none" : out;
}

// Fills extents whose symbol another input bound; then every extent must be known.
Status Complete(ir::Value& v, const Symbols& symbols) {
  if (v.shape_known) return OkStatus();
  bool known = !v.shape.empty();
  for (int i = 0; i < v.shape.rank(); ++i) {
    if (v.shape[i] >= 0) continue;
    const auto it =
        static_cast<size_t>(i) < v.symbols.size() ? symbols.find(v.symbols[i]) : symbols.end();
    if (it == symbols.end()) {
      known = false;
    } else {
      v.shape[i] = it->second;
    }
  }
  v.shape_known = known;
  if (!known) {
    return Error(Code::kUnsupported, "input ", Quote(v.name), " is ", DeclaredText(v),
                 " in the model; give its shape with --shapes=NAME:1x2x3");
  }
  if (ElementCount(v.shape)) return OkStatus();
  return Error(Code::kInvalidArgument, "input ", Quote(v.name), " has the impossible shape ",
               ToString(v.shape));
}

}  // namespace

Status BindShapes(ir::Graph& graph, const std::map<std::string, Dims, std::less<>>& shapes) {
  Symbols symbols;
  for (const auto& [name, shape] : shapes) {
    ir::Value* input = FindInput(graph, name);
    if (input == nullptr) {
      return Error(Code::kInvalidArgument, "the model has no input ", Quote(name),
                   "; its inputs are ", InputNames(graph));
    }
    if (!ElementCount(shape)) {
      return Error(Code::kInvalidArgument, "input ", Quote(name), ": impossible shape ",
                   ToString(shape));
    }
    AICF_RETURN_IF_ERROR(Bind(*input, shape, symbols));
    input->shape_known = true;
  }
  for (ir::ValueId id : graph.inputs) AICF_RETURN_IF_ERROR(Complete(graph.values[id], symbols));
  return OkStatus();
}

}  // namespace aicf
