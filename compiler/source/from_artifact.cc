#include <algorithm>
#include <set>

#include "base/scanner.h"
#include "compiler/emit/stored_lowered.h"
#include "compiler/ir/text.h"
#include "compiler/plan/weights.h"
#include "compiler/source/provenance.h"
#include "compiler/source/source.h"

namespace aicf {
namespace {

using schema::SectionKind;

// Passes whose decisions are made again: all those after lowering.
bool IsMadeAgain(std::string_view pass) {
  for (const PassInfo& p : AllPasses()) {
    if (p.stage != Stage::kGraph && p.name == pass) return true;
  }
  constexpr std::string_view kSelect[] = {
      "choose-kernels", "change-states-in-place", "update-states-in-place", "decide-in-place",
      "plan-memory",    kLeaveOutDecisions};
  return std::ranges::find(kSelect, pass) != std::end(kSelect);
}

void TakeDecisions(const DecisionLog& log, bool named, SourceEntry& entry) {
  log.ForEach([&](const Decision& given) {
    if (named && given.subject.entry != entry.name) return;
    Decision d = given;
    d.subject.entry.clear();
    if (d.kind == DecisionKind::kBucket) {
      entry.padding_decisions.Record(d);
    } else if (!IsMadeAgain(d.pass)) {
      entry.decisions.Record(d);
    }
  });
}

}  // namespace

Result<Source> SourceFromArtifact(const std::shared_ptr<const schema::Artifact>& artifact) {
  AICF_ASSIGN_OR_RETURN(std::vector<StoredLowered> stored, ReadLowered(artifact));
  if (stored.empty()) {
    return Status(Code::kUnsupported,
                  "the artifact holds no lowered program (it was made with --strip); compile from "
                  "the model");
  }
  AICF_ASSIGN_OR_RETURN(const Provenance provenance,
                        ReadProvenance(artifact->text(SectionKind::kProvenance)));
  Result<DecisionLog> log = DecisionLog::Parse(artifact->text(SectionKind::kDecisions));
  if (!log.ok()) return Error(Code::kBadArtifact, log.status().message());
  const schema::Program& program = artifact->program();
  if (stored.size() != program.entry_points.size()) {
    return Error(Code::kBadArtifact, "lowered section: ", stored.size(), " programs for ",
                 program.entry_points.size(), " entry points");
  }
  Source source;
  source.named = !stored[0].entry.empty();
  source.metadata = program.metadata;
  source.model_hash = provenance.model_hash;
  source.values = provenance.values;
  const std::span<const std::byte> language = artifact->bytes(SectionKind::kLanguage);
  source.language.assign(language.begin(), language.end());
  for (size_t e = 0; e < stored.size(); ++e) {
    SourceEntry entry;
    entry.name = source.named ? stored[e].entry : program.entry_points[e].name;
    entry.lowered = std::move(stored[e].lowered);
    entry.paddings = program.entry_points[e].paddings;
    TakeDecisions(*log, source.named, entry);
    source.entries.push_back(std::move(entry));
  }
  return source;
}

LoweredSections SectionsOf(const Source& source) {
  LoweredSections sections;
  for (const SourceEntry& entry : source.entries) {
    if (source.named) sections.text += StrCat("entry ", Quote(entry.name), "\n");
    sections.text += ToString(entry.lowered);
    for (const ir::LoweredBuffer& b : entry.lowered.buffers) {
      if (b.constant.has_data()) sections.constants.push_back(b.constant);
    }
  }
  return sections;
}

void AttachLowered(LoweredSections sections, schema::Contents& contents) {
  std::set<std::pair<uint64_t, uint64_t>> planned;
  for (const schema::Buffer& b : contents.program.buffers) {
    if (b.role != schema::Role::kConstant) continue;
    const Hash128 hash = HashBytes(std::span(contents.weights).subspan(b.offset, b.bytes));
    planned.emplace(hash.high, hash.low);
  }
  std::vector<NamedConstant> missing;
  for (const ir::Tensor& constant : sections.constants) {
    const Hash128 hash = HashBytes(constant.bytes());
    if (!planned.contains({hash.high, hash.low})) missing.push_back({hash, constant.bytes()});
  }
  contents.lowered = std::move(sections.text);
  contents.lowered_weights = EncodeConstants(std::move(missing));
}

}  // namespace aicf
