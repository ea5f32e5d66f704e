/// An ONNX file is compiled to a verified artifact for a CPU or a GPU. For a model that is refused
/// the list of gaps is made.
#include "base/hash.h"
#include "compiler/check/gaps.h"
#include "compiler/compiler.h"
#include "tests/fuzz/budgets.h"
#include "tests/fuzz/onnx_mutation.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {
namespace {

void RunOnnxCompile(Input input) {
  const Scratch& scratch = TheScratch();
  scratch.Put("model.onnx", TextOf(input));
  const std::string path = scratch.Path("model.onnx");
  const bool device = (HashText(TextOf(input)).low & 1) != 0;
  const CompileOptions options = SmallOptions(device ? "cuda:sm_90a" : "cpu:avx2");
  const auto result = Compile(path, options);
  CheckTyped(result);
  if (result.ok()) {
    if (Planted()) ReadRarely(input);
    return;
  }
  if (result.status().code() == Code::kUnsupported) {
    CheckTyped(FindGaps(path, options, result.status()));
  }
}

}  // namespace

Target OnnxCompileTarget() { return {"onnx_compile", &RunOnnxCompile, &MutateOnnx}; }

}  // namespace aicf::fuzz
