// FlatBuffer -> Program. The FlatBuffers verifier proves bounds; everything it leaves open is
// checked here: alignment of 8-byte vectors, enumerations, ranks, text, and shared objects that
// would make a small file large in memory.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <variant>

#include "base/utf8.h"
#include "schema/artifact_generated.h"
#include "schema/attr_codec.h"
#include "schema/codec.h"
#include "schema/format.h"

namespace aicf::schema {
namespace {

constexpr size_t kSectionAlignment = 64;
constexpr uint32_t kMaxDepth = 8;
// A table holds at least its vtable offset and one field, so without sharing there are no more.
constexpr size_t kMinTableBytes = 8;

template <class... Pieces>
Status BadProgram(const Pieces&... pieces) {
  return Error(Code::kBadArtifact, "program section: ", pieces...);
}

// Every method reads one kind of field; after the first error the rest return defaults and the
// error is kept, so that decoding reads as a list of fields.
class Decoder {
 public:
  explicit Decoder(size_t bytes) : budget_(bytes) {}

  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

  template <class... Pieces>
  void Fail(const Pieces&... pieces) {
    if (status_.ok()) status_ = BadProgram(pieces...);
  }

  // Charges `count` elements against the buffer's size: no object is visited twice.
  bool Charge(size_t count, size_t element_bytes) {
    const size_t bytes = sizeof(uint32_t) + count * element_bytes;
    if (bytes > budget_) Fail("objects are shared or overlap");
    budget_ = ok() ? budget_ - bytes : 0;
    return ok();
  }

  // The elements of a vector of scalars or structs, as bytes the caller may reinterpret.
  template <class Stored, class FbVector>
  std::span<const Stored> Items(const FbVector& v) {
    const auto* data = reinterpret_cast<const Stored*>(v.Data());
    if (!Charge(v.size(), sizeof(Stored))) return {};
    // The verifier aligns a vector's length, not its data (a hole it is known for).
    if (v.size() != 0 && reinterpret_cast<uintptr_t>(data) % alignof(Stored) != 0) {
      Fail("a vector is misaligned");
      return {};
    }
    return {data, v.size()};
  }

  std::string Text(const flatbuffers::String& s, size_t limit = kMaxStringBytes) {
    const std::string_view text(s.c_str(), s.size());
    if (text.size() > limit) {
      Fail("a string has ", text.size(), " bytes, limit ", limit);
    } else if (!IsCleanText(text)) {
      Fail("a string is not UTF-8 or holds a NUL");
    }
    return Charge(text.size() + 1, 1) ? std::string(text) : std::string();
  }

  template <class E>
  E Enum(uint8_t value, int count, std::string_view what) {
    if (value >= count) Fail("unknown ", what, " ", static_cast<int>(value));
    return static_cast<E>(ok() ? value : 0);
  }
  DType Type(uint8_t value) { return Enum<DType>(value, kDTypeCount, "dtype"); }

  Dims Extents(const flatbuffers::Vector<int64_t>& v) {
    const auto items = Items<int64_t>(v);
    if (items.size() > kMaxRank) Fail("rank ", items.size(), ", limit ", kMaxRank);
    return ok() ? Dims(items) : Dims();
  }

  template <class T, class Stored = T, class FbVector>
  std::vector<T> Scalars(const FbVector& v) {
    const auto items = Items<Stored>(v);
    return {items.begin(), items.end()};
  }

  // Decodes each table of a list with `decode(*this, table)`; stops at the first error.
  template <class T, class Table, class Decode>
  std::vector<T> List(const flatbuffers::Vector<flatbuffers::Offset<Table>>& v, Decode decode) {
    std::vector<T> out;
    if (!Charge(v.size(), sizeof(uint32_t))) return out;
    // A list that shares its tables is longer than the bytes left can pay for.
    out.reserve(std::min<size_t>(v.size(), budget_ / 32));
    for (uint32_t i = 0; i < v.size() && ok(); ++i) {
      if (Charge(1, sizeof(uint32_t))) out.push_back(decode(*this, *v.Get(i)));
    }
    return out;
  }

 private:
  size_t budget_;
  Status status_;
};

std::string DecodeName(Decoder& d, const fb::Name& name) { return d.Text(*name.text()); }

abi::ExprNode DecodeNode(Decoder& d, const fb::ExprNode& n) {
  abi::ExprNode node;
  node.op = d.Enum<abi::ExprOp>(n.op(), abi::kExprOpCount, "expression operator");
  node.dtype = d.Type(n.dtype());
  node.args[0] = n.arg0();
  node.args[1] = n.arg1();
  node.args[2] = n.arg2();
  node.imm = n.imm();
  return node;
}

abi::Expr DecodeExpr(Decoder& d, const fb::Expr& e) {
  abi::Expr expr;
  const auto nodes = d.Items<fb::ExprNode>(*e.nodes());
  expr.nodes.reserve(nodes.size());
  for (const fb::ExprNode& n : nodes) expr.nodes.push_back(DecodeNode(d, n));
  expr.results = d.Scalars<uint16_t>(*e.results());
  return expr;
}

abi::View DecodeView(Decoder& d, const fb::View& v) {
  abi::View view;
  view.dtype = d.Type(v.dtype());
  view.shape = d.Extents(*v.shape());
  view.strides = d.Extents(*v.strides());
  view.offset = v.offset();
  return view;
}

// The attribute struct of a family, default-initialised.
abi::Attrs EmptyAttrs(abi::Family family) {
  switch (family) {
#define AICF_FAMILY(id, text, attrs, core, slots) \
  case abi::Family::id:                           \
    return abi::attrs{};
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  }
  return {};
}

abi::Problem DecodeProblem(Decoder& d, const fb::Problem& p) {
  abi::Problem out;
  out.family = d.Enum<abi::Family>(p.family(), abi::kFamilyCount, "step family");
  out.math = d.Enum<abi::MathMode>(p.math(), static_cast<int>(abi::MathMode::kCount), "math mode");
  out.core_inputs = p.core_inputs();
  out.attrs = EmptyAttrs(out.family);
  AttrReader reader(d.Items<int64_t>(*p.attr_ints()), d.Items<double>(*p.attr_reals()));
  std::visit([&](auto& a) { a.Visit(reader); }, out.attrs);
  if (d.ok() && !reader.Finished()) {
    d.Fail(abi::FamilyName(out.family), " step: attribute '", reader.failed_field(),
           "' is missing or out of range, or there are too many");
  }
  out.inputs = d.List<abi::View>(*p.inputs(), DecodeView);
  out.outputs = d.List<abi::View>(*p.outputs(), DecodeView);
  out.prologue = DecodeExpr(d, *p.prologue());
  out.epilogue = DecodeExpr(d, *p.epilogue());
  if (p.score() != nullptr) out.score = DecodeExpr(d, *p.score());
  return out;
}

void DecodeDim3(const fb::Dim3& from, uint32_t (&to)[3]) {
  to[0] = from.x();
  to[1] = from.y();
  to[2] = from.z();
}

abi::Parameter DecodeParameter(Decoder& d, const fb::Parameter& p) {
  abi::Parameter out{d.Text(*p.name()), p.value()};
  if (!abi::IsParameterName(out.name)) d.Fail("a parameter's name is none");
  return out;
}

abi::TensorMap DecodeTensorMap(Decoder& d, const fb::TensorMap& m) {
  abi::TensorMap out;
  out.operand = m.operand();
  out.extents = d.Extents(*m.extents());
  out.strides = d.Extents(*m.strides());
  out.box = d.Extents(*m.box());
  out.steps = d.Extents(*m.steps());
  out.offset = m.offset();
  out.swizzle =
      d.Enum<abi::Swizzle>(m.swizzle(), static_cast<int>(abi::Swizzle::kCount), "swizzle");
  out.fill = d.Enum<abi::BoxFill>(m.fill(), static_cast<int>(abi::BoxFill::kCount), "fill");
  out.tf32 = m.tf32();
  return out;
}

void DecodeVariant(Decoder& d, const fb::Step& s, Step& step) {
  if (s.parameters() != nullptr) {
    if (s.parameters()->size() > abi::kMaxParameters) d.Fail("a step has too many parameters");
    step.parameters = abi::Parameters(d.List<abi::Parameter>(*s.parameters(), DecodeParameter));
  }
  if (s.tensor_maps() != nullptr) {
    if (s.tensor_maps()->size() > abi::kMaxTensorMaps) d.Fail("a step has too many tensor maps");
    step.tensor_maps = d.List<abi::TensorMap>(*s.tensor_maps(), DecodeTensorMap);
  }
}

Step DecodeStep(Decoder& d, const fb::Step& s) {
  Step step;
  step.sources = d.List<std::string>(*s.sources(), DecodeName);
  step.kernel = d.Text(*s.kernel());
  step.problem = DecodeProblem(d, *s.problem());
  step.inputs = d.Scalars<uint32_t>(*s.inputs());
  step.outputs = d.Scalars<uint32_t>(*s.outputs());
  step.packed_inputs = s.packed_inputs();
  step.workspace_offset = s.workspace_offset();
  step.workspace_bytes = s.workspace_bytes();
  if (const fb::Launch* launch = s.launch()) {
    DecodeDim3(launch->grid(), step.launch.grid);
    DecodeDim3(launch->block(), step.launch.block);
    DecodeDim3(launch->cluster(), step.launch.cluster);
    step.launch.dynamic_shared_bytes = launch->dynamic_shared_bytes();
  }
  DecodeVariant(d, s, step);
  step.image = s.image();
  step.symbol = d.Text(*s.symbol());
  step.algorithm = d.Scalars<uint8_t>(*s.algorithm());
  step.library_version = s.library_version();
  if (s.guards() != nullptr) {
    for (const fb::Guard* g : *s.guards()) {
      if (!d.Charge(sizeof(Guard), 1)) break;
      step.guards.push_back({g->buffer(), g->expected()});
    }
  }
  step.stream = s.stream();
  if (s.waits() != nullptr) step.waits = d.Scalars<uint32_t>(*s.waits());
  step.programmatic = s.programmatic();
  return step;
}

Buffer DecodeBuffer(Decoder& d, const fb::Buffer& b) {
  Buffer buffer;
  buffer.name = d.Text(*b.name());
  buffer.dtype = d.Type(b.dtype());
  buffer.role = d.Enum<Role>(b.role(), static_cast<int>(Role::kCount), "role");
  buffer.storage = d.Enum<Storage>(b.storage(), static_cast<int>(Storage::kCount), "storage");
  buffer.shape = d.Extents(*b.shape());
  buffer.bytes = b.bytes();
  buffer.offset = b.offset();
  buffer.alias_of = b.alias_of();
  if (const fb::PackedOrigin* origin = b.origin(); origin != nullptr && d.Charge(16, 1)) {
    buffer.origin = {d.Text(*origin->layout()), {origin->hash()->low(), origin->hash()->high()}};
  }
  return buffer;
}

Image DecodeImage(Decoder& d, const fb::Image& i) {
  return {d.Text(*i.arch()),
          d.Text(*i.compiler()),
          {i.hash()->low(), i.hash()->high()},
          i.offset(),
          i.bytes()};
}

Padding DecodePadding(Decoder& d, const fb::Padding& p) {
  Padding padding{p.min(), {}};
  for (const fb::PaddedInput* input : *p.inputs()) {
    if (!d.Charge(sizeof(PaddedInput), 1)) break;
    padding.inputs.push_back({input->input(), input->axis()});
  }
  for (const fb::PaddedOutput* output : *p.outputs()) {
    if (!d.Charge(sizeof(PaddedOutput), 1)) break;
    padding.outputs.push_back({output->output(), output->axis(), output->factor()});
  }
  return padding;
}

EntryPoint DecodeEntryPoint(Decoder& d, const fb::EntryPoint& e) {
  EntryPoint entry{d.Text(*e.name()),
                   d.Scalars<uint32_t>(*e.inputs()),
                   d.Scalars<uint32_t>(*e.outputs()),
                   e.first_step(),
                   e.step_count(),
                   {},
                   {},
                   {},
                   {}};
  if (e.extents() != nullptr) {
    for (const fb::OutputExtent* extent : *e.extents()) {
      if (!d.Charge(sizeof(OutputExtent), 1)) break;
      entry.extents.push_back({extent->output(), extent->axis(), extent->count()});
    }
  }
  if (e.loops() != nullptr) {
    for (const fb::Loop* loop : *e.loops()) {
      if (!d.Charge(sizeof(Loop), 1)) break;
      entry.loops.push_back({loop->first_step(), loop->step_count(), loop->condition()});
    }
  }
  if (e.paddings() != nullptr) entry.paddings = d.List<Padding>(*e.paddings(), DecodePadding);
  if (e.metas() != nullptr) entry.metas = d.Scalars<uint32_t>(*e.metas());
  return entry;
}

std::pair<std::string, std::string> DecodeMetadata(Decoder& d, const fb::Metadata& m) {
  return {d.Text(*m.key()), d.Text(*m.value(), kMaxMetadataBytes)};
}

Result<Program> Decode(const fb::Program& p, size_t bytes) {
  Decoder d(bytes);
  Program program;
  program.target = d.Text(*p.target());
  program.math =
      d.Enum<abi::MathMode>(p.math(), static_cast<int>(abi::MathMode::kCount), "math mode");
  program.arena_bytes = p.arena_bytes();
  program.arena_lower_bound = p.arena_lower_bound();
  program.weights_bytes = p.weights_bytes();
  program.state_bytes = p.state_bytes();
  program.buffers = d.List<Buffer>(*p.buffers(), DecodeBuffer);
  program.steps = d.List<Step>(*p.steps(), DecodeStep);
  program.images = d.List<Image>(*p.images(), DecodeImage);
  program.entry_points = d.List<EntryPoint>(*p.entry_points(), DecodeEntryPoint);
  program.guard_image = p.guard_image();
  program.metadata = d.List<std::pair<std::string, std::string>>(*p.metadata(), DecodeMetadata);
  if (!d.ok()) return d.status();
  return program;
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};

}  // namespace

// Flattened, which inlines all that is called: a step is hundreds of checks of a few instructions
// each, and the calls between them take as long as they do.
[[gnu::flatten]] bool IsWellFormed(std::span<const std::byte> bytes) {
  flatbuffers::Verifier::Options options;
  options.max_depth = kMaxDepth;
  options.max_tables = static_cast<uint32_t>(bytes.size() / kMinTableBytes);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
                                 options);
  return fb::VerifyProgramBuffer(verifier);
}

Result<Program> DecodeProgram(std::span<const std::byte> bytes) {
  // Before the verifier exists: its constructor asserts on buffers of 2 GiB.
  if (bytes.size() > kMaxProgramBytes) {
    return BadProgram(bytes.size(), " bytes, limit ", kMaxProgramBytes);
  }
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kSectionAlignment != 0) {
    const size_t capacity = (bytes.size() / kSectionAlignment + 1) * kSectionAlignment;
    std::unique_ptr<void, Free> copy(std::aligned_alloc(kSectionAlignment, capacity));
    if (copy == nullptr) return Error(Code::kResource, "no memory for ", capacity, " bytes");
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    return DecodeProgram({static_cast<const std::byte*>(copy.get()), bytes.size()});
  }
  if (!IsWellFormed(bytes)) return BadProgram("not a well-formed FlatBuffer");
  return Decode(*fb::GetProgram(bytes.data()), bytes.size());
}

}  // namespace aicf::schema
