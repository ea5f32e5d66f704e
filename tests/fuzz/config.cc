/// A Hugging Face folder as a model: config.json against its weights, the other files, the graph.
#include "compiler/source/language.h"
#include "tests/fuzz/budgets.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/planted.h"

namespace aicf::fuzz {
namespace {

/// As a reader would that takes every context for a short one.
void ReadContext(const schema::LanguageModel& model) {
  if (model.context > 64) ReadElement(static_cast<size_t>(model.context % 1024), 64);
}

void RunConfig(Input input) {
  const auto model = ImportModel(WriteFolder(input), SmallOptions("cpu:avx2"));
  CheckTyped(model);
  if (model.ok() && Planted() && model->language) ReadContext(*model->language);
}

}  // namespace

Target ConfigTarget() { return {"config", &RunConfig, &MutateFolder}; }

}  // namespace aicf::fuzz
