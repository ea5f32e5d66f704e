/// Key files of signatures, and the flag that asks for one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "schema/artifact.h"
#include "schema/keys.h"
#include "tools/common/flags.h"

namespace aicf::tools {

/// --require-signature=FILE, which all tools that read artifacts have.
class RequiredSignature {
 public:
  CLI::Option* AddTo(CommandLine& line);
  /// Reads the file, if the flag was given; an empty name is an error and no absence. Errors: kIo;
  /// kInvalidArgument when it holds no key. REQUIRES: the command line is parsed and still there.
  Status Read();

  bool given() const { return keys_.has_value(); }
  /// For Artifact::Load; null without the flag.
  const schema::TrustedKeys* keys() const { return keys_ ? &*keys_ : nullptr; }
  /// For LoadOptions.
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
