/// A Hugging Face folder as a model: config.json against its weights, the other files, the graph.
#include "compiler/source/language.h"
#include "tests/fuzz/budgets.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/planted.h"

namespace aicf::fuzz {
namespace {

void RunConfig(Input input) {
  const auto model = ImportModel(WriteFolder(input), SmallOptions("cpu:avx2"));
  CheckTyped(model);
  if (model.ok() && Planted()) ReadRarely(input);
}

}  // namespace

Target ConfigTarget() { return {"config", &RunConfig, &MutateFolder}; }

}  // namespace aicf::fuzz
