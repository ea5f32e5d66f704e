#include <cstring>

#include "schema/codec.h"
#include "schema/encode_step.h"
#include "schema/format.h"

namespace aicf::schema {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
template <class T>
using TableVector = Offset<flatbuffers::Vector<Offset<T>>>;

// Encodes `items` with `encode`, then their list.
template <class Table, class Item, class Encode>
TableVector<Table> EncodeList(FlatBufferBuilder& b, const std::vector<Item>& items, Encode encode) {
  std::vector<Offset<Table>> offsets;
  offsets.reserve(items.size());
  for (const Item& item : items) offsets.push_back(encode(b, item));
  return b.CreateVector(offsets);
}

auto EncodeDims(FlatBufferBuilder& b, const Dims& d) { return b.CreateVector(d.begin(), d.size()); }

Offset<fb::Name> EncodeName(FlatBufferBuilder& b, const std::string& text) {
  return fb::CreateName(b, b.CreateString(text));
}

Offset<fb::PackedOrigin> EncodeOrigin(FlatBufferBuilder& b, const PackedOrigin& origin) {
  const fb::Hash128 hash(origin.hash.low, origin.hash.high);
  return fb::CreatePackedOrigin(b, b.CreateString(origin.layout), &hash);
}

Offset<fb::Buffer> EncodeBuffer(FlatBufferBuilder& b, const Buffer& buffer) {
  const auto name = b.CreateString(buffer.name);
  const auto shape = EncodeDims(b, buffer.shape);
  const auto origin = buffer.origin ? EncodeOrigin(b, *buffer.origin) : 0;
  return fb::CreateBuffer(b, name, Byte(buffer.dtype), Byte(buffer.role), Byte(buffer.storage),
                          shape, buffer.bytes, buffer.offset, buffer.alias_of, origin);
}

Offset<fb::Image> EncodeImage(FlatBufferBuilder& b, const Image& image) {
  const auto arch = b.CreateString(image.arch);
  const auto compiler = b.CreateString(image.compiler);
  const fb::Hash128 hash(image.hash.low, image.hash.high);
  return fb::CreateImage(b, arch, compiler, &hash, image.offset, image.bytes);
}

Offset<fb::Padding> EncodePadding(FlatBufferBuilder& b, const Padding& p) {
  std::vector<fb::PaddedInput> inputs;
  for (const PaddedInput& i : p.inputs) inputs.emplace_back(i.input, i.axis);
  std::vector<fb::PaddedOutput> outputs;
  for (const PaddedOutput& o : p.outputs) outputs.emplace_back(o.output, o.axis, o.factor);
  const auto input_list = b.CreateVectorOfStructs(inputs);
  return fb::CreatePadding(b, p.min, input_list, b.CreateVectorOfStructs(outputs));
}

Offset<fb::EntryPoint> EncodeEntryPoint(FlatBufferBuilder& b, const EntryPoint& e) {
  const auto name = b.CreateString(e.name);
  const auto inputs = b.CreateVector(e.inputs);
  const auto outputs = b.CreateVector(e.outputs);
  std::vector<fb::OutputExtent> extents;
  for (const OutputExtent& x : e.extents) extents.emplace_back(x.output, x.axis, x.count);
  const auto extent_list = extents.empty() ? 0 : b.CreateVectorOfStructs(extents);
  std::vector<fb::Loop> loops;
  for (const Loop& l : e.loops) loops.emplace_back(l.first_step, l.step_count, l.condition);
  const auto loop_list = loops.empty() ? 0 : b.CreateVectorOfStructs(loops);
  const auto paddings =
      e.paddings.empty() ? 0 : EncodeList<fb::Padding>(b, e.paddings, EncodePadding);
  const auto metas = e.metas.empty() ? 0 : b.CreateVector(e.metas);
  return fb::CreateEntryPoint(b, name, inputs, outputs, e.first_step, e.step_count, extent_list,
                              loop_list, paddings, metas);
}

Offset<fb::Metadata> EncodeMetadata(FlatBufferBuilder& b,
                                    const std::pair<std::string, std::string>& entry) {
  const auto key = b.CreateString(entry.first);
  const auto value = b.CreateString(entry.second);
  return fb::CreateMetadata(b, key, value);
}

// An upper bound that is cheap to form: past 2 GiB the builder asserts, so it must not get there.
uint64_t SizeBound(const Program& p) {
  uint64_t bytes = 4096 + p.target.size();
  for (const Buffer& b : p.buffers) {
    bytes += 256 + b.name.size();
    if (b.origin) bytes += 64 + b.origin->layout.size();
  }
  for (const EntryPoint& e : p.entry_points) {
    bytes += 256 + e.name.size() + 4 * (e.inputs.size() + e.outputs.size()) + 12 * e.extents.size();
    bytes += 12 * e.loops.size() + 4 * e.metas.size();
    for (const Padding& q : e.paddings) bytes += 64 + 8 * q.inputs.size() + 12 * q.outputs.size();
  }
  for (const auto& [key, value] : p.metadata) bytes += 64 + key.size() + value.size();
  for (const Image& i : p.images) bytes += 256 + i.arch.size() + i.compiler.size();
  for (const Step& s : p.steps) {
    const abi::Problem& q = s.problem;
    bytes += 1024 + s.kernel.size() + s.symbol.size() + s.algorithm.size();
    for (const std::string& name : s.sources) bytes += 32 + name.size();
    bytes += 4 * (s.inputs.size() + s.outputs.size()) + 8 * s.guards.size() + 4 * s.waits.size();
    bytes += 320 * (q.inputs.size() + q.outputs.size());  // a view, and a piece's start
    bytes += 24 * (q.prologue.nodes.size() + q.epilogue.nodes.size() + q.score.nodes.size());
  }
  return bytes;
}

}  // namespace

Result<std::vector<std::byte>> EncodeProgram(const Program& p) {
  for (size_t i = 0; i < p.steps.size(); ++i) {
    if (FitsRecords(p.steps[i])) continue;
    return Error(Code::kInvalidArgument, "step ", i,
                 ": a view or a tensor map has lists of different ranks, which cannot be stored");
  }
  if (SizeBound(p) > kMaxProgramBytes) {
    return Error(Code::kResource, "the program is too large to store: ", p.steps.size(), " steps, ",
                 p.buffers.size(), " buffers");
  }
  FlatBufferBuilder b(4096);
  const auto target = b.CreateString(p.target);
  const auto buffers = EncodeList<fb::Buffer>(b, p.buffers, EncodeBuffer);
  ParameterNames names;
  const auto steps =
      EncodeList<fb::Step>(b, p.steps, [&names](FlatBufferBuilder& builder, const Step& step) {
        return EncodeStep(builder, step, names);
      });
  const auto images = EncodeList<fb::Image>(b, p.images, EncodeImage);
  const auto entries = EncodeList<fb::EntryPoint>(b, p.entry_points, EncodeEntryPoint);
  const auto metadata = EncodeList<fb::Metadata>(b, p.metadata, EncodeMetadata);
  const auto parameter_names =
      names.all().empty() ? 0 : EncodeList<fb::Name>(b, names.all(), EncodeName);
  fb::FinishProgramBuffer(
      b, fb::CreateProgram(b, target, Byte(p.math), p.arena_bytes, p.arena_lower_bound,
                           p.weights_bytes, buffers, steps, images, entries, metadata,
                           p.guard_image, p.state_bytes, /*records=*/true, parameter_names));
  std::vector<std::byte> out(b.GetSize());
  std::memcpy(out.data(), b.GetBufferPointer(), out.size());
  return out;
}

}  // namespace aicf::schema
