// Ops whose result has the shape of the input, or of the inputs broadcast together.
#include <algorithm>

#include "compiler/ir/infer/common.h"

namespace aicf::ir {
namespace {

struct DTypeRule {
  std::string_view op;
  unsigned mask;
};

// Ops that are not listed take floats only.
constexpr DTypeRule kDTypeRules[] = {
    {"Abs", kNumbers},
    {"Add", kNumbers},
    {"And", kBools},
    {"BitShift", kIntegers},
    {"BitwiseAnd", kIntegers},
    {"BitwiseNot", kIntegers},
    {"BitwiseOr", kIntegers},
    {"BitwiseXor", kIntegers},
    {"Clip", kNumbers},
    {"Div", kNumbers},
    {"Equal", kAny},
    {"Greater", kNumbers},
    {"GreaterOrEqual", kNumbers},
    {"Identity", kAny},
    {"Less", kNumbers},
    {"LessOrEqual", kNumbers},
    {"Max", kNumbers},
    {"Min", kNumbers},
    {"Mod", kNumbers},
    {"Mul", kNumbers},
    {"Neg", kFloats | kSigned},
    {"Not", kBools},
    {"Or", kBools},
    {"PRelu", kNumbers},
    {"Pow", kNumbers},
    {"Relu", kFloats | kSigned},
    {"Shrink", kNumbers},
    {"Sign", kNumbers},
    {"Sub", kNumbers},
    {"Xor", kBools},
};

unsigned MaskOf(std::string_view op) {
  for (const DTypeRule& rule : kDTypeRules) {
    if (rule.op == op) return rule.mask;
  }
  return kFloats;
}

Result<Dims> BroadcastInputs(const Graph& graph, const Node& node) {
  Dims shape = InShape(graph, node, 0);
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const std::optional<Dims> next = BroadcastShapes(shape, InShape(graph, node, i));
    if (!next) {
      return BadNode("shapes ", ToString(shape), " and ", ToString(InShape(graph, node, i)),
                     " do not broadcast");
    }
    shape = *next;
  }
  return shape;
}

Status InferBroadcast(Graph& graph, const Node& node, DType result) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    AICF_RETURN_IF_ERROR(CheckDType(graph, node, i, MaskOf(node.op)));
    AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, i));
  }
  AICF_ASSIGN_OR_RETURN(const Dims shape, BroadcastInputs(graph, node));
  return SetOutput(graph, node, 0, result, shape);
}

}  // namespace

Status InferUnary(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, MaskOf(node.op)));
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, InShape(graph, node, 0));
}

Status InferPredicate(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kFloats));
  return SetOutput(graph, node, 0, DType::kBool, InShape(graph, node, 0));
}

Status InferCast(Graph& graph, const Node& node) {
  const std::string name = node.Str("to", "");
  const std::optional<DType> to = ParseDType(name);
  if (!to) return BadNode("attribute 'to' is ", Quote(name), ", expected a dtype");
  return SetOutput(graph, node, 0, *to, InShape(graph, node, 0));
}

Status InferBitCast(Graph& graph, const Node& node) {
  const DType from = In(graph, node, 0).dtype;
  AICF_RETURN_IF_ERROR(InferCast(graph, node));
  const DType to = *ParseDType(node.Str("to", ""));
  // Integers of less than 8 bits and float4 are kept one to a byte, of which the other bits are not
  // part of the element.
  const auto whole = [](DType d) {
    return !IsStorageOnly(d) || (IsFloat(d) && d != DType::kF4E2M1);
  };
  if (DTypeBytes(from) != DTypeBytes(to) || !whole(from) || !whole(to)) {
    return Error(Code::kUnsupported, "the bits of ", DTypeName(from), " as ", DTypeName(to));
  }
  if (to != DType::kBool || from == to) return OkStatus();
  return Error(Code::kUnsupported, "the bits of ", DTypeName(from), " as bool");
}

Status InferClip(Graph& graph, const Node& node) {
  for (size_t i = 1; i < 3; ++i) {
    if (!HasInput(node, i)) continue;
    AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, i));
    if (ElementCount(InShape(graph, node, i)) != 1) {
      return BadNode("bound ", i, " has shape ", ToString(InShape(graph, node, i)),
                     ", expected a scalar");
    }
  }
  return InferUnary(graph, node);
}

Status InferTrilu(Graph& graph, const Node& node) {
  const Value& x = In(graph, node, 0);
  if (x.shape.rank() < 2) return BadNode("its input has rank ", x.shape.rank(), ", expected 2");
  if (HasInput(node, 1)) {
    AICF_RETURN_IF_ERROR(CheckDType(graph, node, 1, kIntegers));
    if (ElementCount(InShape(graph, node, 1)) != 1) {
      return BadNode("k has shape ", ToString(InShape(graph, node, 1)), ", expected a scalar");
    }
  }
  return SetOutput(graph, node, 0, x.dtype, x.shape);
}

Status InferBinary(Graph& graph, const Node& node) {
  return InferBroadcast(graph, node, In(graph, node, 0).dtype);
}

Status InferVariadic(Graph& graph, const Node& node) {
  return InferBroadcast(graph, node, In(graph, node, 0).dtype);
}

Status InferCompare(Graph& graph, const Node& node) {
  return InferBroadcast(graph, node, DType::kBool);
}

Status InferPow(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kNumbers));
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 1, kNumbers));
  AICF_ASSIGN_OR_RETURN(const Dims shape, BroadcastInputs(graph, node));
  return SetOutput(graph, node, 0, In(graph, node, 0).dtype, shape);
}

Status InferPRelu(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, 1));
  const Dims& x = InShape(graph, node, 0);
  const std::optional<Dims> both = BroadcastShapes(x, InShape(graph, node, 1));
  if (!both || !(*both == x)) {
    return BadNode("slope ", ToString(InShape(graph, node, 1)), " does not broadcast to ",
                   ToString(x));
  }
  return InferUnary(graph, node);
}

Status InferWhere(Graph& graph, const Node& node) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, 0, kBools));
  AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 1, 2));
  AICF_ASSIGN_OR_RETURN(const Dims shape, BroadcastInputs(graph, node));
  return SetOutput(graph, node, 0, In(graph, node, 1).dtype, shape);
}

}  // namespace aicf::ir
