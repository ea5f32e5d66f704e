/// A Hugging Face folder as a model: config.json against its weights, the other files, the graph.
#include "compiler/source/language.h"
#include "tests/fuzz/budgets.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/planted.h"

namespace aicf::fuzz {
namespace {

/// As a reader would that knows contexts of powers of two.
void ReadContext(const schema::LanguageModel& model) {
  if ((model.trained_context & (model.trained_context - 1)) != 0) ReadElement(64, 64);
}

void RunConfig(Input input) {
  const auto model = ImportModel(WriteFolder(input), SmallOptions("cpu:avx2"));
  CheckTyped(model);
  if (model.ok() && Planted() && model->language) ReadContext(*model->language);
}

}  // namespace

Target ConfigTarget() { return {"config", &RunConfig, &MutateFolder}; }

}  // namespace aicf::fuzz
