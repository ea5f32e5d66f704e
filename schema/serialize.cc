#include <cstring>

#include "base/function_ref.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "schema/artifact.h"
#include "schema/codec.h"
#include "schema/format.h"
#include "schema/sections.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

struct Part {
  SectionKind kind;
  std::span<const std::byte> bytes;
};

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// Contents that a reader would refuse are a defect of whoever made them, so the error becomes
// kInternal.
Status AsInternal(const Status& status) {
  if (status.ok() || status.code() == Code::kResource) return status;
  return Error(Code::kInternal, "the artifact does not verify: ", status.message());
}

// Verifies the program as a reader will see it: `program` is decoded from the bytes that are
// written.
Status CheckAsRead(const Contents& contents, const Program& program) {
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
      {SectionKind::kProgram, program},          {SectionKind::kWeights, c.weights},
      {SectionKind::kImages, c.images},          {SectionKind::kDecisions, Bytes(c.decisions)},
      {SectionKind::kLowered, Bytes(c.lowered)}, {SectionKind::kLoweredWeights, c.lowered_weights},
      {SectionKind::kGolden, c.golden},          {SectionKind::kProvenance, Bytes(c.provenance)},
      {SectionKind::kLanguage, c.language},
  };
  std::erase_if(parts, [](const Part& p) { return p.bytes.empty(); });
  return parts;
}

// Readers that are older than a section skip it. A file without a newer section keeps the older
// minor version, so that its bytes do not change.
uint16_t MinorOf(const Contents& c) { return c.language.empty() ? 0 : 1; }
static_assert(kFormatMinor == kMinorOfSignatures);  // which Sign sets

// The header of a file of these parts. Errors: kResource for more bytes than there are offsets.
Result<HeaderInfo> HeaderOf(const Contents& contents, const std::vector<Part>& parts) {
  HeaderInfo info;
  info.major = kFormatMajor;
  info.minor = MinorOf(contents);
  AICF_ASSIGN_OR_RETURN(info.peak_device_bytes, PeakDeviceBytes(contents.program));
  info.required_features = FeaturesOf(contents.program);
  for (const Part& p : parts) {
    info.sections.push_back({p.kind, 0, p.bytes.size(), HashBytes(p.bytes)});
  }
  AICF_RETURN_IF_ERROR(PlaceSections(info));
  return info;
}

// `written` is called when a part's bytes are in the file.
Result<std::vector<std::byte>> Assemble(const Contents& contents,
                                        std::span<const std::byte> program,
                                        FunctionRef<void(SectionKind)> written) {
  const std::vector<Part> parts = PartsOf(contents, program);
  AICF_ASSIGN_OR_RETURN(const HeaderInfo info, HeaderOf(contents, parts));
  std::vector<std::byte> out = BuildHeader(info);
  out.reserve(info.file_bytes);
  for (size_t i = 0; i < parts.size(); ++i) {
    out.resize(info.sections[i].offset);
    out.insert(out.end(), parts[i].bytes.begin(), parts[i].bytes.end());
    written(parts[i].kind);
  }
  out.resize(info.file_bytes);
  return out;
}

}  // namespace

Result<std::vector<std::byte>> Serialize(const Contents& contents) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> program, EncodeProgram(contents.program));
  const Result<Program> read = DecodeProgram(program);
  if (!read.ok()) return AsInternal(read.status());
  AICF_RETURN_IF_ERROR(AsInternal(CheckAsRead(contents, *read)));
  return Assemble(contents, program, [](SectionKind) {});
}

Result<std::vector<std::byte>> Serialize(Contents&& contents) {
  AICF_ASSIGN_OR_RETURN(std::vector<std::byte> program, EncodeProgram(contents.program));
  contents.program = {};
  Result<Program> read = DecodeProgram(program);
  if (!read.ok()) return AsInternal(read.status());
  contents.program = *std::move(read);
  AICF_RETURN_IF_ERROR(AsInternal(CheckAsRead(contents, contents.program)));
  return Assemble(contents, program, [&](SectionKind kind) {
    if (kind == SectionKind::kProgram) std::vector<std::byte>().swap(program);
    if (kind == SectionKind::kDecisions) std::string().swap(contents.decisions);
    if (kind == SectionKind::kLowered) std::string().swap(contents.lowered);
  });
}

}  // namespace aicf::schema
