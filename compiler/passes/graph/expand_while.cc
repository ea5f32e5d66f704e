// Loop with trips that a run decides: its body once, between the two ends of
// compiler/ir/loop_nodes.h.
//
// State: whether another trip starts, the number of trips made, the carried values, and the stacked
// results, of which each trip fills one position.
#include <algorithm>

#include "base/scanner.h"
#include "compiler/ir/dynamic_extent.h"
#include "compiler/ir/loop_nodes.h"
#include "compiler/passes/graph/expand.h"
#include "compiler/passes/graph/loop_form.h"

namespace aicf {

using ir::kNoValue;
using ir::ValueId;

namespace {

// Most bytes of a stacked result, which has room for all trips that the loop might make.
constexpr int64_t kMaxScanBytes = int64_t{1} << 30;

enum : size_t { kGo, kTrip, kFirstCarried };

}  // namespace

Result<ValueId> Expander::FirstCondition(const ir::Node& node, const LoopForm& form) {
  ValueId go = kNoValue;
  const auto also = [&](ValueId condition) -> Status {
    if (go == kNoValue) {
      go = condition;
      return OkStatus();
    }
    AICF_ASSIGN_OR_RETURN(go, Emit(node, "And", {go, condition}));
    return OkStatus();
  };
  // In a branch that is not taken values are arbitrary, and nothing says that they would end a
  // loop. So the loop starts only where all branches around it are taken.
  for (const auto& [taken, when] : path_) {
    AICF_ASSIGN_OR_RETURN(ValueId condition, Scalar(node, taken));
    if (!when) {
      AICF_ASSIGN_OR_RETURN(condition, Emit(node, "Not", {condition}));
    }
    AICF_RETURN_IF_ERROR(also(condition));
  }
  if (node.input(1) != kNoValue) {
    AICF_ASSIGN_OR_RETURN(const ValueId condition, Scalar(node, node.inputs[1]));
    AICF_RETURN_IF_ERROR(also(condition));
  }
  if (form.limited) {
    AICF_ASSIGN_OR_RETURN(const ValueId limit, Scalar(node, node.inputs[0]));
    AICF_ASSIGN_OR_RETURN(const ValueId any,
                          Emit(node, "Less", {Int(StrCat(node.name, "/i"), 0), limit}));
    AICF_RETURN_IF_ERROR(also(any));
  }
  return go == kNoValue ? Bool(node.name, true) : go;
}

Result<ValueId> Expander::NextCondition(const ir::Node& node, const LoopForm& form, ValueId go,
                                        ValueId trip) {
  AICF_ASSIGN_OR_RETURN(const std::optional<int64_t> known, ConstantScalar(go));
  AICF_ASSIGN_OR_RETURN(go, Scalar(node, go));
  if (!form.limited) {
    if (!known || *known == 0) return go;
    return Error(Code::kUnsupported,
                 "has no trip count, and its condition stays true: it would never end");
  }
  if (known && *known == 0) return go;
  AICF_ASSIGN_OR_RETURN(const ValueId limit, Scalar(node, node.inputs[0]));
  AICF_ASSIGN_OR_RETURN(const ValueId more, Emit(node, "Less", {trip, limit}));
  if (known) return more;
  return Emit(node, "And", {go, more});
}

Status Expander::CheckCarried(const LoopForm& form, const Ids& state, const Ids& next) const {
  for (size_t c = 0; c < form.carried; ++c) {
    const ir::Graph& body = *form.body->graph;
    const std::string name = Quote(body.values[body.outputs[1 + c]].name);
    if (IsSequence(next[c]) || IsNone(next[c])) {
      return Error(Code::kUnsupported, "carries the sequence or optional ", name,
                   " over trips whose number is known at run time only; bind what ends it with "
                   "--bind, or give the model a constant trip count");
    }
    const ir::Value &before = graph_.values[state[c]], &after = graph_.values[next[c]];
    if (before.dtype != after.dtype) {
      return Error(Code::kBadModel, "carries ", name, " in as ", DTypeName(before.dtype),
                   " and out as ", DTypeName(after.dtype));
    }
    if (before.shape == after.shape) continue;
    return Error(
        Code::kUnsupported, "carries ", name, " into a trip as ", ToString(before.shape),
        " and out of it as ", ToString(after.shape),
        ": with trips whose number is known at run time only its shape cannot change; bind "
        "what ends it with --bind, or give the model a constant trip count");
  }
  return OkStatus();
}

// The shape of a stacked result, with a row for each trip that there may be. Errors: kUnsupported
// where nothing says how many there are, or they are too many.
Result<Dims> Expander::StackedShape(const LoopForm& form, ValueId row,
                                    std::string_view name) const {
  if (IsSequence(row) || IsNone(row)) {
    return Error(Code::kUnsupported, "stacks sequences or optionals as ", name);
  }
  if (!form.trips) {
    return Error(Code::kUnsupported, "stacks ", name,
                 " over trips of which nothing says how many "
                 "they are at most; give the model a constant trip count (its condition may end "
                 "the loop earlier), or bind the trip count with --bind");
  }
  const ir::Value& item = graph_.values[row];
  Dims shape{*form.trips};
  for (int d = 0; d < item.shape.rank() && shape.rank() < kMaxRank; ++d) {
    shape.push_back(item.shape[d]);
  }
  const std::optional<int64_t> count = ElementCount(shape);
  if (count && *count <= kMaxScanBytes / DTypeBytes(item.dtype) &&
      shape.rank() == item.shape.rank() + 1) {
    return shape;
  }
  return Error(Code::kUnsupported, "stacks ", name, " of ", ToString(item.shape), " over up to ",
               *form.trips, " trips: more than ", kMaxScanBytes,
               " bytes; give the model a smaller constant trip count");
}

// Adds a stacked result to the state of the loop. Each trip writes its own row of it.
Status Expander::AddScan(const ir::Node& node, size_t begin, const Dims& shape, ValueId row,
                         Ids* next) {
  const DType dtype = graph_.values[row].dtype;
  const std::vector<std::byte> zero(static_cast<size_t>(DTypeBytes(dtype)));
  const ValueId none =
      make_.Constant(StrCat(node.name, "/none"), ir::Tensor::Own(dtype, Dims{}, zero));
  AICF_ASSIGN_OR_RETURN(
      const ValueId empty,
      Emit(node, "Expand", {none, make_.Ints(StrCat(node.name, "/shape"), shape.span())}));
  const ValueId state = make_.Value(StrCat(node.name, "/stacked"), dtype, shape);
  graph_.nodes[begin].inputs.push_back(empty);
  graph_.nodes[begin].outputs.push_back(state);
  const ValueId one_one = make_.Ints(StrCat(node.name, "/at"), std::vector<int64_t>{1, 1});
  AICF_ASSIGN_OR_RETURN(const ValueId index,
                        Emit(node, "Reshape", {graph_.nodes[begin].outputs[kTrip], one_one}));
  const ValueId axis = make_.Ints(StrCat(node.name, "/axis"), std::vector<int64_t>{0});
  AICF_ASSIGN_OR_RETURN(const ValueId update, Emit(node, "Unsqueeze", {row, axis}));
  AICF_ASSIGN_OR_RETURN(const ValueId filled, Emit(node, "ScatterND", {state, index, update}));
  next->push_back(filled);
  return OkStatus();
}

Status Expander::AddScans(const ir::Node& node, const LoopForm& form, size_t begin, const Ids& rows,
                          Ids* next) {
  for (size_t s = 0; s < form.scans; ++s) {
    const size_t output = form.carried + s;
    if (output >= node.outputs.size() || node.outputs[output] == kNoValue) continue;
    const std::string name = Quote(graph_.values[node.outputs[output]].name);
    AICF_ASSIGN_OR_RETURN(const Dims shape, StackedShape(form, rows[s], name));
    AICF_RETURN_IF_ERROR(AddScan(node, begin, shape, rows[s], next));
  }
  return OkStatus();
}

Result<Expander::Ids> Expander::EndLoop(const ir::Node& node, size_t begin, const Ids& next) {
  ir::Node end;
  end.op = ir::kLoopEnd;
  end.name = node.name;
  end.inputs = graph_.nodes[begin].outputs;
  end.attrs = graph_.nodes[begin].attrs;
  for (ValueId v : end.inputs) {
    const ir::Value state = graph_.values[v];
    end.outputs.push_back(make_.Value(StrCat(node.name, "/last"), state.dtype, state.shape));
  }
  end.inputs.insert(end.inputs.end(), next.begin(), next.end());
  const Ids last = end.outputs;
  AICF_RETURN_IF_ERROR(visit_(std::move(end)));
  return last;
}

// Moves nodes in front of the loop that depend on nothing of its state: they would give the same in
// every trip.
void Expander::Hoist(size_t begin) {
  std::vector<bool> changes(graph_.values.size(), false);
  const auto stays = [&](const ir::Node& node) {
    const bool inside =
        node.op == ir::kLoopBegin || std::ranges::any_of(node.inputs, [&](ValueId v) {
          return v != kNoValue && changes[static_cast<size_t>(v)];
        });
    for (ValueId v : node.outputs) {
      if (v != kNoValue) changes[static_cast<size_t>(v)] = inside;
    }
    return inside;
  };
  const auto first = graph_.nodes.begin() + static_cast<ptrdiff_t>(begin);
  std::vector<ir::Node> inside;
  std::vector<ir::Node> hoisted;
  for (auto n = first; n != graph_.nodes.end(); ++n) {
    (stays(*n) ? inside : hoisted).push_back(std::move(*n));
  }
  std::ranges::move(inside, std::ranges::move(hoisted, first).out);
}

Status Expander::BindLoop(const ir::Node& node, const LoopForm& form, const Ids& last) {
  for (size_t c = 0; c < form.carried; ++c) {
    AICF_RETURN_IF_ERROR(Bind(node, c, last[kFirstCarried + c]));
  }
  size_t at = kFirstCarried + form.carried;
  for (size_t output = form.carried; output < node.outputs.size(); ++output) {
    if (node.outputs[output] == kNoValue) continue;
    if (form.whole) {
      AICF_RETURN_IF_ERROR(Bind(node, output, last[at++]));
      continue;
    }
    AICF_RETURN_IF_ERROR(EmitInto(node, ir::kCounted, {last[at++], last[kTrip]},
                                  node.outputs[output], {{"axis", ir::AttrValue(int64_t{0})}}));
  }
  return OkStatus();
}

Status Expander::Repeat(const ir::Node& node, const LoopForm& form) {
  const auto around = path_;
  const size_t nodes = graph_.nodes.size();
  const Status status = RepeatBody(node, form);
  path_ = around;
  // A caller that goes on after an error, with the other branch of an If, must not find half a
  // loop.
  if (!status.ok()) {
    graph_.nodes.erase(graph_.nodes.begin() + static_cast<ptrdiff_t>(nodes), graph_.nodes.end());
  }
  return status;
}

Status Expander::RepeatBody(const ir::Node& node, const LoopForm& form) {
  LoopForm own = form;
  AICF_ASSIGN_OR_RETURN(const std::optional<int64_t> starts, ConstantScalar(node.input(1)));
  own.whole = form.trips && path_.empty() && (node.input(1) == kNoValue || starts.value_or(0) != 0);
  Ids state(kFirstCarried);
  AICF_ASSIGN_OR_RETURN(state[kGo], FirstCondition(node, form));
  state[kTrip] = Int(StrCat(node.name, "/i"), 0);
  state.insert(state.end(), node.inputs.end() - static_cast<ptrdiff_t>(form.carried),
               node.inputs.end());
  AICF_RETURN_IF_ERROR(CheckCarried(form, {state.begin() + kFirstCarried, state.end()},
                                    {state.begin() + kFirstCarried, state.end()}));
  const size_t begin = graph_.nodes.size();
  ir::Node enter;
  enter.op = ir::kLoopBegin;
  enter.name = node.name;
  enter.attrs = {{"id", ir::AttrValue(loops_++)}};
  enter.inputs = state;
  for (ValueId& v : state) {
    const ir::Value initial = graph_.values[v];
    v = make_.Value(StrCat(node.name, "/state"), initial.dtype, initial.shape);
  }
  enter.outputs = state;
  AICF_RETURN_IF_ERROR(visit_(std::move(enter)));

  path_.clear();  // the loop makes no trip in a branch that is not taken
  Ids arguments = state;
  arguments[0] = state[kTrip];
  arguments[1] = Bool(node.name, true);
  AICF_ASSIGN_OR_RETURN(const Ids results, Inline(node, *form.body, arguments, ""));
  const auto first_scan = results.begin() + 1 + static_cast<ptrdiff_t>(form.carried);
  Ids next(results.begin() + 1, first_scan);
  AICF_RETURN_IF_ERROR(CheckCarried(form, {state.begin() + kFirstCarried, state.end()}, next));
  // The number of the trip changes last, when nothing reads the old one any more.
  AICF_RETURN_IF_ERROR(AddScans(node, form, begin, {first_scan, results.end()}, &next));
  AICF_ASSIGN_OR_RETURN(const ValueId trip,
                        Emit(node, "Add", {state[kTrip], Int(StrCat(node.name, "/one"), 1)}));
  AICF_ASSIGN_OR_RETURN(const ValueId go, NextCondition(node, form, results[0], trip));
  next.insert(next.begin(), {go, trip});
  AICF_ASSIGN_OR_RETURN(const Ids last, EndLoop(node, begin, next));
  Hoist(begin);
  Explain(node, "a loop that runs", "what ends it is known at run time only");
  AICF_ASSIGN_OR_RETURN(const std::optional<int64_t> goes_on, ConstantScalar(results[0]));
  own.whole = own.whole && goes_on.value_or(0) != 0;
  return BindLoop(node, own, last);
}

}  // namespace aicf
