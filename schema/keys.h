/// Ed25519 keys, and the PEM files they lie in: PKCS#8 and SubjectPublicKeyInfo (RFC 8410), as
/// `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace aicf::schema {

struct PublicKey {
  std::array<uint8_t, 32> bytes{};
  friend bool operator==(const PublicKey&, const PublicKey&) = default;
};

/// Keys of which any one's signature is accepted. Never empty.
using TrustedKeys = std::vector<PublicKey>;

/// The line between BEGIN and END of the key's PEM file, so that a file can be searched for it:
/// "MCowBQYDK2VwAyEA..." of 60 characters.
std::string KeyName(const PublicKey& key);

/// Every public key of the text; what stands between the keys is skipped, as in any PEM file.
/// Errors: kInvalidArgument when it holds none, a private key, another kind of key or a damaged
/// one.
Result<TrustedKeys> ParsePublicKeys(std::string_view pem);
std::string PublicKeyPem(const PublicKey& key);

/// What signs. Overwritten when it is destroyed.
class SecretKey {
 public:
  /// From the system's random numbers. Errors: kInternal when it has none.
  static Result<SecretKey> New();
  /// The one private key of the text. Errors: kInvalidArgument when it holds none or several, an
  /// encrypted one, another kind of key or a damaged one.
  static Result<SecretKey> Parse(std::string_view pem);

  SecretKey(SecretKey&& other) noexcept;
  SecretKey& operator=(SecretKey&& other) noexcept;
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;
  ~SecretKey();

  PublicKey Public() const;
  std::string Pem() const;
  /// Deterministic: the same message gives the same 64 bytes.
  std::array<uint8_t, 64> Sign(std::string_view message) const;

 private:
  SecretKey() = default;
  static SecretKey FromSeed(const std::array<uint8_t, 32>& seed);

  std::array<uint8_t, 64> bytes_{};  ///< seed, then public key
};

}  // namespace aicf::schema
