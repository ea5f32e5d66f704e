/// aicf-sign: makes key pairs, and signs existing artifacts.
#include <sys/stat.h>

#include <optional>

#include "schema/artifact.h"
#include "schema/signature.h"
#include "tools/common/exit_codes.h"
#include "tools/common/files.h"
#include "tools/common/keys.h"
#include "tools/common/process.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

constexpr std::string_view kDescription =
    "Makes key pairs and signs artifacts (Ed25519). The key files are those of openssl:\n"
    "`openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write them too.";

constexpr std::string_view kExamples = R"(Examples:
  aicf-sign --new-key=key.pem --public-key=key.pub.pem
      a key pair: the first file is the secret that signs, the second is for everybody
  aicf-sign rec.aicf --key=key.pem -o rec.signed.aicf
      the same artifact with a signature; --force and the same name replace it
  aicf-compile rec.onnx -o rec.aicf --sign=key.pem
      signed from the start
  aicf-run rec.signed.aicf --require-signature=key.pub.pem
      runs nothing else; aicf-inspect --verify --require-signature=... only looks

)";

std::string ExitCodes() {
  return ExitCodesText({{Code::kInvalidArgument, "usage or not a key"},
                        {Code::kUnsupported, "newer format"},
                        {Code::kBadArtifact}});
}

struct Options {
  std::string artifact, key, output, new_key, public_key;
  bool force = false;
};

/// While an object of this class exists, files that are created are readable by their owner only.
class OnlyForOwner {
 public:
  OnlyForOwner() : before_(umask(077)) {}
  ~OnlyForOwner() { umask(before_); }
  OnlyForOwner(const OnlyForOwner&) = delete;
  OnlyForOwner& operator=(const OnlyForOwner&) = delete;

 private:
  mode_t before_;
};

/// Makes a key pair. An existing key file is never overwritten, since nobody could make it again.
Status MakeKeys(const Options& options) {
  AICF_ASSIGN_OR_RETURN(AtomicFile public_file,
                        AtomicFile::Create(options.public_key, Existing::kRefuse));
  AICF_ASSIGN_OR_RETURN(const schema::SecretKey key, schema::SecretKey::New());
  {
    const OnlyForOwner only;
    AICF_RETURN_IF_ERROR(WriteFile(options.new_key, key.Pem(), Existing::kRefuse));
  }
  AICF_RETURN_IF_ERROR(public_file.Write(schema::PublicKeyPem(key.Public())));
  AICF_RETURN_IF_ERROR(public_file.Commit());
  Print(StrCat(Escape(options.new_key), " signs, ", Escape(options.public_key),
               " verifies: ", schema::KeyName(key.Public()), "\n"));
  return OkStatus();
}

Status SignArtifact(const Options& options) {
  const Existing existing = options.force ? Existing::kReplace : Existing::kRefuse;
  AICF_ASSIGN_OR_RETURN(const schema::SecretKey key, ReadSecretKey(options.key));
  AICF_ASSIGN_OR_RETURN(AtomicFile output, AtomicFile::Create(options.output, existing));
  // The artifact is verified first, since a signature says that somebody vouches for it.
  auto artifact = schema::Artifact::Load(options.artifact, /*with_optional=*/true);
  if (!artifact.ok()) return artifact.status().WithContext(options.artifact);
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, schema::Sign(**artifact, key));
  AICF_RETURN_IF_ERROR(output.Write(bytes));
  AICF_RETURN_IF_ERROR(output.Commit());
  Print(StrCat(Escape(options.artifact), " -> ", Escape(options.output), ", signed by ",
               schema::KeyName(key.Public()), "\n"));
  return OkStatus();
}

Status Missing(std::string_view what) {
  return Error(Code::kInvalidArgument, what, " is missing (aicf-sign --help has examples)");
}

Status Act(const Options& options) {
  if (!options.new_key.empty()) {
    if (options.public_key.empty()) return Missing("--public-key=FILE");
    if (options.new_key == options.public_key) {
      return Error(Code::kInvalidArgument, options.new_key, ": two outputs have the same path");
    }
    return MakeKeys(options);
  }
  if (options.artifact.empty()) return Missing("the artifact");
  if (options.key.empty()) return Missing("--key=FILE");
  if (options.output.empty()) return Missing("-o FILE");
  return SignArtifact(options);
}

Status Main(const std::vector<std::string>& args) {
  CommandLine line("aicf-sign", kDescription);
  Options options;
  CLI::Option* artifact = line.AddValue("artifact", options.artifact, "file made by aicf-compile");
  CLI::Option* key = line.AddValue("--key", options.key, "FILE  the private key that signs");
  CLI::Option* output = line.AddValue("-o,--output", options.output, "FILE  the signed artifact");
  CLI::Option* force = line.app.add_flag("--force", options.force, "replace an existing output");
  CLI::Option* fresh = line.AddValue("--new-key", options.new_key,
                                     "FILE  write a new private key, for its owner alone");
  line.AddValue("--public-key", options.public_key, "FILE  write the new key's public half")
      ->needs(fresh);
  for (CLI::Option* other : {artifact, key, output, force}) other->excludes(fresh);
  line.app.footer(StrCat(kExamples, ExitCodes()));
  bool run = false;
  AICF_RETURN_IF_ERROR(line.Parse(args, {}, &run));
  return run ? Act(options) : OkStatus();
}

}  // namespace
}  // namespace aicf::tools

int main(int argc, char** argv) {
  return aicf::tools::RunTool("aicf-sign", argc, argv, &aicf::tools::Main);
}
