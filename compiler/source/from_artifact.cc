#include <algorithm>
#include <map>
#include <optional>

#include "compiler/emit/weights.h"
#include "compiler/ir/text.h"
#include "compiler/source/provenance.h"
#include "compiler/source/source.h"

namespace aicf {
namespace {

using schema::SectionKind;

// Finds constants of the lowered program in the plan's weights and in those kept beside them.
class Constants {
 public:
  static Result<Constants> Of(const std::shared_ptr<const schema::Artifact>& artifact) {
    Constants out;
    out.artifact_ = artifact;
    AICF_ASSIGN_OR_RETURN(const std::vector<NamedConstant> kept,
                          DecodeConstants(artifact->bytes(SectionKind::kLoweredWeights)));
    for (const NamedConstant& c : kept) out.by_hash_[ToHex(c.hash)] = c.bytes;
    for (const schema::Buffer& b : artifact->program().buffers) {
      if (b.storage != schema::Storage::kWeights || b.bytes == 0) continue;
      const auto bytes = artifact->weights().subspan(b.offset, b.bytes);
      out.by_hash_.emplace(ToHex(HashBytes(bytes)), bytes);
    }
    return out;
  }

  ir::Tensor Find(DType dtype, const Dims& shape, std::string_view hash) {
    const auto found = by_hash_.find(hash);
    if (found != by_hash_.end()) return {dtype, shape, found->second, artifact_};
    if (missing_.empty()) missing_ = hash;
    return {};
  }
  /// The first constant that was asked for and is not there.
  const std::string& missing() const { return missing_; }

 private:
  std::shared_ptr<const schema::Artifact> artifact_;
  std::map<std::string, std::span<const std::byte>, std::less<>> by_hash_;
  std::string missing_;
};

struct NamedText {
  std::string name;
  std::string_view text;
};

// The programs of the section: one, or each behind a line with its entry point's name.
Result<std::vector<NamedText>> SplitEntries(std::string_view text) {
  constexpr std::string_view kLine = "entry ";
  if (!text.starts_with(kLine)) return std::vector<NamedText>{{"main", text}};
  std::vector<NamedText> out;
  while (!text.empty()) {
    Scanner in(text.substr(kLine.size()));
    AICF_ASSIGN_OR_RETURN(std::string name, in.Quoted());
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    const size_t next = text.find(StrCat("\n", kLine));
    const size_t end = next == std::string_view::npos ? text.size() : next + 1;
    out.push_back({std::move(name), text.substr(0, end)});
    text.remove_prefix(end);
  }
  return out;
}

// Passes whose decisions are made again: all those behind lowering.
bool IsMadeAgain(std::string_view pass) {
  for (const PassInfo& p : AllPasses()) {
    if (p.stage != Stage::kGraph && p.name == pass) return true;
  }
  constexpr std::string_view kSelect[] = {"choose-kernels", "change-states-in-place",
                                          "decide-in-place", "plan-memory"};
  return std::ranges::find(kSelect, pass) != std::end(kSelect);
}

Status TakeDecisions(const DecisionLog& log, bool named, SourceEntry& entry) {
  for (Decision d : log.decisions()) {
    if (named && d.entry != entry.name) continue;
    d.entry.clear();
    if (d.kind == "bucket") {
      entry.padding_decisions.Record(std::move(d));
    } else if (!IsMadeAgain(d.pass)) {
      entry.decisions.Record(std::move(d));
    }
  }
  return OkStatus();
}

Result<ir::Lowered> ParseEntry(std::string_view text, Constants& constants) {
  const auto resolve = [&](DType dtype, const Dims& shape, std::string_view hash) {
    return constants.Find(dtype, shape, hash);
  };
  Result<ir::Lowered> lowered = ir::ParseLowered(text, resolve);
  if (!constants.missing().empty()) {
    return Error(Code::kBadArtifact, "lowered section: constant ", constants.missing(),
                 " is not in the artifact");
  }
  if (!lowered.ok()) {
    return Error(Code::kBadArtifact, "lowered section: ", lowered.status().message());
  }
  const Status verified = Verify(*lowered);
  if (!verified.ok()) return Error(Code::kBadArtifact, "lowered section: ", verified.message());
  return lowered;
}

}  // namespace

Result<Source> SourceFromArtifact(const std::shared_ptr<const schema::Artifact>& artifact) {
  const std::string_view text = artifact->text(SectionKind::kLowered);
  if (text.empty()) {
    return Status(Code::kUnsupported,
                  "the artifact holds no lowered program (it was made with --strip); compile from "
                  "the model");
  }
  AICF_ASSIGN_OR_RETURN(const Provenance provenance,
                        ReadProvenance(artifact->text(SectionKind::kProvenance)));
  Result<DecisionLog> log = DecisionLog::Parse(artifact->text(SectionKind::kDecisions));
  if (!log.ok()) return Error(Code::kBadArtifact, log.status().message());
  AICF_ASSIGN_OR_RETURN(Constants constants, Constants::Of(artifact));
  AICF_ASSIGN_OR_RETURN(const std::vector<NamedText> texts, SplitEntries(text));
  const schema::Program& program = artifact->program();
  if (texts.size() != program.entry_points.size()) {
    return Error(Code::kBadArtifact, "lowered section: ", texts.size(), " programs for ",
                 program.entry_points.size(), " entry points");
  }
  Source source;
  source.named = text.starts_with("entry ");
  source.metadata = program.metadata;
  source.model_hash = provenance.model_hash;
  source.values = provenance.values;
  for (size_t e = 0; e < texts.size(); ++e) {
    SourceEntry entry;
    entry.name = texts[e].name;
    AICF_ASSIGN_OR_RETURN(entry.lowered, ParseEntry(texts[e].text, constants));
    entry.paddings = program.entry_points[e].paddings;
    AICF_RETURN_IF_ERROR(TakeDecisions(*log, source.named, entry));
    source.entries.push_back(std::move(entry));
  }
  return source;
}

void AttachLowered(const Source& source, schema::Contents& contents) {
  WeightsBuilder planned;
  for (const schema::Buffer& b : contents.program.buffers) {
    if (b.role != schema::Role::kConstant) continue;
    planned.Add(std::span(contents.weights).subspan(b.offset, b.bytes));
  }
  std::vector<NamedConstant> missing;
  for (const SourceEntry& entry : source.entries) {
    if (source.named) contents.lowered += StrCat("entry ", Quote(entry.name), "\n");
    contents.lowered += ToString(entry.lowered);
    for (const ir::LoweredBuffer& b : entry.lowered.buffers) {
      if (!b.constant.has_data()) continue;
      const Hash128 hash = HashBytes(b.constant.bytes());
      if (!planned.Contains(hash)) missing.push_back({hash, b.constant.bytes()});
    }
  }
  contents.lowered_weights = EncodeConstants(std::move(missing));
}

}  // namespace aicf
