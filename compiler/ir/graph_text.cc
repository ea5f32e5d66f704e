// Printing of ir::Graph. The grammar is in compiler/ir/text.h; graph_text_parse.cc reads it.
#include "compiler/ir/graph_text.h"

#include <cctype>
#include <charconv>

#include "base/scanner.h"
#include "compiler/ir/constant_text.h"

namespace aicf::ir {
namespace {

bool IsWord(std::string_view s) {
  if (s.empty() || !(std::isalpha(static_cast<unsigned char>(s[0])) || s[0] == '_')) return false;
  for (unsigned char c : s) {
    if (!std::isalnum(c) && c != '_' && c != '.' && c != '-') return false;
  }
  return true;
}

std::string NameText(const Graph& g, ValueId v) {
  if (v == kNoValue) return "_";
  const std::string& name = g.values[v].name;
  return "%" + (IsWord(name) ? name : Quote(name));
}

// "[1x3]", "[]" for a scalar, "?" for an extent that is not known.
std::string ExtentsText(const Dims& shape) {
  std::string out = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) out += 'x';
    out += shape[i] < 0 ? "?" : std::to_string(shape[i]);
  }
  return out + "]";
}

std::string ValueText(const Graph& g, ValueId id) {
  if (id == kNoValue) return "_";
  const Value& v = g.values[id];
  const bool has_rank = v.shape_known || v.shape.rank() > 0;
  return StrCat(NameText(g, id), ": ", DTypeName(v.dtype), has_rank ? ExtentsText(v.shape) : "");
}

template <class T, class F>
std::string ListText(const std::vector<T>& items, std::string_view empty, F&& text) {
  if (items.empty()) return StrCat(empty, "[]");
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) out += (i > 0 ? ", " : "") + text(items[i]);
  return out + "]";
}

// Shortest decimal that reads back as the same value, told apart from an integer.
std::string FloatText(double v) {
  char buffer[64];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
  if (text.find_first_of(".enx") == std::string::npos) text += ".0";
  return text;
}

struct AttrText {
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return FloatText(v); }
  std::string operator()(const std::string& v) const { return Quote(v); }
  std::string operator()(const std::vector<int64_t>& v) const { return ListText(v, "ints", *this); }
  std::string operator()(const std::vector<double>& v) const {
    return ListText(v, "floats", *this);
  }
  std::string operator()(const std::vector<std::string>& v) const {
    return ListText(v, "strings", *this);
  }
  std::string operator()(const Tensor& t) const {
    return StrCat(DTypeName(t.dtype()), ExtentsText(t.shape()), " ", ConstantText(t));
  }
};

std::string OutputsText(const Graph& g, const Node& node) {
  if (node.outputs.size() == 1) return ValueText(g, node.outputs[0]);
  std::string out;
  for (ValueId v : node.outputs) out += (out.empty() ? "(" : ", ") + ValueText(g, v);
  return out + ")";
}

std::string NodeText(const Graph& g, const Node& node) {
  std::string out = OutputsText(g, node);
  out += StrCat(" = ", node.op, "(");
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    out += (i > 0 ? ", " : "") + NameText(g, node.inputs[i]);
  }
  out += ")";
  if (!node.attrs.empty()) out += " " + ToText(node.attrs);
  return StrCat(out, " ", Quote(node.name));
}

std::vector<bool> Used(const Graph& g) {
  std::vector<bool> used(g.values.size(), false);
  for (const Node& node : g.nodes) {
    for (ValueId v : node.inputs) {
      if (v != kNoValue) used[v] = true;
    }
  }
  for (ValueId v : g.outputs) used[v] = true;
  return used;
}

}  // namespace

std::string ToText(const AttrMap& attrs) {
  std::string out;
  for (const auto& [key, value] : attrs) {
    out += StrCat(out.empty() ? "{" : ", ", key, "=", std::visit(AttrText(), value));
  }
  return out.empty() ? out : out + "}";
}

std::string ToString(const Graph& graph) {
  std::string out = StrCat("graph ", Quote(graph.name), " {\n");
  for (ValueId v : graph.inputs) out += StrCat("  input ", ValueText(graph, v), "\n");
  const std::vector<bool> used = Used(graph);
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (!used[v] || !graph.values[v].is_constant()) continue;
    out += StrCat("  const ", ValueText(graph, static_cast<ValueId>(v)), " = ",
                  ConstantText(graph.values[v].constant), "\n");
  }
  for (const Node& node : graph.nodes) out += StrCat("  ", NodeText(graph, node), "\n");
  for (ValueId v : graph.outputs) out += StrCat("  output ", NameText(graph, v), "\n");
  return out + "}\n";
}

}  // namespace aicf::ir
