#include "schema/golden.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/utf8.h"

namespace aicf::schema {
namespace {

constexpr uint32_t kVersion = 1;
constexpr size_t kItemAlignment = 8;
constexpr uint32_t kMaxTensors = 1u << 20;
constexpr uint32_t kMaxNameBytes = 1u << 16;

class Writer {
 public:
  template <class T>
  void Put(T value) {
    Append(&value, sizeof value);
  }
  void Append(const void* data, size_t bytes) {
    const auto* first = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), first, first + bytes);
  }
  void Pad() { out_.resize((out_.size() + kItemAlignment - 1) / kItemAlignment * kItemAlignment); }
  std::vector<std::byte> Take() { return std::move(out_); }

 private:
  std::vector<std::byte> out_;
};

void PutTensor(Writer& out, const GoldenTensor& t) {
  out.Put(static_cast<uint32_t>(t.name.size()));
  out.Put(static_cast<uint8_t>(t.dtype));
  out.Put(static_cast<uint8_t>(t.shape.rank()));
  out.Put(uint16_t{0});
  for (int64_t extent : t.shape) out.Put(extent);
  out.Put(static_cast<uint64_t>(t.data.size()));
  out.Append(t.name.data(), t.name.size());
  out.Pad();
  if (!t.data.empty()) out.Append(t.data.data(), t.data.size());
  out.Pad();
}

void PutSample(Writer& out, const GoldenSample& s) {
  out.Put(s.entry);
  out.Put(static_cast<uint32_t>(s.origin));
  out.Put((s.atol ? 1u : 0u) | (s.rtol ? 2u : 0u) | (s.rel ? 4u : 0u));
  out.Put(uint32_t{0});
  for (const auto& tolerance : {s.atol, s.rtol, s.rel}) out.Put(tolerance.value_or(0.0));
  out.Put(static_cast<uint32_t>(s.inputs.size()));
  out.Put(static_cast<uint32_t>(s.outputs.size()));
  for (const GoldenTensor& t : s.inputs) PutTensor(out, t);
  for (const GoldenTensor& t : s.outputs) PutTensor(out, t);
}

/// A cursor that never passes the end: what is missing makes it fail, and stay failed.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T Get() {
    T value{};
    const auto from = Take(sizeof value);
    if (!from.empty()) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  /// Empty after a failure.
  std::span<const std::byte> Take(uint64_t bytes) {
    if (failed_ || bytes > bytes_.size() - at_) {
      failed_ = true;
      return {};
    }
    const auto taken = bytes_.subspan(at_, bytes);
    at_ += bytes;
    return taken;
  }
  void SkipPadding() {
    const auto gap = Take((kItemAlignment - at_ % kItemAlignment) % kItemAlignment);
    if (std::ranges::any_of(gap, [](std::byte b) { return b != std::byte{0}; })) failed_ = true;
  }
  void Fail() { failed_ = true; }
  bool failed() const { return failed_; }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  uint64_t at_ = 0;
  bool failed_ = false;
};

GoldenTensor ReadTensor(Reader& in) {
  GoldenTensor t;
  const auto name_bytes = in.Get<uint32_t>();
  const auto dtype = static_cast<DType>(in.Get<uint8_t>());
  const auto rank = in.Get<uint8_t>();
  const auto zero = in.Get<uint16_t>();
  if (zero != 0 || rank > kMaxRank || !IsValid(dtype) || name_bytes > kMaxNameBytes) in.Fail();
  for (int axis = 0; axis < rank && !in.failed(); ++axis) t.shape.push_back(in.Get<int64_t>());
  const auto data_bytes = in.Get<uint64_t>();
  const auto name = in.Take(name_bytes);
  in.SkipPadding();
  t.data = in.Take(data_bytes);
  in.SkipPadding();
  if (in.failed()) return t;
  t.dtype = dtype;
  t.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  const std::optional<int64_t> count = ElementCount(t.shape);  // none for a negative extent
  const auto item = static_cast<uint64_t>(DTypeBytes(dtype));
  if (t.name.empty() || !IsCleanText(t.name) || !count || data_bytes % item != 0 ||
      static_cast<uint64_t>(*count) != data_bytes / item) {
    in.Fail();
  }
  return t;
}

std::optional<double> ReadTolerance(Reader& in, bool set) {
  const auto value = in.Get<double>();
  if (!set) {
    if (std::bit_cast<uint64_t>(value) != 0) in.Fail();
    return std::nullopt;
  }
  if (!std::isfinite(value) || std::signbit(value)) in.Fail();
  return value;
}

GoldenSample ReadSample(Reader& in) {
  GoldenSample s;
  s.entry = in.Get<uint32_t>();
  const auto origin = in.Get<uint32_t>();
  const auto set = in.Get<uint32_t>();
  const auto zero = in.Get<uint32_t>();
  if (origin >= static_cast<uint32_t>(GoldenOrigin::kCount) || set == 0 || set > 7 || zero != 0) {
    in.Fail();
  }
  s.origin = static_cast<GoldenOrigin>(origin);
  s.atol = ReadTolerance(in, (set & 1) != 0);
  s.rtol = ReadTolerance(in, (set & 2) != 0);
  s.rel = ReadTolerance(in, (set & 4) != 0);
  const auto inputs = in.Get<uint32_t>(), outputs = in.Get<uint32_t>();
  if (inputs > kMaxTensors || outputs > kMaxTensors) in.Fail();
  for (uint32_t i = 0; i < inputs && !in.failed(); ++i) s.inputs.push_back(ReadTensor(in));
  for (uint32_t o = 0; o < outputs && !in.failed(); ++o) s.outputs.push_back(ReadTensor(in));
  return s;
}

Status CheckTensor(const GoldenTensor& t, const Buffer& buffer, int dynamic_axis) {
  Dims shape = t.shape;
  if (dynamic_axis >= 0 && shape.rank() == buffer.shape.rank() &&
      shape[dynamic_axis] <= buffer.shape[dynamic_axis]) {
    shape[dynamic_axis] = buffer.shape[dynamic_axis];
  }
  if (t.dtype == buffer.dtype && shape == buffer.shape) return OkStatus();
  return Error(Code::kBadArtifact, "'", t.name, "' is ", DTypeName(t.dtype), " ", ToString(t.shape),
               ", the program has ", DTypeName(buffer.dtype), " ", ToString(buffer.shape));
}

// Those after the inputs.
Status CheckMetas(const GoldenSample& s, const EntryPoint& entry, const Program& program) {
  size_t next = 0;
  for (size_t i = entry.inputs.size(); i < s.inputs.size(); ++i) {
    const GoldenTensor& t = s.inputs[i];
    while (next < entry.metas.size() && program.buffers[entry.metas[next]].name != t.name) ++next;
    if (next == entry.metas.size()) {
      return Error(Code::kBadArtifact, "'", t.name,
                   "' is no meta of the program, comes twice or not in its order");
    }
    AICF_RETURN_IF_ERROR(CheckTensor(t, program.buffers[entry.metas[next++]], -1));
  }
  return OkStatus();
}

Status CheckInputs(const GoldenSample& s, const EntryPoint& entry, const Program& program) {
  if (s.inputs.size() < entry.inputs.size()) {
    return Error(Code::kBadArtifact, s.inputs.size(), " inputs, the entry point has ",
                 entry.inputs.size());
  }
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const Buffer& buffer = program.buffers[entry.inputs[i]];
    if (s.inputs[i].name != buffer.name) {
      return Error(Code::kBadArtifact, "input ", i, " is '", s.inputs[i].name,
                   "', the program's is '", buffer.name, "'");
    }
    AICF_RETURN_IF_ERROR(CheckTensor(s.inputs[i], buffer, -1));
  }
  return CheckMetas(s, entry, program);
}

Status CheckOutputs(const GoldenSample& s, const EntryPoint& entry, const Program& program) {
  if (s.outputs.empty()) return Error(Code::kBadArtifact, "no output");
  size_t next = 0;
  for (const GoldenTensor& t : s.outputs) {
    while (next < entry.model_outputs() && program.buffers[entry.outputs[next]].name != t.name) {
      ++next;
    }
    if (next == entry.model_outputs()) {
      return Error(Code::kBadArtifact, "'", t.name,
                   "' is no output of the program, comes twice or not in its order");
    }
    const OutputExtent* extent = entry.ExtentOf(next);
    AICF_RETURN_IF_ERROR(CheckTensor(t, program.buffers[entry.outputs[next++]],
                                     extent == nullptr ? -1 : static_cast<int>(extent->axis)));
  }
  return OkStatus();
}

Status CheckSample(const GoldenSample& s, const Program& program) {
  if (s.entry >= program.entry_points.size()) {
    return Error(Code::kBadArtifact, "entry point ", s.entry, " of ", program.entry_points.size());
  }
  const EntryPoint& entry = program.entry_points[s.entry];
  AICF_RETURN_IF_ERROR(CheckInputs(s, entry, program));
  return CheckOutputs(s, entry, program);
}

}  // namespace

std::string_view GoldenOriginName(GoldenOrigin origin) {
  return origin == GoldenOrigin::kGiven ? "given" : "reference";
}

std::vector<std::byte> EncodeGolden(const Golden& golden) {
  Writer out;
  out.Put(kVersion);
  out.Put(static_cast<uint32_t>(golden.samples.size()));
  for (const GoldenSample& s : golden.samples) PutSample(out, s);
  return out.Take();
}

Result<Golden> ParseGolden(std::span<const std::byte> section) {
  Reader in(section);
  const auto version = in.Get<uint32_t>(), samples = in.Get<uint32_t>();
  if (!in.failed() && version != kVersion) {
    return Error(Code::kBadArtifact, "golden section: version ", version, ", expected ", kVersion);
  }
  if (samples == 0 || samples > kMaxGoldenSamples) in.Fail();
  Golden golden;
  for (uint32_t i = 0; i < samples && !in.failed(); ++i) {
    golden.samples.push_back(ReadSample(in));
    if (in.failed()) return Error(Code::kBadArtifact, "golden section: sample ", i, " is damaged");
  }
  if (in.failed() || !in.at_end()) {
    return Error(Code::kBadArtifact, "golden section: ", samples, " samples in ", section.size(),
                 " bytes");
  }
  return golden;
}

Status CheckGolden(const Golden& golden, const Program& program) {
  for (size_t i = 0; i < golden.samples.size(); ++i) {
    const Status status = CheckSample(golden.samples[i], program);
    if (!status.ok()) {
      return Error(Code::kBadArtifact, "golden sample ", i, ": ", status.message());
    }
  }
  return OkStatus();
}

}  // namespace aicf::schema
