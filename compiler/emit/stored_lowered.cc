#include "compiler/emit/stored_lowered.h"

#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "base/scanner.h"
#include "compiler/ir/lowered_sizes.h"
#include "compiler/ir/text.h"
#include "compiler/plan/weights.h"

namespace aicf {
namespace {

using Bytes = std::span<const std::byte>;

/// Constants by the text of their hash.
class Constants {
 public:
  explicit Constants(std::shared_ptr<const schema::Artifact> owner) : owner_(std::move(owner)) {}

  Status AddTable(Bytes section) {
    AICF_ASSIGN_OR_RETURN(const std::vector<NamedConstant> kept, DecodeConstants(section));
    for (const NamedConstant& c : kept) Add(c.hash, c.bytes);
    return OkStatus();
  }

  /// What the plan reads as the lowered program has it is stored there only.
  void AddPlanned(const schema::Program& program, Bytes weights) {
    for (const schema::Buffer& b : program.buffers) {
      if (b.storage != schema::Storage::kWeights) continue;
      const Bytes bytes = weights.subspan(b.offset, b.bytes);
      Add(HashBytes(bytes), bytes);
    }
  }

  /// No bytes for a constant that is missing: the parser refuses it by its size.
  ir::Tensor Find(DType dtype, const Dims& shape, std::string_view hash) const {
    const auto found = by_hash_.find(hash);
    const Bytes bytes = found == by_hash_.end() ? Bytes() : found->second;
    return {dtype, shape, bytes, owner_};
  }

 private:
  void Add(const Hash128& hash, Bytes bytes) { by_hash_.emplace(ToHex(hash), bytes); }

  std::shared_ptr<const schema::Artifact> owner_;
  std::map<std::string, Bytes, std::less<>> by_hash_;
};

struct StoredEntry {
  std::string entry;
  std::string_view text;
};

/// The text after each line `entry "NAME"`; all of it without one.
Result<std::vector<StoredEntry>> SplitEntries(std::string_view text) {
  constexpr std::string_view kMark = "entry ";
  if (!text.starts_with(kMark)) return std::vector<StoredEntry>{{"", text}};
  std::vector<StoredEntry> parts;
  while (!text.empty()) {
    Scanner line(text);
    AICF_RETURN_IF_ERROR(line.Expect("entry"));
    AICF_ASSIGN_OR_RETURN(std::string name, line.Quoted());
    text.remove_prefix(line.position());
    const size_t next = text.find("\nentry ");
    const std::string_view body = text.substr(0, next == std::string_view::npos ? next : next + 1);
    text.remove_prefix(body.size());
    parts.push_back({std::move(name), body});
  }
  return parts;
}

Status AsBad(const Status& status) {
  if (status.ok()) return status;
  return Error(Code::kBadArtifact, "the lowered program: ", status.message());
}

}  // namespace

Result<std::vector<StoredLowered>> ReadLowered(
    const std::shared_ptr<const schema::Artifact>& artifact) {
  std::vector<StoredLowered> stored;
  const std::string_view text = artifact->text(schema::SectionKind::kLowered);
  if (text.empty()) return stored;
  Constants constants(artifact);
  AICF_RETURN_IF_ERROR(constants.AddTable(artifact->bytes(schema::SectionKind::kLoweredWeights)));
  constants.AddPlanned(artifact->program(), artifact->weights());
  const auto parts = SplitEntries(text);
  AICF_RETURN_IF_ERROR(AsBad(parts.status()));
  for (const StoredEntry& part : *parts) {
    auto lowered =
        ir::ParseLowered(part.text, [&](DType dtype, const Dims& shape, std::string_view hash) {
          return constants.Find(dtype, shape, hash);
        });
    AICF_RETURN_IF_ERROR(AsBad(lowered.status()));
    AICF_RETURN_IF_ERROR(AsBad(ir::CheckMagnitudes(*lowered)));
    AICF_RETURN_IF_ERROR(AsBad(Verify(*lowered)));
    stored.push_back({part.entry, *std::move(lowered)});
  }
  return stored;
}

}  // namespace aicf
