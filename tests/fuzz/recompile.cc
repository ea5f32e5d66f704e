/// An artifact is the source of a compilation (aicf-compile --from): its provenance and its lowered
/// program with the constants are read, and all passes run over it.
#include "compiler/compiler.h"

#include "tests/fuzz/artifact_mutation.h"
#include "tests/fuzz/budgets.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/target.h"
#include "tools/aicf-compile/tune_options.h"

namespace aicf::fuzz {
namespace {

void ReadNames(const CompileResult& result) {
  ReadWord(result.model_hash);
  for (const schema::Step& s : result.contents.program.steps) {
    for (const std::string& name : s.sources) ReadWord(name);
  }
}

void RunRecompile(Input input) {
  const auto artifact = schema::Artifact::Parse(std::as_bytes(input), /*with_optional=*/true);
  if (!artifact.ok()) return;
  auto options = OptionsOf(**artifact);
  CheckTyped(options);
  if (!options.ok()) return;
  options->images = false;
  options->kernel_cache_dir = "none";
  options->budgets = SmallBudgets();
  const auto costs = tools::RecordedCosts(**artifact);
  CheckTyped(costs);
  if (!costs.ok()) return;
  options->costs = costs->get();
  const auto result = Recompile(*artifact, *options);
  CheckTyped(result);
  if (result.ok() && Planted()) ReadNames(*result);
}

}  // namespace

Target RecompileTarget() { return {"recompile", &RunRecompile, &MutateArtifactText}; }

}  // namespace aicf::fuzz
