/// Helpers for tests: small programs built by hand, and artifacts damaged on purpose.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "kernels/abi/choice.h"
#include "kernels/abi/kernel.h"
#include "kernels/abi/packing.h"
#include "schema/artifact.h"
#include "schema/format.h"
#include "schema/program.h"

namespace aicf::schema::testing {

inline uint64_t RoundUp(uint64_t v, uint64_t to) { return (v + to - 1) / to * to; }

/// Collects buffers and steps; Finish places every buffer at its own bytes (no reuse, so that a
/// test can introduce an overlap on purpose) and makes one entry point "main".
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string target = "cpu:baseline") {
    program_.target = std::move(target);
  }

  uint32_t Add(Role role, std::string name, DType dtype, const Dims& shape) {
    Buffer b;
    b.name = std::move(name);
    b.dtype = dtype;
    b.shape = shape;
    b.role = role;
    b.bytes = static_cast<uint64_t>(ElementCount(shape).value_or(0) * DTypeBytes(dtype));
    b.storage = Storage::kArena;
    if (role == Role::kConstant) b.storage = Storage::kWeights;
    if (role == Role::kState) b.storage = Storage::kState;
    program_.buffers.push_back(std::move(b));
    return static_cast<uint32_t>(program_.buffers.size() - 1);
  }
  uint32_t Input(std::string name, const Dims& shape, DType dtype = DType::kF32) {
    return Add(Role::kInput, std::move(name), dtype, shape);
  }
  uint32_t Output(std::string name, const Dims& shape, DType dtype = DType::kF32) {
    return Add(Role::kOutput, std::move(name), dtype, shape);
  }
  uint32_t Constant(std::string name, const Dims& shape, DType dtype = DType::kF32) {
    return Add(Role::kConstant, std::move(name), dtype, shape);
  }
  uint32_t State(std::string name, const Dims& shape, DType dtype = DType::kF32) {
    return Add(Role::kState, std::move(name), dtype, shape);
  }
  /// Adds the state's next value, in place of `state`.
  uint32_t Update(std::string name, uint32_t state) {
    const Buffer before = program_.buffers[state];
    const uint32_t next = Add(Role::kState, std::move(name), before.dtype, before.shape);
    MakeAlias(next, state);
    return next;
  }
  uint32_t Meta(std::string name, const Dims& shape, DType dtype = DType::kF32) {
    return Add(Role::kMeta, std::move(name), dtype, shape);
  }
  uint32_t Temp(const Dims& shape, DType dtype = DType::kF32) {
    return Add(Role::kTemp, StrCat("%", program_.buffers.size()), dtype, shape);
  }
  /// Turns `buffer` into an in-place successor of `of`.
  void MakeAlias(uint32_t buffer, uint32_t of) {
    program_.buffers[buffer].storage = Storage::kAlias;
    program_.buffers[buffer].alias_of = of;
  }
  abi::View View(uint32_t buffer) const {
    return abi::DenseView(program_.buffers[buffer].dtype, program_.buffers[buffer].shape);
  }

  /// A step of the reference kernel, with the workspace it asks for. Operands without a view in
  /// `problem` are dense.
  Step& AddStep(abi::Problem problem, std::vector<uint32_t> inputs, std::vector<uint32_t> outputs) {
    for (size_t i = problem.inputs.size(); i < inputs.size(); ++i) {
      problem.inputs.push_back(View(inputs[i]));
    }
    for (size_t i = problem.outputs.size(); i < outputs.size(); ++i) {
      problem.outputs.push_back(View(outputs[i]));
    }
    Step s;
    s.sources = {StrCat("node_", program_.steps.size())};
    s.kernel = abi::ReferenceKey(problem.family);
    s.problem = std::move(problem);
    s.inputs = std::move(inputs);
    s.outputs = std::move(outputs);
    const abi::KernelInfo* kernel = abi::FindKernel(s.kernel);
    const Result<abi::DeviceSpec> device = abi::FindDevice(program_.target);
    if (kernel != nullptr && device.ok()) {
      s.workspace_bytes = kernel->workspace_bytes(s.problem, *device);
    }
    program_.steps.push_back(std::move(s));
    return program_.steps.back();
  }

  Program Finish() {
    Program p = program_;
    EntryPoint e;
    e.name = "main";
    e.step_count = static_cast<uint32_t>(p.steps.size());
    for (uint32_t i = 0; i < p.buffers.size(); ++i) {
      Buffer& b = p.buffers[i];
      if (b.role == Role::kInput) e.inputs.push_back(i);
      if (b.role == Role::kMeta) e.metas.push_back(i);
      if (b.role == Role::kOutput) e.outputs.push_back(i);
      if (b.storage == Storage::kAlias) continue;
      uint64_t& end = b.storage == Storage::kWeights ? p.weights_bytes
                      : b.storage == Storage::kState ? p.state_bytes
                                                     : p.arena_bytes;
      b.offset = RoundUp(end, kBufferAlignment);
      end = b.offset + b.bytes;
    }
    for (Step& s : p.steps) {
      s.workspace_offset = s.workspace_bytes == 0 ? 0 : RoundUp(p.arena_bytes, kBufferAlignment);
      if (s.workspace_bytes != 0) p.arena_bytes = s.workspace_offset + s.workspace_bytes;
    }
    p.entry_points.push_back(std::move(e));
    return p;
  }

 private:
  Program program_;
};

/// An elementwise problem: op of its operands in order.
inline abi::Problem Elementwise(abi::ExprOp op, DType dtype = DType::kF32) {
  abi::ExprBuilder b;
  const DType compute = abi::ComputeDType(dtype);
  std::vector<uint16_t> args;
  for (int i = 0; i < abi::ExprOpArity(op); ++i) args.push_back(b.Input(i, compute));
  const uint16_t result = args.size() == 1 ? b.Unary(op, args[0]) : b.Binary(op, args[0], args[1]);
  abi::Problem p;
  p.family = abi::Family::kElementwise;
  p.attrs = abi::ElementwiseAttrs{};
  p.core_inputs = abi::ExprOpArity(op);
  p.epilogue = b.Finish({result});
  return p;
}

template <class A>
abi::Problem Core(abi::Family family, A attrs, int core_inputs) {
  abi::Problem p;
  p.family = family;
  p.attrs = std::move(attrs);
  p.core_inputs = core_inputs;
  return p;
}

/// y = x + w: the smallest program with an input, a constant and an output.
inline Program AddProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {2, 3});
  const uint32_t w = b.Constant("w", {2, 3});
  const uint32_t y = b.Output("y", {2, 3});
  b.AddStep(Elementwise(abi::ExprOp::kAdd), {x, w}, {y});
  return b.Finish();
}

/// y = exp(neg(x) + w), the sum computed in place over neg(x): a temp and an alias.
inline Program ChainProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {4, 5});
  const uint32_t w = b.Constant("w", {4, 5});
  const uint32_t t = b.Temp({4, 5});
  const uint32_t sum = b.Temp({4, 5});
  const uint32_t y = b.Output("y", {4, 5});
  b.MakeAlias(sum, t);
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {t});
  b.AddStep(Elementwise(abi::ExprOp::kAdd), {t, w}, {sum});
  b.AddStep(Elementwise(abi::ExprOp::kExp), {sum}, {y});
  return b.Finish();
}

/// A temp [2, 6] whose left and right columns are written by two steps, then read: a concatenation
/// without a copy.
inline Program ConcatProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {2, 2});
  const uint32_t z = b.Input("z", {2, 4});
  const uint32_t both = b.Temp({2, 6});
  const uint32_t y = b.Output("y", {2, 6});
  abi::Problem left = Elementwise(abi::ExprOp::kNeg);
  left.outputs = {{DType::kF32, {2, 2}, {6, 1}, 0}};
  abi::Problem right = Elementwise(abi::ExprOp::kAbs);
  right.outputs = {{DType::kF32, {2, 4}, {6, 1}, 2}};
  b.AddStep(left, {x}, {both});
  b.AddStep(right, {z}, {both});
  b.AddStep(Elementwise(abi::ExprOp::kExp), {both}, {y});
  return b.Finish();
}

/// Two steps write the parts of `both`, [2, 2] of x and [2, 4] of z, and a third one reads the
/// first part before the second is written. Buffers: 0 x, 1 z, 2 both, 3 y (of the whole), 4 early
/// (of the first part).
inline Program PartProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {2, 2});
  const uint32_t z = b.Input("z", {2, 4});
  const uint32_t both = b.Temp({2, 6});
  const uint32_t y = b.Output("y", {2, 6});
  const uint32_t early = b.Output("early", {2, 2});
  const abi::View first = {DType::kF32, {2, 2}, {6, 1}, 0};
  abi::Problem left = Elementwise(abi::ExprOp::kNeg);
  left.outputs = {first};
  abi::Problem reader = Elementwise(abi::ExprOp::kSqrt);
  reader.inputs = {first};
  abi::Problem right = Elementwise(abi::ExprOp::kAbs);
  right.outputs = {{DType::kF32, {2, 4}, {6, 1}, 2}};
  b.AddStep(left, {x}, {both});
  b.AddStep(reader, {both}, {early});
  b.AddStep(right, {z}, {both});
  b.AddStep(Elementwise(abi::ExprOp::kExp), {both}, {y});
  return b.Finish();
}

/// Entry points "large" (x, z, y, v of 6 rows) and "small" (of 2), over each other in one arena.
/// The large one's rows may be padded from 3 on; v holds two positions for each of them.
inline Program EntriesProgram() {
  ProgramBuilder b;
  for (int64_t rows : {6, 2}) {
    const uint32_t x = b.Input("x", {rows, 4});
    const uint32_t z = b.Input("z", {2, rows});
    const uint32_t y = b.Output("y", {rows, 4});
    const uint32_t v = b.Output("v", {2 * rows});
    b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {y});
    abi::Problem flat = Elementwise(abi::ExprOp::kNeg);
    flat.inputs = {abi::DenseView(DType::kF32, {2 * rows})};
    b.AddStep(flat, {z}, {v});
  }
  Program p = b.Finish();
  for (uint32_t i = 0; i < 8; ++i) p.buffers[i].offset = i % 4 * 256;
  p.arena_bytes = 4 * 256;
  p.entry_points = {{"large", {0, 1}, {2, 3}, 0, 2}, {"small", {4, 5}, {6, 7}, 2, 2}};
  p.entry_points[0].paddings = {{3, {{0, 0}, {1, 1}}, {{0, 0, 1}, {1, 0, 2}}}};
  return p;
}

/// One step of every family, convolution to top-k.
inline Program FamiliesProgram() {
  using abi::Family;
  ProgramBuilder b;
  const uint32_t x = b.Input("image", {1, 4, 8, 8});
  const uint32_t filter = b.Constant("filter", {8, 4, 3, 3});
  const uint32_t matrix = b.Constant("matrix", {8, 16});
  const uint32_t rows = b.Constant("rows", {2}, DType::kI64);
  const uint32_t conv = b.Temp({1, 8, 8, 8});
  b.AddStep(Core(Family::kConv, abi::ConvAttrs{{1, 1}, {1, 1}, {1, 1}, {1, 1}, 1, false}, 2),
            {x, filter}, {conv});
  const uint32_t pooled = b.Temp({1, 8, 4, 4});
  b.AddStep(
      Core(Family::kPool,
           abi::PoolAttrs{abi::PoolKind::kAverage, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, 1),
      {conv}, {pooled});
  const uint32_t resized = b.Temp({1, 8, 8, 8});
  abi::ResizeAttrs resize;
  resize.mode = abi::ResizeMode::kLinear;
  resize.scales = {1, 1, 2, 2};
  b.AddStep(Core(Family::kResize, resize, 1), {pooled}, {resized});
  const uint32_t sum = b.Temp({1, 8, 8, 8});
  b.MakeAlias(sum, resized);
  b.AddStep(Elementwise(abi::ExprOp::kAdd), {resized, conv}, {sum});
  const uint32_t pixels = b.Temp({64, 8});
  abi::Problem transpose = Core(Family::kCopy, abi::CopyAttrs{{{0, 0}}, false, 0}, 1);
  transpose.inputs = {{DType::kF32, {64, 8}, {1, 64}, 0}};
  b.AddStep(transpose, {sum}, {pixels});
  const uint32_t scores = b.Temp({64, 16});
  b.AddStep(Core(Family::kGemm, abi::GemmAttrs{}, 2), {pixels, matrix}, {scores});
  const uint32_t softmax = b.Temp({64, 16});
  b.AddStep(Core(Family::kNormalize, abi::NormalizeAttrs{abi::NormalizeKind::kSoftmax, {1}, 0}, 1),
            {scores}, {softmax});
  const uint32_t mean = b.Output("mean", {1, 16});
  b.AddStep(Core(Family::kReduce, abi::ReduceAttrs{abi::ReduceKind::kMean, {0}, false}, 1),
            {softmax}, {mean});
  const uint32_t picked = b.Temp({2, 16});
  b.AddStep(Core(Family::kGather, abi::GatherAttrs{0}, 2), {softmax, rows}, {picked});
  const uint32_t values = b.Output("values", {2, 3});
  const uint32_t indices = b.Output("indices", {2, 3}, DType::kI64);
  b.AddStep(Core(Family::kTopK, abi::TopKAttrs{1, 3, true}, 1), {picked}, {values, indices});
  return b.Finish();
}

/// Weights in blocks of quantised elements: their values, and products with them.
inline Program BlocksProgram() {
  using abi::Family;
  ProgramBuilder b;
  const uint32_t blocks = b.Constant("blocks", {4, 18}, DType::kU8);
  const uint32_t block_values = b.Output("block_values", {4, 32});
  b.AddStep(Core(Family::kDequantize, abi::DequantizeAttrs{BlockFormat::kQ4_0}, 1), {blocks},
            {block_values});
  const uint32_t block_sums = b.Output("block_sums", {4, 4});
  b.AddStep(Core(Family::kBlockGemm, abi::BlockGemmAttrs{BlockFormat::kQ4_0}, 2),
            {block_values, blocks}, {block_sums});
  return b.Finish();
}

/// Attention with a score expression: the sum of the product and a bias repeated over the heads.
inline Program AttentionProgram() {
  ProgramBuilder b;
  const uint32_t q = b.Input("q", {2, 4, 3, 5});
  const uint32_t k = b.Input("k", {2, 2, 6, 5});
  const uint32_t v = b.Input("v", {2, 2, 6, 7});
  const uint32_t bias = b.Constant("bias", {3, 6});
  const uint32_t out = b.Output("out", {2, 4, 3, 7});
  const uint32_t log = b.Output("log", {2, 4, 3});
  abi::AttentionAttrs attrs;
  attrs.scale = 0.5;
  attrs.rows = abi::RowOrigin::kLastKeys;
  attrs.window_left = 4;
  attrs.window_right = 0;
  abi::Problem p = Core(abi::Family::kAttention, attrs, 3);
  p.inputs = {abi::DenseView(DType::kF32, {2, 4, 3, 5}),
              abi::DenseView(DType::kF32, {2, 2, 6, 5}),
              abi::DenseView(DType::kF32, {2, 2, 6, 7}),
              {DType::kF32, {2, 4, 3, 6}, {0, 0, 6, 1}, 0}};
  abi::ExprBuilder e;
  p.score =
      e.Finish({e.Binary(abi::ExprOp::kAdd, e.Input(0, DType::kF32), e.Input(1, DType::kF32))});
  b.AddStep(p, {q, k, v, bias}, {out, log});
  return b.Finish();
}

inline std::vector<std::byte> ImageBytes() {
  std::vector<std::byte> bytes(300);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  return bytes;
}

/// Whether the kernel takes an operand of this problem in a packed layout of its own.
inline bool WantsPacked(const abi::KernelInfo& kernel, const abi::Problem& problem,
                        const abi::Parameters& parameters) {
  for (size_t k = 0; k < problem.inputs.size(); ++k) {
    if (abi::LayoutOf(kernel, problem, parameters, k)) return true;
  }
  return false;
}

/// The kernel's best candidate, or the first that takes every operand as it is where the best one
/// wants a packed constant, which these programs do not have; nullopt: none does.
inline std::optional<abi::Candidate> UnpackedCandidate(const abi::KernelInfo& kernel,
                                                       const abi::Problem& problem,
                                                       const abi::DeviceSpec& device) {
  auto best = abi::BestCandidate(kernel, problem, device);
  if (best && !WantsPacked(kernel, problem, best->variant.parameters)) return best;
  for (abi::Candidate& c : abi::CandidatesOf(kernel, problem, device)) {
    if (!WantsPacked(kernel, problem, c.variant.parameters)) return std::move(c);
  }
  return std::nullopt;
}

/// The program retargeted to a GPU: each step on the first own device kernel that supports it, with
/// an image of arbitrary bytes (ImageBytes). A step that none supports keeps its kernel.
inline Program OnDevice(Program p, std::string target = "cuda:sm_90a") {
  p.target = std::move(target);
  const abi::DeviceSpec device = *abi::FindDevice(p.target);
  p.arena_bytes = 0;
  for (const Buffer& b : p.buffers) {
    if (b.storage == Storage::kArena) p.arena_bytes = std::max(p.arena_bytes, b.offset + b.bytes);
  }
  for (Step& s : p.steps) {
    for (const abi::KernelInfo& k : abi::KernelsOf(s.problem.family)) {
      if (k.backend != abi::Backend::kCuda || !k.supports(s.problem, device).empty()) continue;
      const auto candidate = UnpackedCandidate(k, s.problem, device);
      if (!candidate) continue;
      s.kernel = k.key;
      SetVariant(s, candidate->variant);
      s.symbol = abi::InstanceSymbol(s.kernel, s.problem, VariantOf(s));
      s.image = 0;
      s.workspace_offset = s.workspace_bytes == 0 ? 0 : RoundUp(p.arena_bytes, kBufferAlignment);
      if (s.workspace_bytes != 0) p.arena_bytes = s.workspace_offset + s.workspace_bytes;
      break;
    }
  }
  p.images = {{p.target.substr(p.target.find(':') + 1), "test", HashBytes(ImageBytes()), 0, 300}};
  return p;
}

/// y = neg(x) + w on a GPU.
inline Program DeviceProgram() {
  ProgramBuilder b;
  const uint32_t x = b.Input("x", {64, 33});
  const uint32_t w = b.Constant("w", {64, 33});
  const uint32_t t = b.Temp({64, 33});
  const uint32_t y = b.Output("y", {64, 33});
  b.AddStep(Elementwise(abi::ExprOp::kNeg), {x}, {t});
  b.AddStep(Elementwise(abi::ExprOp::kAdd), {t, w}, {y});
  return OnDevice(b.Finish());
}

/// Hash that PackedProgram records: of no constant that exists.
inline constexpr Hash128 kPackedHash = {0x0123456789abcdefull, 0xfedcba9876543210ull};

/// y = x * w with w in the kernel's own layout, which is recorded.
inline Program PackedProgram() {
  ProgramBuilder b;
  abi::Problem gemm = Core(abi::Family::kGemm, abi::GemmAttrs{}, 2);
  gemm.inputs = {abi::DenseView(DType::kF32, {5, 40}), abi::DenseView(DType::kF32, {40, 24})};
  gemm.outputs = {abi::DenseView(DType::kF32, {5, 24})};
  const abi::KernelInfo* kernel = abi::FindKernel("cpu.gemm.packed_baseline");
  const uint32_t x = b.Input("x", {5, 40});
  const abi::PackedLayout layout = *kernel->packed(gemm, {}, 1);
  const uint32_t w = b.Constant("w", {static_cast<int64_t>(layout.bytes)}, DType::kU8);
  const uint32_t y = b.Output("y", {5, 24});
  Step& s = b.AddStep(gemm, {x, w}, {y});
  s.kernel = kernel->key;
  s.workspace_bytes = kernel->workspace_bytes(s.problem, *abi::FindDevice("cpu:baseline"));
  s.packed_inputs = 2;
  Program p = b.Finish();
  p.buffers[w].origin = {std::string(layout.name), kPackedHash};
  return p;
}

/// The program with matching weights and small text sections.
inline Contents ContentsOf(Program program) {
  Contents c;
  for (uint64_t i = 0; i < program.weights_bytes; ++i) {
    c.weights.push_back(static_cast<std::byte>(i * 37 + 11));
  }
  if (!program.images.empty()) c.images = ImageBytes();
  c.program = std::move(program);
  c.decisions = "{\"kind\":\"fold\"}\n";
  c.lowered = "lowered \"test\"\n";
  c.provenance = "{\"tool\":\"test\"}\n";
  return c;
}

/// Recomputes the hash of every section inside the file and then the header's, so that what a test
/// damaged reaches the checks that follow the hashes. Does what it can with a damaged table.
inline void Reseal(std::vector<std::byte>& file) {
  RawHeader h;
  if (file.size() < sizeof h) return;
  std::memcpy(&h, file.data(), sizeof h);
  const uint64_t table_end = sizeof h + uint64_t{h.section_count} * sizeof(RawSection);
  if (table_end > file.size()) return;
  for (uint64_t at = sizeof h; at < table_end; at += sizeof(RawSection)) {
    RawSection s;
    std::memcpy(&s, file.data() + at, sizeof s);
    if (s.offset > file.size() || s.bytes > file.size() - s.offset) continue;
    const Hash128 hash = HashBytes(std::span(file).subspan(s.offset, s.bytes));
    s.hash_low = hash.low;
    s.hash_high = hash.high;
    std::memcpy(file.data() + at, &s, sizeof s);
  }
  h.hash_low = h.hash_high = 0;
  std::memcpy(file.data(), &h, sizeof h);
  const Hash128 hash = HashBytes(std::span(file).first(table_end));
  h.hash_low = hash.low;
  h.hash_high = hash.high;
  std::memcpy(file.data(), &h, sizeof h);
}

/// A sealed file around program bytes that need not decode; weights and images are the contents'.
inline std::vector<std::byte> FileAround(std::span<const std::byte> program,
                                         const Contents& contents) {
  HeaderInfo info{
      kFormatMajor,
      0,
      0,
      contents.program.arena_bytes + contents.program.weights_bytes + contents.program.state_bytes,
      {},
      FeaturesOf(contents.program)};
  info.sections.push_back({SectionKind::kProgram, 0, program.size(), {}});
  if (!contents.weights.empty()) {
    info.sections.push_back({SectionKind::kWeights, 0, contents.weights.size(), {}});
  }
  if (!contents.images.empty()) {
    info.sections.push_back({SectionKind::kImages, 0, contents.images.size(), {}});
  }
  if (!PlaceSections(info).ok()) return {};
  std::vector<std::byte> file = BuildHeader(info);
  file.resize(info.file_bytes);
  std::memcpy(file.data() + info.sections[0].offset, program.data(), program.size());
  if (!contents.weights.empty()) {
    std::memcpy(file.data() + info.sections[1].offset, contents.weights.data(),
                contents.weights.size());
  }
  if (!contents.images.empty()) {
    std::memcpy(file.data() + info.sections.back().offset, contents.images.data(),
                contents.images.size());
  }
  Reseal(file);
  return file;
}

}  // namespace aicf::schema::testing
