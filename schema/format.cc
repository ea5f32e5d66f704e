#include "schema/format.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/checked.h"
#include "base/hash.h"
#include "kernels/abi/instance_symbol.h"

namespace aicf::schema {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are read by memcpy");

template <class... Pieces>
Status BadHeader(const Pieces&... pieces) {
  return Error(Code::kBadArtifact, "header: ", pieces...);
}

template <class T>
T ReadAt(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// The hash field cannot hash itself: it counts as zero.
Hash128 HeaderHash(std::span<const std::byte> prefix) {
  std::vector<std::byte> copy(prefix.begin(), prefix.end());
  std::memset(copy.data() + offsetof(RawHeader, hash_low), 0, 2 * sizeof(uint64_t));
  return HashBytes(copy);
}

Status CheckFixedFields(const RawHeader& h, uint64_t file_bytes) {
  const uint64_t unknown = h.required_features & ~kKnownFeatures;
  if (unknown != 0) {
    return Error(Code::kUnsupported, "header: the file requires features of a newer aicf (bits ",
                 unknown, ")");
  }
  if (h.kernel_abi != abi::kKernelAbiVersion) {
    return Error(Code::kUnsupported, "header: kernel contract version ", h.kernel_abi,
                 ", this build has ", abi::kKernelAbiVersion);
  }
  if (h.reserved != 0) return BadHeader("a reserved field is not zero");
  if (h.file_bytes != file_bytes) {
    return BadHeader("the file has ", file_bytes, " bytes, the header says ", h.file_bytes);
  }
  if (file_bytes > kMaxFileBytes) {
    return Error(Code::kResource, "the file has ", file_bytes, " bytes, limit ", kMaxFileBytes);
  }
  return OkStatus();
}

// `end` is where the section before this one ends; it is moved to the end of this one.
Status CheckSection(const RawSection& s, bool newer_minor, uint32_t previous_kind, uint64_t& end,
                    uint64_t file_bytes) {
  const uint32_t last_known = static_cast<uint32_t>(SectionKind::kSignature);
  if (s.kind == 0 || (s.kind > last_known && !newer_minor))
    return BadHeader("unknown section ", s.kind);
  if (s.kind <= previous_kind) return BadHeader("section ", s.kind, " is out of order");
  if (s.reserved != 0) return BadHeader("section ", s.kind, ": a reserved field is not zero");
  if (s.bytes == 0) return BadHeader("section ", s.kind, " is empty");
  uint64_t begin = 0;
  if (!CheckedAlignUp(end, SectionAlignment(static_cast<SectionKind>(s.kind)), &begin) ||
      s.offset != begin) {
    return BadHeader("section ", s.kind, " is at ", s.offset, ", expected ", begin);
  }
  if (!InRange(s.offset, s.bytes, file_bytes)) {
    return BadHeader("section ", s.kind, " of ", s.bytes, " bytes at ", s.offset,
                     " leaves the file");
  }
  end = s.offset + s.bytes;
  return OkStatus();
}

}  // namespace

uint64_t FeaturesOf(const Program& program) {
  const bool metas = std::any_of(program.entry_points.begin(), program.entry_points.end(),
                                 [](const EntryPoint& e) { return !e.metas.empty(); });
  const bool states = std::any_of(program.buffers.begin(), program.buffers.end(), IsState);
  const bool ordered = std::any_of(program.steps.begin(), program.steps.end(), [](const Step& s) {
    return s.stream != 0 || !s.waits.empty() || s.programmatic;
  });
  const bool halves = std::any_of(program.steps.begin(), program.steps.end(),
                                  [](const Step& s) { return abi::SumInputs(s.problem) > 1; });
  const bool normalizes = std::any_of(program.steps.begin(), program.steps.end(),
                                      [](const Step& s) { return abi::NormalizesRows(s.problem); });
  const bool scales = std::any_of(program.steps.begin(), program.steps.end(),
                                  [](const Step& s) { return abi::HasBlockScales(s.problem); });
  const bool moments = std::any_of(program.steps.begin(), program.steps.end(),
                                   [](const Step& s) { return abi::SeesMoments(s.problem); });
  const bool parts = std::any_of(program.steps.begin(), program.steps.end(), [](const Step& s) {
    return abi::ReadsParts(s.problem) || abi::StoresParts(s.problem);
  });
  const bool appends = std::any_of(program.steps.begin(), program.steps.end(),
                                   [](const Step& s) { return abi::AppendsRows(s.problem); });
  const bool symbols = std::any_of(program.steps.begin(), program.steps.end(), [](const Step& s) {
    return s.symbol.starts_with(abi::kSymbolPrefix);
  });
  return (states || metas ? kFeatureState : 0) | (ordered ? kFeatureOrder : 0) |
         (halves ? kFeatureHalves : 0) | (normalizes ? kFeatureRowNorm : 0) |
         (scales ? kFeatureBlockScales : 0) | (moments ? kFeatureMoments : 0) |
         (parts ? kFeatureParts : 0) | (symbols ? kFeatureSymbols : 0) |
         (appends ? kFeatureAppending : 0) | kFeatureRecords;
}

uint64_t SectionAlignment(SectionKind kind) { return kind == SectionKind::kWeights ? 4096 : 64; }

Result<size_t> HeaderBytes(std::span<const std::byte> first) {
  if (first.size() < sizeof(RawHeader)) {
    return BadHeader("the file has ", first.size(), " bytes, too short for an artifact");
  }
  const auto h = ReadAt<RawHeader>(first, 0);
  if (std::memcmp(h.magic, kMagic, sizeof kMagic) != 0) return BadHeader("not an aicf artifact");
  // Before everything else: another major version may lay out all that follows differently.
  if (h.major != kFormatMajor) {
    return Error(Code::kUnsupported, "header: format version ", h.major, ".", h.minor,
                 ", this build reads ", kFormatMajor, ".x");
  }
  if (h.section_count == 0 || h.section_count > kMaxSections) {
    return BadHeader(h.section_count, " sections, allowed 1 to ", kMaxSections);
  }
  return sizeof(RawHeader) + h.section_count * sizeof(RawSection);
}

Result<HeaderInfo> ParseHeader(std::span<const std::byte> prefix, uint64_t file_bytes) {
  AICF_ASSIGN_OR_RETURN(const size_t bytes, HeaderBytes(prefix));
  if (prefix.size() != bytes) return BadHeader("the file ends inside its section table");
  const auto h = ReadAt<RawHeader>(prefix, 0);
  if (HeaderHash(prefix) != Hash128{h.hash_low, h.hash_high}) return BadHeader("hash mismatch");
  AICF_RETURN_IF_ERROR(CheckFixedFields(h, file_bytes));
  HeaderInfo info{h.major, h.minor, h.file_bytes, h.peak_device_bytes, {}, h.required_features};
  uint64_t end = bytes;
  uint32_t previous = 0;
  for (uint32_t i = 0; i < h.section_count; ++i) {
    const auto s = ReadAt<RawSection>(prefix, sizeof h + i * sizeof(RawSection));
    AICF_RETURN_IF_ERROR(CheckSection(s, h.minor > kFormatMinor, previous, end, file_bytes));
    previous = s.kind;
    info.sections.push_back(
        {static_cast<SectionKind>(s.kind), s.offset, s.bytes, {s.hash_low, s.hash_high}});
  }
  if (end != file_bytes)
    return BadHeader("the last section ends at ", end, " of ", file_bytes, " bytes");
  const HeaderInfo::Section& program = info.sections[0];
  if (program.kind != SectionKind::kProgram)
    return BadHeader("the first section is not the program");
  if (program.bytes > kMaxProgramBytes) {
    return BadHeader("the program has ", program.bytes, " bytes, limit ", kMaxProgramBytes);
  }
  return info;
}

std::vector<std::byte> BuildHeader(const HeaderInfo& info) {
  RawHeader h{};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.major = info.major;
  h.minor = info.minor;
  h.section_count = static_cast<uint32_t>(info.sections.size());
  h.required_features = info.required_features;
  h.file_bytes = info.file_bytes;
  h.peak_device_bytes = info.peak_device_bytes;
  h.kernel_abi = abi::kKernelAbiVersion;
  std::vector<std::byte> out(sizeof h + info.sections.size() * sizeof(RawSection));
  for (size_t i = 0; i < info.sections.size(); ++i) {
    const HeaderInfo::Section& s = info.sections[i];
    const RawSection raw{
        static_cast<uint32_t>(s.kind), 0, s.offset, s.bytes, s.hash.low, s.hash.high};
    std::memcpy(out.data() + sizeof h + i * sizeof raw, &raw, sizeof raw);
  }
  std::memcpy(out.data(), &h, sizeof h);
  const Hash128 hash = HeaderHash(out);
  h.hash_low = hash.low;
  h.hash_high = hash.high;
  std::memcpy(out.data(), &h, sizeof h);
  return out;
}

Status PlaceSections(HeaderInfo& info) {
  uint64_t end = sizeof(RawHeader) + info.sections.size() * sizeof(RawSection);
  for (HeaderInfo::Section& s : info.sections) {
    if (!CheckedAlignUp(end, SectionAlignment(s.kind), &s.offset) ||
        !CheckedAdd(s.offset, s.bytes, &end) || end > kMaxFileBytes) {
      return Error(Code::kResource, "the artifact would pass ", kMaxFileBytes, " bytes");
    }
  }
  info.file_bytes = end;
  return OkStatus();
}

}  // namespace aicf::schema
