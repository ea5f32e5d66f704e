#include "schema/keys.h"

#include <sodium.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

#include "base/scanner.h"

namespace aicf::schema {
namespace {

// All that DER says around the 32 bytes of a key of this algorithm (1.3.101.112) is constant.
constexpr uint8_t kPublicPrefix[] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                     0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
constexpr uint8_t kSecretPrefix[] = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
                                     0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};
constexpr std::string_view kPublicLabel = "PUBLIC KEY", kSecretLabel = "PRIVATE KEY";
constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ", kDashes = "-----";

using Seed = std::array<uint8_t, 32>;

template <class... Pieces>
Status BadKey(const Pieces&... pieces) {
  return Error(Code::kInvalidArgument, "key file: ", pieces...);
}

std::string Base64(std::span<const uint8_t> bytes) {
  constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;
  std::string out(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(out.data(), out.size(), bytes.data(), bytes.size(), kVariant);
  out.pop_back();  // the terminating zero
  return out;
}

std::string Pem(std::string_view label, std::string_view body) {
  return StrCat(kBegin, label, kDashes, "\n", body, "\n", kEnd, label, kDashes, "\n");
}

struct Block {
  std::string_view label, body;
};

// Takes the next block off the front of `text`; nullopt where there is none.
Result<std::optional<Block>> NextBlock(std::string_view& text) {
  const size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) return std::optional<Block>();
  text.remove_prefix(begin + kBegin.size());
  const size_t label_end = text.find(kDashes);
  if (label_end == std::string_view::npos) return BadKey("a BEGIN line has no end");
  Block block;
  block.label = text.substr(0, label_end);
  text.remove_prefix(label_end + kDashes.size());
  const std::string end = StrCat(kEnd, block.label, kDashes);
  const size_t body_end = text.find(end);
  if (body_end == std::string_view::npos) {
    return BadKey("no END line for ", Quote(block.label));
  }
  block.body = text.substr(0, body_end);
  text.remove_prefix(body_end + end.size());
  return std::optional(block);
}

// The 32 bytes behind `prefix` in a block's base64.
Result<Seed> Decode(const Block& block, std::span<const uint8_t> prefix) {
  uint8_t der[64];
  size_t bytes = 0;
  const char* end = nullptr;
  const bool decoded =
      sodium_base642bin(der, sizeof der, block.body.data(), block.body.size(), " \t\r\n", &bytes,
                        &end, sodium_base64_VARIANT_ORIGINAL) == 0;
  const bool whole = decoded && end == block.body.data() + block.body.size();
  Seed key{};
  const bool fits =
      whole && bytes == prefix.size() + key.size() && std::equal(prefix.begin(), prefix.end(), der);
  if (fits) std::memcpy(key.data(), der + prefix.size(), key.size());
  sodium_memzero(der, sizeof der);
  if (fits) return key;
  return BadKey("the ", block.label, " is damaged, or not of Ed25519");
}

Status OtherLabel(std::string_view label, std::string_view wanted) {
  const std::string_view hint = label == "ENCRYPTED PRIVATE KEY" ? "; decrypt it first" : "";
  return BadKey("holds ", Quote(label), ", expected ", Quote(wanted), hint);
}

}  // namespace

std::string KeyName(const PublicKey& key) {
  std::vector<uint8_t> der(std::begin(kPublicPrefix), std::end(kPublicPrefix));
  der.insert(der.end(), key.bytes.begin(), key.bytes.end());
  return Base64(der);
}

std::string PublicKeyPem(const PublicKey& key) { return Pem(kPublicLabel, KeyName(key)); }

Result<TrustedKeys> ParsePublicKeys(std::string_view pem) {
  TrustedKeys keys;
  while (true) {
    AICF_ASSIGN_OR_RETURN(const std::optional<Block> block, NextBlock(pem));
    if (!block) break;
    if (block->label != kPublicLabel) return OtherLabel(block->label, kPublicLabel);
    AICF_ASSIGN_OR_RETURN(const Seed bytes, Decode(*block, kPublicPrefix));
    keys.push_back({bytes});
  }
  if (keys.empty()) return BadKey("holds no \"PUBLIC KEY\" in PEM");
  return keys;
}

SecretKey::SecretKey(SecretKey&& other) noexcept : bytes_(other.bytes_) {
  sodium_memzero(other.bytes_.data(), other.bytes_.size());
}

SecretKey& SecretKey::operator=(SecretKey&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

SecretKey::~SecretKey() { sodium_memzero(bytes_.data(), bytes_.size()); }

SecretKey SecretKey::FromSeed(const Seed& seed) {
  SecretKey key;
  PublicKey unused;
  crypto_sign_ed25519_seed_keypair(unused.bytes.data(), key.bytes_.data(), seed.data());
  return key;
}

Result<SecretKey> SecretKey::New() {
  // The kernel's own call, so that nothing depends on the library's generator being set up.
  Seed seed{};
  ssize_t got = 0;
  do {
    got = getrandom(seed.data(), seed.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(seed.size())) {
    return Error(Code::kInternal, "no random numbers: ", std::strerror(errno));
  }
  SecretKey key = FromSeed(seed);
  sodium_memzero(seed.data(), seed.size());
  return key;
}

Result<SecretKey> SecretKey::Parse(std::string_view pem) {
  std::optional<SecretKey> key;
  while (true) {
    AICF_ASSIGN_OR_RETURN(const std::optional<Block> block, NextBlock(pem));
    if (!block) break;
    if (block->label != kSecretLabel) return OtherLabel(block->label, kSecretLabel);
    if (key) return BadKey("holds several private keys");
    AICF_ASSIGN_OR_RETURN(Seed seed, Decode(*block, kSecretPrefix));
    key = FromSeed(seed);
    sodium_memzero(seed.data(), seed.size());
  }
  if (!key) return BadKey("holds no \"PRIVATE KEY\" in PEM");
  return *std::move(key);
}

PublicKey SecretKey::Public() const {
  PublicKey key;
  std::memcpy(key.bytes.data(), bytes_.data() + 32, 32);
  return key;
}

std::string SecretKey::Pem() const {
  std::vector<uint8_t> der(std::begin(kSecretPrefix), std::end(kSecretPrefix));
  der.insert(der.end(), bytes_.begin(), bytes_.begin() + 32);
  std::string body = Base64(der);
  sodium_memzero(der.data(), der.size());
  std::string pem = schema::Pem(kSecretLabel, body);
  sodium_memzero(body.data(), body.size());
  return pem;
}

std::array<uint8_t, 64> SecretKey::Sign(std::string_view message) const {
  std::array<uint8_t, 64> signature{};
  crypto_sign_ed25519_detached(signature.data(), nullptr,
                               reinterpret_cast<const uint8_t*>(message.data()), message.size(),
                               bytes_.data());
  return signature;
}

}  // namespace aicf::schema
