/// An ONNX file is turned into a graph, by the usual import and by the import that continues past
/// what it does not support.
#include "compiler/import/onnx.h"

#include "compiler/import/import_onnx.h"
#include "tests/fuzz/budgets.h"
#include "tests/fuzz/onnx_mutation.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {
namespace {

void RunOnnx(Input input) {
  const Scratch& scratch = TheScratch();
  scratch.Put("model.onnx", TextOf(input));
  const auto graph = ImportOnnx(scratch.Path("model.onnx"), SmallBudgets());
  CheckTyped(graph);
  if (graph.ok()) {
    (void)ir::ToString(*graph);
    if (Planted()) ReadRarely(input);
    return;
  }
  if (graph.status().code() == Code::kUnsupported) {
    CheckTyped(ImportOnnxPartly(scratch.Path("model.onnx"), SmallBudgets()));
  }
}

}  // namespace

Target OnnxTarget() { return {"onnx", &RunOnnx, &MutateOnnx}; }

}  // namespace aicf::fuzz
