/// An artifact is verified and then given to everything that can show one.
#include "schema/artifact.h"

#include "compiler/plan/weights.h"
#include "schema/verify.h"
#include "tests/faults/artifacts/guarded_run.h"
#include "tests/fuzz/artifact_mutation.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/target.h"
#include "tools/aicf-inspect/json.h"
#include "tools/aicf-inspect/language.h"
#include "tools/aicf-inspect/text.h"
#include "tools/common/golden_text.h"
#include "tools/common/lowered.h"
#include "tools/inspect/arena.h"

namespace aicf::fuzz {
namespace {

using schema::Artifact;
using schema::SectionKind;

void Show(const Artifact& artifact) {
  const tools::DecisionLines decisions =
      tools::ReadDecisions(artifact.text(SectionKind::kDecisions), artifact.program());
  (void)tools::ArtifactJson(artifact, decisions);
  (void)tools::DecisionsText(decisions);
  // As a reader would that expects no line that it cannot read.
  if (Planted()) ReadElement(decisions.unread.size(), 1);
  (void)tools::HeaderText(artifact);
  (void)tools::EntryPointText(artifact);
  (void)tools::StepsText(artifact);
  (void)tools::LanguageText(artifact);
  CheckTyped(tools::GoldenText(artifact));
  CheckTyped(tools::ReadLowered(artifact.text(SectionKind::kLowered)));
  const auto view = tools::ViewArena(artifact.program(), 0);
  CheckTyped(view);
  if (view.ok()) (void)tools::ArenaText(artifact.program(), 0, *view, {});
}

void RunArtifact(Input input) {
  const auto artifact = Artifact::Parse(std::as_bytes(input), /*with_optional=*/true);
  CheckTyped(artifact);
  if (!artifact.ok()) return;
  const std::string outside = hostile::OutsideItsBuffer((*artifact)->program());
  if (!outside.empty()) Broken("accepted, though " + outside);
  Show(**artifact);
}

}  // namespace

Target ArtifactTarget() { return {"artifact", &RunArtifact, &MutateArtifact}; }

}  // namespace aicf::fuzz
