// FlatBuffer -> Program. The FlatBuffers verifier proves bounds; everything it leaves open is
// checked here: alignment of 8-byte vectors, enumerations, ranks, text, and shared objects that
// would make a small file large in memory.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "schema/codec.h"
#include "schema/decode_step.h"
#include "schema/decoder.h"
#include "schema/format.h"
#include "schema/verify_internal.h"

namespace aicf::schema {
namespace {

constexpr size_t kSectionAlignment = 64;
constexpr uint32_t kMaxDepth = 8;
// A table holds at least its vtable offset and one field, so without sharing there are no more.
constexpr size_t kMinTableBytes = 8;

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

std::vector<std::string> DecodeParameterNames(Decoder& d, const fb::Program& p) {
  if (p.parameter_names() == nullptr) return {};
  return d.List<std::string>(*p.parameter_names(), [](Decoder& decoder, const fb::Name& name) {
    return DecodeParameterName(decoder, *name.text());
  });
}

std::vector<Step> DecodeSteps(Decoder& d, const fb::Program& p) {
  const std::vector<std::string> names = DecodeParameterNames(d, p);
  return d.List<Step>(*p.steps(), [&](Decoder& decoder, const fb::Step& step) {
    return p.records() ? DecodeStep(decoder, step, names) : DecodeTablesOfStep(decoder, step);
  });
}

std::pair<std::string, std::string> DecodeMetadata(Decoder& d, const fb::Metadata& m) {
  return {d.Text(*m.key()), d.Text(*m.value(), kMaxMetadataBytes)};
}

Result<Program> Decode(const fb::Program& p, size_t bytes) {
  // Before anything is allocated: in memory a step has some ten times as many bytes as it may have
  // in a file.
  AICF_RETURN_IF_ERROR(
      CheckCountLimits(p.steps()->size(), p.buffers()->size(), p.entry_points()->size()));
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
  program.steps = DecodeSteps(d, p);
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

bool HoldsRecords(std::span<const std::byte> program_section) {
  return fb::GetProgram(program_section.data())->records();
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
