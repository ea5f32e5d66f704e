/// Signatures of artifacts: who made a file, where the hashes only say that it is whole.
///
/// A signed artifact has a signature section: algorithm, public key, signature (RawSignature). What
/// is signed is the statement: a fixed text, the header with its section table, and of every other
/// section a digest (SHA-512 over the SHA-512 of each block of kDigestBlock bytes). In the header
/// its own hash and the hash of the signature section count as zero. Everything else of a file
/// follows from these: where sections lie from the table, padding is zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "schema/artifact.h"
#include "schema/keys.h"

namespace aicf::schema {

/// The bytes of the signature section.
struct RawSignature {
  uint64_t algorithm;  ///< 1: Ed25519 of the statement
  uint8_t key[32];
  uint8_t signature[64];
};
static_assert(sizeof(RawSignature) == 104);
inline constexpr uint64_t kEd25519 = 1;

/// Blocks have digests of their own, so that a reader can hash them as they arrive, or several at
/// once.
inline constexpr uint64_t kDigestBlock = uint64_t{1} << 20;
using Digest = std::array<uint8_t, 64>;

/// The digest of a section whose bytes arrive in order.
class SectionDigest {
 public:
  SectionDigest();
  ~SectionDigest();
  SectionDigest(const SectionDigest&) = delete;
  SectionDigest& operator=(const SectionDigest&) = delete;

  /// REQUIRES: every call but the last has a multiple of kDigestBlock bytes.
  void Update(std::span<const std::byte> bytes);
  Digest Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// `digests`: of the sections in the header's order, without the signature's own.
std::string Statement(const HeaderInfo& header, std::span<const Digest> digests);

/// Errors: kBadArtifact when the section has another size; kUnsupported for an algorithm of a
/// newer aicf.
Result<RawSignature> ParseSignature(std::span<const std::byte> section);

/// Checks that the section is a signature of the statement by one of the keys. Errors: kBadArtifact
/// when it is not one of the statement, when it is by none of the keys, or when `section` is empty,
/// that is, the artifact is not signed; those of ParseSignature.
Status CheckSignature(std::span<const std::byte> section, std::string_view statement,
                      const TrustedKeys& keys);

/// Who an artifact says has signed it, and whether that is true.
struct Signer {
  PublicKey key;
  bool valid = false;
};
/// REQUIRES: the artifact is signed and was loaded with its optional sections. Errors:
/// kUnsupported. Cost: a pass over all of its bytes.
Result<Signer> SignerOf(const Artifact& artifact);

/// The artifact's bytes with the key's signature in place of any other. The same key gives the same
/// bytes. REQUIRES: it was loaded with its optional sections. Errors: kResource.
Result<std::vector<std::byte>> Sign(const Artifact& artifact, const SecretKey& key);

/// The header as it would be without a signature: for comparing what was signed.
Result<HeaderInfo> WithoutSignature(HeaderInfo header);

}  // namespace aicf::schema
