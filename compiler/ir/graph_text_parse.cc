// Reading of the text form of ir::Graph (grammar: compiler/ir/text.h).
#include <unordered_map>

#include "base/scanner.h"
#include "compiler/ir/constant_text.h"
#include "compiler/ir/text.h"

namespace aicf::ir {
namespace {

Result<Dims> ParseExtents(Scanner& in) {
  AICF_RETURN_IF_ERROR(in.Expect("["));
  Dims shape;
  if (in.Accept("]")) return shape;
  do {
    int64_t extent = -1;
    if (!in.Accept("?")) {
      AICF_ASSIGN_OR_RETURN(extent, in.Int());
      if (extent < 0) return in.Fail("an extent that is not negative");
    }
    if (shape.rank() == kMaxRank) return in.Fail("at most 8 extents");
    shape.push_back(extent);
  } while (in.Accept("x"));
  AICF_RETURN_IF_ERROR(in.Expect("]"));
  return shape;
}

class GraphParser {
 public:
  GraphParser(std::string_view text, const ConstantResolver& resolve)
      : in_(text), constants_(resolve) {}

  Result<Graph> Run() {
    AICF_RETURN_IF_ERROR(in_.Expect("graph"));
    AICF_ASSIGN_OR_RETURN(g_.name, in_.Quoted());
    AICF_RETURN_IF_ERROR(in_.Expect("{"));
    while (!in_.Accept("}")) AICF_RETURN_IF_ERROR(Line());
    if (!in_.AtEnd()) return in_.Fail("the end of the text");
    return std::move(g_);
  }

 private:
  Status Line() {
    if (in_.Peek("%") || in_.Peek("(")) return NodeLine();
    if (in_.Accept("input ")) {
      AICF_ASSIGN_OR_RETURN(const ValueId v, NewValue());
      g_.inputs.push_back(v);
      return OkStatus();
    }
    if (in_.Accept("const ")) return ConstantLine();
    if (!in_.Accept("output ")) return in_.Fail("'input', 'const', 'output', a node or '}'");
    AICF_ASSIGN_OR_RETURN(const ValueId v, Operand());
    if (v == kNoValue) return in_.Fail("a value");
    g_.outputs.push_back(v);
    return OkStatus();
  }

  Status ConstantLine() {
    AICF_ASSIGN_OR_RETURN(const ValueId v, NewValue());
    Value& value = g_.values[v];
    if (!value.shape_known) return in_.Fail("a constant with a known shape");
    AICF_RETURN_IF_ERROR(in_.Expect("="));
    AICF_ASSIGN_OR_RETURN(value.constant, constants_.Read(in_, value.dtype, value.shape));
    return OkStatus();
  }

  Status NodeLine() {
    Node node;
    const bool several = in_.Accept("(");
    do {
      AICF_ASSIGN_OR_RETURN(const ValueId v, several&& in_.Accept("_") ? kNoValue : NewValue());
      node.outputs.push_back(v);
    } while (several && in_.Accept(","));
    if (several) AICF_RETURN_IF_ERROR(in_.Expect(")"));
    AICF_RETURN_IF_ERROR(in_.Expect("="));
    AICF_ASSIGN_OR_RETURN(const std::string_view op, in_.Word());
    node.op = op;
    AICF_RETURN_IF_ERROR(Operands(node));
    if (in_.Accept("{")) AICF_RETURN_IF_ERROR(Attributes(node));
    AICF_RETURN_IF_ERROR(NodeName(node));
    g_.nodes.push_back(std::move(node));
    return OkStatus();
  }

  Status Operands(Node& node) {
    AICF_RETURN_IF_ERROR(in_.Expect("("));
    if (in_.Accept(")")) return OkStatus();
    do {
      AICF_ASSIGN_OR_RETURN(const ValueId v, Operand());
      node.inputs.push_back(v);
    } while (in_.Accept(","));
    return in_.Expect(")");
  }

  Status Attributes(Node& node) {
    do {
      AICF_ASSIGN_OR_RETURN(const std::string_view key, in_.Word());
      AICF_RETURN_IF_ERROR(in_.Expect("="));
      AICF_ASSIGN_OR_RETURN(AttrValue value, Attribute());
      if (!node.attrs.emplace(std::string(key), std::move(value)).second) {
        return in_.Fail("an attribute that is not there yet");
      }
    } while (in_.Accept(","));
    return in_.Expect("}");
  }

  Status NodeName(Node& node) {
    if (in_.Peek("\"")) {
      AICF_ASSIGN_OR_RETURN(node.name, in_.Quoted());
      return OkStatus();
    }
    const ValueId first = node.outputs[0];
    node.name = StrCat(node.op, ":", first == kNoValue ? "" : g_.values[first].name);
    return OkStatus();
  }

  Result<AttrValue> Attribute() {
    if (in_.Peek("[")) return List();
    if (in_.Peek("\"")) {
      AICF_ASSIGN_OR_RETURN(std::string text, in_.Quoted());
      return AttrValue(std::move(text));
    }
    if (in_.Accept("ints[]")) return AttrValue(std::vector<int64_t>());
    if (in_.Accept("floats[]")) return AttrValue(std::vector<double>());
    if (in_.Accept("strings[]")) return AttrValue(std::vector<std::string>());
    Scanner ahead = in_;
    if (const auto word = ahead.Word(); word.ok() && ParseDType(*word)) return TensorAttribute();
    return Number();
  }

  Result<AttrValue> TensorAttribute() {
    AICF_ASSIGN_OR_RETURN(const std::string_view word, in_.Word());
    AICF_ASSIGN_OR_RETURN(const Dims shape, ParseExtents(in_));
    AICF_ASSIGN_OR_RETURN(Tensor tensor, constants_.Read(in_, *ParseDType(word), shape));
    return AttrValue(std::move(tensor));
  }

  // An integer unless the token goes on as a float does.
  Result<AttrValue> Number() {
    Scanner ahead = in_;
    const auto whole = ahead.Int();
    const bool is_float = !whole.ok() || ahead.Peek(".") || ahead.Peek("e") || ahead.Peek("x");
    if (!is_float) {
      in_ = ahead;
      return AttrValue(*whole);
    }
    AICF_ASSIGN_OR_RETURN(const double value, in_.Double());
    return AttrValue(value);
  }

  template <class T>
  Status Append(std::vector<T>& list, AttrValue value) {
    if (!std::holds_alternative<T>(value)) return in_.Fail("list elements of one kind");
    list.push_back(std::get<T>(std::move(value)));
    return OkStatus();
  }

  template <class T>
  Result<AttrValue> ListOf(AttrValue first) {
    std::vector<T> list;
    AICF_RETURN_IF_ERROR(Append(list, std::move(first)));
    while (in_.Accept(",")) {
      AICF_ASSIGN_OR_RETURN(AttrValue next, Attribute());
      AICF_RETURN_IF_ERROR(Append(list, std::move(next)));
    }
    AICF_RETURN_IF_ERROR(in_.Expect("]"));
    return AttrValue(std::move(list));
  }

  Result<AttrValue> List() {
    AICF_RETURN_IF_ERROR(in_.Expect("["));
    if (in_.Peek("[")) return in_.Fail("a number or a string");
    AICF_ASSIGN_OR_RETURN(AttrValue first, Attribute());
    if (std::holds_alternative<int64_t>(first)) return ListOf<int64_t>(std::move(first));
    if (std::holds_alternative<double>(first)) return ListOf<double>(std::move(first));
    return ListOf<std::string>(std::move(first));
  }

  Result<std::string> Name() {
    AICF_RETURN_IF_ERROR(in_.Expect("%"));
    if (in_.Peek("\"")) return in_.Quoted();
    AICF_ASSIGN_OR_RETURN(const std::string_view word, in_.Word());
    return std::string(word);
  }

  Result<ValueId> Operand() {
    if (in_.Accept("_")) return kNoValue;
    AICF_ASSIGN_OR_RETURN(const std::string name, Name());
    const auto it = ids_.find(name);
    if (it == ids_.end()) return in_.Fail(StrCat("a value defined above, not ", Quote(name)));
    return it->second;
  }

  Result<ValueId> NewValue() {
    Value value;
    AICF_ASSIGN_OR_RETURN(value.name, Name());
    AICF_RETURN_IF_ERROR(in_.Expect(":"));
    AICF_ASSIGN_OR_RETURN(const std::string_view word, in_.Word());
    const std::optional<DType> dtype = ParseDType(word);
    if (!dtype) return in_.Fail("a dtype before this");
    value.dtype = *dtype;
    if (in_.Peek("[")) {
      AICF_ASSIGN_OR_RETURN(value.shape, ParseExtents(in_));
      value.shape_known = ElementCount(value.shape).has_value();
    }
    const ValueId id = static_cast<ValueId>(g_.values.size());
    if (!ids_.emplace(value.name, id).second) return in_.Fail("a value name that is not there yet");
    return g_.AddValue(std::move(value));
  }

  Scanner in_;
  ConstantReader constants_;
  Graph g_;
  std::unordered_map<std::string, ValueId> ids_;
};

}  // namespace

Result<Graph> ParseGraph(std::string_view text, const ConstantResolver& resolve) {
  AICF_ASSIGN_OR_RETURN(Graph graph, GraphParser(text, resolve).Run());
  const Status verified = Verify(graph);
  if (!verified.ok()) return Error(Code::kInvalidArgument, verified.message());
  return graph;
}

}  // namespace aicf::ir
