// Loading, in the order that lets nothing be interpreted before it is checked: header and table,
// then placement and hash of every section, then the program's structure, then its meaning, then
// what ties it to weights and images.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/guard.h"
#include "base/hash.h"
#include "base/hash_stream.h"
#include "base/utf8.h"
#include "schema/artifact.h"
#include "schema/byte_source.h"
#include "schema/codec.h"
#include "schema/format.h"
#include "schema/sections.h"
#include "schema/signature.h"
#include "schema/verify.h"

namespace aicf::schema {
namespace {

bool IsOptional(SectionKind kind) {
  switch (kind) {
    case SectionKind::kProgram:
    case SectionKind::kWeights:
    case SectionKind::kImages:
    case SectionKind::kProvenance:
    case SectionKind::kLanguage:
    case SectionKind::kSignature:
      return false;
    default:
      return true;  // also the sections of newer minor versions
  }
}

bool IsText(SectionKind kind) {
  return kind == SectionKind::kDecisions || kind == SectionKind::kLowered ||
         kind == SectionKind::kProvenance;
}

std::string_view SectionName(SectionKind kind) {
  static constexpr std::string_view kNames[] = {
      "?",      "program",    "weights",  "images",   "decisions", "lowered", "lowered_weights",
      "golden", "provenance", "language", "signature"};
  const auto index = static_cast<uint32_t>(kind);
  return kNames[index < std::size(kNames) ? index : 0];
}

Result<HeaderInfo> ReadHeaderFrom(ByteSource& source) {
  std::vector<std::byte> bytes(std::min<uint64_t>(source.size(), sizeof(RawHeader)));
  AICF_RETURN_IF_ERROR(source.Read(0, bytes));
  AICF_ASSIGN_OR_RETURN(const size_t header_bytes, HeaderBytes(bytes));
  bytes.resize(std::min<uint64_t>(source.size(), header_bytes));
  AICF_RETURN_IF_ERROR(source.Read(0, bytes));
  return ParseHeader(bytes, source.size());
}

// The bytes between sections are zero. A gap is shorter than the largest alignment.
Status CheckPadding(ByteSource& source, uint64_t begin, uint64_t end) {
  std::vector<std::byte> gap(end - begin);
  AICF_RETURN_IF_ERROR(source.Read(begin, gap));
  const bool zero =
      std::all_of(gap.begin(), gap.end(), [](std::byte b) { return b == std::byte{}; });
  return zero ? OkStatus()
              : Error(Code::kBadArtifact, "the padding before offset ", end, " is not zero");
}

}  // namespace

class ArtifactReader {
 public:
  /// `required`: see Artifact::Load.
  ArtifactReader(ByteSource& source, bool with_optional, const TrustedKeys* required)
      : source_(source),
        with_optional_(with_optional),
        required_(required),
        artifact_(new Artifact()) {}

  Result<std::shared_ptr<const Artifact>> Read() {
    AICF_ASSIGN_OR_RETURN(artifact_->header_, ReadHeaderFrom(source_));
    uint64_t end = sizeof(RawHeader) + artifact_->header_.sections.size() * sizeof(RawSection);
    for (const HeaderInfo::Section& s : artifact_->header_.sections) {
      AICF_RETURN_IF_ERROR(CheckPadding(source_, end, s.offset));
      end = s.offset + s.bytes;
      const bool wanted = with_optional_ || !IsOptional(s.kind);
      AICF_RETURN_IF_ERROR(wanted ? ReadSection(s) : HashSection(s));
    }
    AICF_RETURN_IF_ERROR(CheckSigned());
    AICF_RETURN_IF_ERROR(ReadProgram());
    return std::shared_ptr<const Artifact>(std::move(artifact_));
  }

 private:
  Status ReadSection(const HeaderInfo::Section& s) {
    const size_t alignment = std::max<uint64_t>(64, SectionAlignment(s.kind));
    const uint64_t capacity = (s.bytes + alignment - 1) / alignment * alignment;
    Artifact::Blob& blob = artifact_->sections_[s.kind];
    blob.data.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, capacity)));
    std::byte* const memory = blob.data.get();
    if (memory == nullptr) {
      return Error(Code::kResource, "no memory for the ", SectionName(s.kind), " section of ",
                   s.bytes, " bytes");
    }
    blob.bytes = s.bytes;
    const std::span<std::byte> bytes(memory, s.bytes);
    AICF_RETURN_IF_ERROR(source_.Read(s.offset, bytes));
    AICF_RETURN_IF_ERROR(CheckHash(s, HashBytes(bytes)));
    if (NeedsDigest(s)) {
      SectionDigest digest;
      digest.Update(bytes);
      digests_.push_back(digest.Finish());
    }
    const std::string_view text(reinterpret_cast<const char*>(memory), s.bytes);
    if (IsText(s.kind) && !IsCleanText(text)) {
      return Error(Code::kBadArtifact, SectionName(s.kind),
                   " section: not UTF-8, or it holds a NUL");
    }
    return OkStatus();
  }

  /// A section that is not interpreted is checked all the same: damage anywhere makes the whole
  /// file doubtful. It passes through one block, whatever its size, which all such sections share
  /// and nobody fills with zeros first.
  Status HashSection(const HeaderInfo::Section& s) {
    constexpr uint64_t kBlock = kDigestBlock;
    if (block_ == nullptr) {
      block_ = std::make_unique_for_overwrite<std::byte[]>(std::min(source_.size(), kBlock));
    }
    HashStream hash;
    SectionDigest digest;
    for (uint64_t done = 0; done < s.bytes; done += kBlock) {
      const std::span<std::byte> piece(block_.get(), std::min(s.bytes - done, kBlock));
      AICF_RETURN_IF_ERROR(source_.Read(s.offset + done, piece));
      hash.Update(piece);
      if (NeedsDigest(s)) digest.Update(piece);
    }
    if (NeedsDigest(s)) digests_.push_back(digest.Finish());
    return CheckHash(s, hash.Digest());
  }

  bool NeedsDigest(const HeaderInfo::Section& s) const {
    return required_ != nullptr && s.kind != SectionKind::kSignature;
  }

  /// Checks the signature before anything of the file is interpreted, where one is required. Where
  /// none is, a signature proves nothing and is not checked: whoever can change the file can take
  /// it away.
  Status CheckSigned() const {
    const std::span<const std::byte> section = artifact_->bytes(SectionKind::kSignature);
    if (!section.empty() && section.size() != sizeof(RawSignature)) {
      return ParseSignature(section).status();
    }
    if (required_ == nullptr) return OkStatus();
    return CheckSignature(section, Statement(artifact_->header_, digests_), *required_);
  }

  static Status CheckHash(const HeaderInfo::Section& s, const Hash128& found) {
    if (found == s.hash) return OkStatus();
    return Error(Code::kBadArtifact, SectionName(s.kind), " section: hash mismatch");
  }

  Status ReadProgram() {
    const std::span<const std::byte> section = artifact_->bytes(SectionKind::kProgram);
    AICF_ASSIGN_OR_RETURN(artifact_->program_, DecodeProgram(section));
    const Program& program = artifact_->program_;
    AICF_RETURN_IF_ERROR(VerifyProgram(program));
    AICF_ASSIGN_OR_RETURN(const uint64_t peak, PeakDeviceBytes(program));
    if (peak != artifact_->header_.peak_device_bytes) {
      return Error(Code::kBadArtifact, "header: peak device memory ",
                   artifact_->header_.peak_device_bytes, ", the program needs ", peak);
    }
    const uint64_t features = FeaturesOf(program) & ~(HoldsRecords(section) ? 0 : kFeatureRecords);
    if (artifact_->header_.required_features != features) {
      return Error(Code::kBadArtifact, "header: required features ",
                   artifact_->header_.required_features, ", the program needs ", features);
    }
    AICF_RETURN_IF_ERROR(CheckGoldenSection(program, artifact_->bytes(SectionKind::kGolden)));
    AICF_RETURN_IF_ERROR(CheckLanguageSection(artifact_->bytes(SectionKind::kLanguage)));
    return CheckSections(program, artifact_->weights(), artifact_->images());
  }

  ByteSource& source_;
  const bool with_optional_;
  const TrustedKeys* const required_;
  std::unique_ptr<std::byte[]> block_;  ///< of HashSection
  std::vector<Digest> digests_;  ///< of the sections but the signature, where one is required
  std::shared_ptr<Artifact> artifact_;
};

namespace {

// Containers report exhausted memory by throwing; no exception leaves the library.
Result<std::shared_ptr<const Artifact>> ReadFrom(ByteSource& source, bool with_optional,
                                                 const TrustedKeys* required) {
  return Guarded([&] { return ArtifactReader(source, with_optional, required).Read(); });
}

}  // namespace

void Artifact::AlignedFree::operator()(std::byte* p) const { std::free(p); }

std::span<const std::byte> Artifact::weights() const { return bytes(SectionKind::kWeights); }
std::span<const std::byte> Artifact::images() const { return bytes(SectionKind::kImages); }

std::span<const std::byte> Artifact::bytes(SectionKind kind) const {
  const auto it = sections_.find(kind);
  if (it == sections_.end()) return {};
  return {it->second.data.get(), it->second.bytes};
}

std::string_view Artifact::text(SectionKind kind) const {
  const auto b = bytes(kind);
  return {reinterpret_cast<const char*>(b.data()), b.size()};
}

Result<std::shared_ptr<const Artifact>> Artifact::Load(const std::string& path, bool with_optional,
                                                       const TrustedKeys* required) {
  AICF_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  return ReadFrom(*source, with_optional, required);
}

Result<std::shared_ptr<const Artifact>> Artifact::Parse(std::span<const std::byte> bytes,
                                                        bool with_optional,
                                                        const TrustedKeys* required) {
  MemorySource source(bytes);
  return ReadFrom(source, with_optional, required);
}

Result<HeaderInfo> ReadHeader(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  return ReadHeaderFrom(*source);
}

}  // namespace aicf::schema
