#include "compiler/emit/stored_lowered.h"

#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/hash.h"
#include "base/scanner.h"
#include "compiler/ir/text.h"

namespace aicf {
namespace {

using Bytes = std::span<const std::byte>;

uint64_t U64At(Bytes bytes, uint64_t at) {
  uint64_t v = 0;
  std::memcpy(&v, bytes.data() + at, sizeof v);
  return v;
}

/// Constants by the text of their hash.
class Constants {
 public:
  Status AddTable(Bytes section) {
    if (section.empty()) return OkStatus();
    const uint64_t count = section.size() < 8 ? UINT64_MAX : U64At(section, 0);
    if (count > (section.size() - 8) / 32) {
      return Error(Code::kBadArtifact, "lowered weights: a table of ", count,
                   " constants in a section of ", section.size(), " bytes");
    }
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t row = 8 + 32 * i;
      const uint64_t offset = U64At(section, row + 16), bytes = U64At(section, row + 24);
      if (!InRange(offset, bytes, section.size())) {
        return Error(Code::kBadArtifact, "lowered weights: constant ", i, ", ", bytes, " bytes at ",
                     offset, ", leaves the section of ", section.size());
      }
      Add({.low = U64At(section, row), .high = U64At(section, row + 8)},
          section.subspan(offset, bytes));
    }
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
    // The artifact owns the bytes. A tensor without an owner could pass for one without data, for
    // which the parser takes zeros.
    return {dtype, shape, bytes, std::shared_ptr<const void>(this, [](const void*) {})};
  }

 private:
  void Add(const Hash128& hash, Bytes bytes) { by_hash_.emplace(ToHex(hash), bytes); }

  std::map<std::string, Bytes, std::less<>> by_hash_;
};

struct Part {
  std::string entry;
  std::string_view text;
};

/// The text behind each line `entry "NAME"`; all of it without one.
Result<std::vector<Part>> SplitEntries(std::string_view text) {
  constexpr std::string_view kMark = "entry ";
  if (!text.starts_with(kMark)) return std::vector<Part>{{"", text}};
  std::vector<Part> parts;
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

Result<std::vector<StoredLowered>> ReadLowered(const schema::Artifact& artifact) {
  std::vector<StoredLowered> stored;
  const std::string_view text = artifact.text(schema::SectionKind::kLowered);
  if (text.empty()) return stored;
  Constants constants;
  AICF_RETURN_IF_ERROR(constants.AddTable(artifact.bytes(schema::SectionKind::kLoweredWeights)));
  constants.AddPlanned(artifact.program(), artifact.weights());
  const auto parts = SplitEntries(text);
  AICF_RETURN_IF_ERROR(AsBad(parts.status()));
  for (const Part& part : *parts) {
    auto lowered =
        ir::ParseLowered(part.text, [&](DType dtype, const Dims& shape, std::string_view hash) {
          return constants.Find(dtype, shape, hash);
        });
    AICF_RETURN_IF_ERROR(AsBad(lowered.status()));
    stored.push_back({part.entry, *std::move(lowered)});
  }
  return stored;
}

}  // namespace aicf
