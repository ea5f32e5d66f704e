/// An artifact as a source of a compilation (aicf-compile --from): its provenance, its lowered
/// program with the constants, and all passes over them.
#include "compiler/compiler.h"
#include "tests/fuzz/artifact_mutation.h"
#include "tests/fuzz/budgets.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/target.h"
#include "tools/aicf-compile/tune_options.h"

namespace aicf::fuzz {
namespace {

/// As a reader would that takes every step of the lowered program for one that fuses.
void ReadSteps(const schema::Program& program) {
  for (const schema::Step& s : program.steps) {
    if (s.problem.math == abi::MathMode::kTf32) ReadElement(s.inputs.size(), 1);
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
  if (result.ok() && Planted()) ReadSteps(result->contents.program);
}

}  // namespace

Target RecompileTarget() { return {"recompile", &RunRecompile, &MutateArtifactText}; }

}  // namespace aicf::fuzz
