// lowered "name"
// %0 = input "x" f32 1x3
// %1 = constant "w" f32 3 [1, 2, 3]
// inputs %0
// outputs %2
// extent 0 axis 1 count 2                          output 0 ends where output 2 says
// state %0 %2                                      %2 is the next replay's %0
// loop 0 while %5                                  repeats while %5 is true
// loop 1 while %6 in 0                             inside loop 0
// step ["node"] (%0, %1) -> (%2) : elementwise ...
// step ["node"] loop 1 (%0, %1) -> (%2) : ...      one of the steps that loop 1 repeats
// step ["node"] if %3 (%0) -> (%4) : ...           runs where %3 is true; "if not %3": where false
#include "base/scanner.h"
#include "compiler/ir/constant_text.h"
#include "compiler/ir/lowered.h"
#include "compiler/ir/text.h"

namespace aicf::ir {
namespace {

std::string Ids(const std::vector<BufferId>& ids) {
  std::string out;
  for (size_t i = 0; i < ids.size(); ++i) out += StrCat(i == 0 ? "%" : ", %", ids[i]);
  return out;
}

std::string ToText(const LoweredBuffer& b) {
  std::string out = StrCat(schema::RoleName(b.role), " ", Quote(b.name), " ", DTypeName(b.dtype),
                           " ", ToString(b.shape));
  if (b.constant.has_data()) out += " " + ConstantText(b.constant);
  return out;
}

std::string ToText(const LoweredStep& s) {
  std::string out = "step [";
  for (size_t i = 0; i < s.sources.size(); ++i) out += (i == 0 ? "" : ", ") + Quote(s.sources[i]);
  out += "]";
  if (s.loop != kNoLoop) out += StrCat(" loop ", s.loop);
  for (const schema::Guard& g : s.guards) {
    out += StrCat(g.expected ? " if %" : " if not %", g.buffer);
  }
  return StrCat(out, " (", Ids(s.inputs), ") -> (", Ids(s.outputs),
                ") : ", abi::ToString(s.problem));
}

Result<schema::Role> ParseRole(Scanner& in) {
  Scanner before = in;
  AICF_ASSIGN_OR_RETURN(const std::string_view name, in.Word());
  for (int r = 0; r < static_cast<int>(schema::Role::kCount); ++r) {
    if (schema::RoleName(static_cast<schema::Role>(r)) == name) return static_cast<schema::Role>(r);
  }
  return before.Fail("a role");
}

Result<BufferId> ParseId(Scanner& in, size_t buffers) {
  AICF_RETURN_IF_ERROR(in.Expect("%"));
  AICF_ASSIGN_OR_RETURN(const int64_t id, in.Int());
  if (id < 0 || static_cast<uint64_t>(id) >= buffers) return in.Fail("a buffer defined above");
  return static_cast<BufferId>(id);
}

Result<std::vector<BufferId>> ParseIds(Scanner& in, size_t buffers) {
  std::vector<BufferId> ids;
  if (!in.Peek("%")) return ids;
  do {
    AICF_ASSIGN_OR_RETURN(const BufferId id, ParseId(in, buffers));
    ids.push_back(id);
  } while (in.Accept(","));
  return ids;
}

Result<std::vector<BufferId>> ParseIdTuple(Scanner& in, size_t buffers) {
  AICF_RETURN_IF_ERROR(in.Expect("("));
  AICF_ASSIGN_OR_RETURN(std::vector<BufferId> ids, ParseIds(in, buffers));
  AICF_RETURN_IF_ERROR(in.Expect(")"));
  return ids;
}

Result<LoweredBuffer> ParseBuffer(Scanner& in, ConstantReader& constants) {
  LoweredBuffer b;
  AICF_ASSIGN_OR_RETURN(b.role, ParseRole(in));
  AICF_ASSIGN_OR_RETURN(b.name, in.Quoted());
  AICF_ASSIGN_OR_RETURN(const std::string_view dtype_name, in.Word());
  const std::optional<DType> dtype = ParseDType(dtype_name);
  if (!dtype) return in.Fail("a dtype before this");
  b.dtype = *dtype;
  AICF_ASSIGN_OR_RETURN(b.shape, in.Shape());
  if (in.Peek("[") || in.Peek("@")) {
    AICF_ASSIGN_OR_RETURN(b.constant, constants.Read(in, b.dtype, b.shape));
  }
  return b;
}

Result<std::vector<std::string>> ParseSources(Scanner& in) {
  std::vector<std::string> sources;
  AICF_RETURN_IF_ERROR(in.Expect("["));
  if (in.Accept("]")) return sources;
  do {
    AICF_ASSIGN_OR_RETURN(std::string name, in.Quoted());
    sources.push_back(std::move(name));
  } while (in.Accept(","));
  AICF_RETURN_IF_ERROR(in.Expect("]"));
  return sources;
}

// `loops` counts those defined above.
Result<LoweredLoop> ParseLoop(Scanner& in, size_t buffers, size_t loops) {
  LoweredLoop loop;
  AICF_ASSIGN_OR_RETURN(const int64_t number, in.Int());
  if (number != static_cast<int64_t>(loops))
    return in.Fail(StrCat("the definition of loop ", loops));
  AICF_RETURN_IF_ERROR(in.Expect("while"));
  AICF_ASSIGN_OR_RETURN(loop.condition, ParseId(in, buffers));
  if (!in.Accept("in")) return loop;
  AICF_ASSIGN_OR_RETURN(const int64_t parent, in.Int());
  if (parent < 0 || parent >= number) return in.Fail("a loop defined above");
  loop.parent = static_cast<int32_t>(parent);
  return loop;
}

Result<LoweredStep> ParseStep(Scanner& in, size_t buffers, size_t loops) {
  LoweredStep s;
  AICF_ASSIGN_OR_RETURN(s.sources, ParseSources(in));
  if (in.Accept("loop")) {
    AICF_ASSIGN_OR_RETURN(const int64_t loop, in.Int());
    if (loop < 0 || static_cast<uint64_t>(loop) >= loops) return in.Fail("a loop defined above");
    s.loop = static_cast<int32_t>(loop);
  }
  while (in.Accept("if")) {
    schema::Guard guard;
    guard.expected = !in.Accept("not");
    AICF_ASSIGN_OR_RETURN(guard.buffer, ParseId(in, buffers));
    s.guards.push_back(guard);
  }
  AICF_ASSIGN_OR_RETURN(s.inputs, ParseIdTuple(in, buffers));
  AICF_RETURN_IF_ERROR(in.Expect("->"));
  AICF_ASSIGN_OR_RETURN(s.outputs, ParseIdTuple(in, buffers));
  AICF_RETURN_IF_ERROR(in.Expect(":"));
  AICF_ASSIGN_OR_RETURN(s.problem, abi::ParseProblemFrom(in));
  return s;
}

}  // namespace

std::string ToString(const Lowered& lowered) {
  std::string out = StrCat("lowered ", Quote(lowered.name), "\n");
  for (size_t i = 0; i < lowered.buffers.size(); ++i) {
    out += StrCat("%", i, " = ", ToText(lowered.buffers[i]), "\n");
  }
  out += StrCat("inputs ", Ids(lowered.inputs), "\noutputs ", Ids(lowered.outputs), "\n");
  for (const schema::OutputExtent& x : lowered.extents) {
    out += StrCat("extent ", x.output, " axis ", x.axis, " count ", x.count, "\n");
  }
  for (const LoweredState& s : lowered.states) {
    out += StrCat("state %", s.past, " %", s.present, "\n");
  }
  for (size_t l = 0; l < lowered.loops.size(); ++l) {
    const LoweredLoop& loop = lowered.loops[l];
    out += StrCat("loop ", l, " while %", loop.condition);
    if (loop.parent != kNoLoop) out += StrCat(" in ", loop.parent);
    out += "\n";
  }
  for (const LoweredStep& s : lowered.steps) out += ToText(s) + "\n";
  return out;
}

Result<Lowered> ParseLowered(std::string_view text, const ConstantResolver& resolve) {
  Scanner in(text);
  ConstantReader constants(resolve);
  Lowered lowered;
  AICF_RETURN_IF_ERROR(in.Expect("lowered"));
  AICF_ASSIGN_OR_RETURN(lowered.name, in.Quoted());
  while (in.Accept("%")) {
    AICF_ASSIGN_OR_RETURN(const int64_t id, in.Int());
    if (id != static_cast<int64_t>(lowered.buffers.size())) {
      return in.Fail(StrCat("the definition of %", lowered.buffers.size()));
    }
    AICF_RETURN_IF_ERROR(in.Expect("="));
    AICF_ASSIGN_OR_RETURN(LoweredBuffer b, ParseBuffer(in, constants));
    lowered.buffers.push_back(std::move(b));
  }
  AICF_RETURN_IF_ERROR(in.Expect("inputs"));
  AICF_ASSIGN_OR_RETURN(lowered.inputs, ParseIds(in, lowered.buffers.size()));
  AICF_RETURN_IF_ERROR(in.Expect("outputs"));
  AICF_ASSIGN_OR_RETURN(lowered.outputs, ParseIds(in, lowered.buffers.size()));
  while (in.Accept("extent")) {
    AICF_ASSIGN_OR_RETURN(const int64_t output, in.Int());
    AICF_RETURN_IF_ERROR(in.Expect("axis"));
    AICF_ASSIGN_OR_RETURN(const int64_t axis, in.Int());
    AICF_RETURN_IF_ERROR(in.Expect("count"));
    AICF_ASSIGN_OR_RETURN(const int64_t count, in.Int());
    lowered.extents.push_back(
        {static_cast<uint32_t>(output), static_cast<uint32_t>(axis), static_cast<uint32_t>(count)});
  }
  while (in.Accept("state")) {
    LoweredState state;
    AICF_ASSIGN_OR_RETURN(state.past, ParseId(in, lowered.buffers.size()));
    AICF_ASSIGN_OR_RETURN(state.present, ParseId(in, lowered.buffers.size()));
    lowered.states.push_back(state);
  }
  while (in.Accept("loop")) {
    AICF_ASSIGN_OR_RETURN(const LoweredLoop loop,
                          ParseLoop(in, lowered.buffers.size(), lowered.loops.size()));
    lowered.loops.push_back(loop);
  }
  while (in.Accept("step")) {
    AICF_ASSIGN_OR_RETURN(LoweredStep s,
                          ParseStep(in, lowered.buffers.size(), lowered.loops.size()));
    lowered.steps.push_back(std::move(s));
  }
  if (!in.AtEnd()) return in.Fail("a step or the end");
  return lowered;
}

std::string TypeText(const LoweredBuffer& b) {
  return StrCat(DTypeName(b.dtype), " ", ToString(b.shape));
}

}  // namespace aicf::ir
