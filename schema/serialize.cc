#include <cstring>

#include "base/hash.h"
#include "schema/artifact.h"
#include "schema/codec.h"
#include "schema/format.h"
#include "schema/sections.h"
#include "base/utf8.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

struct Part {
  SectionKind kind;
  std::span<const std::byte> bytes;
};

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// What would be refused when it is read is a defect of whoever made it.
Status AsInternal(const Status& status) {
  if (status.ok() || status.code() == Code::kResource) return status;
  return Error(Code::kInternal, "the artifact does not verify: ", status.message());
}

// Verifies the program as a reader will see it: decoded from the bytes that are written.
Status CheckAsRead(const Contents& contents, std::span<const std::byte> program_bytes) {
  AICF_ASSIGN_OR_RETURN(const Program program, DecodeProgram(program_bytes));
  AICF_RETURN_IF_ERROR(VerifyProgram(program));
  for (const std::string* text : {&contents.decisions, &contents.lowered, &contents.provenance}) {
    if (!IsCleanText(*text)) {
      return Error(Code::kBadArtifact, "a text section is not UTF-8 or holds a NUL");
    }
  }
  AICF_RETURN_IF_ERROR(CheckGoldenSection(program, contents.golden));
  AICF_RETURN_IF_ERROR(CheckLanguageSection(contents.language));
  return CheckSections(program, contents.weights, contents.images);
}

// In ascending order of kind, which is the file's order.
std::vector<Part> PartsOf(const Contents& c, std::span<const std::byte> program) {
  std::vector<Part> parts = {
      {SectionKind::kProgram, program},
      {SectionKind::kWeights, c.weights},
      {SectionKind::kImages, c.images},
      {SectionKind::kDecisions, Bytes(c.decisions)},
      {SectionKind::kLowered, Bytes(c.lowered)},
      {SectionKind::kLoweredWeights, c.lowered_weights},
      {SectionKind::kGolden, c.golden},
      {SectionKind::kProvenance, Bytes(c.provenance)},
      {SectionKind::kLanguage, c.language},
  };
  std::erase_if(parts, [](const Part& p) { return p.bytes.empty(); });
  return parts;
}

// Readers of versions before a section's skip it. Files without one stay what they were.
uint16_t MinorOf(const Contents& c) { return c.language.empty() ? 0 : 1; }
static_assert(kFormatMinor == kMinorOfSignatures);  // which Sign sets

}  // namespace

Result<std::vector<std::byte>> Serialize(const Contents& contents) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> program, EncodeProgram(contents.program));
  AICF_RETURN_IF_ERROR(AsInternal(CheckAsRead(contents, program)));
  HeaderInfo info;
  info.major = kFormatMajor;
  info.minor = MinorOf(contents);
  AICF_ASSIGN_OR_RETURN(info.peak_device_bytes, PeakDeviceBytes(contents.program));
  info.required_features = FeaturesOf(contents.program);
  const std::vector<Part> parts = PartsOf(contents, program);
  for (const Part& p : parts) {
    info.sections.push_back({p.kind, 0, p.bytes.size(), HashBytes(p.bytes)});
  }
  AICF_RETURN_IF_ERROR(PlaceSections(info));
  std::vector<std::byte> out = BuildHeader(info);
  out.resize(info.file_bytes);
  for (size_t i = 0; i < parts.size(); ++i) {
    std::memcpy(out.data() + info.sections[i].offset, parts[i].bytes.data(), parts[i].bytes.size());
  }
  return out;
}

}  // namespace aicf::schema
