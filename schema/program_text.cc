// The plan as text, one item a line:
//   program target="cpu:avx512" math=fp32 arena=512 lower=256 weights=64
//   buffer %0 "x" f32 1x3 input arena+0 12
//   buffer %2 "%2" f32 1x3 temp alias %1 12
//   buffer %3 "w packed" u8 96 constant weights+0 96 origin "cpu.gemm.panels4" x<hash>
//   image "sm_90a" "nvrtc 13.0" x<hash> +0 4096
//   step "cpu.elementwise.ref" from["relu_1"] in[%0] out[%2] packed=0 work=0+0 { <problem> }
//   buffer %3 "h" f32 1x3 state state+0 12      and, in its place, "h_next" ... state alias %3 12
//   entry "main" steps 0 1 in[%0] out[%2]       then " meta[%4]" where there are metas,
//   " extent 0 axis 1 count 2" per OutputExtent
//   and " loop 3 2 while %4" per Loop: two steps from step 3 on
// Fields of one backend follow a step's problem only where they are not at their defaults:
//   launch 1,1,1 128,1,1 1,1,1 shared=0   image=0 symbol="..."   algorithm=<hex> library=130000
// and, after its guards, its order on a GPU: stream=1 waits=[3, 5] programmatic
#include "base/scanner.h"
#include "schema/program.h"

namespace aicf::schema {
namespace {

std::string Signed(uint64_t v) { return std::to_string(static_cast<int64_t>(v)); }

std::string Refs(const std::vector<uint32_t>& buffers) {
  std::string out = "[";
  for (size_t i = 0; i < buffers.size(); ++i) out += StrCat(i == 0 ? "%" : " %", buffers[i]);
  return out + "]";
}

std::string Names(const std::vector<std::string>& names) {
  std::string out = "[";
  for (size_t i = 0; i < names.size(); ++i) out += (i == 0 ? "" : " ") + Quote(names[i]);
  return out + "]";
}

std::string Triple(const uint32_t (&v)[3]) { return StrCat(v[0], ",", v[1], ",", v[2]); }

std::string ToText(const Buffer& b, size_t index) {
  static constexpr std::string_view kPlaces[] = {"arena+", "weights+", "alias %", "state+"};
  const std::string place =
      StrCat(kPlaces[static_cast<int>(b.storage)],
             b.storage == Storage::kAlias ? std::to_string(b.alias_of) : Signed(b.offset));
  const std::string origin =
      b.origin ? StrCat(" origin ", Quote(b.origin->layout), " x", ToHex(b.origin->hash)) : "";
  return StrCat("buffer %", index, " ", Quote(b.name), " ", DTypeName(b.dtype), " ",
                ToString(b.shape), " ", RoleName(b.role), " ", place, " ", Signed(b.bytes), origin,
                "\n");
}

std::string ToText(const Image& i) {
  return StrCat("image ", Quote(i.arch), " ", Quote(i.compiler), " x", ToHex(i.hash), " +",
                Signed(i.offset), " ", Signed(i.bytes), "\n");
}

std::string Hex(const std::vector<uint8_t>& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (uint8_t b : bytes) {
    out.push_back(kDigits[b >> 4]);
    out.push_back(kDigits[b & 15]);
  }
  return out;
}

std::string ListText(const std::vector<uint32_t>& list) {
  std::string out = "[";
  for (uint32_t v : list) out += StrCat(out.size() == 1 ? "" : ", ", v);
  return out + "]";
}

std::string MapText(const abi::TensorMap& m) {
  return StrCat(" map ", m.operand, " extents=", ToListString(m.extents),
                " strides=", ToListString(m.strides), " box=", ToListString(m.box),
                " steps=", ToListString(m.steps), " +", m.offset,
                " swizzle=", static_cast<int>(m.swizzle), " fill=", static_cast<int>(m.fill),
                m.tf32 ? " tf32" : "");
}

std::string BackendText(const Step& s) {
  std::string out;
  if (!s.parameters.empty()) {
    out += StrCat(" parameters ", Quote(abi::ToString(s.parameters)));
  }
  if (s.launch != abi::LaunchConfig{}) {
    out += StrCat(" launch ", Triple(s.launch.grid), " ", Triple(s.launch.block), " ",
                  Triple(s.launch.cluster), " shared=", s.launch.dynamic_shared_bytes);
  }
  for (const abi::TensorMap& m : s.tensor_maps) out += MapText(m);
  if (s.image != -1 || !s.symbol.empty()) {
    out += StrCat(" image=", s.image, " symbol=", Quote(s.symbol));
  }
  if (!s.algorithm.empty() || s.library_version != 0) {
    out += StrCat(" algorithm=", Quote(Hex(s.algorithm)), " library=", Signed(s.library_version));
  }
  return out;
}

std::string Guards(const Step& s) {
  std::string out;
  for (const Guard& g : s.guards) out += StrCat(g.expected ? " if" : " unless", Refs({g.buffer}));
  return out;
}

std::string OrderText(const Step& s) {
  std::string out;
  if (s.stream != 0) out += StrCat(" stream=", s.stream);
  if (!s.waits.empty()) {
    out += StrCat(" waits=", ListText(s.waits));
  }
  return out + (s.programmatic ? " programmatic" : "");
}

std::string ToText(const Step& s) {
  return StrCat("step ", Quote(s.kernel), " from", Names(s.sources), " in", Refs(s.inputs), " out",
                Refs(s.outputs), Guards(s), OrderText(s), " packed=", s.packed_inputs,
                " work=", Signed(s.workspace_offset), "+", Signed(s.workspace_bytes), " { ",
                abi::ToString(s.problem), " }", BackendText(s), "\n");
}

std::string ToText(const Padding& p) {
  std::string out = StrCat(" pad from ", Signed(p.min), " in");
  for (const PaddedInput& i : p.inputs) out += StrCat(" ", i.input, " axis ", i.axis);
  out += " out";
  for (const PaddedOutput& o : p.outputs) {
    out += StrCat(" ", o.output, " axis ", o.axis, " by ", o.factor);
  }
  return out + " end";
}

}  // namespace

std::string_view RoleName(Role role) {
  static constexpr std::string_view kNames[] = {"input", "output", "constant", "state",
                                                "meta",  "temp",   "carried"};
  return kNames[static_cast<int>(role)];
}

std::string RoleWithArticle(Role role) {
  const std::string_view name = RoleName(role);
  const bool vowel = std::string_view("aeiou").find(name.front()) != std::string_view::npos;
  return StrCat(vowel ? "an " : "a ", name);
}

std::string ToString(const Program& p) {
  std::string out = StrCat("program target=", Quote(p.target), " math=", abi::MathModeName(p.math),
                           " arena=", Signed(p.arena_bytes), " lower=", Signed(p.arena_lower_bound),
                           " weights=", Signed(p.weights_bytes));
  if (p.state_bytes != 0) out += StrCat(" state=", Signed(p.state_bytes));
  out += "\n";
  for (size_t i = 0; i < p.buffers.size(); ++i) out += ToText(p.buffers[i], i);
  for (const Image& i : p.images) out += ToText(i);
  for (const Step& s : p.steps) out += ToText(s);
  for (const EntryPoint& e : p.entry_points) {
    out += StrCat("entry ", Quote(e.name), " steps ", e.first_step, " ", e.step_count, " in",
                  Refs(e.inputs), " out", Refs(e.outputs));
    if (!e.metas.empty()) out += StrCat(" meta", Refs(e.metas));
    for (const OutputExtent& x : e.extents) {
      out += StrCat(" extent ", x.output, " axis ", x.axis, " count ", x.count);
    }
    for (const Loop& l : e.loops) {
      out += StrCat(" loop ", l.first_step, " ", l.step_count, " while %", l.condition);
    }
    for (const Padding& padding : e.paddings) out += ToText(padding);
    out += "\n";
  }
  if (p.guard_image != -1) out += StrCat("guard-image ", p.guard_image, "\n");
  for (const auto& [key, value] : p.metadata) {
    out += StrCat("metadata ", Quote(key), " ", Quote(value), "\n");
  }
  return out;
}

}  // namespace aicf::schema
