#include "compiler/import/onnx_attribute.h"

#include <algorithm>

#include "base/scanner.h"
#include "compiler/import/onnx_check.h"

namespace aicf {
namespace {

using onnx::AttributeProto;

struct AttributeDefault {
  std::string_view op;
  std::string_view attributes;
};

constexpr AttributeDefault kAttributeDefaults[] = {
#define AICF_ATTRS(op, attributes) {#op, attributes},
#include "compiler/import/onnx_attributes.def"
#undef AICF_ATTRS
};

// The kind letters that an op's attribute may have; empty when the op has no such attribute.
std::string_view KindsOf(std::string_view op, std::string_view name) {
  const auto row = std::ranges::find(kAttributeDefaults, op, &AttributeDefault::op);
  if (row == std::end(kAttributeDefaults)) return {};
  std::string_view rest = row->attributes;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(' '));
    const size_t colon = entry.find(':');
    if (entry.substr(colon + 1) == name) return entry.substr(0, colon);
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
  }
  return {};
}

struct Kind {
  char letter;
  AttributeProto::AttributeType type;
  std::string_view text;
};

constexpr Kind kKinds[] = {
    {'f', AttributeProto::FLOAT, "a float"},
    {'i', AttributeProto::INT, "an int"},
    {'s', AttributeProto::STRING, "a string"},
    {'t', AttributeProto::TENSOR, "a tensor"},
    {'F', AttributeProto::FLOATS, "floats"},
    {'I', AttributeProto::INTS, "ints"},
    {'S', AttributeProto::STRINGS, "strings"},
    {'x', AttributeProto::SPARSE_TENSOR, "a sparse tensor"},
    {'g', AttributeProto::GRAPH, "a graph"},
    {'T', AttributeProto::TENSORS, "tensors"},
    {'G', AttributeProto::GRAPHS, "graphs"},
    {'X', AttributeProto::SPARSE_TENSORS, "sparse tensors"},
    {'p', AttributeProto::TYPE_PROTO, "a type"},
    {'P', AttributeProto::TYPE_PROTOS, "types"},
};

// The letters (kKinds) of the fields that hold something.
std::string FilledKinds(const AttributeProto& a) {
  std::string out;
  const auto add = [&](char letter, bool filled) {
    if (filled) out += letter;
  };
  add('f', a.has_f());
  add('i', a.has_i());
  add('s', a.has_s());
  add('t', a.has_t());
  add('g', a.has_g());
  add('x', a.has_sparse_tensor());
  add('p', a.has_tp());
  add('F', a.floats_size() > 0);
  add('I', a.ints_size() > 0);
  add('S', a.strings_size() > 0);
  add('T', a.tensors_size() > 0);
  add('G', a.graphs_size() > 0);
  add('X', a.sparse_tensors_size() > 0);
  add('P', a.type_protos_size() > 0);
  return out;
}

// The declared kind or, in files that declare none, the kind of the only field that holds
// something.
Result<Kind> KindOfValue(const AttributeProto& a) {
  std::string filled = FilledKinds(a);
  const bool declared = a.has_type() && a.type() != AttributeProto::UNDEFINED;
  for (const Kind& kind : kKinds) {
    if (declared ? kind.type != a.type() : filled != std::string(1, kind.letter)) continue;
    // Some writers also set scalar fields to zero, beside the value of the declared kind.
    std::erase_if(filled, [&](char c) {
      return c == kind.letter || (c == 'f' && a.f() == 0) || (c == 'i' && a.i() == 0) ||
             (c == 's' && a.s().empty());
    });
    if (filled.empty()) return kind;
    return Error(Code::kBadModel, "is declared as ", kind.text, " but holds another kind of value");
  }
  return Error(Code::kBadModel, "holds no value of a known kind");
}

Result<ir::AttrValue> Convert(const AttributeProto& a, char kind, const TensorSource& source) {
  using Value = ir::AttrValue;
  switch (kind) {
    case 'f':
      return Value(static_cast<double>(a.f()));
    case 'i':
      return Value(static_cast<int64_t>(a.i()));
    case 's':
      return Value(a.s());
    case 'F':
      return Value(std::vector<double>(a.floats().begin(), a.floats().end()));
    case 'I':
      return Value(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
    case 'S':
      return Value(std::vector<std::string>(a.strings().begin(), a.strings().end()));
    case 't':
      break;
    default:
      return Error(Code::kUnsupported, "is a sparse tensor");
  }
  AICF_ASSIGN_OR_RETURN(ir::Tensor tensor, ImportTensor(a.t(), source));
  return Value(std::move(tensor));
}

Result<ir::AttrValue> ImportAttribute(const std::string& op, const AttributeProto& a,
                                      const TensorSource& source) {
  const std::string_view allowed = KindsOf(op, a.name());
  if (allowed.empty())
    return Error(Code::kUnsupported, "is not an attribute of ", op, " in any known opset");
  if (!a.ref_attr_name().empty()) return Error(Code::kBadModel, "refers to a function's attribute");
  AICF_ASSIGN_OR_RETURN(const Kind kind, KindOfValue(a));
  if (allowed.find(kind.letter) == std::string_view::npos) {
    const auto expected = std::ranges::find(kKinds, allowed[0], &Kind::letter);
    return Error(Code::kBadModel, "is ", kind.text, ", expected ", expected->text);
  }
  return Convert(a, kind.letter, source);
}

}  // namespace

std::vector<std::string_view> BodyAttributes(std::string_view op) {
  if (op == "If") return {"then_branch", "else_branch"};
  if (op == "Loop" || op == "Scan" || op == "SequenceMap") return {"body"};
  return {};
}

bool IsBodyAttribute(const std::string& op, const std::string& name) {
  return KindsOf(op, name) == "g";
}

Result<ir::AttrMap> ImportAttributes(const onnx::NodeProto& node, const TensorSource& source) {
  const std::string op = QualifiedOp(node);
  ir::AttrMap out;
  std::string unsupported;
  for (const AttributeProto& a : node.attribute()) {
    // An attribute that holds a type says nothing that the values do not say.
    const std::string_view kinds = KindsOf(op, a.name());
    if (a.name() == "consumed_inputs" || kinds == "g" || kinds == "p") continue;
    auto value = ImportAttribute(op, a, source);
    if (value.status().code() == Code::kUnsupported) {
      unsupported += StrCat(unsupported.empty() ? "" : ", ", "attribute ", Quote(a.name()), ": ",
                            value.status().message());
      continue;
    }
    if (!value.ok()) return value.status().WithContext(StrCat("attribute ", Quote(a.name())));
    if (!out.emplace(a.name(), *std::move(value)).second) {
      return Error(Code::kBadModel, "attribute ", Quote(a.name()), " is given twice");
    }
  }
  if (!unsupported.empty()) return Status(Code::kUnsupported, unsupported);
  return out;
}

}  // namespace aicf
