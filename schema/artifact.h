/// The artifact file: fixed header, section table, sections. Layout and evolution rules:
/// schema/README.md.
///
/// Reading never trusts: the header and every section are checked by size, order and hash before a
/// byte of them is interpreted; then the FlatBuffer's structure; then the program's meaning
/// (verify.h). There is one verification level and no switch to turn it off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "schema/keys.h"
#include "schema/program.h"

namespace aicf::schema {

inline constexpr char kMagic[8] = {'A', 'I', 'C', 'F', '\r', '\n', 0x1a, '\n'};
inline constexpr uint16_t kFormatMajor = 1;  ///< readers refuse another major version
inline constexpr uint16_t kFormatMinor = 2;  ///< readers accept any minor version of their major

enum class SectionKind : uint32_t {
  kProgram = 1,    ///< FlatBuffers, schema/artifact.fbs
  kWeights = 2,    ///< constants the plan reads; 4096-byte aligned
  kImages = 3,     ///< compiled device code
  kDecisions = 4,  ///< JSON lines; strippable
  kLowered = 5,    ///< text of the lowered program; strippable
  kLoweredWeights =
      6,            ///< constants only the lowered program reads; strippable; never loaded to run
  kGolden = 7,      ///< sample inputs and outputs (schema/golden.h); optional
  kProvenance = 8,  ///< one JSON object
  kLanguage = 9,    ///< what generating text needs (schema/language_model.h); always read
  kSignature = 10,  ///< who made the file (schema/signature.h); optional, always read
};

/// Bytes on the way into an artifact. Absent optional sections are empty.
struct Contents {
  Program program;
  std::vector<std::byte> weights;
  std::vector<std::byte> images;
  std::string decisions;
  std::string lowered;
  std::vector<std::byte> lowered_weights;
  std::vector<std::byte> golden;  ///< schema/golden.h
  std::string provenance;
  std::vector<std::byte> language;  ///< schema/language_model.h
};

/// Serialises deterministically: equal contents give equal bytes. The result has been verified.
/// Errors: kInternal when the contents do not verify (a defect of the compiler).
Result<std::vector<std::byte>> Serialize(const Contents& contents);
/// The same in less memory: afterwards contents.program is what a reader of the bytes gets, and the
/// sections of decisions and of the lowered program are empty.
Result<std::vector<std::byte>> Serialize(Contents&& contents);

/// Summary readable from the first bytes of a file, before anything is loaded.
struct HeaderInfo {
  uint16_t major = 0, minor = 0;
  uint64_t file_bytes = 0;
  uint64_t peak_device_bytes = 0;  ///< arena + weights + state
  struct Section {
    SectionKind kind;
    uint64_t offset, bytes;
    Hash128 hash;
  };
  std::vector<Section> sections;
  uint64_t required_features = 0;  ///< bits of format.h
};

/// A verified artifact. Owns private memory; immutable; safe to share between threads.
class Artifact {
 public:
  /// Opens once (O_NOFOLLOW is not used: a symlink to an artifact is legitimate), requires a
  /// regular file, reads it into private 64-byte-aligned memory (weights at 4096), verifies
  /// everything. The optional sections (decisions, lowered, lowered weights, golden) are kept only
  /// when `with_optional`; without it their bytes are hashed block by block and forgotten.
  /// With `required`, an artifact that none of these keys has signed is refused before its program
  /// is looked at; the signature is checked against the very bytes that are kept. Errors: kIo,
  /// kBadArtifact, kUnsupported (newer format), kResource.
  static Result<std::shared_ptr<const Artifact>> Load(const std::string& path, bool with_optional,
                                                      const TrustedKeys* required = nullptr);
  /// The same from memory; copies. The fuzz target.
  static Result<std::shared_ptr<const Artifact>> Parse(std::span<const std::byte> bytes,
                                                       bool with_optional,
                                                       const TrustedKeys* required = nullptr);

  const HeaderInfo& header() const { return header_; }
  const Program& program() const { return program_; }
  std::span<const std::byte> weights() const;
  std::span<const std::byte> images() const;
  /// Empty when absent or not read. Text sections are valid UTF-8 without NUL.
  std::string_view text(SectionKind kind) const;
  std::span<const std::byte> bytes(SectionKind kind) const;
  bool is_signed() const { return !bytes(SectionKind::kSignature).empty(); }

 private:
  struct AlignedFree {
    void operator()(std::byte* p) const;
  };
  struct Blob {
    std::unique_ptr<std::byte, AlignedFree> data;
    uint64_t bytes = 0;
  };
  friend class ArtifactReader;
  Artifact() = default;
  HeaderInfo header_;
  Program program_;
  std::map<SectionKind, Blob> sections_;
};

/// Header and section table only; checks them, reads no section.
Result<HeaderInfo> ReadHeader(const std::string& path);

}  // namespace aicf::schema
