// The inverse of program_text.cc.
#include <charconv>
#include <limits>

#include "base/scanner.h"
#include "schema/program.h"

namespace aicf::schema {
namespace {

// An integer of any width, printed as a signed one.
template <class T>
Status ReadInt(Scanner& in, T& out) {
  AICF_ASSIGN_OR_RETURN(const int64_t v, in.Int());
  if constexpr (sizeof(T) < sizeof(int64_t)) {
    if (v < std::numeric_limits<T>::min() || v > std::numeric_limits<T>::max()) {
      return in.Fail("a smaller integer");
    }
  }
  out = static_cast<T>(v);
  return OkStatus();
}

template <class T>
Status ReadField(Scanner& in, std::string_view token, T& out) {
  AICF_RETURN_IF_ERROR(in.Expect(token));
  return ReadInt(in, out);
}

Status ReadText(Scanner& in, std::string& out) {
  AICF_ASSIGN_OR_RETURN(out, in.Quoted());
  return OkStatus();
}

Status ReadRefs(Scanner& in, std::string_view token, std::vector<uint32_t>& out) {
  AICF_RETURN_IF_ERROR(in.Expect(token));
  AICF_RETURN_IF_ERROR(in.Expect("["));
  while (!in.Accept("]")) AICF_RETURN_IF_ERROR(ReadField(in, "%", out.emplace_back()));
  return OkStatus();
}

Status ReadNames(Scanner& in, std::vector<std::string>& out) {
  AICF_RETURN_IF_ERROR(in.Expect("["));
  while (!in.Accept("]")) AICF_RETURN_IF_ERROR(ReadText(in, out.emplace_back()));
  return OkStatus();
}

Status ReadTriple(Scanner& in, uint32_t (&out)[3]) {
  AICF_RETURN_IF_ERROR(ReadInt(in, out[0]));
  AICF_RETURN_IF_ERROR(ReadField(in, ",", out[1]));
  return ReadField(in, ",", out[2]);
}

Result<Role> ReadRole(Scanner& in) {
  for (int i = 0; i < static_cast<int>(Role::kCount); ++i) {
    if (in.Accept(RoleName(static_cast<Role>(i)))) return static_cast<Role>(i);
  }
  return in.Fail("a role");
}

Status ReadPlace(Scanner& in, Buffer& b) {
  if (in.Accept("alias")) {
    b.storage = Storage::kAlias;
    return ReadField(in, "%", b.alias_of);
  }
  if (in.Accept("weights")) {
    b.storage = Storage::kWeights;
  } else if (in.Accept("state")) {
    b.storage = Storage::kState;
  } else {
    AICF_RETURN_IF_ERROR(in.Expect("arena"));
  }
  return ReadField(in, "+", b.offset);
}

// Two hex digits a byte.
bool ParseHex(std::string_view text, std::vector<uint8_t>& out) {
  if (text.size() % 2 != 0) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    const char* end = text.data() + i + 2;
    const auto [next, ec] = std::from_chars(text.data() + i, end, out.emplace_back(), 16);
    if (ec != std::errc() || next != end) return false;
  }
  return true;
}

// Printed with an x in front: a Word does not start with a digit.
Result<Hash128> ReadHash(Scanner& in) {
  AICF_ASSIGN_OR_RETURN(const std::string_view hex, in.Word());
  std::vector<uint8_t> bytes;
  if (hex.size() != 33 || hex[0] != 'x' || !ParseHex(hex.substr(1), bytes)) {
    return in.Fail("a hash of 32 hex digits");
  }
  Hash128 hash;
  for (int i = 0; i < 8; ++i) {
    hash.high = hash.high << 8 | bytes[i];
    hash.low = hash.low << 8 | bytes[8 + i];
  }
  return hash;
}

Result<Buffer> ReadBuffer(Scanner& in, size_t index) {
  Buffer b;
  size_t number = 0;
  AICF_RETURN_IF_ERROR(ReadField(in, "%", number));
  if (number != index) return in.Fail(StrCat("buffer %", index));
  AICF_RETURN_IF_ERROR(ReadText(in, b.name));
  AICF_ASSIGN_OR_RETURN(const std::string_view dtype_name, in.Word());
  const std::optional<DType> dtype = ParseDType(dtype_name);
  if (!dtype) return in.Fail("a dtype");
  b.dtype = *dtype;
  AICF_ASSIGN_OR_RETURN(b.shape, in.Shape());
  AICF_ASSIGN_OR_RETURN(b.role, ReadRole(in));
  AICF_RETURN_IF_ERROR(ReadPlace(in, b));
  AICF_RETURN_IF_ERROR(ReadInt(in, b.bytes));
  if (in.Accept("origin")) {
    PackedOrigin& origin = b.origin.emplace();
    AICF_RETURN_IF_ERROR(ReadText(in, origin.layout));
    AICF_ASSIGN_OR_RETURN(origin.hash, ReadHash(in));
  }
  return b;
}

Result<Image> ReadImage(Scanner& in) {
  Image i;
  AICF_RETURN_IF_ERROR(ReadText(in, i.arch));
  AICF_RETURN_IF_ERROR(ReadText(in, i.compiler));
  AICF_ASSIGN_OR_RETURN(i.hash, ReadHash(in));
  AICF_RETURN_IF_ERROR(ReadField(in, "+", i.offset));
  AICF_RETURN_IF_ERROR(ReadInt(in, i.bytes));
  return i;
}

Result<Dims> ReadList(Scanner& in, std::string_view name) {
  AICF_RETURN_IF_ERROR(in.Expect(name));
  return in.List();
}

Result<abi::TensorMap> ReadTensorMap(Scanner& in) {
  abi::TensorMap m;
  AICF_RETURN_IF_ERROR(ReadInt(in, m.operand));
  AICF_ASSIGN_OR_RETURN(m.extents, ReadList(in, "extents="));
  AICF_ASSIGN_OR_RETURN(m.strides, ReadList(in, "strides="));
  AICF_ASSIGN_OR_RETURN(m.box, ReadList(in, "box="));
  AICF_ASSIGN_OR_RETURN(m.steps, ReadList(in, "steps="));
  AICF_RETURN_IF_ERROR(ReadField(in, "+", m.offset));
  uint32_t swizzle = 0, fill = 0;
  AICF_RETURN_IF_ERROR(ReadField(in, "swizzle=", swizzle));
  AICF_RETURN_IF_ERROR(ReadField(in, "fill=", fill));
  if (swizzle >= static_cast<uint32_t>(abi::Swizzle::kCount) ||
      fill >= static_cast<uint32_t>(abi::BoxFill::kCount)) {
    return in.Fail("a known swizzle and fill before this");
  }
  m.swizzle = static_cast<abi::Swizzle>(swizzle);
  m.fill = static_cast<abi::BoxFill>(fill);
  m.tf32 = in.Accept("tf32");
  return m;
}

Status ReadBackendFields(Scanner& in, Step& s) {
  if (in.Accept("parameters")) {
    AICF_ASSIGN_OR_RETURN(const std::string text, in.Quoted());
    AICF_ASSIGN_OR_RETURN(s.parameters, abi::ParseParameters(text));
  }
  if (in.Accept("launch")) {
    AICF_RETURN_IF_ERROR(ReadTriple(in, s.launch.grid));
    AICF_RETURN_IF_ERROR(ReadTriple(in, s.launch.block));
    AICF_RETURN_IF_ERROR(ReadTriple(in, s.launch.cluster));
    AICF_RETURN_IF_ERROR(ReadField(in, "shared=", s.launch.dynamic_shared_bytes));
  }
  while (in.Accept("map")) {
    AICF_ASSIGN_OR_RETURN(abi::TensorMap map, ReadTensorMap(in));
    s.tensor_maps.push_back(std::move(map));
  }
  if (in.Accept("image=")) {
    AICF_RETURN_IF_ERROR(ReadInt(in, s.image));
    AICF_RETURN_IF_ERROR(in.Expect("symbol="));
    AICF_RETURN_IF_ERROR(ReadText(in, s.symbol));
  }
  if (in.Accept("algorithm=")) {
    AICF_ASSIGN_OR_RETURN(const std::string hex, in.Quoted());
    if (!ParseHex(hex, s.algorithm)) return in.Fail("pairs of hex digits");
    AICF_RETURN_IF_ERROR(ReadField(in, "library=", s.library_version));
  }
  return OkStatus();
}

Status ReadGuards(Scanner& in, std::vector<Guard>& guards) {
  while (in.Peek("if") || in.Peek("unless")) {
    const bool expected = in.Peek("if");
    std::vector<uint32_t> buffer;
    AICF_RETURN_IF_ERROR(ReadRefs(in, expected ? "if" : "unless", buffer));
    if (buffer.size() != 1) return in.Fail("one buffer before this");
    guards.push_back({buffer[0], expected});
  }
  return OkStatus();
}

Status ReadOrder(Scanner& in, Step& s) {
  if (in.Accept("stream=")) AICF_RETURN_IF_ERROR(ReadInt(in, s.stream));
  if (in.Peek("waits=")) {
    AICF_ASSIGN_OR_RETURN(const Dims waits, ReadList(in, "waits="));
    for (int64_t w : waits) {
      if (w < 0 || w > std::numeric_limits<uint32_t>::max()) return in.Fail("steps before this");
      s.waits.push_back(static_cast<uint32_t>(w));
    }
  }
  s.programmatic = in.Accept("programmatic");
  return OkStatus();
}

Result<Step> ReadStep(Scanner& in) {
  Step s;
  AICF_RETURN_IF_ERROR(ReadText(in, s.kernel));
  AICF_RETURN_IF_ERROR(in.Expect("from"));
  AICF_RETURN_IF_ERROR(ReadNames(in, s.sources));
  AICF_RETURN_IF_ERROR(ReadRefs(in, "in", s.inputs));
  AICF_RETURN_IF_ERROR(ReadRefs(in, "out", s.outputs));
  AICF_RETURN_IF_ERROR(ReadGuards(in, s.guards));
  AICF_RETURN_IF_ERROR(ReadOrder(in, s));
  AICF_RETURN_IF_ERROR(ReadField(in, "packed=", s.packed_inputs));
  AICF_RETURN_IF_ERROR(ReadField(in, "work=", s.workspace_offset));
  AICF_RETURN_IF_ERROR(ReadField(in, "+", s.workspace_bytes));
  AICF_RETURN_IF_ERROR(in.Expect("{"));
  AICF_ASSIGN_OR_RETURN(s.problem, abi::ParseProblemFrom(in));
  AICF_RETURN_IF_ERROR(in.Expect("}"));
  AICF_RETURN_IF_ERROR(ReadBackendFields(in, s));
  return s;
}

Result<Padding> ReadPadding(Scanner& in) {
  Padding p;
  AICF_RETURN_IF_ERROR(ReadField(in, "from", p.min));
  AICF_RETURN_IF_ERROR(in.Expect("in"));
  while (!in.Accept("out")) {
    PaddedInput& i = p.inputs.emplace_back();
    AICF_RETURN_IF_ERROR(ReadInt(in, i.input));
    AICF_RETURN_IF_ERROR(ReadField(in, "axis", i.axis));
  }
  while (!in.Accept("end")) {
    PaddedOutput& o = p.outputs.emplace_back();
    AICF_RETURN_IF_ERROR(ReadInt(in, o.output));
    AICF_RETURN_IF_ERROR(ReadField(in, "axis", o.axis));
    AICF_RETURN_IF_ERROR(ReadField(in, "by", o.factor));
  }
  return p;
}

Result<EntryPoint> ReadEntry(Scanner& in) {
  EntryPoint e;
  AICF_RETURN_IF_ERROR(ReadText(in, e.name));
  AICF_RETURN_IF_ERROR(ReadField(in, "steps", e.first_step));
  AICF_RETURN_IF_ERROR(ReadInt(in, e.step_count));
  AICF_RETURN_IF_ERROR(ReadRefs(in, "in", e.inputs));
  AICF_RETURN_IF_ERROR(ReadRefs(in, "out", e.outputs));
  if (in.Peek("meta[")) AICF_RETURN_IF_ERROR(ReadRefs(in, "meta", e.metas));
  while (in.Peek("extent")) {
    OutputExtent x;
    AICF_RETURN_IF_ERROR(ReadField(in, "extent", x.output));
    AICF_RETURN_IF_ERROR(ReadField(in, "axis", x.axis));
    AICF_RETURN_IF_ERROR(ReadField(in, "count", x.count));
    e.extents.push_back(x);
  }
  while (in.Peek("loop")) {
    Loop l;
    AICF_RETURN_IF_ERROR(ReadField(in, "loop", l.first_step));
    AICF_RETURN_IF_ERROR(ReadInt(in, l.step_count));
    AICF_RETURN_IF_ERROR(in.Expect("while"));
    AICF_RETURN_IF_ERROR(ReadField(in, "%", l.condition));
    e.loops.push_back(l);
  }
  while (in.Accept("pad")) {
    AICF_ASSIGN_OR_RETURN(Padding padding, ReadPadding(in));
    e.paddings.push_back(std::move(padding));
  }
  return e;
}

Status ReadFirstLine(Scanner& in, Program& p) {
  AICF_RETURN_IF_ERROR(in.Expect("program"));
  AICF_RETURN_IF_ERROR(in.Expect("target="));
  AICF_RETURN_IF_ERROR(ReadText(in, p.target));
  AICF_RETURN_IF_ERROR(in.Expect("math="));
  AICF_ASSIGN_OR_RETURN(const std::string_view math, in.Word());
  const std::optional<abi::MathMode> mode = abi::ParseMathMode(math);
  if (!mode) return in.Fail("a math mode");
  p.math = *mode;
  AICF_RETURN_IF_ERROR(ReadField(in, "arena=", p.arena_bytes));
  AICF_RETURN_IF_ERROR(ReadField(in, "lower=", p.arena_lower_bound));
  AICF_RETURN_IF_ERROR(ReadField(in, "weights=", p.weights_bytes));
  return in.Peek("state=") ? ReadField(in, "state=", p.state_bytes) : OkStatus();
}

template <class T>
Status Append(Result<T> item, std::vector<T>& list) {
  if (!item.ok()) return item.status();
  list.push_back(*std::move(item));
  return OkStatus();
}

Status ReadItem(Scanner& in, Program& p) {
  if (in.Accept("buffer")) return Append(ReadBuffer(in, p.buffers.size()), p.buffers);
  if (in.Accept("image")) return Append(ReadImage(in), p.images);
  if (in.Accept("step")) return Append(ReadStep(in), p.steps);
  if (in.Accept("entry")) return Append(ReadEntry(in), p.entry_points);
  if (in.Accept("guard-image")) return ReadInt(in, p.guard_image);
  if (in.Accept("metadata")) {
    auto& [key, value] = p.metadata.emplace_back();
    AICF_RETURN_IF_ERROR(ReadText(in, key));
    return ReadText(in, value);
  }
  return in.Fail("'buffer', 'image', 'step', 'entry' or 'metadata'");
}

}  // namespace

Result<Program> ParseProgram(std::string_view text) {
  Scanner in(text);
  Program p;
  AICF_RETURN_IF_ERROR(ReadFirstLine(in, p));
  while (!in.AtEnd()) AICF_RETURN_IF_ERROR(ReadItem(in, p));
  return p;
}

}  // namespace aicf::schema
