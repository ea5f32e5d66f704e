/// An ONNX file, as far as a graph: the import, and the import that goes on over what it lacks.
#include "compiler/import/onnx.h"

#include "compiler/import/import_onnx.h"
#include "tests/fuzz/budgets.h"
#include "tests/fuzz/onnx_mutation.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {
namespace {

/// As a reader with room for four extents would.
void ReadExtents(const ir::Graph& graph) {
  for (const ir::ValueId input : graph.inputs) {
    const Dims& shape = graph.values[static_cast<size_t>(input)].shape;
    for (int d = 0; d < shape.rank(); ++d) ReadElement(static_cast<size_t>(d), 6);
  }
}

void RunOnnx(Input input) {
  const Scratch& scratch = TheScratch();
  scratch.Put("model.onnx", TextOf(input));
  const auto graph = ImportOnnx(scratch.Path("model.onnx"), SmallBudgets());
  CheckTyped(graph);
  if (graph.ok()) {
    (void)ir::ToString(*graph);
    if (Planted()) ReadExtents(*graph);
    return;
  }
  if (graph.status().code() == Code::kUnsupported) {
    CheckTyped(ImportOnnxPartly(scratch.Path("model.onnx")));
  }
}

}  // namespace

Target OnnxTarget() { return {"onnx", &RunOnnx, &MutateOnnx}; }

}  // namespace aicf::fuzz
