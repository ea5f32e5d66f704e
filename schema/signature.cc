#include "schema/signature.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "schema/format.h"

namespace aicf::schema {
namespace {

// Begins every statement, so that the signature of an artifact is never that of anything else that
// the key may sign.
constexpr std::string_view kPurpose = "aicf artifact, signature version 1\n";

template <class... Pieces>
Status BadSignature(const Pieces&... pieces) {
  return Error(Code::kBadArtifact, "signature: ", pieces...);
}

const uint8_t* AsUnsigned(std::span<const std::byte> bytes) {
  return reinterpret_cast<const uint8_t*>(bytes.data());
}

std::vector<Digest> DigestsOf(const Artifact& artifact) {
  std::vector<Digest> digests;
  for (const HeaderInfo::Section& s : artifact.header().sections) {
    if (s.kind == SectionKind::kSignature) continue;
    SectionDigest digest;
    digest.Update(artifact.bytes(s.kind));
    digests.push_back(digest.Finish());
  }
  return digests;
}

bool Verifies(const RawSignature& raw, std::string_view statement) {
  return crypto_sign_ed25519_verify_detached(raw.signature,
                                             reinterpret_cast<const uint8_t*>(statement.data()),
                                             statement.size(), raw.key) == 0;
}

}  // namespace

struct SectionDigest::State {
  crypto_hash_sha512_state blocks;
};

SectionDigest::SectionDigest() : state_(std::make_unique<State>()) {
  crypto_hash_sha512_init(&state_->blocks);
}
SectionDigest::~SectionDigest() = default;

void SectionDigest::Update(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto block = bytes.first(std::min<size_t>(bytes.size(), kDigestBlock));
    Digest digest;
    crypto_hash_sha512(digest.data(), AsUnsigned(block), block.size());
    crypto_hash_sha512_update(&state_->blocks, digest.data(), digest.size());
    bytes = bytes.subspan(block.size());
  }
}

Digest SectionDigest::Finish() {
  Digest digest;
  crypto_hash_sha512_final(&state_->blocks, digest.data());
  return digest;
}

std::string Statement(const HeaderInfo& header, std::span<const Digest> digests) {
  HeaderInfo info = header;
  for (HeaderInfo::Section& s : info.sections) {
    if (s.kind == SectionKind::kSignature) s.hash = {};
  }
  std::vector<std::byte> bytes = BuildHeader(info);
  std::memset(bytes.data() + offsetof(RawHeader, hash_low), 0, 2 * sizeof(uint64_t));
  std::string out(kPurpose);
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Digest& digest : digests) {
    out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  }
  return out;
}

Result<RawSignature> ParseSignature(std::span<const std::byte> section) {
  RawSignature raw{};
  if (section.size() != sizeof raw) {
    return BadSignature("the section has ", section.size(), " bytes, expected ", sizeof raw);
  }
  std::memcpy(&raw, section.data(), sizeof raw);
  if (raw.algorithm == kEd25519) return raw;
  return Error(Code::kUnsupported, "signature: algorithm ", raw.algorithm,
               ", this build knows Ed25519 (", kEd25519, ")");
}

Status CheckSignature(std::span<const std::byte> section, std::string_view statement,
                      const TrustedKeys& keys) {
  if (section.empty()) return BadSignature("required, but the artifact is not signed");
  AICF_ASSIGN_OR_RETURN(const RawSignature raw, ParseSignature(section));
  PublicKey key;
  std::memcpy(key.bytes.data(), raw.key, sizeof raw.key);
  if (std::ranges::find(keys, key) == keys.end()) {
    return BadSignature("by key ", KeyName(key), ", which is not trusted");
  }
  if (!Verifies(raw, statement)) {
    return BadSignature("not of these contents by key ", KeyName(key));
  }
  return OkStatus();
}

Result<Signer> SignerOf(const Artifact& artifact) {
  AICF_ASSIGN_OR_RETURN(const RawSignature raw,
                        ParseSignature(artifact.bytes(SectionKind::kSignature)));
  Signer signer;
  std::memcpy(signer.key.bytes.data(), raw.key, sizeof raw.key);
  signer.valid = Verifies(raw, Statement(artifact.header(), DigestsOf(artifact)));
  return signer;
}

Result<HeaderInfo> WithoutSignature(HeaderInfo header) {
  std::erase_if(header.sections, [](const auto& s) { return s.kind == SectionKind::kSignature; });
  AICF_RETURN_IF_ERROR(PlaceSections(header));
  return header;
}

Result<std::vector<std::byte>> Sign(const Artifact& artifact, const SecretKey& key) {
  AICF_ASSIGN_OR_RETURN(HeaderInfo info, WithoutSignature(artifact.header()));
  const auto later = std::ranges::find_if(
      info.sections, [](const auto& s) { return s.kind > SectionKind::kSignature; });
  const auto own =
      info.sections.insert(later, {SectionKind::kSignature, 0, sizeof(RawSignature), {}});
  const auto index = static_cast<size_t>(own - info.sections.begin());
  info.minor = std::max(info.minor, kMinorOfSignatures);
  AICF_RETURN_IF_ERROR(PlaceSections(info));
  RawSignature raw{};
  raw.algorithm = kEd25519;
  std::memcpy(raw.key, key.Public().bytes.data(), sizeof raw.key);
  const auto signature = key.Sign(Statement(info, DigestsOf(artifact)));
  std::memcpy(raw.signature, signature.data(), sizeof raw.signature);
  const auto section = std::as_bytes(std::span(&raw, 1));
  info.sections[index].hash = HashBytes(section);
  std::vector<std::byte> out = BuildHeader(info);
  out.resize(info.file_bytes);
  for (const HeaderInfo::Section& s : info.sections) {
    const auto bytes = s.kind == SectionKind::kSignature ? section : artifact.bytes(s.kind);
    std::memcpy(out.data() + s.offset, bytes.data(), bytes.size());
  }
  return out;
}

}  // namespace aicf::schema
