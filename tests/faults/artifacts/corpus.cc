#include "tests/faults/artifacts/corpus.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <utility>

#include "schema/codec.h"
#include "schema/format.h"
#include "schema/signature.h"
#include "schema/testing_structure.h"

namespace aicf::hostile {
namespace {

using abi::Family;
using schema::Program;
using schema::RawHeader;
using schema::RawSection;
using schema::Role;
using schema::Storage;
using schema::testing::ContentsOf;
using schema::testing::Core;
using schema::testing::Elementwise;
using schema::testing::ProgramBuilder;
using Bytes = std::vector<std::byte>;

constexpr int kUnsupported = 4, kBad = 5, kResource = 7;

Bytes FileOf(const Program& p) {
  const auto encoded = schema::EncodeProgram(p);
  return encoded.ok() ? schema::testing::FileAround(*encoded, ContentsOf(p)) : Bytes();
}

// x -> resize -> y.
Program ResizeProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {1, 2, 4, 4}), y = b.Output("y", {1, 2, 8, 8});
  abi::ResizeAttrs a;
  a.scales = {1, 1, 2, 2};
  b.AddStep(Core(Family::kResize, a, 1), {x}, {y});
  return b.Finish();
}

Program PoolProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {1, 2, 8}), y = b.Output("y", {1, 2, 4});
  b.AddStep(Core(Family::kPool, abi::PoolAttrs{abi::PoolKind::kMax, {2}, {2}, {1}, {0}, {0}}, 1),
            {x}, {y});
  return b.Finish();
}

Program RoiProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {1, 2, 8, 8}), boxes = b.Input("boxes", {3, 4});
  const uint32_t batch = b.Input("batch", {3}, DType::kI64), y = b.Output("y", {3, 2, 2, 2});
  b.AddStep(Core(Family::kRoi, abi::RoiAttrs{abi::RoiKind::kAlignAverage, 1, 2, true}, 3),
            {x, boxes, batch}, {y});
  return b.Finish();
}

Program FillProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {2}, DType::kI32), y = b.Output("y", {4}, DType::kI32);
  b.AddStep(Core(Family::kCopy, abi::CopyAttrs{{{1}}, true, 7}, 1), {x}, {y});
  return b.Finish();
}

Program NormalizeProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {2, 3}), y = b.Output("y", {2, 3});
  b.AddStep(
      Core(Family::kNormalize, abi::NormalizeAttrs{abi::NormalizeKind::kRmsNorm, {1}, 1e-5}, 1),
      {x}, {y});
  return b.Finish();
}

// A product of two single elements, each repeated 2^40 times.
Program EndlessProduct() {
  const int64_t depth = int64_t{1} << 40;
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {1}), y = b.Output("y", {1, 1});
  abi::Problem p = Core(Family::kGemm, abi::GemmAttrs{}, 2);
  p.inputs = {{DType::kF32, {1, depth}, {0, 0}, 0}, {DType::kF32, {depth, 1}, {0, 0}, 0}};
  b.AddStep(p, {x, x}, {y});
  return b.Finish();
}

// while (true) {}
Program EndlessLoop() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {1}), y = b.Output("y", {1});
  const uint32_t again = b.Add(Role::kCarried, "again", DType::kBool, {1});
  abi::Problem truth = Elementwise(abi::ExprOp::kAdd);
  abi::ExprBuilder e;
  const uint16_t in = e.Input(0, DType::kF32);
  truth.core_inputs = 1;
  truth.epilogue = e.Finish(
      {e.Binary(abi::ExprOp::kLe, e.Binary(abi::ExprOp::kSub, in, in), e.Const(0, DType::kF32))});
  b.AddStep(truth, {x}, {again});
  b.AddStep(truth, {x}, {again});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {y});
  Program p = b.Finish();
  p.entry_points[0].loops = {{1, 1, again}};
  return p;
}

using Edit = std::function<void(Program&)>;

class Corpus {
 public:
  void Add(std::string name, int code, std::string sentence, Bytes bytes) {
    files_.push_back({std::move(name), code, std::move(sentence), std::move(bytes), ""});
  }
  void AddSigned(std::string name, int code, std::string sentence, Bytes bytes) {
    Add(std::move(name), code, std::move(sentence), std::move(bytes));
    WithFlags("--require-signature=FOLDER/trusted.pub.pem");
  }
  void Edited(std::string name, int code, std::string sentence, Program p, const Edit& edit) {
    edit(p);
    Add(std::move(name), code, std::move(sentence), FileOf(p));
  }
  void WithFlags(std::string flags) { files_.back().flags = std::move(flags); }
  std::vector<CorpusFile> Take() { return std::move(files_); }

 private:
  std::vector<CorpusFile> files_;
};

template <class A>
A& AttrsOf(Program& p) {
  return std::get<A>(p.steps[0].problem.attrs);
}

// The file around the program: header, table, sections, what FlatBuffers leave open.
void AddStructure(Corpus& c) {
  const Bytes good = FileOf(schema::testing::ChainProgram());
  const auto header = [&](const std::function<void(RawHeader&)>& edit) {
    Bytes file = good;
    RawHeader h;
    std::memcpy(&h, file.data(), sizeof h);
    edit(h);
    std::memcpy(file.data(), &h, sizeof h);
    schema::testing::Reseal(file);
    return file;
  };
  const auto section = [&](const std::function<void(RawSection&)>& edit) {
    Bytes file = good;
    RawSection s;
    std::memcpy(&s, file.data() + sizeof(RawHeader), sizeof s);
    edit(s);
    std::memcpy(file.data() + sizeof(RawHeader), &s, sizeof s);
    schema::testing::Reseal(file);
    return file;
  };
  const auto cut = [&](size_t bytes) {
    return Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(bytes));
  };
  c.Add("e01_empty", kBad, "too short", {});
  c.Add("e01_no_artifact", kBad, "not an aicf artifact", Bytes(200, std::byte{'x'}));
  c.Add("e04_file_bytes", kBad, "the header says", header([](RawHeader& h) { h.file_bytes += 8; }));
  c.Add("e12_cut_in_header", kBad, "too short", cut(40));
  c.Add("e12_cut_in_table", kBad, "ends inside its section table", cut(80));
  c.Add("e12_cut_in_section", kBad, "the file has", cut(good.size() - 1));
  Bytes longer = good;
  longer.resize(good.size() + 64);
  c.Add("e12_bytes_behind", kBad, "the file has", longer);
  Bytes flipped = good;
  flipped[sizeof(RawHeader) + 2 * sizeof(RawSection) + 200] ^= std::byte{4};
  c.Add("e13_flipped_bit", kBad, "hash mismatch", flipped);
  c.Add("e15_newer_major", kUnsupported, "format version", header([](RawHeader& h) { ++h.major; }));
  c.Add("e15_unknown_feature", kUnsupported, "requires features",
        header([](RawHeader& h) { h.required_features |= uint64_t{1} << 60; }));
  c.Add("e15_kernel_contract", kUnsupported, "kernel contract",
        header([](RawHeader& h) { h.kernel_abi += 1; }));
  c.Add("e04_no_sections", kBad, "0 sections", header([](RawHeader& h) { h.section_count = 0; }));
  c.Add("e04_many_sections", kBad, "sections, allowed",
        header([](RawHeader& h) { h.section_count = 0xffffffff; }));
  c.Add("e04_peak", kBad, "peak device memory",
        header([](RawHeader& h) { h.peak_device_bytes += 1; }));
  c.Add("e05_section_kind", kBad, "out of order", section([](RawSection& s) { s.kind = 3; }));
  c.Add("e04_section_offset", kBad, "expected",
        section([](RawSection& s) { s.offset = ~uint64_t{0}; }));
  c.Add("e04_section_bytes", kBad, "leaves the file",
        section([](RawSection& s) { s.bytes = ~uint64_t{0}; }));
  const auto program = schema::EncodeProgram(schema::testing::ChainProgram());
  for (size_t at : {size_t{0}, size_t{4}, program->size() / 2}) {
    Bytes damaged = *program;
    std::memset(damaged.data() + at, 0xff, 4);
    c.Add(StrCat("e12_flatbuffer_", at), kBad, "program section",
          schema::testing::FileAround(damaged, ContentsOf(schema::testing::ChainProgram())));
  }
}

// What passes the FlatBuffers verifier and is still wrong.
void AddTables(Corpus& c) {
  using schema::testing::AppendTable;
  using schema::testing::Editable;
  using schema::testing::VectorOf;
  const auto add = [&](std::string name, std::string sentence, const Bytes& program) {
    c.Add(std::move(name), kBad, std::move(sentence),
          schema::testing::FileAround(program, ContentsOf(schema::testing::ChainProgram())));
  };
  Editable misaligned;
  misaligned.Point(misaligned.FieldAt(misaligned.root().buffers()->Get(0), fb::Buffer::VT_SHAPE),
                   misaligned.Append(VectorOf<int64_t>({4, 5}), 0));
  add("e02_misaligned_vector", "misaligned", misaligned.bytes());

  Bytes prefixed(4);
  prefixed[0] = std::byte{8};
  const auto plain = *schema::EncodeProgram(schema::testing::ChainProgram());
  prefixed.insert(prefixed.end(), plain.begin(), plain.end());
  add("e04_size_prefix", "program section", prefixed);

  Editable unknown;
  const auto* constant = unknown.root().buffers()->Get(1);
  unknown.Put(unknown.FieldAt(constant, fb::Buffer::VT_ROLE), uint8_t{250});
  add("e05_unknown_role", "250", unknown.bytes());

  Editable absent;
  const size_t table = absent.PositionOf(&absent.root());
  const size_t vtable = table - static_cast<size_t>(absent.Get<int32_t>(table));
  absent.Put(vtable + fb::Program::VT_STEPS, uint16_t{0});
  add("e07_no_steps", "program section", absent.bytes());

  // One buffer, read again for each of many offsets to it.
  Editable tables;
  constexpr uint32_t kMany = 50000;
  const size_t list_field = tables.FieldAt(&tables.root(), fb::Program::VT_BUFFERS);
  const size_t list = tables.Append(VectorOf(std::vector<uint32_t>(kMany)), 4);
  const size_t buffer = AppendTable(tables, {14, 12, 4, 0, 0, 0, 8}, 12);
  tables.Point(buffer + 4, tables.Append(VectorOf(std::vector<char>()), 4));
  tables.Point(buffer + 8, tables.Append(VectorOf(std::vector<int64_t>()), 4));
  for (uint32_t i = 0; i < kMany; ++i) tables.Point(list + 4 + 4 * i, buffer);
  tables.Point(list_field, list);
  add("e08_many_tables", "program section", tables.bytes());

  // 2,000 entries whose key and value are one text of 60,000 bytes.
  Editable shared;
  constexpr uint32_t kEntries = 2000, kLength = 60000;
  const size_t field = shared.FieldAt(&shared.root(), fb::Program::VT_METADATA);
  const size_t entries = shared.Append(VectorOf(std::vector<uint32_t>(kEntries)), 4);
  Bytes text(4 + kLength + 1, std::byte{'a'});
  std::memcpy(text.data(), &kLength, sizeof kLength);
  text.back() = std::byte{0};
  const size_t entry = AppendTable(shared, {8, 12, 4, 8}, 12);
  const size_t text_at = shared.Append(text, 4);
  shared.Point(entry + 4, text_at);
  shared.Point(entry + 8, text_at);
  for (uint32_t i = 0; i < kEntries; ++i) shared.Point(entries + 4 + 4 * i, entry);
  shared.Point(field, entries);
  add("e09_shared_names", "shared", shared.bytes());
}

// What an artifact for a GPU says about its launches and its code; refused without a GPU.
void AddDevice(Corpus& c) {
  using schema::testing::DeviceProgram;
  c.Edited("f13_grid_zero", kBad, "does not follow", DeviceProgram(),
           [](Program& p) { p.steps[0].launch.grid[0] = 0; });
  c.Edited("f13_block", kBad, "does not follow", DeviceProgram(),
           [](Program& p) { p.steps[0].launch.block[0] = 2048; });
  c.Edited("f13_shared_memory", kBad, "does not follow", DeviceProgram(),
           [](Program& p) { p.steps[0].launch.dynamic_shared_bytes = 1 << 20; });
  c.Edited("f13_cluster", kBad, "does not follow", DeviceProgram(),
           [](Program& p) { p.steps[0].launch.cluster[2] = 2; });
  c.Edited("f13_threads", kBad, "takes threads from", DeviceProgram(), [](Program& p) {
    p.steps[0].parameters = {{"vector", 1}, {"threads", 4096}, {"blocks", 17}};
  });
  schema::Contents flipped = ContentsOf(DeviceProgram());
  flipped.images[150] ^= std::byte{1};
  c.Add("f17_image_flipped", kBad, "hash mismatch",
        schema::testing::FileAround(*schema::EncodeProgram(flipped.program), flipped));
  schema::Contents cut = ContentsOf(DeviceProgram());
  cut.images.resize(cut.images.size() / 2);
  c.Add("f17_image_cut", kBad, "leave the section",
        schema::testing::FileAround(*schema::EncodeProgram(cut.program), cut));
  c.Edited("f19_other_architecture", kBad, "is for sm_80", DeviceProgram(),
           [](Program& p) { p.images[0].arch = "sm_80"; });
  c.Edited("f19_no_symbol", kBad, "symbol", DeviceProgram(),
           [](Program& p) { p.steps[0].symbol.clear(); });
  c.Edited("f19_symbol_of_another", kBad, "is not the instance", DeviceProgram(),
           [](Program& p) { p.steps[0].symbol = p.steps[1].symbol; });
  c.Edited("f19_image_index", kBad, "image 1 of 1", DeviceProgram(),
           [](Program& p) { p.steps[0].image = 1; });
}

// RFC 8032's first two keys, which everybody has: these artifacts are examples.
constexpr std::string_view kTrustedKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";
constexpr std::string_view kOtherKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
    "-----END PRIVATE KEY-----\n";

Bytes SignedBy(const schema::SecretKey& key, const Program& p) {
  const auto artifact = schema::Artifact::Parse(*schema::Serialize(ContentsOf(p)), true);
  return *schema::Sign(**artifact, key);
}

// With --require-signature: exactly what the trusted key has signed.
void AddSignatures(Corpus& c) {
  using schema::testing::AddProgram;
  using schema::testing::ChainProgram;
  const auto trusted = schema::SecretKey::Parse(kTrustedKey);
  const auto other = schema::SecretKey::Parse(kOtherKey);
  const Bytes good = SignedBy(*trusted, ChainProgram());
  const auto changed = [&](size_t at) {
    Bytes file = good;
    file[at] ^= std::byte{1};
    schema::testing::Reseal(file);
    return file;
  };
  const size_t signature = good.size() - sizeof(schema::RawSignature);
  c.AddSigned("ok_signed", 0, "", good);
  c.AddSigned("f18_unsigned", kBad, "the artifact is not signed", FileOf(ChainProgram()));
  c.AddSigned("f18_signed_by_another", kBad, "which is not trusted",
              SignedBy(*other, ChainProgram()));
  Bytes foreign = SignedBy(*trusted, AddProgram());
  std::copy(good.begin() + static_cast<ptrdiff_t>(signature), good.end(),
            foreign.end() - sizeof(schema::RawSignature));
  schema::testing::Reseal(foreign);
  c.AddSigned("f18_signature_of_another_file", kBad, "not of these contents", foreign);
  Bytes claimed = SignedBy(*other, ChainProgram());
  const schema::PublicKey name = trusted->Public();
  std::memcpy(claimed.data() + signature + offsetof(schema::RawSignature, key), name.bytes.data(),
              name.bytes.size());
  schema::testing::Reseal(claimed);
  c.AddSigned("f18_signed_in_anothers_name", kBad, "not of these contents", claimed);
  RawSection program;
  std::memcpy(&program, good.data() + sizeof(RawHeader), sizeof program);
  c.AddSigned("f18_program_changed", kBad, "not of these contents",
              changed(program.offset + program.bytes / 2));
  c.AddSigned("f18_version_changed", kBad, "not of these contents",
              changed(offsetof(RawHeader, minor)));
  c.AddSigned("f18_signature_changed", kBad, "not of these contents", changed(good.size() - 30));
  c.AddSigned("f18_unknown_algorithm", kUnsupported, "algorithm", changed(signature + 1));
  c.AddSigned("f18_signed_and_cut", kBad, "the file has", Bytes(good.begin(), good.end() - 8));
}

bool WriteText(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  return static_cast<bool>(out);
}

// x[indices] with indices from a request, some of them outside: zeros, and no access.
Program TakeProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {5});
  const uint32_t indices = b.Input("indices", {4}, DType::kI64), y = b.Output("y", {4});
  b.AddStep(Core(Family::kGather, abi::GatherAttrs{0}, 2), {x, indices}, {y});
  return b.Finish();
}

// What a program may not mean: places, aliases, order, kernels, operands.
void AddMeaning(Corpus& c) {
  using schema::testing::ChainProgram;
  using schema::testing::FamiliesProgram;
  c.Edited("f01_leaves_the_arena", kBad, "leave the arena", ChainProgram(),
           [](Program& p) { p.buffers[0].offset = uint64_t{1} << 40; });
  c.Edited("f01_offset_wraps", kBad, "leave the arena", ChainProgram(),
           [](Program& p) { p.buffers[0].offset = ~uint64_t{0} - 255; });
  c.Edited("f02_misaligned", kBad, "not a multiple", ChainProgram(),
           [](Program& p) { p.buffers[0].offset += 4; });
  c.Edited("f03_overlap", kBad, "overlap while both are live", ChainProgram(),
           [](Program& p) { p.buffers[2].offset = p.buffers[0].offset; });
  c.Edited("f04_cycle_of_aliases", kBad, "form a cycle", ChainProgram(), [](Program& p) {
    p.buffers[2].storage = Storage::kAlias;
    p.buffers[2].offset = 0;
    p.buffers[2].alias_of = 3;
  });
  c.Edited("f04_alias_of_other_size", kBad, "alias of", ChainProgram(), [](Program& p) {
    p.buffers[3].shape = {4, 4};
    p.buffers[3].bytes = 64;
  });
  c.Edited("f05_slot_of_narrower_elements", kBad, "bytes, expected", ChainProgram(),
           [](Program& p) { p.buffers[0].dtype = DType::kF64; });
  c.Edited("f05_slot_smaller_than_its_shape", kBad, "bytes, expected", ChainProgram(),
           [](Program& p) { p.buffers[0].bytes = 12; });
  c.Edited("f06_no_arena", kBad, "leave the arena", ChainProgram(),
           [](Program& p) { p.arena_bytes = 0; });
  c.Edited("f06_arena_too_large", kResource, "arena bytes", ChainProgram(),
           [](Program& p) { p.arena_bytes = uint64_t{1} << 60; });
  c.Edited("f06_arena_unused", kBad, "are used", ChainProgram(),
           [](Program& p) { p.arena_bytes += 1 << 20; });
  c.Edited("f07_weights_outside", kBad, "leave the weights", ChainProgram(),
           [](Program& p) { p.buffers[1].offset = 1 << 20; });
  c.Edited("f08_read_before_written", kBad, "too early", ChainProgram(),
           [](Program& p) { std::swap(p.steps[0], p.steps[1]); });
  c.Edited("f09_writes_an_input", kBad, "writes", ChainProgram(),
           [](Program& p) { p.steps[0].outputs[0] = 0; });
  c.Edited("f09_writes_a_constant", kBad, "writes", ChainProgram(),
           [](Program& p) { p.steps[0].outputs[0] = 1; });
  c.Edited("f10_unknown_kernel", kUnsupported, "unknown kernel", ChainProgram(),
           [](Program& p) { p.steps[0].kernel = "cpu.elementwise.quantum"; });
  c.Edited("f10_other_family", kBad, "not of the family", ChainProgram(),
           [](Program& p) { p.steps[0].kernel = "cpu.conv.ref"; });
  c.Edited("f10_unknown_target", kUnsupported, "", ChainProgram(),
           [](Program& p) { p.target = "tpu:v9"; });
  c.Edited("f11_operand_missing", kBad, "", ChainProgram(),
           [](Program& p) { p.steps[1].inputs.pop_back(); });
  c.Edited("f11_operand_outside", kBad, "buffer 99 of", ChainProgram(),
           [](Program& p) { p.steps[1].inputs[0] = 99; });
  c.Edited("f12_other_dtype", kBad, "", ChainProgram(),
           [](Program& p) { p.buffers[0].dtype = DType::kI32; });
  c.Edited("f14_workspace_outside", kBad, "workspace", FamiliesProgram(),
           [](Program& p) { p.steps[0].workspace_bytes = uint64_t{1} << 50; });
  c.Edited("f15_view_outside", kBad, "touches bytes", ChainProgram(),
           [](Program& p) { p.steps[0].problem.inputs[0].offset = 1; });
  c.Edited("f15_view_overflows", kResource, "elements", ChainProgram(),
           [](Program& p) { p.steps[0].problem.inputs[0].strides[0] = int64_t{1} << 62; });
  c.Edited("f15_output_twice", kBad, "writes one address twice", ChainProgram(), [](Program& p) {
    p.steps[0].problem.outputs[0].strides = {0, 1};
  });
  c.Edited("f16_operand_minus_one", kBad, "of 5", ChainProgram(),
           [](Program& p) { p.steps[1].inputs[1] = ~0u; });
  c.Edited("f22_state_of_2_60", kResource, "state", ChainProgram(),
           [](Program& p) { p.state_bytes = uint64_t{1} << 60; });
  c.Edited("f22_steps_of_2_32", kBad, "steps", ChainProgram(),
           [](Program& p) { p.entry_points[0].step_count = ~0u; });
  c.Edited("f21_output_index", kBad, "of 5", ChainProgram(),
           [](Program& p) { p.entry_points[0].outputs[0] = 77; });
  c.Edited("f21_same_name_twice", kBad, "repeated", ChainProgram(), [](Program& p) {
    p.entry_points.push_back(p.entry_points[0]);
    p.entry_points[1].first_step = 3;
    p.entry_points[1].step_count = 0;
  });
  c.Edited("f21_steps_left_over", kBad, "belong to no entry point", ChainProgram(),
           [](Program& p) { p.entry_points[0].step_count = 2; });
  c.Edited("f21_empty_input_name", kBad, "empty or repeated", ChainProgram(),
           [](Program& p) { p.buffers[0].name.clear(); });
  c.Add("f23_indices_outside", 0, "", FileOf(TakeProgram()));
  c.WithFlags("--load-inputs=indices:FOLDER/indices_outside.npy");
  c.Edited("f24_blocks_do_not_fit", kBad, "does not take", schema::testing::BlocksProgram(),
           [](Program& p) { p.steps[0].problem.inputs[0].shape[1] = 17; });
  c.Edited("f25_bytes_of_a_shape", kBad, "bytes, expected", ChainProgram(),
           [](Program& p) { p.buffers[1].bytes = 8; });
  schema::Contents other = ContentsOf(ChainProgram());
  other.weights.resize(other.weights.size() - 4);
  c.Add("f25_other_weights", kBad, "weights: the section has",
        schema::testing::FileAround(*schema::EncodeProgram(other.program), other));
  c.Edited("e11_name_with_nul", kBad, "NUL", ChainProgram(),
           [](Program& p) { p.buffers[0].name = std::string("x\0y", 3); });
  c.Edited("e11_name_not_utf8", kBad, "UTF-8", ChainProgram(),
           [](Program& p) { p.buffers[0].name = "\xff\xfe"; });
}

// Numbers of attributes, and work without end.
void AddRanges(Corpus& c) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [name, value] : std::vector<std::pair<std::string, double>>{{"nan", nan},
                                                                               {"inf", kInf},
                                                                               {"denormal", 5e-324},
                                                                               {"negative", -2},
                                                                               {"zero", 0},
                                                                               {"1e300", 1e300}}) {
    c.Edited("r_resize_scale_" + name, kBad, "resize step: scale", ResizeProgram(),
             [v = value](Program& p) { AttrsOf<abi::ResizeAttrs>(p).scales[2] = v; });
  }
  c.Edited("r_resize_cubic_nan", kBad, "cubic coefficient", ResizeProgram(),
           [&](Program& p) { AttrsOf<abi::ResizeAttrs>(p).cubic_a = nan; });
  c.Edited("r_roi_scale_inf", kBad, "spatial scale", RoiProgram(),
           [&](Program& p) { AttrsOf<abi::RoiAttrs>(p).spatial_scale = kInf; });
  c.Edited("r_roi_samples", kBad, "sampling ratio", RoiProgram(),
           [](Program& p) { AttrsOf<abi::RoiAttrs>(p).sampling_ratio = int64_t{1} << 40; });
  c.Edited("r_fill_nan", kBad, "fill", FillProgram(),
           [&](Program& p) { AttrsOf<abi::CopyAttrs>(p).fill = nan; });
  c.Edited("r_epsilon_inf", kBad, "epsilon", NormalizeProgram(),
           [&](Program& p) { AttrsOf<abi::NormalizeAttrs>(p).epsilon = kInf; });
  c.Edited("r_attention_scale_nan", kBad, "scale", schema::testing::AttentionProgram(),
           [&](Program& p) { AttrsOf<abi::AttentionAttrs>(p).scale = nan; });
  c.Edited("r_pool_kernel", kBad, "kernel", PoolProgram(),
           [](Program& p) { AttrsOf<abi::PoolAttrs>(p).kernel = {INT64_MAX}; });
  c.Edited("r_pool_dilation", kBad, "", PoolProgram(),
           [](Program& p) { AttrsOf<abi::PoolAttrs>(p).dilations = {INT64_MAX}; });
  c.Edited("r_pool_pads", kBad, "extent overflows", PoolProgram(),
           [](Program& p) { AttrsOf<abi::PoolAttrs>(p).pads_end = {(int64_t{1} << 31) - 1}; });
  c.Edited("r_pool_stride_0", kBad, "stride 0", PoolProgram(),
           [](Program& p) { AttrsOf<abi::PoolAttrs>(p).strides = {0}; });
  c.Edited("w_product_without_end", kResource, "--max-operations", EndlessProduct(),
           [](Program&) {});
  c.Edited("w_loop_without_end", kResource, "--max-operations", EndlessLoop(), [](Program&) {});
  // Legal, and at an end: a window of 2^30 elements over eight.
  c.Edited("ok_pool_of_padding", 0, "", PoolProgram(), [](Program& p) {
    AttrsOf<abi::PoolAttrs>(p).kernel = {1 << 29};
    AttrsOf<abi::PoolAttrs>(p).pads_begin = {1 << 28};
    AttrsOf<abi::PoolAttrs>(p).pads_end = {1 << 28};
  });
  // The same for windows that lie in the padding alone, far in front of the input.
  c.Edited("ok_pool_in_padding_alone", 0, "", PoolProgram(),
           [](Program& p) { AttrsOf<abi::PoolAttrs>(p).pads_begin = {1 << 25}; });
  // Of a view without elements, which nobody walks: its magnitude is no number.
  c.Edited("r_stride_of_nothing", kResource, "passes 1099511627776 elements", PoolProgram(),
           [](Program& p) {
             p.steps[0].problem.outputs[0].shape = {4, 0, 1};
             p.steps[0].problem.outputs[0].strides[0] = INT64_MIN;
           });
}

}  // namespace

std::vector<CorpusFile> MakeCorpus() {
  Corpus corpus;
  AddStructure(corpus);
  AddTables(corpus);
  AddMeaning(corpus);
  AddDevice(corpus);
  AddSignatures(corpus);
  AddRanges(corpus);
  return corpus.Take();
}

bool WriteCorpus(const std::string& folder) {
  std::ofstream manifest(folder + "/manifest.tsv");
  for (const CorpusFile& f : MakeCorpus()) {
    manifest << f.name << '\t' << f.exit_code << '\t' << f.sentence << '\t' << f.flags << '\n';
    std::ofstream out(folder + "/" + f.name + ".aicf", std::ios::binary);
    out.write(reinterpret_cast<const char*>(f.bytes.data()),
              static_cast<std::streamsize>(f.bytes.size()));
    if (!out) return false;
  }
  const auto trusted = schema::SecretKey::Parse(kTrustedKey);
  return manifest &&
         WriteText(folder + "/trusted.pub.pem", schema::PublicKeyPem(trusted->Public()));
}

}  // namespace aicf::hostile
