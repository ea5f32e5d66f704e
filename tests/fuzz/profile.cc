/// A trace of aicf-run --export-profile beside the sample, and the report's page with it.
#include "tools/aicf-inspect/profile_reader.h"

#include "tests/fuzz/planted.h"
#include "tests/fuzz/sample.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"
#include "tools/aicf-inspect/html.h"

namespace aicf::fuzz {
namespace {

void RunProfile(Input input) {
  TheScratch().Put("trace.json", TextOf(input));
  const schema::Artifact& artifact = *TheSample().artifact;
  const auto profile = tools::ReadProfile(TheScratch().Path("trace.json"), artifact.program());
  CheckTyped(profile);
  if (!profile.ok()) return;
  if (Planted()) ReadRarely(input);
  static const tools::DecisionLines decisions =
      tools::ReadDecisions(artifact.text(schema::SectionKind::kDecisions), artifact.program());
  (void)tools::ReportPage(*profile);
  (void)tools::ReportData(artifact, decisions, "sample", *profile);
}

}  // namespace

Target ProfileTarget() { return {"profile", &RunProfile}; }

}  // namespace aicf::fuzz
