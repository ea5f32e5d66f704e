// Sequences and optionals: lists of values while compiling.
#include <algorithm>

#include "base/checked.h"
#include "base/scanner.h"
#include "compiler/passes/graph/expand.h"

namespace aicf {

using ir::kNoValue;
using ir::ValueId;

Result<const Expander::Ids*> Expander::Items(const ir::Node& node, size_t input) const {
  const auto items = sequences_.find(node.input(input));
  if (items != sequences_.end()) return &items->second;
  return Error(Code::kUnsupported, "input ", input, " is no sequence whose length is known");
}

// A constant position; with `end`, the one after the last is allowed.
Result<int64_t> Expander::Position(const ir::Node& node, size_t input, int64_t length,
                                   bool end) const {
  AICF_ASSIGN_OR_RETURN(const std::optional<int64_t> given, ConstantScalar(node.input(input)));
  if (!given) {
    return Error(Code::kUnsupported, "its position is known at run time only; bind it with --bind");
  }
  const int64_t at = *given < 0 ? *given + length : *given;
  if (at < 0 || at > length || (at == length && !end)) {
    return Error(Code::kBadModel, "position ", *given, " in a sequence of ", length);
  }
  return at;
}

Status Expander::SequenceInsert(const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const Ids* items, Items(node, 0));
  const auto length = static_cast<int64_t>(items->size());
  int64_t at = length;
  if (node.input(2) != kNoValue) {
    AICF_ASSIGN_OR_RETURN(at, Position(node, 2, length, true));
  }
  if (node.input(1) == kNoValue) return Error(Code::kBadModel, "inserts nothing");
  Ids list = *items;
  list.insert(list.begin() + at, node.inputs[1]);
  sequences_[node.outputs[0]] = std::move(list);
  return OkStatus();
}

Status Expander::SequenceErase(const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const Ids* items, Items(node, 0));
  const auto length = static_cast<int64_t>(items->size());
  int64_t at = length - 1;
  if (node.input(1) != kNoValue) {
    AICF_ASSIGN_OR_RETURN(at, Position(node, 1, length, false));
  }
  if (at < 0) return Error(Code::kBadModel, "erases from an empty sequence");
  Ids list = *items;
  list.erase(list.begin() + at);
  sequences_[node.outputs[0]] = std::move(list);
  return OkStatus();
}

Status Expander::SequenceAt(const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const Ids* items, Items(node, 0));
  AICF_ASSIGN_OR_RETURN(const int64_t at,
                        Position(node, 1, static_cast<int64_t>(items->size()), false));
  return Bind(node, 0, (*items)[static_cast<size_t>(at)]);
}

Status Expander::SequenceMap(const ir::Node& node) {
  const ir::Body* body = node.FindBody("body");
  if (body == nullptr) return Error(Code::kBadModel, "has no body");
  AICF_ASSIGN_OR_RETURN(const Ids* first, Items(node, 0));
  const size_t length = first->size();
  std::vector<Ids> results(body->graph->outputs.size());
  if (node.outputs.size() > results.size()) {
    return Error(Code::kBadModel, "its body has ", results.size(), " outputs for ",
                 node.outputs.size(), " results");
  }
  for (size_t i = 0; i < length; ++i) {
    Ids arguments;
    for (ValueId v : node.inputs) {
      const auto items = sequences_.find(v);
      if (items != sequences_.end() && items->second.size() != length) {
        return Error(Code::kBadModel, "maps sequences of ", length, " and ", items->second.size());
      }
      arguments.push_back(items == sequences_.end() ? v : items->second[i]);
    }
    AICF_ASSIGN_OR_RETURN(const Ids one, Inline(node, *body, arguments, std::to_string(i)));
    for (size_t k = 0; k < one.size(); ++k) results[k].push_back(one[k]);
  }
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k] != kNoValue) sequences_[node.outputs[k]] = results[k];
  }
  return OkStatus();
}

Status Expander::SplitToSequence(const ir::Node& node) {
  if (node.input(0) == kNoValue) return Error(Code::kBadModel, "splits nothing");
  const Dims shape = graph_.values[node.inputs[0]].shape;
  int64_t axis = node.Int("axis", 0);
  if (axis < 0) axis += shape.rank();
  if (axis < 0 || axis >= shape.rank()) return Error(Code::kBadModel, "axis ", axis);
  const int64_t extent = shape[static_cast<int>(axis)];
  std::vector<int64_t> sizes;
  const ValueId split = node.input(1);
  if (split != kNoValue && !graph_.values[split].is_constant()) {
    return Error(Code::kUnsupported, "its sizes are known at run time only; bind them with --bind");
  }
  const bool listed = split != kNoValue && graph_.values[split].shape.rank() == 1;
  if (listed) {
    const ir::Tensor& given = graph_.values[split].constant;
    for (int64_t i = 0; i < given.count(); ++i) sizes.push_back(given.IntAt(i));
  } else {
    const int64_t size = split == kNoValue ? 1 : graph_.values[split].constant.IntAt(0);
    if (size < 1) return Error(Code::kBadModel, "splits into pieces of ", size);
    AICF_RETURN_IF_ERROR(context_.budgets.Check(Budget::kNodes, CeilDiv(extent, size)));
    for (int64_t at = 0; at < extent; at += size) sizes.push_back(std::min(size, extent - at));
  }
  Ids items;
  int64_t at = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > extent - at) return Error(Code::kBadModel, "its sizes pass the extent");
    const auto ints = [&](int64_t v) {
      return make_.Ints(StrCat(node.name, "/bound"), std::vector<int64_t>{v});
    };
    AICF_ASSIGN_OR_RETURN(
        ValueId item, Emit(node, "Slice", {node.inputs[0], ints(at), ints(at + size), ints(axis)}));
    if (split == kNoValue && node.Int("keepdims", 1) == 0) {
      AICF_ASSIGN_OR_RETURN(item, Emit(node, "Squeeze", {item, ints(axis)}));
    }
    items.push_back(item);
    at += size;
  }
  if (at != extent) return Error(Code::kBadModel, "its sizes add up to ", at, " of ", extent);
  sequences_[node.outputs[0]] = std::move(items);
  return OkStatus();
}

Status Expander::ConcatFromSequence(const ir::Node& node) {
  AICF_ASSIGN_OR_RETURN(const Ids* items, Items(node, 0));
  if (items->empty()) return Error(Code::kBadModel, "concatenates an empty sequence");
  const Ids list = *items;
  const int64_t axis = node.Int("axis", 0);
  if (node.Int("new_axis", 0) == 0) {
    return EmitInto(node, "Concat", list, node.outputs[0], {{"axis", ir::AttrValue(axis)}});
  }
  AICF_ASSIGN_OR_RETURN(const ValueId stacked, Stack(node, list, axis));
  return Bind(node, 0, stacked);
}

Status Expander::Sequence(const ir::Node& node) {
  if (node.outputs.empty() || node.outputs[0] == kNoValue) return OkStatus();
  if (node.op == "SequenceConstruct") {
    sequences_[node.outputs[0]] = node.inputs;
    return OkStatus();
  }
  if (node.op == "SequenceEmpty") {
    sequences_[node.outputs[0]] = {};
    return OkStatus();
  }
  if (node.op == "SequenceLength") {
    AICF_ASSIGN_OR_RETURN(const Ids* items, Items(node, 0));
    return Bind(node, 0, Int(StrCat(node.name, "/length"), static_cast<int64_t>(items->size())));
  }
  if (node.op == "SequenceInsert") return SequenceInsert(node);
  if (node.op == "SequenceErase") return SequenceErase(node);
  if (node.op == "SequenceAt") return SequenceAt(node);
  if (node.op == "SequenceMap") return SequenceMap(node);
  if (node.op == "SplitToSequence") return SplitToSequence(node);
  return ConcatFromSequence(node);
}

Status Expander::Optional(const ir::Node& node) {
  if (node.outputs.empty() || node.outputs[0] == kNoValue) return OkStatus();
  const ValueId value = node.input(0);
  if (node.op == "OptionalHasElement") {
    return Bind(node, 0, Bool(StrCat(node.name, "/has"), !IsNone(value)));
  }
  if (node.op == "OptionalGetElement" && IsNone(value)) {
    return Error(Code::kBadModel, "takes the element of an empty optional");
  }
  return Bind(node, 0, value);
}

}  // namespace aicf
