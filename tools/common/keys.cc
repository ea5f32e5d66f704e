#include "tools/common/keys.h"

#include "schema/signature.h"
#include "tools/common/files.h"

namespace aicf::tools {
namespace {

Result<std::string> ReadKeyText(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

CLI::Option* RequiredSignature::AddTo(CommandLine& line) {
  CLI::Option* option =
      line.AddValue("--require-signature", file_,
                    "FILE  refuse an artifact that none of the public keys in this PEM\n"
                    "file has signed; exit code 5");
  option_ = option;
  return option;
}

Status RequiredSignature::Read() {
  const bool given = option_ != nullptr && option_->count() > 0;
  option_ = nullptr;
  if (!given) return OkStatus();
  AICF_ASSIGN_OR_RETURN(pem_, ReadKeyText(file_));
  auto keys = schema::ParsePublicKeys(*pem_);
  if (!keys.ok()) return keys.status().WithContext(file_);
  keys_ = *std::move(keys);
  return OkStatus();
}

Result<schema::SecretKey> ReadSecretKey(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const std::string pem, ReadKeyText(path));
  auto key = schema::SecretKey::Parse(pem);
  if (!key.ok()) return key.status().WithContext(path);
  return key;
}

std::string SignedText(const schema::Artifact& artifact) {
  if (!artifact.is_signed()) return "no";
  const Result<schema::Signer> signer = schema::SignerOf(artifact);
  if (!signer.ok()) return signer.status().message();
  return StrCat(schema::KeyName(signer->key),
                signer->valid ? ", valid" : ", NOT of these contents");
}

}  // namespace aicf::tools
