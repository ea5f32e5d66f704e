/// Reading the key files of signatures, and the flag that makes a signature mandatory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "schema/artifact.h"
#include "schema/keys.h"
#include "tools/common/flags.h"

namespace aicf::tools {

/// The flag --require-signature=FILE, which every tool that reads artifacts has.
class RequiredSignature {
 public:
  CLI::Option* AddTo(CommandLine& line);
  /// Reads the file if the flag was given. An empty file name is an error; it does not count as
  /// leaving the flag out. Errors: kIo; kInvalidArgument when the file holds no key.
  /// REQUIRES: the command line has been parsed and still exists.
  Status Read();

  bool given() const { return keys_.has_value(); }
  /// The keys as Artifact::Load takes them; null without the flag.
  const schema::TrustedKeys* keys() const { return keys_ ? &*keys_ : nullptr; }
  /// The file's text as LoadOptions takes it; nullopt without the flag.
  const std::optional<std::string>& pem() const { return pem_; }

 private:
  const CLI::Option* option_ = nullptr;
  std::string file_;
  std::optional<std::string> pem_;
  std::optional<schema::TrustedKeys> keys_;
};

/// A private key from its file. Errors: kIo; kInvalidArgument naming the file.
Result<schema::SecretKey> ReadSecretKey(const std::string& path);

/// "MCow..., valid" or "MCow..., NOT of these contents"; "no" for an artifact without a signature.
/// REQUIRES: the artifact was loaded with its optional sections.
std::string SignedText(const schema::Artifact& artifact);

}  // namespace aicf::tools
